/* memory.c: buffers between pages that can't be touched. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/kernels/checker.h"

enum { BUFFERS = 96, PAGE = 4096, CANARY = 0xc5, AROUND = 256 };
#define ROOM ((size_t)64 << 20)

static char *arena;
static int used;

static void *map_arena(void)
{
    size_t each = ROOM + 2 * PAGE;
    char *p = mmap(NULL, BUFFERS * each, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return NULL;
    for (int i = 0; i < BUFFERS; i++)
        if (mprotect(p + (size_t)i * each + PAGE, ROOM, PROT_READ | PROT_WRITE)) return NULL;
    return p;
}

static char *next(size_t bytes)
{
    if (!arena) arena = map_arena();
    if (!arena || used == BUFFERS || bytes > ROOM) {
        fprintf(stderr, "checker: out of guarded memory (%zu bytes, buffer %d)\n", bytes, used);
        exit(2);
    }
    return arena + (size_t)used++ * (ROOM + 2 * PAGE) + PAGE;
}

/* What lies around the buffer, up to the guards. */
static void surround(char *room, char *p, size_t bytes)
{
    size_t before = (size_t)(p - room), after = ROOM - before - bytes;
    memset(p - (before < AROUND ? before : AROUND), CANARY, before < AROUND ? before : AROUND);
    memset(p + bytes, CANARY, after < AROUND ? after : AROUND);
}

static bool is_canary(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)p[i] != CANARY) return false;
    return true;
}

bool ck_intact(const ck *c, const void *p, size_t bytes)
{
    const char *at = p;
    return c->side ? is_canary(at + bytes, AROUND) : is_canary(at - AROUND, AROUND);
}

void *ck_in(ck *c, int64_t n, size_t size)
{
    size_t bytes = (size_t)n * size;
    char *room = next(bytes), *p = c->side ? room : room + ROOM - bytes;
    surround(room, p, bytes);
    return p;
}

/* Scratch is aligned, so that it ends at the guard up to 63 bytes before. */
void *ck_scratch(ck *c, size_t bytes)
{
    char *room = next(bytes), *p = c->side ? room : room + ROOM - (bytes + 63) / 64 * 64;
    surround(room, p, bytes);
    if (!c->options->bench) memset(p, 0xff, bytes); /* NaN to whoever reads what he did not write */
    return p;
}

int ck_mark(ck *c)
{
    (void)c;
    return used;
}

void ck_release(ck *c, int mark)
{
    (void)c;
    used = mark;
}

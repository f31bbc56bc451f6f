/* region.c: memory that is freed all at once. Blocks double in size, so that small regions stay small. */
#include "region.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 16, FIRST = 1024, LARGEST = 1 << 18 };

struct mr_block {
    struct mr_block *next;
    size_t size, used; /* of bytes */
    _Alignas(ALIGN) char bytes[];
};

void *mr_region_alloc(mr_region *r, size_t bytes)
{
    if (bytes > PTRDIFF_MAX - LARGEST) return NULL;
    bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    struct mr_block *b = r->head;
    if (!b || b->size - b->used < bytes) {
        size_t size = !b ? FIRST : b->size < LARGEST / 2 ? b->size * 2 : LARGEST;
        if (size < bytes) size = bytes;
        if (!(b = calloc(1, sizeof *b + size))) return NULL;
        b->size = size;
        b->next = r->head;
        r->head = b;
    }
    void *p = b->bytes + b->used;
    b->used += bytes;
    return p;
}

char *mr_region_string(mr_region *r, const char *s, size_t len)
{
    char *copy = len < SIZE_MAX ? mr_region_alloc(r, len + 1) : NULL;
    if (copy && len) memcpy(copy, s, len);
    return copy;
}

char *mr_region_printf(mr_region *r, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    char *s = n < 0 ? NULL : mr_region_alloc(r, (size_t)n + 1);
    if (s) vsnprintf(s, (size_t)n + 1, fmt, again);
    va_end(again);
    va_end(ap);
    return s;
}

void mr_region_free(mr_region *r)
{
    for (struct mr_block *b = r->head, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    r->head = NULL;
}

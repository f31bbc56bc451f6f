/* checker.c: walks the levels, the families and their slots. */
#include "tests/kernels/checker.h"

#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- families, from the list that the table is made from. What a family without a check overrides fails ---- */

#define ANY_000(x)
#define ANY_001(x) x
#define ANY_010(x) x
#define ANY_011(x) x
#define ANY_100(x) x
#define ANY_101(x) x
#define ANY_110(x) x
#define ANY_111(x) x

#define FAMILY(name, B, A2, A5) ANY_##B##A2##A5(__attribute__((weak)) void check_##name(ck *c);)
#include "kernels/cpu/families.inc"
#undef FAMILY

typedef struct family {
    const char *name;
    size_t offset, size;
    void (*check)(ck *c);
} family;

static const family families[] = {
#define FAMILY(name, B, A2, A5)                                                                                        \
    ANY_##B##A2##A5({#name COMMA offsetof(mr_cpu_fns, name) COMMA sizeof(mr_##name##_fns) COMMA check_##name} COMMA)
#define COMMA ,
#include "kernels/cpu/families.inc"
#undef FAMILY
};

/* ---- levels ---- */

#ifdef MR_SIMDE
int mr_simde_vnni;
static const ck_level levels[] = {{"simde", MR_ISA_AVX512, MR_ISA_BLAS | MR_ISA_AVX2, 0},
                                  {"simde_vnni", MR_ISA_AVX512, MR_ISA_BLAS | MR_ISA_AVX2, 1}};
static bool level_here(const ck_level *l)
{
    mr_simde_vnni = l->vnni;
    return (mr_cpu_isa() & MR_ISA_AVX2) != 0;
}
#else
static const ck_level levels[] = {{"blas", MR_ISA_BLAS, 0, 0},
                                  {"avx2", MR_ISA_AVX2, MR_ISA_BLAS, 0},
                                  {"avx512", MR_ISA_AVX512, MR_ISA_BLAS | MR_ISA_AVX2, 0}};
static bool level_here(const ck_level *l)
{
    /* where vector levels are all faster, the machine has no BLAS level, but the checker has */
    return l->isa == MR_ISA_BLAS || (mr_cpu_isa() & l->isa) != 0;
}
#endif

/* ---- slots ---- */

static ck_fn slot_of(const mr_cpu_fns *t, int i)
{
    return ((const ck_fn *)t)[i];
}

static bool overridden(const ck *c, int i)
{
    return slot_of(&c->level, i) != slot_of(&c->scalar, i);
}

const char *ck_name(const ck *c, int slot, char *buffer, size_t size)
{
    const char *symbol = ck_symbol(slot_of(&c->level, slot));
    snprintf(buffer, size, "%s.%s.%s[%d]", c->at->name, c->family, symbol ? symbol : "", slot - c->first);
    return buffer;
}

static bool wanted(const ck *c, int slot)
{
    char name[160];
    return !c->options->pattern || strstr(ck_name(c, slot, name, sizeof name), c->options->pattern);
}

static void slot_end(ck *c)
{
    char name[160];
    if (c->slot < 0) return;
    if (c->errors)
        c->failed++;
    else
        c->passed++;
    if (c->options->verbose && !c->options->bench)
        printf("%s %s\n", c->errors ? "FAIL" : "ok  ", ck_name(c, c->slot, name, sizeof name));
    c->slot = -1;
}

static int index_of(const ck *c, const void *slot)
{
    return (int)((const ck_fn *)slot - (const ck_fn *)&c->level);
}

void ck_serves(ck *c, const void *slot)
{
    c->visited[index_of(c, slot)] = true;
}

bool ck_slot(ck *c, const void *slot)
{
    int i = index_of(c, slot);
    slot_end(c);
    c->visited[i] = true;
    if (!overridden(c, i) || !wanted(c, i)) return false;
    c->slot = i;
    c->errors = 0;
    c->timed = false;
    c->what[0] = 0;
    return true;
}

void ck_case(ck *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(c->what, sizeof c->what, format, args);
    va_end(args);
}

void ck_work(ck *c, double flops, double bytes)
{
    c->flops = flops;
    c->bytes = bytes;
}

void ck_fail(ck *c, const char *format, ...)
{
    char text[400], name[160];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (c->errors++ < 3)
        printf("FAIL %s: %s, %s: %s\n", ck_name(c, c->slot, name, sizeof name), c->what,
               c->side ? "begins behind a guard" : "ends at a guard", text);
}

/* ---- one call ---- */

static void run_once(ck *c, const ck_call *call, void *arg, const mr_cpu_fns *t, const ck_output *o, int n, int poison,
                     void **y)
{
    for (int i = 0; i < n; i++) y[i] = ck_in(c, o[i].n, mr_dtype_size(o[i].type));
    const int mark = ck_mark(c);
    if (call->prepare) call->prepare(c, arg, t);
    for (int i = 0; i < n; i++) memset(y[i], poison, (size_t)o[i].n * mr_dtype_size(o[i].type));
    call->run(c, arg, t, y);
    ck_release(c, mark);
    for (int i = 0; i < n; i++)
        if (!ck_intact(c, y[i], (size_t)o[i].n * mr_dtype_size(o[i].type)))
            ck_fail(c, "output %d: bytes around it were written", i);
}

void ck_verify(ck *c, const ck_call *call, void *arg, const ck_output *o, int n)
{
    void *want[CK_OUTPUTS], *got[CK_OUTPUTS], *other[CK_OUTPUTS];
    c->pool = NULL;
    if (c->options->bench) {
        if (c->timed || c->flops + c->bytes == 0) return;
        for (int i = 0; i < n; i++) want[i] = ck_in(c, o[i].n, mr_dtype_size(o[i].type));
        c->timed = true;
        ck_time(c, call, arg, want);
        return;
    }
    run_once(c, call, arg, &c->scalar, o, n, 0x5a, want);
    run_once(c, call, arg, &c->level, o, n, 0xa5, got);
    c->pool = c->pools;
    run_once(c, call, arg, &c->level, o, n, 0x3c, other);
    for (int i = 0; i < n; i++) {
        ck_compare(c, &o[i], want[i], got[i], "");
        ck_output bits = {.type = o[i].type, .n = o[i].n, .rule = CK_BITS};
        ck_compare(c, &bits, got[i], other[i], "on threads, against one: ");
    }
    c->checks++;
}

static ck *running;

static void on_fault(int signal)
{
    static const char text[] = "checker: a fault on a thread of the pool, in ";
    if (gettid() == getpid()) siglongjmp(running->fault, signal);
    char name[160];
    ck_name(running, running->slot, name, sizeof name);
    if (write(2, text, sizeof text - 1) < 0 || write(2, name, strlen(name)) < 0 || write(2, "\n", 1) < 0) _exit(3);
    _exit(2);
}

void ck_sides(ck *c, void (*one)(ck *c, const void *shape), const void *shape)
{
    const int mark = ck_mark(c), sides = c->options->bench ? 1 : 2;
    const uint64_t seed = 0x9e3779b97f4a7c15u + (uint64_t)c->checks;
    for (c->side = 0; c->side < sides; c->side++) {
        c->random = seed;
        c->flops = c->bytes = 0;
        const int signal = sigsetjmp(c->fault, 1);
        if (!signal)
            one(c, shape);
        else
            ck_fail(c, "%s", signal == SIGSEGV ? "touches memory outside of its buffers" : strsignal(signal));
        ck_release(c, mark);
    }
    c->side = 0;
}

/* ---- the walk ---- */

static void check_family(ck *c, const family *f)
{
    char name[160];
    c->family = f->name;
    c->first = (int)(f->offset / sizeof(ck_fn));
    c->n = (int)(f->size / sizeof(ck_fn));
    c->slot = -1;
    int overrides = 0;
    for (int i = c->first; i < c->first + c->n; i++) {
        if (!overridden(c, i)) continue;
        overrides++;
        if (c->options->list && wanted(c, i)) printf("%s\n", ck_name(c, i, name, sizeof name));
    }
    if (!overrides || c->options->list) return;
    if (f->check) f->check(c);
    slot_end(c);
    for (int i = c->first; i < c->first + c->n; i++) {
        if (!overridden(c, i) || c->visited[i]) continue;
        printf("FAIL %s: no check visits it\n", ck_name(c, i, name, sizeof name));
        c->failed++;
    }
    if (!c->options->bench && !c->options->pattern)
        printf("%-10s %-12s %4d slots overridden\n", c->at->name, f->name, overrides);
}

static void check_level(ck *c, const ck_level *l)
{
    c->at = l;
    memset(c->visited, 0, sizeof c->visited);
    mr_cpu_fill(&c->scalar, MR_ISA_SCALAR);
    mr_cpu_fill(&c->below, l->below);
    mr_cpu_fill(&c->level, l->isa);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) check_family(c, &families[i]);
}

bool ck_run(const ck_options *o, long *passed, long *failed)
{
    ck *c = calloc(1, sizeof *c);
    if (!c || !(c->pools = mr_pool_create(2))) {
        free(c);
        return false;
    }
    c->options = o;
    running = c;
    struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_NODEFER};
    const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    for (int i = 0; i < 4; i++) sigaction(signals[i], &action, NULL);
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (level_here(&levels[i]))
            check_level(c, &levels[i]);
        else
            printf("skipped: this machine has no %s\n", levels[i].name);
    }
    for (int i = 0; i < 4; i++) signal(signals[i], SIG_DFL);
    if (!o->list) printf("%ld cases\n", c->checks);
    if (o->bench) printf("%ld slots are slower than what they override by more than 10 %%\n", c->slow);
    *passed = c->passed, *failed = c->failed;
    mr_pool_destroy(c->pools);
    free(c);
    return true;
}

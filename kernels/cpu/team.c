/* team.c: see team.h. */
#include "kernels/cpu/team.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

enum {
    CLOSED = 1 << 16, /* in `gate`: nobody joins any more */
    COMING = 1 << 12, /* rounds that the first waits for the others */
    SPINS = 1 << 12   /* rounds of waiting before the processor is given to others */
};

struct mr_team {
    atomic_int gate; /* members, and CLOSED */
    atomic_int size; /* 0 while the gate is open */
    atomic_int here, step;
    int most;
    void (*fn)(void *, int, mr_team *);
    void *arg;
};

static void pause_a_bit(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

int mr_team_size(const mr_team *t)
{
    return atomic_load_explicit(&t->size, memory_order_relaxed);
}

/* The member's number, -1: too late. */
static int join(mr_team *t)
{
    int gate = atomic_load(&t->gate);
    while (!(gate & CLOSED))
        if (atomic_compare_exchange_weak(&t->gate, &gate, gate + 1)) return gate;
    return -1;
}

static void close_gate(mr_team *t)
{
    for (int i = 0; i < COMING && atomic_load(&t->gate) < t->most; i++) pause_a_bit();
    atomic_store(&t->size, atomic_fetch_or(&t->gate, CLOSED));
}

static void wait_until(const atomic_int *x, int other)
{
    for (int i = 0; atomic_load_explicit(x, memory_order_acquire) == other; i++) {
        pause_a_bit();
        if (i >= SPINS) sched_yield();
    }
}

void mr_team_wait(mr_team *t)
{
    const int step = atomic_load(&t->step);
    if (atomic_fetch_add(&t->here, 1) + 1 < mr_team_size(t)) {
        wait_until(&t->step, step);
        return;
    }
    atomic_store(&t->here, 0);
    atomic_fetch_add(&t->step, 1);
}

static void enter(void *arg, int64_t begin, int64_t end)
{
    mr_team *t = arg;
    for (; begin < end; begin++) {
        int member = join(t);
        if (member < 0) return;
        if (member == 0)
            close_gate(t);
        else
            wait_until(&t->size, 0);
        t->fn(t->arg, member, t);
    }
}

void mr_team_run(mr_pool *pool, int most, void (*fn)(void *arg, int member, mr_team *t), void *arg)
{
    int threads = mr_pool_threads(pool);
    mr_team t = {.most = most < threads ? most : threads, .fn = fn, .arg = arg};
    mr_parallel_for(pool, t.most, 1, enter, &t);
}

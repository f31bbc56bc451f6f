/* threads.c: a pool of threads that share one loop at a time.
 *
 * The caller takes part in its own loop and waits only for threads that are inside of it: one that has not woken yet,
 * or has lost its CPU to somebody else, holds nobody up. (Pools that wait for every thread to report took 50 times as
 * long on a machine whose other core was busy.) A thread that finds nothing to do watches for SPIN_NS, since the next
 * loop of a model follows within microseconds, then sleeps.
 *
 * The ranges depend on n and grain only, never on the number of threads, so no result can. A run that finds the pool
 * busy goes on alone. */
#include "threads.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SPIN_NS = 60000, SPINS_A_LOOK = 64 };

struct mr_pool {
    int threads;      /* the caller's included */
    atomic_flag busy; /* held by the run that uses the pool, or starts it */
    pthread_t *workers;
    int n_workers; /* started: by the first loop that can use them, so that small models never pay for it */

    /* The loop. Written while it is closed and nobody is inside. */
    void (*fn)(void *, int64_t, int64_t);
    void *arg;
    int64_t n, grain, tiles;
    _Alignas(64) _Atomic int64_t next; /* the first tile that nobody has taken */
    _Alignas(64) atomic_int open, inside;
    _Alignas(64) _Atomic uint32_t epoch; /* of loops; a futex: sleepers wait for it to change */
    atomic_int sleeping;
    atomic_bool quit;
};

/* cgroup v2: cpu.max is "quota period"; v1: the cfs files. */
int mr_quota_cpus(void)
{
    long long quota = -1, period = 0;
    FILE *f = fopen("/sys/fs/cgroup/cpu.max", "r");
    if (f) {
        if (fscanf(f, "%lld %lld", &quota, &period) != 2) quota = -1;
        fclose(f);
    } else if ((f = fopen("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "r"))) {
        if (fscanf(f, "%lld", &quota) != 1) quota = -1;
        fclose(f);
        if (quota > 0 && (f = fopen("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "r"))) {
            if (fscanf(f, "%lld", &period) != 1) period = 0;
            fclose(f);
        }
    }
    return quota > 0 && period > 0 ? (int)((quota + period - 1) / period) : 0;
}

static int machine_cpus(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    int quota = mr_quota_cpus();
    return quota > 0 && quota < n ? quota : n;
}

static void pause_briefly(void)
{
    for (int i = 0; i < SPINS_A_LOOK; i++)
#if defined(__x86_64__)
        __builtin_ia32_pause();
#else
        __asm__ volatile("" ::: "memory");
#endif
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- one loop ---- */

/* Takes tiles until none is left: first large shares, for the caches' sake, then ever smaller ones, so that all end at
 * about the same time. */
static void take_tiles(mr_pool *p)
{
    int64_t n = p->n, grain = p->grain, tiles = p->tiles;
    for (;;) {
        int64_t left = tiles - atomic_load_explicit(&p->next, memory_order_relaxed);
        int64_t share = left / (2 * p->threads);
        if (share < 1) share = 1;
        int64_t from = atomic_fetch_add_explicit(&p->next, share, memory_order_relaxed);
        if (from >= tiles) return;
        for (int64_t t = from; t < tiles && t < from + share; t++) {
            int64_t begin = t * grain;
            p->fn(p->arg, begin, n - begin < grain ? n : begin + grain);
        }
    }
}

/* Announces itself before it looks whether the loop is open; the caller closes before it looks who is inside: in
 * sequentially consistent order one of the two sees the other. */
static void take_part(mr_pool *p)
{
    atomic_fetch_add(&p->inside, 1);
    if (atomic_load(&p->open)) take_tiles(p);
    atomic_fetch_sub(&p->inside, 1);
}

static void sleep_until_other(mr_pool *p, uint32_t epoch)
{
    atomic_fetch_add(&p->sleeping, 1);
    if (atomic_load(&p->epoch) == epoch) syscall(SYS_futex, &p->epoch, FUTEX_WAIT_PRIVATE, epoch, NULL, NULL, 0);
    atomic_fetch_sub(&p->sleeping, 1);
}

/* From epoch on: the next one, awaited. */
static uint32_t next_epoch(mr_pool *p, uint32_t epoch)
{
    int64_t end = now_ns() + SPIN_NS;
    while (atomic_load_explicit(&p->epoch, memory_order_acquire) == epoch && now_ns() < end) pause_briefly();
    while (atomic_load(&p->epoch) == epoch) sleep_until_other(p, epoch);
    return atomic_load(&p->epoch);
}

static void *work(void *pool)
{
    mr_pool *p = pool;
    for (uint32_t epoch = 0;;) {
        epoch = next_epoch(p, epoch);
        if (atomic_load(&p->quit)) return NULL;
        take_part(p);
    }
}

/* Signals are the program's, not ours. */
static void start_workers(mr_pool *p)
{
    sigset_t all, old;
    p->workers = calloc((size_t)p->threads, sizeof *p->workers);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    while (p->workers && p->n_workers < p->threads - 1 && pthread_create(&p->workers[p->n_workers], NULL, work, p) == 0)
        p->n_workers++;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void announce(mr_pool *p, int64_t wanted)
{
    atomic_fetch_add(&p->epoch, 1);
    if (atomic_load(&p->sleeping) > 0)
        syscall(SYS_futex, &p->epoch, FUTEX_WAKE_PRIVATE, wanted < INT_MAX ? (int)wanted : INT_MAX, NULL, NULL, 0);
}

static void await_others(mr_pool *p)
{
    atomic_store(&p->open, 0);
    for (int64_t looks = 0; atomic_load(&p->inside) > 0; looks++) {
        if (looks < 1000)
            pause_briefly();
        else
            sched_yield();
    }
}

/* ---- the pool ---- */

mr_pool *mr_pool_create(int n)
{
    mr_pool *p = aligned_alloc(64, (sizeof *p + 63) / 64 * 64);
    if (!p) return NULL;
    if (n <= 0) n = machine_cpus();
    *p = (mr_pool){.threads = n < MR_MAX_THREADS ? n : MR_MAX_THREADS};
    atomic_flag_clear(&p->busy);
    return p;
}

void mr_pool_destroy(mr_pool *p)
{
    if (!p) return;
    atomic_store(&p->quit, true);
    announce(p, INT_MAX);
    for (int i = 0; i < p->n_workers; i++) pthread_join(p->workers[i], NULL);
    free(p->workers);
    free(p);
}

int mr_pool_threads(const mr_pool *p)
{
    return p ? p->threads : 1;
}

static void alone(int64_t n, int64_t grain, void (*fn)(void *, int64_t, int64_t), void *arg)
{
    for (int64_t i = 0; i < n; i += grain) fn(arg, i, n - i < grain ? n : i + grain);
}

void mr_parallel_for(mr_pool *p, int64_t n, int64_t grain, void (*fn)(void *, int64_t, int64_t), void *arg)
{
    if (n <= 0) return;
    if (grain < 1) grain = 1;
    if (n <= grain || !p || p->threads == 1 || atomic_flag_test_and_set_explicit(&p->busy, memory_order_acquire)) {
        alone(n, grain, fn, arg);
        return;
    }
    if (!p->workers) start_workers(p); /* none, when there are no resources for them: the caller does all */
    p->fn = fn, p->arg = arg, p->n = n, p->grain = grain, p->tiles = (n - 1) / grain + 1;
    atomic_store_explicit(&p->next, 0, memory_order_relaxed);
    atomic_store(&p->open, 1);
    announce(p, p->tiles - 1);
    take_tiles(p);
    await_others(p);
    atomic_flag_clear_explicit(&p->busy, memory_order_release);
}

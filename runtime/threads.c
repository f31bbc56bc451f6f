/* threads.c: the pool, over pthreadpool.
 *
 * pthreadpool serializes concurrent calls; a run that finds the pool busy would wait, so it goes on alone instead. The
 * ranges depend on n and grain only, never on the number of threads, so no result can. */
#include "threads.h"

#include <pthreadpool.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct mr_pool {
    pthreadpool_t pool; /* started by the first loop that can use it: small models never pay for it */
    int threads;
    atomic_flag busy; /* held by the run that uses the pool, or starts it */
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

mr_pool *mr_pool_create(int n)
{
    mr_pool *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->threads = n > 0 ? n : machine_cpus();
    atomic_flag_clear(&p->busy);
    return p;
}

void mr_pool_destroy(mr_pool *p)
{
    if (!p) return;
    if (p->pool) pthreadpool_destroy(p->pool);
    free(p);
}

int mr_pool_threads(const mr_pool *p)
{
    return p ? p->threads : 1;
}

typedef struct {
    void (*fn)(void *, int64_t, int64_t);
    void *arg;
} range_job;

static void run_range(void *job, size_t begin, size_t count)
{
    const range_job *j = job;
    j->fn(j->arg, (int64_t)begin, (int64_t)(begin + count));
}

void mr_parallel_for(mr_pool *p, int64_t n, int64_t grain, void (*fn)(void *, int64_t, int64_t), void *arg)
{
    if (n <= 0) return;
    if (grain < 1) grain = 1;
    if (n <= grain) {
        fn(arg, 0, n);
        return;
    }
    if (!p || p->threads == 1 || atomic_flag_test_and_set_explicit(&p->busy, memory_order_acquire)) {
        for (int64_t i = 0; i < n; i += grain) fn(arg, i, n - i < grain ? n : i + grain);
        return;
    }
    if (!p->pool) p->pool = pthreadpool_create((size_t)p->threads); /* NULL, on failure, runs serially */
    range_job job = {fn, arg};
    pthreadpool_parallelize_1d_tile_1d(p->pool, run_range, &job, (size_t)n, (size_t)grain,
                                       PTHREADPOOL_FLAG_YIELD_WORKERS);
    atomic_flag_clear_explicit(&p->busy, memory_order_release);
}

/* threads.h: parallel_for over ranges whose split never changes a result's bits. */
#ifndef MR_THREADS_H
#define MR_THREADS_H

#include <stdint.h>

typedef struct mr_pool mr_pool;

/* CPUs that the container's quota gives; 0: no limit. */
int mr_quota_cpus(void);

enum { MR_MAX_THREADS = 1024 }; /* of a pool */

/* n threads, at most MR_MAX_THREADS; 0: as many as the machine (and the container's CPU quota) gives. NULL when memory
 * is exhausted. */
mr_pool *mr_pool_create(int n);
void mr_pool_destroy(mr_pool *p);
int mr_pool_threads(const mr_pool *p); /* 1 for NULL */

/* Calls fn(arg, begin, end) for disjoint ranges that cover [0, n), each grain long but for the last. pool NULL, or busy
 * with another run (or with this one: calls may nest): serially, with the same ranges. */
void mr_parallel_for(mr_pool *pool, int64_t n, int64_t grain, void (*fn)(void *arg, int64_t begin, int64_t end),
                     void *arg);

#endif

/* slots.c: see slots.h. */
#include "kernels/cpu/slots.h"

#include <stdatomic.h>

typedef struct slots_job {
    atomic_int_fast64_t next;
    int64_t n;
    void (*task)(const void *arg, int64_t i, void *buffer);
    const void *arg;
    char *scratch;
    size_t each;
} slots_job;

static size_t round_up(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

size_t mr_slots_bytes(const mr_pool *pool, size_t each)
{
    return (size_t)mr_pool_threads(pool) * round_up(each);
}

static void run_slot(void *arg, int64_t begin, int64_t end)
{
    slots_job *j = arg;
    for (int64_t slot = begin; slot < end; slot++)
        for (int64_t i; (i = atomic_fetch_add(&j->next, 1)) < j->n;)
            j->task(j->arg, i, j->scratch + (size_t)slot * j->each);
}

void mr_for_slots(mr_pool *pool, int64_t n, void (*task)(const void *arg, int64_t i, void *buffer), const void *arg,
                  void *scratch, size_t each)
{
    slots_job j = {.n = n, .task = task, .arg = arg, .scratch = scratch, .each = round_up(each)};
    int64_t slots = mr_pool_threads(pool);
    atomic_init(&j.next, 0);
    mr_parallel_for(pool, slots < n ? slots : n, 1, run_slot, &j);
}

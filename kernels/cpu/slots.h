/* slots.h: tasks that each want a buffer: there are as many buffers as threads, not as tasks. */
#ifndef MR_KERNELS_CPU_SLOTS_H
#define MR_KERNELS_CPU_SLOTS_H

#include <stddef.h>

#include "runtime/threads.h"

/* Runs task(arg, i, buffer) for every i < n. Buffers are `each` bytes, rounded up to 64, from `scratch`, which has
 * mr_slots_bytes(pool, each). Which task gets which buffer is open, so that no result may hang on it. */
void mr_for_slots(mr_pool *pool, int64_t n, void (*task)(const void *arg, int64_t i, void *buffer), const void *arg,
                  void *scratch, size_t each);
size_t mr_slots_bytes(const mr_pool *pool, size_t each);

#endif

/* sizes.h: the element sizes that moving kernels know. */
#ifndef MR_SIZES_H
#define MR_SIZES_H

#include <stddef.h>
#include <stdint.h>

typedef struct mr_u128 {
    uint64_t lo, hi;
} mr_u128;

#define MR_N_SIZES 5
/* 1, 2, 4, 8, 16 → 0 … 4 */
static inline int mr_size_index(size_t size)
{
    return __builtin_ctz((unsigned)size);
}

/* The grain for mr_parallel_for over units of `bytes` each: what is worth giving to another thread. */
#define MR_PART_BYTES (1 << 16)
static inline int64_t mr_grain(int64_t bytes)
{
    return bytes < MR_PART_BYTES ? MR_PART_BYTES / (bytes + 1) + 1 : 1;
}

#endif

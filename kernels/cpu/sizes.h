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
static inline int mr_size_index(size_t size) { return __builtin_ctz((unsigned)size); }

#endif

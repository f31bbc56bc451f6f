/* range.h: start + i * delta. */
#ifndef MR_KERNELS_CPU_RANGE_H
#define MR_KERNELS_CPU_RANGE_H

#include "runtime/dtype.h"
#include "runtime/threads.h"

typedef struct mr_range_args {
    const void *start, *delta; /* one element each */
    void *y;
    int64_t n;
    mr_pool *pool;
} mr_range_args;

/* plain: integers wrap; float16 and bfloat16 in float. wide: all floats in double. Both round once more, to the type.
 */
typedef struct mr_range_fns {
    void (*plain[MR_N_DTYPES])(const mr_range_args *);
    void (*wide[MR_N_DTYPES])(const mr_range_args *);
} mr_range_fns;

#endif

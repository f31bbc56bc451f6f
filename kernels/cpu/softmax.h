/* softmax.h: softmax, its logarithm, and the one-hot of the maximum, along the middle of [outer, n, inner]. */
#ifndef MR_KERNELS_CPU_SOFTMAX_H
#define MR_KERNELS_CPU_SOFTMAX_H

#include "runtime/dtype.h"
#include "runtime/threads.h"

/* y may be x. */
typedef struct mr_softmax_args {
    const void *x;
    void *y;
    int64_t outer, n, inner;
    mr_pool *pool;
} mr_softmax_args;

typedef void mr_softmax_fn(const mr_softmax_args *a);

typedef struct mr_softmax_fns {
    mr_softmax_fn *softmax[MR_N_DTYPES];
    mr_softmax_fn *log_softmax[MR_N_DTYPES];
    mr_softmax_fn *hardmax[MR_N_DTYPES]; /* the first maximum, or the first NaN */
} mr_softmax_fns;

#endif

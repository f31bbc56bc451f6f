/* reduce.h: a tensor reduced over some of its dimensions, indices of extremes, running sums.
 *
 * A box lists the dimensions that stay (kept, in the order of y) and one that lists those that go (reduced, in the
 * order in which their elements are taken); both in row-major order of x, xs the strides of x, ys those of a dense
 * tensor of their dims. At the scalar level sums are taken in double (integers: modulo 2^bits) in that order and
 * rounded once. */
#ifndef MR_KERNELS_CPU_REDUCE_H
#define MR_KERNELS_CPU_REDUCE_H

#include "kernels/cpu/box.h"
#include "runtime/threads.h"

typedef enum mr_reduction {
    MR_REDUCE_L1,
    MR_REDUCE_L2,
    MR_REDUCE_LOG_SUM,
    MR_REDUCE_LOG_SUM_EXP,
    MR_REDUCE_MAX,
    MR_REDUCE_MEAN,
    MR_REDUCE_MIN,
    MR_REDUCE_PROD,
    MR_REDUCE_SUM,
    MR_REDUCE_SUM_SQUARE,
    MR_N_REDUCTIONS
} mr_reduction;

typedef struct mr_reduce_args {
    const void *x;
    void *y;
    const mr_box *kept, *reduced;
    mr_pool *pool;
} mr_reduce_args;

/* Mean and variance (of the population) of each reduction. */
typedef struct mr_moments_args {
    const void *x;
    double *mean, *var;
    const mr_box *kept, *reduced;
    mr_pool *pool;
} mr_moments_args;

/* x is [outer, n, inner], y is [outer, inner]: where along n the largest (min: smallest) element is, the first or the
 * last one of equals. A NaN is larger and smaller than any number, as in NumPy. n > 0. */
typedef struct mr_arg_args {
    const void *x;
    int64_t *y;
    int64_t outer, n, inner;
    bool min, last;
    mr_pool *pool;
} mr_arg_args;

/* x and y are [outer, n, inner]: the sum or product of the elements up to here (exclusive: before here) along n;
 * reverse: from the end. y may be x. */
typedef struct mr_cum_args {
    const void *x;
    void *y;
    int64_t outer, n, inner;
    bool exclusive, reverse;
    mr_pool *pool;
} mr_cum_args;

typedef struct mr_reduce_fns {
    void (*reduce[MR_N_REDUCTIONS][MR_N_DTYPES])(const mr_reduce_args *);
    void (*moments[MR_N_DTYPES])(const mr_moments_args *);
    void (*arg[MR_N_DTYPES])(const mr_arg_args *);
    void (*cum_sum[MR_N_DTYPES])(const mr_cum_args *);
    void (*cum_prod[MR_N_DTYPES])(const mr_cum_args *);
} mr_reduce_fns;

#endif

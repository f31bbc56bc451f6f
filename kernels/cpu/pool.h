/* pool.h: pooling over any number of spatial axes; planes (batch × channels) are independent.
 *
 * The window of output o covers the indices at(o, t) = o · stride + t · dilation - pad of x, t < taps; those outside of
 * x do not count. Windows are walked in row-major order; sums are taken in double and rounded once, at the scalar
 * level. */
#ifndef MR_KERNELS_CPU_POOL_H
#define MR_KERNELS_CPU_POOL_H

#include "kernels/cpu/sizes.h"
#include "runtime/tensor.h"
#include "runtime/threads.h"

#define MR_POOL_RANK (MR_MAX_RANK - 2)

typedef struct mr_pool_axis {
    int64_t in, out, taps, stride, dilation;
    int64_t pad, pad_end;
} mr_pool_axis;

typedef struct mr_pool_args {
    const void *x;
    void *y;
    int64_t *indices; /* max: NULL, or where in x each maximum is, see column_major */
    int64_t planes;
    int rank; /* >= 1 */
    mr_pool_axis axis[MR_POOL_RANK];
    bool count_pads;   /* average: taps in the padding count in the divisor */
    bool column_major; /* indices: the offset in a plane counts the first axis fastest */
    double p;          /* lp */
    mr_pool *pool;
    void *scratch; /* as many bytes as the scratch slot says */
} mr_pool_args;

/* y[plane, index] = x: everything else of y is 0. index counts in a box of the extents `box`, which lies in the corner
 * of y's planes; indices run over all planes and were checked. Later elements win. */
typedef struct mr_unpool_args {
    const void *x;
    const int64_t *indices;
    void *y;
    int64_t n; /* elements of x */
    int rank;  /* of y, with batch and channels */
    int64_t box[MR_MAX_RANK], dims[MR_MAX_RANK];
} mr_unpool_args;

typedef void mr_pool_fn(const mr_pool_args *a);

typedef struct mr_pool_fns {
    mr_pool_fn *average[MR_N_DTYPES]; /* an empty window gives NaN */
    mr_pool_fn *max[MR_N_DTYPES]; /* NaN wins, the first of equals stays; an empty window: the lowest value, index -1 */
    mr_pool_fn *lp[MR_N_DTYPES];
    size_t (*scratch[MR_N_DTYPES])(const mr_pool_args *a); /* of average and max; NULL: none */
    void (*unpool[MR_N_SIZES])(const mr_unpool_args *a);
} mr_pool_fns;

void mr_pool_fill_scalar(mr_pool_fns *f);
void mr_pool_fill_avx2(mr_pool_fns *f);

/* The scalar kernels, for what faster levels leave to them. */
mr_pool_fn mr_average_f16, mr_average_bf16, mr_average_f32;
mr_pool_fn mr_max_f16, mr_max_bf16, mr_max_f32;
/* How many taps of output o count on an axis. */
int64_t mr_pool_window(const mr_pool_args *a, int axis, int64_t o);

#endif

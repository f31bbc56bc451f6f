/* det.h: determinants and inverses of n square matrices of size × size, by elimination with partial pivoting, in
 * double. The inverse of a singular matrix has infinities and NaN. */
#ifndef MR_KERNELS_CPU_DET_H
#define MR_KERNELS_CPU_DET_H

#include "runtime/dtype.h"
#include "runtime/threads.h"

typedef struct mr_det_args {
    const void *x;
    void *y;
    int64_t n, size;
    double *scratch; /* size · size for each thread of the pool; twice that for inverses */
    mr_pool *pool;
} mr_det_args;

typedef struct mr_det_fns {
    void (*det[MR_N_DTYPES])(const mr_det_args *a);
    void (*inverse[MR_N_DTYPES])(const mr_det_args *a); /* y as x */
} mr_det_fns;

void mr_det_fill_scalar(mr_det_fns *f);

#endif

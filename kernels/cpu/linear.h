/* linear.h: products of rows with vectors, and their squared distances, in double, in the order of the features. */
#ifndef MR_KERNELS_CPU_LINEAR_H
#define MR_KERNELS_CPU_LINEAR_H

#include "runtime/dtype.h"
#include "runtime/threads.h"

typedef struct mr_linear_args {
    const void *x;         /* [rows, features] */
    const double *vectors; /* [n, features] */
    double *y;             /* [rows, n] */
    int64_t rows, features, n;
    mr_pool *pool;
} mr_linear_args;

typedef void mr_linear_fn(const mr_linear_args *a);

typedef struct mr_linear_fns {
    mr_linear_fn *product[MR_N_DTYPES];  /* Σ x · v */
    mr_linear_fn *distance[MR_N_DTYPES]; /* Σ (x - v)² */
} mr_linear_fns;

void mr_linear_fill_scalar(mr_linear_fns *f);

#endif

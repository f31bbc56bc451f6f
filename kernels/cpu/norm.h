/* norm.h: standardization: by given moments, row by row, over a window of channels, to unit norm.
 *
 * The scalar level computes in double, sums in the order of the elements, and rounds once. */
#ifndef MR_KERNELS_CPU_NORM_H
#define MR_KERNELS_CPU_NORM_H

#include "kernels/cpu/box.h"
#include "runtime/threads.h"

/* y = (x - mean[g]) · scale[g] + bias[g]: box is that of x, row-major; ys leads from an element to its g, along the
 * last dimension with stride 0 or 1. y may be x. */
typedef struct mr_affine_args {
    const void *x;
    void *y;
    mr_dtype type;
    const mr_box *box;
    const double *mean, *scale, *bias;
    mr_pool *pool;
} mr_affine_args;

/* Each row of x by itself: y = (x - mean) / sqrt(variance + epsilon) · scale + bias, or without center, x / sqrt(mean
 * of x² + epsilon) · scale. Element p of row r has the scale at r % period · step + p / each, and the bias likewise;
 * NULL: 1 and 0. saved_mean and saved_inv get each row's mean and 1 / sqrt(…); NULL: not wanted. y may be x. */
typedef struct mr_rows_args {
    const void *x, *scale, *bias;
    void *y, *saved_mean, *saved_inv;
    mr_dtype x_type, y_type, saved_type; /* y_type is also that of scale and bias */
    int64_t rows, cols, period, step, each;
    double epsilon;
    bool center;
    mr_pool *pool;
} mr_rows_args;

/* x is [outer, channels, inner]: y = x / (bias + alpha / size · Σ x²)^beta, the sum over the channels from
 * c - floor((size - 1) / 2) to c + ceil((size - 1) / 2). */
typedef struct mr_lrn_args {
    const void *x;
    void *y;
    int64_t outer, channels, inner, size;
    double alpha, beta, bias;
    mr_pool *pool;
} mr_lrn_args;

/* x is [outer, n, inner]: y = x / norm along n, p 1 or 2; 0 where the norm is 0. */
typedef struct mr_lp_norm_args {
    const void *x;
    void *y;
    int64_t outer, n, inner;
    int p;
    mr_pool *pool;
} mr_lp_norm_args;

typedef struct mr_norm_fns {
    void (*affine[MR_N_DTYPES])(const mr_affine_args *);
    void (*rows[MR_N_DTYPES][MR_N_DTYPES])(const mr_rows_args *); /* x × y */
    void (*lrn[MR_N_DTYPES])(const mr_lrn_args *);
    void (*lp_norm[MR_N_DTYPES])(const mr_lp_norm_args *);
} mr_norm_fns;

#endif

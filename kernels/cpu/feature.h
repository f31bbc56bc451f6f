/* feature.h: what is done to each feature, or to each row of features, before a model sees them. x is [rows, n]. */
#ifndef MR_KERNELS_CPU_FEATURE_H
#define MR_KERNELS_CPU_FEATURE_H

#include "runtime/dtype.h"
#include "runtime/threads.h"

typedef enum mr_row_norm { MR_NORM_MAX, MR_NORM_L1, MR_NORM_L2 } mr_row_norm;

typedef struct mr_feature_args {
    const void *x;
    void *y;
    int64_t rows, n;
    int64_t x_stride, y_stride;   /* copy: how far rows are apart; elsewhere they are n apart */
    const double *offset, *scale; /* scaler: one a feature, or one for all: stride 0 */
    int64_t offset_stride, scale_stride;
    mr_dtype to; /* copy, scaler, normalizer: of y, float32 or float64 */
    mr_row_norm norm;
    double threshold;    /* binarizer */
    int64_t bound;       /* binarizer of integers: 1 above, the integer part of the threshold */
    const void *missing; /* imputer: one element of x's type; a NaN stands for all NaNs */
    const void *imputed; /* likewise, one a feature or one for all */
    int64_t imputed_stride;
    mr_pool *pool;
} mr_feature_args;

typedef void mr_feature_fn(const mr_feature_args *a);

typedef struct mr_feature_fns {
    mr_feature_fn *copy[MR_N_DTYPES];
    mr_feature_fn *scaler[MR_N_DTYPES];     /* (x - offset) · scale in double */
    mr_feature_fn *normalizer[MR_N_DTYPES]; /* sums in double, in order */
    mr_feature_fn *binarizer[MR_N_DTYPES];  /* x > threshold: 1, else 0; y has the type of x */
    mr_feature_fn *imputer[MR_N_DTYPES];    /* likewise */
} mr_feature_fns;

void mr_feature_fill_scalar(mr_feature_fns *f);

#endif

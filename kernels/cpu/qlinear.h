/* qlinear.h: arithmetic on 8-bit codes that stand for (code - zero) · scale. A result is what real arithmetic gives,
 * rounded to even, plus the zero point, saturated. */
#ifndef MR_KERNELS_CPU_QLINEAR_H
#define MR_KERNELS_CPU_QLINEAR_H

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/quant.h"

/* add: y = (a - a_zero) · a_scale + (b - b_zero) · b_scale, mul: y = (a - a_zero) · (b - b_zero) · a_scale; y's own
 * scale is divided out. */
typedef struct mr_qlinear_params {
    int32_t a_zero, b_zero, zero;
    double a_scale, b_scale;
} mr_qlinear_params;

/* lookup: y = table[0][x]; choose: y = condition ? table[0][x] : table[1][y], by the bits of the codes */
typedef struct mr_qlinear_tables {
    uint8_t table[2][256];
} mr_qlinear_tables;

/* y = exp(x - max) / Σ exp(x - max) of rows along `count` elements that are `inner` apart; power[d] is e^(-d · scale),
 * d = max - x. */
typedef struct mr_qlinear_softmax_args {
    const void *x;
    void *y;
    const double *power;
    double y_scale;
    int32_t y_zero;
    int64_t outer, count, inner;
    mr_pool *pool;
} mr_qlinear_softmax_args;

/* y = (sums + add) · scale + bias, as a float rounded once, as a code with zero added. All are [row][col] with the
 * strides beside them. */
typedef struct mr_rescale_args {
    const int32_t *sums;
    const int32_t *add; /* may be NULL; wraps */
    int64_t add_row, add_col;
    const double *scale;
    int64_t scale_row, scale_col;
    const double *bias; /* may be NULL */
    int64_t bias_row, bias_col;
    int32_t zero;
    void *y;
    int64_t rows, cols;
    mr_pool *pool;
} mr_rescale_args;

typedef struct mr_qlinear_fns {
    mr_elementwise_fn add[2], mul[2]; /* uint8, int8 */
    mr_elementwise_fn lookup, choose;
    void (*softmax[2])(const mr_qlinear_softmax_args *a);
    void (*rescale[MR_N_DTYPES])(const mr_rescale_args *a); /* by the type of y */
} mr_qlinear_fns;

void mr_qlinear_fill_scalar(mr_qlinear_fns *f);
void mr_qlinear_fill_avx2(mr_qlinear_fns *f);

#endif

/* ms_qgemm.h: products of 8-bit codes that become floats: (A - a_zero) · (B - b_zero) · a_scale · b_scale + bias. */
#ifndef MR_OPS_MS_QGEMM_H
#define MR_OPS_MS_QGEMM_H

#include "ops/qmatmul.h"

/* Which inputs they are. */
typedef struct mr_scaled_places {
    mr_int_places product;
    int a_scale, b_scale, bias;
} mr_scaled_places;

/* Scratch: the sums, scales and biases, A's codes where they are found here, the kernel's own. */
typedef struct mr_scaled_product {
    mr_intgemm_args g;
    int32_t *sums;
    double *scale, *bias;
    uint8_t *codes;
    size_t bytes;
} mr_scaled_product;

/* Input i is one number, or one a column of the product: [N] or [1, …, N]. */
mr_status mr_want_columns(mr_call *c, int i, mr_dim n);
/* Lays the scratch from base on. */
mr_scaled_product mr_scaled_lay(const mr_call *c, const mr_scaled_places *at, char *base);
void mr_scaled_run(const mr_call *c, const mr_scaled_places *at, mr_scaled_product *m, int a_sign, double a_scale,
                   mr_tensor *y);

#endif

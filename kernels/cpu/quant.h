/* quant.h: what becomes of exact int32 sums: they are stored, or scaled to 8 bits. */
#ifndef MR_KERNELS_CPU_QUANT_H
#define MR_KERNELS_CPU_QUANT_H

#include "runtime/dtype.h"

/* y = saturate(round(sum · scale) + zero), ties to even. scale is [row][col] with these strides, 0 where it is the same
 * for all; without a scale the sums are stored as they are. */
typedef struct mr_requant {
    mr_dtype type; /* of y: MR_I32, or MR_U8 or MR_I8 with a scale */
    const double *scale;
    int64_t scale_row, scale_col;
    int32_t zero;
} mr_requant;

/* Ties to even. Beyond ±1024 every 8-bit result is saturated, whatever the zero point; NaN, which a scale of 0/0 makes,
 * goes to the lowest value. */
static inline double mr_requant_round(double x)
{
    x = x > -1024 ? x : -1024;
    x = x < 1024 ? x : 1024;
    return x + 0x1.8p52 - 0x1.8p52;
}

/* One row of sums, from column col on, to y, whose elements are y_step apart. */
static inline void mr_requant_row(const mr_requant *r, const uint32_t *sum, int64_t row, int64_t col, int64_t n,
                                  void *y, int64_t y_step)
{
    if (!r->scale) {
        for (int64_t i = 0; i < n; i++) ((int32_t *)y)[i * y_step] = (int32_t)sum[i];
        return;
    }
    const double *scale = r->scale + row * r->scale_row + col * r->scale_col;
    double zero = r->zero, low = r->type == MR_I8 ? INT8_MIN : 0, high = r->type == MR_I8 ? INT8_MAX : UINT8_MAX;
    for (int64_t i = 0; i < n; i++) {
        double v = mr_requant_round((int32_t)sum[i] * scale[i * r->scale_col]) + zero;
        v = v > low ? v : low;
        ((uint8_t *)y)[i * y_step] = (uint8_t)(int32_t)(v < high ? v : high);
    }
}

#endif

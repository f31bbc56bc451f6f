/* quant.h: what becomes of exact int32 sums: they are stored, or scaled to 8 bits. */
#ifndef MR_KERNELS_CPU_QUANT_H
#define MR_KERNELS_CPU_QUANT_H

#include <math.h>

#include "runtime/dtype.h"

/* y = saturate(round(sum · scale) + zero), ties to even. scale is [row][col] with these strides, 0 where it is the same
 * for all; without a scale the sums are stored as they are. */
typedef struct mr_requant {
    mr_dtype type; /* of y: MR_I32, or MR_U8 or MR_I8 with a scale */
    const double *scale;
    int64_t scale_row, scale_col;
    int32_t zero;
} mr_requant;

/* One row of sums, from column col on, to y, whose elements are y_step apart. */
void mr_requant_row(const mr_requant *r, const uint32_t *sum, int64_t row, int64_t col, int64_t n, void *y,
                    int64_t y_step);

#endif

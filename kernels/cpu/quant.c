/* quant.c: see quant.h. */
#include "kernels/cpu/quant.h"

static void store(const uint32_t *sum, int64_t n, int32_t *y, int64_t step)
{
    for (int64_t i = 0; i < n; i++) y[i * step] = (int32_t)sum[i];
}

/* NaN, which a scale of 0/0 makes, becomes the lowest value. */
static int32_t scaled(const mr_requant *r, uint32_t sum, double scale, double low, double high)
{
    double v = nearbyint((int32_t)sum * scale) + r->zero;
    v = v > low ? v : low;
    return (int32_t)(v < high ? v : high);
}

void mr_requant_row(const mr_requant *r, const uint32_t *sum, int64_t row, int64_t col, int64_t n, void *y,
                    int64_t y_step)
{
    if (!r->scale) {
        store(sum, n, y, y_step);
        return;
    }
    const double *scale = r->scale + row * r->scale_row + col * r->scale_col;
    double low = r->type == MR_I8 ? INT8_MIN : 0, high = r->type == MR_I8 ? INT8_MAX : UINT8_MAX;
    for (int64_t i = 0; i < n; i++)
        ((uint8_t *)y)[i * y_step] = (uint8_t)scaled(r, sum[i], scale[i * r->scale_col], low, high);
}

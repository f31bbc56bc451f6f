/* det.c: see det.h. */
#include "kernels/cpu/det.h"

#include <math.h>

#include "kernels/cpu/math.h"
#include "runtime/narrow.h"

/* The row at or below k with the largest element in column k. */
static int64_t pivot_of(const double *m, int64_t n, int64_t k)
{
    int64_t best = k;
    for (int64_t i = k + 1; i < n; i++)
        if (fabs(m[i * n + k]) > fabs(m[best * n + k])) best = i;
    return best;
}

/* Turns m into a triangle; the product of its diagonal, from the top, is the determinant. */
static double eliminate(double *m, int64_t n)
{
    double det = 1;
    for (int64_t k = 0; k < n; k++) {
        int64_t pivot = pivot_of(m, n, k);
        for (int64_t j = k; pivot != k && j < n; j++) {
            double t = m[k * n + j];
            m[k * n + j] = m[pivot * n + j];
            m[pivot * n + j] = t;
        }
        det *= pivot != k ? -m[k * n + k] : m[k * n + k];
        if (m[k * n + k] == 0) return det;
        for (int64_t i = k + 1; i < n; i++) {
            double factor = m[i * n + k] / m[k * n + k];
            for (int64_t j = k + 1; j < n; j++) m[i * n + j] -= factor * m[k * n + j];
        }
    }
    return det;
}

#define MR_BODY "kernels/cpu/det.inc"
#include "kernels/cpu/each_float.h"

void mr_det_fill_scalar(mr_det_fns *f)
{
    f->det[MR_F16] = det_f16;
    f->det[MR_BF16] = det_bf16;
    f->det[MR_F32] = det_f32;
    f->det[MR_F64] = det_f64;
}

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

static void exchange_rows(double *m, int64_t n, int64_t a, int64_t b, int64_t from)
{
    for (int64_t j = from; a != b && j < n; j++) {
        double t = m[a * n + j];
        m[a * n + j] = m[b * n + j];
        m[b * n + j] = t;
    }
}

/* Turns m into a triangle; the product of its diagonal, from the top, is the determinant. */
static double eliminate(double *m, int64_t n)
{
    double det = 1;
    for (int64_t k = 0; k < n; k++) {
        int64_t pivot = pivot_of(m, n, k);
        exchange_rows(m, n, k, pivot, k);
        det *= pivot != k ? -m[k * n + k] : m[k * n + k];
        if (m[k * n + k] == 0) return det;
        for (int64_t i = k + 1; i < n; i++) {
            double factor = m[i * n + k] / m[k * n + k];
            for (int64_t j = k + 1; j < n; j++) m[i * n + j] -= factor * m[k * n + j];
        }
    }
    return det;
}

/* Turns m into the unit matrix, and r, which begins as it, into the inverse, by the same steps. */
static void invert(double *m, double *r, int64_t n)
{
    for (int64_t i = 0; i < n * n; i++) r[i] = i % (n + 1) == 0;
    for (int64_t k = 0; k < n; k++) {
        const int64_t pivot = pivot_of(m, n, k);
        exchange_rows(m, n, k, pivot, k);
        exchange_rows(r, n, k, pivot, 0);
        const double diagonal = m[k * n + k];
        for (int64_t j = k; j < n; j++) m[k * n + j] /= diagonal;
        for (int64_t j = 0; j < n; j++) r[k * n + j] /= diagonal;
        for (int64_t i = 0; i < n; i++) {
            const double factor = m[i * n + k];
            for (int64_t j = k; i != k && j < n; j++) m[i * n + j] -= factor * m[k * n + j];
            for (int64_t j = 0; i != k && j < n; j++) r[i * n + j] -= factor * r[k * n + j];
        }
    }
}

#define MR_BODY "kernels/cpu/det.inc"
#include "kernels/cpu/each_float.h"

void mr_det_fill_scalar(mr_det_fns *f)
{
    f->det[MR_F16] = det_f16, f->inverse[MR_F16] = inverse_f16;
    f->det[MR_BF16] = det_bf16, f->inverse[MR_BF16] = inverse_bf16;
    f->det[MR_F32] = det_f32, f->inverse[MR_F32] = inverse_f32;
    f->det[MR_F64] = det_f64, f->inverse[MR_F64] = inverse_f64;
}

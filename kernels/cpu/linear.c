/* linear.c: see linear.h. A few rows stand side by side in registers, each with a sum to itself, for a few vectors at a
 * time. Sums go on in y from one part of the features to the next. */
#include "kernels/cpu/linear.h"

#include "kernels/cpu/math.h"

enum { LANES = 8, VECTORS = 4, DEPTH = 64 };

/* sum[j][i] += x[f][i] · v[j][f], or the square of their difference, for all f. */
static inline void add_up(const double *x, const double *const *v, int64_t depth, double sum[VECTORS][LANES], int lanes,
                          bool distance)
{
    for (int64_t f = 0; f < depth; f++)
        for (int j = 0; j < VECTORS; j++) {
            double w = v[j][f];
            for (int i = 0; i < lanes; i++) {
                double d = x[f * lanes + i] - w;
                sum[j][i] += distance ? d * d : x[f * lanes + i] * w;
            }
        }
}

/* One part of the features of n ≤ lanes rows from `row` on, which lie in x; lanes is LANES or 1. */
static inline void add_part(const mr_linear_args *a, const double *x, int64_t row, int64_t n, int64_t first,
                            int64_t depth, int lanes, bool distance)
{
    for (int64_t k = 0; k < a->n; k += VECTORS) {
        const int64_t m = a->n - k < VECTORS ? a->n - k : VECTORS;
        const double *v[VECTORS];
        double sum[VECTORS][LANES] = {0};
        for (int64_t j = 0; j < VECTORS; j++) v[j] = a->vectors + (k + (j < m ? j : m - 1)) * a->features + first;
        for (int64_t j = 0; first > 0 && j < m; j++)
            for (int64_t i = 0; i < n; i++) sum[j][i] = a->y[(row + i) * a->n + k + j];
        add_up(x, v, depth, sum, lanes, distance);
        for (int64_t j = 0; j < m; j++)
            for (int64_t i = 0; i < n; i++) a->y[(row + i) * a->n + k + j] = mr_canonical(sum[j][i]);
    }
}

#define S      float
#define SUFFIX f32
#include "kernels/cpu/linear.inc"

#define S      double
#define SUFFIX f64
#include "kernels/cpu/linear.inc"

#define S      int32_t
#define SUFFIX i32
#include "kernels/cpu/linear.inc"

#define S      int64_t
#define SUFFIX i64
#include "kernels/cpu/linear.inc"

static void svm_part(void *arg, int64_t begin, int64_t end)
{
    const mr_svm_args *a = arg;
    double *k = a->k;
    if (a->kernel == MR_SVM_RBF)
        for (int64_t i = begin; i < end; i++) k[i] = mr_exp(-a->gamma * k[i]);
    else if (a->kernel == MR_SVM_SIGMOID)
        for (int64_t i = begin; i < end; i++) k[i] = mr_tanh(a->gamma * k[i] + a->coef0);
    else
        for (int64_t i = begin; i < end; i++) k[i] = mr_pow(a->gamma * k[i] + a->coef0, a->degree);
}

static void svm(const mr_svm_args *a)
{
    if (a->kernel != MR_SVM_LINEAR) mr_parallel_for(a->pool, a->n, 1024, svm_part, (void *)a);
}

#define EACH(f) [MR_F32] = f##_f32, [MR_F64] = f##_f64, [MR_I32] = f##_i32, [MR_I64] = f##_i64

void mr_linear_fill_scalar(mr_linear_fns *f)
{
    *f = (mr_linear_fns){.product = {EACH(product)}, .distance = {EACH(distance)}, .svm = svm};
}

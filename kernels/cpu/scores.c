/* scores.c: see scores.h. ONNX names the transforms and leaves their formulas open: these are onnx.reference's, which
 * ONNX Runtime has as well. */
#include "kernels/cpu/scores.h"

#include <math.h>

#include "kernels/cpu/math.h"
#include "kernels/cpu/wide.h"

static double largest(const double *s, int64_t n)
{
    double top = -(double)INFINITY;
    for (int64_t i = 0; i < n; i++) top = s[i] > top || isnan(s[i]) ? s[i] : top;
    return top;
}

static void softmax(double *s, int64_t n)
{
    double top = largest(s, n), sum = 0;
    for (int64_t i = 0; i < n; i++) sum += s[i] = mr_exp(s[i] - top);
    for (int64_t i = 0; i < n; i++) s[i] = mr_canonical(s[i] / sum);
}

/* A score of 0 stands for no vote, and stays 0. */
static void softmax_zero(double *s, int64_t n)
{
    const double none = 1e-7;
    double top = largest(s, n), sum = 0;
    for (int64_t i = 0; i < n; i++) {
        s[i] = s[i] > none || s[i] < -none ? mr_exp(s[i] - top) : s[i] * mr_exp(-top);
        sum += s[i];
    }
    for (int64_t i = 0; i < n; i++) s[i] = sum == 0 ? 0.5 : mr_canonical(s[i] / sum);
}

/* √2 times the inverse of erf at 2p - 1, as Winitzki approximates it: with y = log(1 - x²) and a = 0.147,
 * erf⁻¹(x)² ≈ √((2 / πa + y / 2)² - y / a) - (2 / πa + y / 2). */
static double probit(double p)
{
    const double a = 0.147, pi = 3.141592653589793, root2 = 1.41421356;
    double x = 2 * p - 1, rest = (1 - x) * (1 + x);
    if (rest == 0) return 0;
    double y = mr_log(rest), b = 2 / (pi * a) + 0.5 * y;
    double size = sqrt(sqrt(b * b - 1 / a * y) - b);
    return mr_canonical(root2 * (x < 0 ? -size : size));
}

void mr_transform_scores(mr_transform t, double *s, int64_t rows, int64_t n)
{
    if (t == MR_NO_TRANSFORM) return;
    for (int64_t r = 0; r < rows; r++, s += n) {
        if (t == MR_SOFTMAX)
            softmax(s, n);
        else if (t == MR_SOFTMAX_ZERO)
            softmax_zero(s, n);
        else
            for (int64_t i = 0; i < n; i++) s[i] = t == MR_LOGISTIC ? mr_sigmoid(s[i]) : probit(s[i]);
    }
}

void mr_store_scores(const double *s, int64_t n, mr_dtype d, void *y)
{
    char *to = y;
    const size_t size = mr_dtype_size(d);
    mr_wide w;
    for (int64_t done = 0; done < n; done += MR_TILE) {
        int64_t k = n - done < MR_TILE ? n - done : MR_TILE;
        for (int64_t i = 0; i < k; i++) w.f[i] = s[done + i];
        mr_wide_store(MR_WIDE_F64, &w, k, d, to + (size_t)done * size, (mr_wide_rule){0});
    }
}

int64_t mr_top_score(const double *s, int64_t n)
{
    int64_t top = 0;
    for (int64_t i = 1; i < n; i++)
        if (s[i] > s[top] || (isnan(s[top]) && !isnan(s[i]))) top = i;
    return top;
}

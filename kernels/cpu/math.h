/* Elementary functions in double with the same bits on every machine and compiler.
 *
 * Only IEEE + - * /, sqrt and integers are used, in a written order; compile with -ffp-contract=off. Errors are below
 * 1 ULP (tests/unit/test_math.c has the measured ones), so that a result rounded to float is within 0.51 ULP of it.
 * Special values are those of C17 Annex F; every NaN that is returned is the canonical one, 0x7ff8000000000000.
 *
 * Functions that fill whole tensors are inline and without branches, so that loops over them can be vectorized.
 */
#ifndef MR_KERNELS_CPU_MATH_H
#define MR_KERNELS_CPU_MATH_H

#include "kernels/cpu/math_parts.h"

double mr_exp2(double x);
double mr_expm1(double x);
double mr_log2(double x);
double mr_log10(double x);
double mr_log1p(double x);
double mr_pow(double x, double y);

double mr_sin(double x);
double mr_cos(double x);
double mr_tan(double x);
double mr_asin(double x);
double mr_acos(double x);
double mr_atan(double x);
double mr_atan2(double y, double x);

double mr_sinh(double x);
double mr_cosh(double x);
double mr_asinh(double x);
double mr_acosh(double x);
double mr_atanh(double x);

double mr_erfc(double x);
double mr_softplus(double x);       /* log(1 + exp(x)) */
double mr_fmod(double x, double y); /* exact; the sign of x */

/* Beyond the bounds the result is 0 or infinity all the same; a NaN passes. */
static inline double mr_clamp(double x, double bound)
{
    x = x > bound ? bound : x;
    return x < -bound ? -bound : x;
}

static inline double mr_exp(double x)
{
    mr_scaled e = mr_exp_parts(mr_clamp(x, 800), 0);
    return mr_canonical(mr_scale(e.hi + e.lo, e.k));
}

static inline double mr_log(double x)
{
    mr_pair l = mr_log_pair(x, 0);
    return mr_log_special(x, l.hi + l.lo);
}

/* Both reach 1 in double before the bound. */
static inline double mr_tanh(double x)
{
    double a = mr_abs(x);
    mr_pair t = mr_piece(&mr_tanh_pieces, a > 20 ? 20 : a, 0);
    return mr_canonical(mr_signed(t.hi + t.lo, x));
}

static inline double mr_erf(double x)
{
    double a = mr_abs(x);
    mr_pair e = mr_piece(&mr_erf_pieces, a > 6 ? 6 : a, 0);
    return mr_canonical(mr_signed(e.hi + e.lo, x));
}

/* 1 / (1 + exp(-x)). With t = exp(-|x|) it is 1 / (1 + t), or t / (1 + t) for negative x. */
static inline double mr_sigmoid(double x)
{
    mr_scaled e = mr_exp_parts(-mr_abs(mr_clamp(x, 800)), 0);
    mr_pair t = mr_fast_sum(mr_scale(e.hi, e.k), mr_scale(e.lo, e.k));
    mr_pair bottom = mr_fast_sum(1, t.hi), top = {x < 0 ? t.hi : 1, x < 0 ? t.lo : 0};
    bottom.lo += t.lo;
    mr_pair s = mr_div_pair(top, bottom);
    return mr_canonical(s.hi + s.lo);
}

#endif

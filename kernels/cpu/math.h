/* Elementary functions in double with the same bits on every machine and compiler.
 *
 * Only IEEE + - * /, sqrt and integers are used, in a written order; compile with -ffp-contract=off. Errors are below
 * 1 ULP (tests/unit/test_math.c has the measured ones), so that a result rounded to float is within 0.51 ULP of it.
 * Special values are those of C17 Annex F; every NaN that is returned is the canonical one, 0x7ff8000000000000.
 */
#ifndef MR_KERNELS_CPU_MATH_H
#define MR_KERNELS_CPU_MATH_H

double mr_exp(double x);
double mr_exp2(double x);
double mr_expm1(double x);
double mr_log(double x);
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
double mr_tanh(double x);
double mr_asinh(double x);
double mr_acosh(double x);
double mr_atanh(double x);

double mr_erf(double x);
double mr_erfc(double x);
double mr_sigmoid(double x);        /* 1 / (1 + exp(-x)) */
double mr_softplus(double x);       /* log(1 + exp(x)) */
double mr_fmod(double x, double y); /* exact; the sign of x */

#endif

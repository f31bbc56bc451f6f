/* The functions of one argument, with the long double function that each is held against; for test_math and sweep_math.
 */
#ifndef MR_TESTS_UNIT_MATH_CASES_H
#define MR_TESTS_UNIT_MATH_CASES_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/math.h"

typedef struct {
    int fraction, smallest; /* bits of the fraction; exponent of the smallest subnormal */
    long double overflow;   /* what rounds to infinity */
} format;

static const format F64 = {52, -1074, DBL_MAX *(1 + 0x1p-54L)};
static const format F32 = {23, -149, FLT_MAX *(1 + 0x1p-25L)};

/* The distance of got, which is of the format, from exact, in units in the last place of exact. */
static inline double ulps(double got, long double exact, format f)
{
    if (isnan(exact)) return isnan(got) ? 0 : INFINITY;
    if (fabsl(exact) >= f.overflow) return got == (exact > 0 ? INFINITY : -INFINITY) ? 0 : INFINITY;
    int exponent = exact == 0 ? f.smallest : ilogbl(exact) - f.fraction;
    return (double)(fabsl(got - exact) / ldexpl(1, exponent < f.smallest ? f.smallest : exponent));
}

static inline double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static inline double softplus(double x)
{
    return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
}

static inline long double sigmoidl(long double x)
{
    return 1 / (1 + expl(-x));
}

static inline long double softplusl(long double x)
{
    return (x > 0 ? x : 0) + log1pl(expl(-fabsl(x)));
}

typedef struct {
    const char *name;
    double (*f)(double);
    long double (*oracle)(long double);
    double (*quick)(double); /* within some ULP of double, which is enough to judge a float */
    double ranges[3][2];
    uint64_t digest;
} unary;

static const unary unaries[] = {
    {"exp", mr_exp, expl, exp, {{-746, 710}, {-1, 1}, {-0.01, 0.01}}, 0x0093f3f9ee911b9c},
    {"exp2", mr_exp2, exp2l, exp2, {{-1075, 1024}, {-1, 1}, {-0.01, 0.01}}, 0x3f253c082e56825e},
    {"expm1", mr_expm1, expm1l, expm1, {{-50, 710}, {-1, 1}, {-0.2, 0.2}}, 0xa3a06115617851ef},
    {"log", mr_log, logl, log, {{0, DBL_MAX}, {0.5, 2}, {0.99, 1.01}}, 0xb21c275d4b7b74e2},
    {"log2", mr_log2, log2l, log2, {{0, DBL_MAX}, {0.5, 2}, {0.99, 1.01}}, 0xf1e4826ad4468b05},
    {"log10", mr_log10, log10l, log10, {{0, DBL_MAX}, {0.5, 2}, {0.99, 1.01}}, 0x9a32be346c8ab2f7},
    {"log1p", mr_log1p, log1pl, log1p, {{-1, DBL_MAX}, {-0.5, 1}, {-0.01, 0.01}}, 0xd9d32672f6771924},
    {"sin", mr_sin, sinl, sin, {{-DBL_MAX, DBL_MAX}, {-100, 100}, {-1, 1}}, 0x6c3c42c8e37d0124},
    {"cos", mr_cos, cosl, cos, {{-DBL_MAX, DBL_MAX}, {-100, 100}, {-1, 1}}, 0xd13cd251dd0c94e8},
    {"tan", mr_tan, tanl, tan, {{-DBL_MAX, DBL_MAX}, {-100, 100}, {-1, 1}}, 0x1db75b58ce66315f},
    {"asin", mr_asin, asinl, asin, {{-1, 1}, {0.4, 0.6}, {0.99, 1}}, 0xdabe6ae4001e49a2},
    {"acos", mr_acos, acosl, acos, {{-1, 1}, {0.4, 0.6}, {0.99, 1}}, 0x21e5f397834e48d7},
    {"atan", mr_atan, atanl, atan, {{-DBL_MAX, DBL_MAX}, {-10, 10}, {0.9, 1.1}}, 0x0d94121fcd7bd577},
    {"sinh", mr_sinh, sinhl, sinh, {{-711, 711}, {-50, 50}, {-2, 2}}, 0xadec1ea5d69737e9},
    {"cosh", mr_cosh, coshl, cosh, {{-711, 711}, {-50, 50}, {-2, 2}}, 0x4438868d6653b864},
    {"tanh", mr_tanh, tanhl, tanh, {{-30, 30}, {-2, 2}, {-0.1, 0.1}}, 0x76767ff66cc5d9d7},
    {"asinh", mr_asinh, asinhl, asinh, {{-DBL_MAX, DBL_MAX}, {-10, 10}, {-1, 1}}, 0xf371e948d5b95e53},
    {"acosh", mr_acosh, acoshl, acosh, {{1, DBL_MAX}, {1, 10}, {1, 1.001}}, 0xc1c9c2aee56e025a},
    {"atanh", mr_atanh, atanhl, atanh, {{-1, 1}, {0.4, 0.6}, {0.99, 1}}, 0x98e3f47cce49dfc8},
    {"erf", mr_erf, erfl, erf, {{-7, 7}, {-1, 1}, {-0.1, 0.1}}, 0x75242b49209b13fc},
    {"erfc", mr_erfc, erfcl, erfc, {{-7, 28}, {-1, 1}, {0.4, 3}}, 0xeeed3b735046ff6d},
    {"sigmoid", mr_sigmoid, sigmoidl, sigmoid, {{-746, 50}, {-10, 10}, {-0.1, 0.1}}, 0xc81293ea5d24cc4a},
    {"softplus", mr_softplus, softplusl, softplus, {{-746, 800}, {-40, 40}, {-1, 1}}, 0x14966a3ced165ac5},
};

#endif

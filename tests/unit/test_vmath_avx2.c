/* The vector functions against the double ones: the largest error in ULP of float over bit patterns spread evenly over
 * the whole range (all 2^32 of them with -a), and special values. -v prints the errors. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "kernels/cpu/vmath_avx2.h"

#define LIMIT 2.2

static double phi(double x)
{
    return 0.5 * mr_erfc(-x * 0x1.6a09e667f3bcdp-1);
}
static double log1p_positive(double x)
{
    return x >= 0 && x < INFINITY ? mr_log1p(x) : 0;
}
static __m256 v_log1p_checked(__m256 x)
{
    __m256 inside = _mm256_and_ps(_mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_GE_OQ), v_lt(x, _mm256_set1_ps(INFINITY)));
    return _mm256_and_ps(inside, v_log1p_positive(x));
}
static double exp_(double x)
{
    return mr_exp(x);
}
static double log_(double x)
{
    return mr_log(x);
}
static double tanh_(double x)
{
    return mr_tanh(x);
}
static double sigmoid_(double x)
{
    return mr_sigmoid(x);
}
static double erf_(double x)
{
    return mr_erf(x);
}

static const struct function {
    const char *name;
    __m256 (*v)(__m256);
    double (*f)(double);
} functions[] = {
    {"exp", v_exp, exp_},
    {"expm1", v_expm1, mr_expm1},
    {"log", v_log, log_},
    {"tanh", v_tanh, tanh_},
    {"log1p", v_log1p_checked, log1p_positive},
    {"sigmoid", v_sigmoid, sigmoid_},
    {"erf", v_erf, erf_},
    {"phi", v_phi, phi},
    {"sin", v_sin, mr_sin},
    {"cos", v_cos, mr_cos},
};

static double ulps(float got, double exact)
{
    if (isnan(exact) || isnan(got)) return isnan(exact) && isnan(got) ? 0 : INFINITY;
    if (isinf((float)exact) || isinf(got)) return got == (float)exact ? 0 : INFINITY;
    int exponent = exact == 0 ? -149 : ilogb(exact) - 23;
    return fabs(got - exact) / ldexp(1, exponent < -149 ? -149 : exponent);
}

static bool check(const struct function *f, uint64_t step, bool verbose)
{
    double worst = 0;
    float where = 0;
    for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += 8 * step) {
        float x[8], y[8];
        for (uint64_t i = 0; i < 8; i++) {
            uint32_t b = (uint32_t)(bits + i * step);
            memcpy(&x[i], &b, sizeof b);
        }
        _mm256_storeu_ps(y, f->v(_mm256_loadu_ps(x)));
        for (int i = 0; i < 8; i++) {
            double exact = f->f(x[i]), error = ulps(y[i], exact);
            bool sign = isnan(exact) || !signbit(y[i]) == !signbit(exact);
            if (!sign) error = INFINITY;
            if (error > worst) worst = error, where = x[i];
        }
    }
    if (verbose || worst >= LIMIT) printf("%-8s %.3f ULP at %a\n", f->name, worst, where);
    return worst < LIMIT;
}

int main(int argc, char **argv)
{
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
        printf("0 passed, 0 failed, 1 skipped: no AVX2 here\n");
        return 0;
    }
    bool all = argc > 1 && !strcmp(argv[1], "-a"), verbose = argc > 1;
    int passed = 0, n = sizeof functions / sizeof *functions;
    for (int i = 0; i < n; i++) passed += check(&functions[i], all ? 1 : 1021, verbose);
    printf("%d passed, %d failed\n", passed, n - passed);
    return passed < n;
}

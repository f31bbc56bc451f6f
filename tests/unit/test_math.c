/* The elementary functions against long double: the largest error in ULP over samples of several ranges, the special
 * values of C17 Annex F, and a digest of the results, which must be the same for every compiler and machine.
 * `test_math -v` prints the errors. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/cpu/math.h"

enum { SAMPLES = 200000 };

static int passed, failed;

static void check(bool ok, const char *name, const char *what, double x, double got)
{
    if (ok)
        passed++;
    else {
        failed++;
        printf("FAIL %s: %s: x %a gives %a\n", name, what, x, got);
    }
}

static uint64_t state = 1;

static uint64_t random_bits(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    uint64_t z = state;
    z = (z ^ z >> 31) * 0x7fb5d329728ea185u;
    return z ^ z >> 29;
}

/* Half of the samples spread evenly over the values, half over the bit patterns. */
static double random_between(double low, double high)
{
    double u = (double)(random_bits() >> 11) * 0x1p-53;
    if (random_bits() & 1) return low + u * (high - low);
    int64_t a = (int64_t)mr_bits(mr_abs(low)), b = (int64_t)mr_bits(mr_abs(high));
    if ((low < 0) == (high < 0)) return mr_signed(mr_double((uint64_t)(a + (int64_t)(u * (double)(b - a)))), low);
    bool left = random_bits() & 1;
    return mr_signed(mr_double((uint64_t)(u * (double)(left ? a : b))), left ? -1 : 1);
}

static double ulps(double got, long double exact)
{
    if (isnan(exact)) return isnan(got) ? 0 : INFINITY;
    if (fabsl(exact) > DBL_MAX * (1 + 0x1p-54L)) return got == (double)exact ? 0 : INFINITY;
    int exponent = exact == 0 ? -1074 : ilogbl(exact) - 52;
    return (double)(fabsl(got - exact) / ldexpl(1, exponent < -1074 ? -1074 : exponent));
}

static long double sigmoidl(long double x)
{
    return 1 / (1 + expl(-x));
}

static long double softplusl(long double x)
{
    return (x > 0 ? x : 0) + log1pl(expl(-fabsl(x)));
}

typedef struct {
    const char *name;
    double (*f)(double);
    long double (*oracle)(long double);
    double ranges[3][2];
    uint64_t digest;
} unary;

static const unary unaries[] = {
    {"exp", mr_exp, expl, {{-746, 710}, {-1, 1}, {-0.01, 0.01}}, 0x0093f3f9ee911b9c},
    {"exp2", mr_exp2, exp2l, {{-1075, 1024}, {-1, 1}, {-0.01, 0.01}}, 0x3f253c082e56825e},
    {"expm1", mr_expm1, expm1l, {{-50, 710}, {-1, 1}, {-0.2, 0.2}}, 0xa3a06115617851ef},
    {"log", mr_log, logl, {{0, DBL_MAX}, {0.5, 2}, {0.99, 1.01}}, 0xb21c275d4b7b74e2},
    {"log2", mr_log2, log2l, {{0, DBL_MAX}, {0.5, 2}, {0.99, 1.01}}, 0xf1e4826ad4468b05},
    {"log10", mr_log10, log10l, {{0, DBL_MAX}, {0.5, 2}, {0.99, 1.01}}, 0x9a32be346c8ab2f7},
    {"log1p", mr_log1p, log1pl, {{-1, DBL_MAX}, {-0.5, 1}, {-0.01, 0.01}}, 0xd9d32672f6771924},
    {"sin", mr_sin, sinl, {{-DBL_MAX, DBL_MAX}, {-100, 100}, {-1, 1}}, 0x6c3c42c8e37d0124},
    {"cos", mr_cos, cosl, {{-DBL_MAX, DBL_MAX}, {-100, 100}, {-1, 1}}, 0xd13cd251dd0c94e8},
    {"tan", mr_tan, tanl, {{-DBL_MAX, DBL_MAX}, {-100, 100}, {-1, 1}}, 0x1db75b58ce66315f},
    {"asin", mr_asin, asinl, {{-1, 1}, {0.4, 0.6}, {0.99, 1}}, 0xdabe6ae4001e49a2},
    {"acos", mr_acos, acosl, {{-1, 1}, {0.4, 0.6}, {0.99, 1}}, 0x21e5f397834e48d7},
    {"atan", mr_atan, atanl, {{-DBL_MAX, DBL_MAX}, {-10, 10}, {0.9, 1.1}}, 0x0d94121fcd7bd577},
    {"sinh", mr_sinh, sinhl, {{-711, 711}, {-50, 50}, {-2, 2}}, 0xadec1ea5d69737e9},
    {"cosh", mr_cosh, coshl, {{-711, 711}, {-50, 50}, {-2, 2}}, 0x4438868d6653b864},
    {"tanh", mr_tanh, tanhl, {{-30, 30}, {-2, 2}, {-0.1, 0.1}}, 0x76767ff66cc5d9d7},
    {"asinh", mr_asinh, asinhl, {{-DBL_MAX, DBL_MAX}, {-10, 10}, {-1, 1}}, 0xf371e948d5b95e53},
    {"acosh", mr_acosh, acoshl, {{1, DBL_MAX}, {1, 10}, {1, 1.001}}, 0xc1c9c2aee56e025a},
    {"atanh", mr_atanh, atanhl, {{-1, 1}, {0.4, 0.6}, {0.99, 1}}, 0x98e3f47cce49dfc8},
    {"erf", mr_erf, erfl, {{-7, 7}, {-1, 1}, {-0.1, 0.1}}, 0x75242b49209b13fc},
    {"erfc", mr_erfc, erfcl, {{-7, 28}, {-1, 1}, {0.4, 3}}, 0xeeed3b735046ff6d},
    {"sigmoid", mr_sigmoid, sigmoidl, {{-746, 50}, {-10, 10}, {-0.1, 0.1}}, 0xc81293ea5d24cc4a},
    {"softplus", mr_softplus, softplusl, {{-746, 800}, {-40, 40}, {-1, 1}}, 0x14966a3ced165ac5},
};

typedef struct {
    const char *name;
    double (*f)(double, double);
    long double (*oracle)(long double, long double);
    double x[2], y[2];
    uint64_t digest;
} binary;

static const binary binaries[] = {
    {"pow", mr_pow, powl, {0, 1e10}, {-40, 40}, 0x80999a667244f2fa},
    {"pow near 1", mr_pow, powl, {0.99, 1.01}, {-70000, 70000}, 0xf6736388d9156d6b},
    {"pow subnormal", mr_pow, powl, {0x1p-1060, 0x1p-1000}, {-1.1, 1.1}, 0x309e209f53a17099},
    {"atan2", mr_atan2, atan2l, {-DBL_MAX, DBL_MAX}, {-DBL_MAX, DBL_MAX}, 0xadf52900752d35a3},
    {"atan2 near 1", mr_atan2, atan2l, {-2, 2}, {-2, 2}, 0xb49fff7d0bd05c48},
    {"fmod", mr_fmod, fmodl, {-DBL_MAX, DBL_MAX}, {-DBL_MAX, DBL_MAX}, 0x9acb71ff7c64494d},
    {"fmod near 1", mr_fmod, fmodl, {-1000, 1000}, {-3, 3}, 0x08c25bfd4423502e},
};

/* In pairs and alone these reach every case of Annex F. */
static const double specials[] = {
    0,
    -0.0,
    1,
    -1,
    0.5,
    -0.5,
    2,
    -2,
    3,
    -3,
    1.5,
    -1.5,
    0x1p53,
    -0x1.fffffffffffffp52,
    0x1p-1074,
    -0x1p-1022,
    DBL_MAX,
    -DBL_MAX,
    710,
    -746,
    0x1.fffffffffffffp-1,
    0x1.0000000000001p0,
    0x1p20,
    0x1.8p20,
    0x1p1000,
    INFINITY,
    -INFINITY,
    NAN,
};
enum { SPECIALS = sizeof specials / sizeof *specials };

/* Infinities, NaN, zeros and their signs as in the C library; other values within an ULP. NaN is canonical. */
static bool agrees(double got, long double exact)
{
    if (isnan(got)) return isnan(exact) && mr_bits(got) == 0x7ff8000000000000u;
    return ulps(got, exact) <= 1 && !signbit(got) == !signbit(exact);
}

static uint64_t digest(uint64_t sum, double y)
{
    return (sum ^ mr_bits(y)) * 0x100000001b3u;
}

static void check_unary(const unary *u, bool verbose)
{
    double worst = 0, where = 0;
    uint64_t sum = 0;
    for (int r = 0; r < 3; r++)
        for (int i = 0; i < SAMPLES / 3; i++) {
            double x = random_between(u->ranges[r][0], u->ranges[r][1]), y = u->f(x);
            double error = ulps(y, u->oracle(x));
            sum = digest(sum, y);
            if (error > worst) {
                worst = error;
                where = x;
            }
        }
    check(worst <= 1, u->name, "more than 1 ULP", where, u->f(where));
    check(sum == u->digest, u->name, "other bits", where, u->f(where));
    for (int i = 0; i < SPECIALS; i++) {
        double x = specials[i], y = u->f(x);
        check(agrees(y, u->oracle(x)), u->name, "special value", x, y);
    }
    if (verbose) printf("%-9s %.3f ULP at %a digest 0x%016" PRIx64 "\n", u->name, worst, where, sum);
}

static void check_binary(const binary *b, bool verbose)
{
    double worst = 0, where = 0;
    uint64_t sum = 0;
    for (int i = 0; i < SAMPLES / 4; i++) {
        double x = random_between(b->x[0], b->x[1]), y = random_between(b->y[0], b->y[1]), z = b->f(x, y);
        double error = ulps(z, b->oracle(x, y));
        sum = digest(sum, z);
        if (error > worst) {
            worst = error;
            where = x;
        }
    }
    check(worst <= 1, b->name, "more than 1 ULP", where, worst);
    check(sum == b->digest, b->name, "other bits", where, worst);
    for (int i = 0; i < SPECIALS * SPECIALS; i++) {
        double x = specials[i / SPECIALS], y = specials[i % SPECIALS], z = b->f(x, y);
        check(agrees(z, b->oracle(x, y)), b->name, "special value", x, z);
    }
    if (verbose) printf("%-9s %.3f ULP at %a digest 0x%016" PRIx64 "\n", b->name, worst, where, sum);
}

int main(int argc, char **argv)
{
    bool verbose = argc > 1 && !strcmp(argv[1], "-v");
    for (size_t i = 0; i < sizeof unaries / sizeof *unaries; i++) check_unary(&unaries[i], verbose);
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++) check_binary(&binaries[i], verbose);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}

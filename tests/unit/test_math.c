/* The elementary functions against long double: the largest error in ULP over samples of several ranges, the special
 * values of C17 Annex F, and a digest of the results, which must be the same for every compiler and machine.
 * `test_math -v` prints the errors. */
#include <inttypes.h>
#include <stdio.h>

#include "tests/unit/math_cases.h"

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
    int64_t a = (int64_t)mr_bits_f64(mr_abs(low)), b = (int64_t)mr_bits_f64(mr_abs(high));
    if ((low < 0) == (high < 0)) return mr_signed(mr_f64_bits((uint64_t)(a + (int64_t)(u * (double)(b - a)))), low);
    bool left = random_bits() & 1;
    return mr_signed(mr_f64_bits((uint64_t)(u * (double)(left ? a : b))), left ? -1 : 1);
}

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
    if (isnan(got)) return isnan(exact) && mr_bits_f64(got) == 0x7ff8000000000000u;
    return ulps(got, exact, F64) <= 1 && !signbit(got) == !signbit(exact);
}

static uint64_t digest(uint64_t sum, double y)
{
    return (sum ^ mr_bits_f64(y)) * 0x100000001b3u;
}

static void check_unary(const unary *u, bool verbose)
{
    double worst = 0, where = 0;
    uint64_t sum = 0;
    for (int r = 0; r < 3; r++)
        for (int i = 0; i < SAMPLES / 3; i++) {
            double x = random_between(u->ranges[r][0], u->ranges[r][1]), y = u->f(x);
            double error = ulps(y, u->oracle(x), F64);
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
        double error = ulps(z, b->oracle(x, y), F64);
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

/* What the elementary functions are made of: numbers kept as the unevaluated sum of two doubles, tables, and exp and
 * log before their last rounding. For math.h and math*.c only.
 *
 * Sources: Dekker, "A floating-point technique for extending the available precision" (1971), and Knuth for the sums
 * and products without error; Tang, "Table-driven implementation of the exponential function" (1989) and "… of the
 * logarithm function" (1990) for the table lookups. No fma: a product's error comes from splitting its factors.
 */
#ifndef MR_KERNELS_CPU_MATH_PARTS_H
#define MR_KERNELS_CPU_MATH_PARTS_H

#include <float.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/narrow.h"

#if FLT_EVAL_METHOD != 0
#error "the bits of these functions need arithmetic without excess precision"
#endif

#include "kernels/cpu/math_constants.inc"

#define MR_INF (__builtin_inf())
#define MR_NAN (__builtin_nan(""))

typedef struct {
    double hi, lo;
} mr_pair;

/* (hi + lo) * 2^(k - MR_SCALE_ZERO) */
#define MR_SCALE_ZERO 4096
typedef struct {
    double hi, lo;
    uint64_t k;
} mr_scaled;

/* Rows {center, unit, high, low, c1 … c12} of piecewise polynomials; see tools/gen_math.py. */
typedef struct {
    const double (*rows)[16];
    int64_t first; /* exponent and three bits of the fraction of arguments in row 0 */
    int64_t last;
} mr_pieces;

extern const double mr_exp_rows[128][2]; /* 2^(i/128), what is missing relative to it */
extern const double mr_log_rows[128][3]; /* 1/c, log(c) in two parts */
extern const mr_pieces mr_tanh_pieces, mr_erf_pieces, mr_erfcx_pieces, mr_sin_pieces, mr_cos_pieces, mr_tan_pieces,
    mr_asin_pieces, mr_atan_pieces, mr_sinh_pieces, mr_asinh_pieces, mr_atanh_pieces;
extern const uint64_t mr_two_over_pi[21]; /* 64 zeros, then the bits of 2/pi */

static inline double mr_abs(double x)
{
    return mr_f64_bits(mr_bits_f64(x) & INT64_MAX);
}

/* x, its sign changed where y is negative. */
static inline double mr_signed(double x, double y)
{
    return mr_f64_bits(mr_bits_f64(x) ^ (mr_bits_f64(y) & (uint64_t)INT64_MIN));
}

static inline double mr_canonical(double x)
{
    return x != x ? MR_NAN : x;
}

/* a + b exactly, where |a| >= |b| or a is 0 (Dekker). */
static inline mr_pair mr_fast_sum(double a, double b)
{
    double s = a + b;
    return (mr_pair){s, b - (s - a)};
}

/* a + b exactly (Knuth). */
static inline mr_pair mr_sum(double a, double b)
{
    double s = a + b, part = s - a;
    return (mr_pair){s, (a - (s - part)) + (b - part)};
}

/* The upper 26 bits of the significand: products of two such are exact, and x - mr_head(x) is. */
static inline double mr_head(double x)
{
    return mr_f64_bits(mr_bits_f64(x) & ~(((uint64_t)1 << 27) - 1));
}

/* a * b to twice the precision. */
static inline mr_pair mr_mul(double a, double b)
{
    double p = a * b, ah = mr_head(a), bh = mr_head(b), al = a - ah, bl = b - bh;
    return (mr_pair){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

static inline mr_pair mr_mul_pair(mr_pair a, mr_pair b)
{
    mr_pair p = mr_mul(a.hi, b.hi);
    return mr_fast_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

static inline mr_pair mr_div_pair(mr_pair a, mr_pair b)
{
    double q = a.hi / b.hi;
    mr_pair p = mr_mul(q, b.hi);
    return (mr_pair){q, ((a.hi - p.hi) - p.lo + (a.lo - q * b.lo)) / b.hi};
}

static inline mr_pair mr_add_pair(mr_pair a, mr_pair b)
{
    mr_pair s = mr_sum(a.hi, b.hi);
    return mr_fast_sum(s.hi, s.lo + (a.lo + b.lo));
}

static inline mr_pair mr_sqrt_pair(mr_pair a)
{
    double s = __builtin_sqrt(a.hi);
    mr_pair p = mr_mul(s, s);
    return (mr_pair){s, s > 0 ? ((a.hi - p.hi) - p.lo + a.lo) / (2 * s) : 0};
}

/* f(x + low) for x >= 0, low below an ulp of x. The error before the sum of hi and lo is rounded is near 0.1 ULP. */
static inline mr_pair mr_piece(const mr_pieces *f, double x, double low)
{
    int64_t i = (int64_t)(mr_bits_f64(x) >> 49) - f->first;
    i = i < 0 ? 0 : i;
    i = i > f->last ? f->last : i;
    const double *row = f->rows[i];
    double part = x - row[0], d = part + low, tail = row[15];
    for (int n = 14; n >= 4; n--) tail = row[n] + d * tail;
    return (mr_pair){row[2] + row[1] * part, (row[3] + row[1] * low) + d * tail};
}

/* v * 2^(k - MR_SCALE_ZERO) in two steps, so that the result may be subnormal, 0 or infinity. */
static inline double mr_scale(double v, uint64_t k)
{
    uint64_t half = k >> 1, rest = k - half, zero = MR_SCALE_ZERO / 2 - 1023;
    return v * mr_f64_bits((half - zero) << 52) * mr_f64_bits((rest - zero) << 52);
}

/* exp(r) 2^(n/128), where shifted = n + 1.5 2^52 and |r| <= ln(2)/256. lo is good to 2^-61 of hi. */
static inline mr_scaled mr_exp_steps(double shifted, double r)
{
    uint64_t n = mr_bits_f64(shifted) - mr_bits_f64(0x1.8p52) + MR_SCALE_ZERO * 128;
    const double *row = mr_exp_rows[n & 127];
    double tail = mr_exp_c[0] + r * (mr_exp_c[1] + r * (mr_exp_c[2] + r * mr_exp_c[3]));
    return (mr_scaled){row[0], row[0] * (row[1] + (r + r * r * tail)), n >> 7};
}

/* exp(x + low), |x| <= 1400. */
static inline mr_scaled mr_exp_parts(double x, double low)
{
    double shifted = x * MR_STEPS_PER_LN2 + 0x1.8p52, n = shifted - 0x1.8p52;
    return mr_exp_steps(shifted, ((x - n * MR_LN2_STEP_HI) - n * MR_LN2_STEP_LO) + low);
}

/* As a pair; e must be in the range of normal numbers. */
static inline mr_pair mr_exp_pair(double x, double low)
{
    mr_scaled e = mr_exp_parts(x, low);
    double scale = mr_f64_bits((e.k - MR_SCALE_ZERO + 1023) << 52);
    return mr_fast_sum(e.hi * scale, e.lo * scale);
}

/* log(x (1 + more)) for x > 0 finite, more below 2^-52: to 2^-70 of the result.
 * x = 2^k z; 1/c has 9 bits, so that r = z/c - 1 is the sum of two doubles; the interval around 1 has c = 1. */
static inline mr_pair mr_log_pair(double x, double more)
{
    bool small = x < DBL_MIN;
    uint64_t bits = mr_bits_f64(small ? x * 0x1p54 : x), one = (uint64_t)1 << 52;
    uint64_t u = bits - (0x3fe6000000000000u + (one >> 8)) + 1024 * one;
    const double *row = mr_log_rows[u >> 45 & 127];
    double k = (mr_f64_bits((u >> 52) | 0x4330000000000000u) - (0x1p52 + 1024)) - (small ? 54 : 0);
    double z = mr_f64_bits(bits - (u & ~(one - 1)) + 1024 * one), head = mr_head(z);

    mr_pair r = mr_sum(head * row[0] - 1, (z - head) * row[0]);
    r.lo += more + more * r.hi;
    double square_head = mr_head(r.hi), half = 0.5 * square_head * square_head;
    double half_rest = 0.5 * (r.hi + square_head) * (r.hi - square_head);
    double cube = r.hi * r.hi * r.hi, tail = mr_log_c[6];
    for (int i = 5; i >= 0; i--) tail = mr_log_c[i] + r.hi * tail;

    mr_pair s = mr_fast_sum(k * MR_LN2_GRID + row[1], r.hi), t = mr_fast_sum(s.hi, -half);
    double low = k * MR_LN2_GRID_REST + row[2] + (r.lo - r.lo * r.hi);
    return mr_fast_sum(t.hi, s.lo + t.lo + (low - half_rest + cube * tail));
}

/* log where mr_log_pair has no answer: l is its answer. */
static inline double mr_log_special(double x, double l)
{
    l = x == 0 ? -MR_INF : l;
    l = x == MR_INF ? x : l;
    return x >= 0 ? l : MR_NAN;
}

#endif

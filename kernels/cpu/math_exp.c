/* Exponential functions: exp2, expm1, sinh, cosh, erfc, pow. */
#include "kernels/cpu/math.h"

double mr_exp2(double x)
{
    double c = mr_clamp(x, 1200), shifted = c * 128 + 0x1.8p52;
    double part = c - (shifted - 0x1.8p52) * 0x1p-7; /* exact */
    mr_scaled e = mr_exp_steps(shifted, part * MR_LN2_HI);
    return mr_canonical(mr_scale(e.hi + e.lo, e.k));
}

/* Above 1/8 the table's exp less 1 has bits to spare. Below, x + x^2/2 carries the result, and x is its exact part. */
double mr_expm1(double x)
{
    if (mr_abs(x) < 0.125) {
        double tail = mr_expm1_c[8];
        for (int i = 7; i >= 0; i--) tail = mr_expm1_c[i] + x * tail;
        double head = mr_head(x), half = 0.5 * head * head, half_rest = 0.5 * (x + head) * (x - head);
        mr_pair s = mr_fast_sum(x, half);
        return x == 0 ? x : s.hi + (s.lo + (half_rest + x * x * x * tail));
    }
    if (x > 700) return mr_exp(x);
    mr_pair e = mr_exp_pair(x < -700 ? -700 : x, 0), s = mr_sum(e.hi, -1);
    return mr_canonical(s.hi + (s.lo + e.lo));
}

/* exp(a)/2, where exp(-a) no longer matters. Halved before it is scaled, since exp(a) itself may be out of range. */
static double half_exp(double a)
{
    mr_scaled e = mr_exp_parts(a > 800 ? 800 : a, 0);
    return mr_scale(e.hi + e.lo, e.k - 1);
}

double mr_sinh(double x)
{
    double a = mr_abs(x), y;
    if (a < 1) {
        mr_pair s = mr_piece(&mr_sinh_pieces, a, 0);
        y = s.hi + s.lo;
    } else if (a > 40) {
        y = half_exp(a);
    } else {
        mr_pair up = mr_exp_pair(a, 0), down = mr_exp_pair(-a, 0);
        mr_pair s = mr_add_pair(up, (mr_pair){-down.hi, -down.lo});
        y = 0.5 * (s.hi + s.lo);
    }
    return mr_canonical(mr_signed(y, x));
}

double mr_cosh(double x)
{
    double a = mr_abs(x);
    if (a > 40) return half_exp(a);
    mr_pair s = mr_add_pair(mr_exp_pair(a, 0), mr_exp_pair(-a, 0));
    return mr_canonical(0.5 * (s.hi + s.lo));
}

/* exp(-x^2) g(x), g falling slowly, keeps the relative error where erfc is tiny. */
double mr_erfc(double x)
{
    if (x != x) return MR_NAN;
    if (x > 28) return 0;
    if (x < 0.5) {
        double a = mr_abs(x);
        mr_pair e = mr_piece(&mr_erf_pieces, a > 6 ? 6 : a, 0);
        e = mr_fast_sum(e.hi, e.lo);
        mr_pair s = x < 0 ? mr_fast_sum(1, e.hi) : mr_fast_sum(1, -e.hi);
        return s.hi + (s.lo + (x < 0 ? e.lo : -e.lo));
    }
    mr_pair square = mr_mul(x, x), g = mr_piece(&mr_erfcx_pieces, x, 0);
    mr_scaled e = mr_exp_parts(-square.hi, -square.lo);
    mr_pair p = mr_mul_pair(mr_fast_sum(e.hi, e.lo), mr_fast_sum(g.hi, g.lo));
    return mr_scale(p.hi + p.lo, e.k);
}

/* 0: not an integer, 1: odd, 2: even. */
static int parity(double y)
{
    int exponent = (int)(mr_bits_f64(y) >> 52 & 0x7ff) - 1023;
    if (exponent < 0) return y == 0 ? 2 : 0;
    if (exponent > 52) return 2;
    uint64_t unit = (uint64_t)1 << (52 - exponent), bits = mr_bits_f64(y) | (uint64_t)1 << 52;
    if (bits & (unit - 1)) return 0;
    return bits & unit ? 1 : 2;
}

/* The cases of F.10.4.4 in which x or y is 0, infinite or NaN. */
static double pow_special(double x, double y)
{
    if (y == 0 || x == 1) return 1;
    if (x != x || y != y) return MR_NAN;
    if (y == MR_INF || y == -MR_INF) {
        double a = mr_abs(x);
        if (a == 1) return 1;
        return (a > 1) == (y > 0) ? MR_INF : 0;
    }
    double size = (x == 0) == (y < 0) ? MR_INF : 0;
    return parity(y) == 1 ? mr_signed(size, x) : size;
}

double mr_pow(double x, double y)
{
    double a = mr_abs(x);
    if (!(a > 0 && a < MR_INF && mr_abs(y) < MR_INF && y != 0) || x == 1) return pow_special(x, y);
    int integer = parity(y);
    if (x < 0 && integer == 0) return MR_NAN;

    /* Where y is larger than this, or the product below beyond the clamp, the result is 0, 1 or infinity. */
    mr_pair l = mr_log_pair(a, 0), p = mr_mul(mr_clamp(y, 0x1p70), l.hi);
    p.lo += mr_clamp(y, 0x1p70) * l.lo;
    mr_scaled e = mr_abs(p.hi) > 800 ? mr_exp_parts(mr_clamp(p.hi, 800), 0) : mr_exp_parts(p.hi, p.lo);
    double size = mr_scale(e.hi + e.lo, e.k);
    return integer == 1 ? mr_signed(size, x) : size;
}

/* Logarithms and their inverse hyperbolic relatives. */
#include "kernels/cpu/math.h"

/* log(x) times a constant in two parts. */
static double log_times(double x, mr_pair factor)
{
    mr_pair l = mr_mul_pair(mr_log_pair(x, 0), factor);
    return mr_log_special(x, l.hi + l.lo);
}

double mr_log2(double x)
{
    return log_times(x, (mr_pair){MR_LOG2_E_HI, MR_LOG2_E_LO});
}

double mr_log10(double x)
{
    return log_times(x, (mr_pair){MR_LOG10_E_HI, MR_LOG10_E_LO});
}

/* log of a sum of two doubles that is positive and finite. */
static mr_pair log_of(mr_pair x)
{
    return mr_log_pair(x.hi, x.lo / x.hi);
}

double mr_log1p(double x)
{
    if (!(x > -1 && x < MR_INF)) return x == MR_INF ? x : x == -1 ? -MR_INF : MR_NAN;
    mr_pair l = log_of(mr_sum(1, x));
    return x == 0 ? x : l.hi + l.lo;
}

/* max(x, 0) + log1p(exp(-|x|)). */
double mr_softplus(double x)
{
    if (x != x) return MR_NAN;
    if (x > 700) return x;
    if (x < -21) { /* t - t^2/2 */
        mr_scaled e = mr_exp_parts(mr_clamp(x, 800), 0);
        double t = e.hi + e.lo;
        return mr_scale(e.hi + (e.lo - 0.5 * t * mr_scale(t, e.k)), e.k);
    }
    mr_pair t = mr_exp_pair(-mr_abs(x), 0), one = mr_fast_sum(1, t.hi);
    mr_pair s = mr_add_pair((mr_pair){x > 0 ? x : 0, 0}, log_of((mr_pair){one.hi, one.lo + t.lo}));
    return s.hi + s.lo;
}

/* log(a + sqrt(a^2 + sign)); beyond 2^30 the root is a. */
static double log_with_root(double a, double sign)
{
    if (a > 0x1p30) {
        mr_pair l = mr_add_pair(mr_log_pair(a, 0), (mr_pair){MR_LN2_HI, MR_LN2_LO});
        return a == MR_INF ? a : l.hi + l.lo;
    }
    mr_pair root = mr_sqrt_pair(mr_add_pair(mr_mul(a, a), (mr_pair){sign, 0}));
    mr_pair l = log_of(mr_add_pair((mr_pair){a, 0}, root));
    return l.hi + l.lo;
}

double mr_asinh(double x)
{
    double a = mr_abs(x);
    if (x != x) return MR_NAN;
    if (a >= 1) return mr_signed(log_with_root(a, 1), x);
    mr_pair s = mr_piece(&mr_asinh_pieces, a, 0);
    return mr_signed(s.hi + s.lo, x);
}

double mr_acosh(double x)
{
    return x >= 1 ? log_with_root(x, -1) : MR_NAN;
}

/* log((1 + a) / (1 - a)) / 2; 1 - a is exact from 1/2. */
double mr_atanh(double x)
{
    double a = mr_abs(x);
    if (!(a <= 1)) return MR_NAN;
    if (a == 1) return mr_signed(MR_INF, x);
    mr_pair t;
    if (a < 0.5)
        t = mr_piece(&mr_atanh_pieces, a, 0);
    else
        t = log_of(mr_div_pair(mr_fast_sum(1, a), (mr_pair){1 - a, 0}));
    return mr_signed((a < 0.5 ? 1 : 0.5) * (t.hi + t.lo), x);
}

/* The exact remainder of a division. */
#include "kernels/cpu/math.h"

/* x = m 2^(exponent - 1074) for x >= 0; returns m. */
static uint64_t unpack(double x, int *exponent)
{
    uint64_t bits = mr_bits_f64(x), fraction = bits & (((uint64_t)1 << 52) - 1);
    int biased = (int)(bits >> 52);
    *exponent = biased ? biased - 1 : 0;
    return biased ? fraction | (uint64_t)1 << 52 : fraction;
}

double mr_fmod(double x, double y)
{
    double a = mr_abs(x), b = mr_abs(y);
    if (!(a < MR_INF) || b != b || b == 0) return MR_NAN;
    if (a < b) return x;

    int ea, eb;
    uint64_t r = unpack(a, &ea), m = unpack(b, &eb);
    r %= m;
    for (int step; ea > eb; ea -= step) { /* 53 bits, and 11 more at a time */
        step = ea - eb < 11 ? ea - eb : 11;
        r = (r << step) % m;
    }
    for (; eb > 0 && !(r >> 52); eb--) r <<= 1;
    return mr_signed(mr_f64_bits(((uint64_t)eb << 52) + r), x);
}

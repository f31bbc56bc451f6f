/* Trigonometric functions and their inverses.
 *
 * Sources: Cody and Waite, "Software manual for the elementary functions" (1980), and Payne and Hanek, "Radian
 * reduction for trigonometric functions" (1983), for the reduction to [-pi/4, pi/4].
 */
#include "kernels/cpu/math.h"

static uint64_t mul_high(uint64_t a, uint64_t b, uint64_t *low)
{
    uint64_t a0 = a & UINT32_MAX, a1 = a >> 32, b0 = b & UINT32_MAX, b1 = b >> 32;
    uint64_t mid = a1 * b0 + (a0 * b0 >> 32), mid2 = a0 * b1 + (mid & UINT32_MAX);
    *low = a * b;
    return a1 * b1 + (mid >> 32) + (mid2 >> 32);
}

/* f0 2^-64 + f1 2^-128, not 0, as a pair. */
static mr_pair fraction_pair(uint64_t f0, uint64_t f1)
{
    int shift = 0;
    if (f0 == 0) {
        f0 = f1;
        f1 = 0;
        shift = 64;
    }
    while (!(f0 >> 63)) {
        f0 = f0 << 1 | f1 >> 63;
        f1 <<= 1;
        shift++;
    }
    double scale = mr_f64_bits((uint64_t)(1023 - shift) << 52);
    double high = (double)(f0 >> 11) * 0x1p-53, low = (double)(f0 << 53 | f1 >> 11) * 0x1p-117;
    return mr_fast_sum(high * scale, low * scale);
}

/* x = m 2^e. Bits of 2/pi whose product with x is a multiple of 4 are left out; of the others, 192 are taken, so that
 * the product's fraction, at least 2^-62, has 70 bits that count. */
static mr_pair reduce_large(double x, unsigned *quadrant)
{
    uint64_t bits = mr_bits_f64(x), m = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52, w[3], p0, p1, p2, low;
    int e = (int)(bits >> 52 & 0x7ff) - 1023 - 52, start = e - 2 + 64, shift = start % 64;
    const uint64_t *words = mr_two_over_pi + start / 64;
    for (int i = 0; i < 3; i++) w[i] = shift ? words[i] << shift | words[i + 1] >> (64 - shift) : words[i];

    p1 = mul_high(m, w[2], &p2);
    p0 = mul_high(m, w[1], &low);
    p1 += low;
    p0 += m * w[0] + (p1 < low);

    *quadrant = (unsigned)(p0 >> 62);
    uint64_t f0 = p0 << 2 | p1 >> 62, f1 = p1 << 2 | p2 >> 62;
    bool up = f0 >> 63;
    if (up) {
        *quadrant += 1;
        f1 = -f1;
        f0 = ~f0 + (f1 == 0);
    }
    mr_pair r = mr_mul_pair(fraction_pair(f0, f1), (mr_pair){MR_PI_2_HI, MR_PI_2_LO});
    return up ? (mr_pair){-r.hi, -r.lo} : r;
}

/* |x| - quadrant pi/2. The products of n < 2^20 with the first three parts of pi/2 are exact. */
static mr_pair reduce(double x, unsigned *quadrant)
{
    if (x > 0x1.8p20) return reduce_large(x, quadrant);
    double n = (x * MR_TWO_OVER_PI + 0x1.8p52) - 0x1.8p52;
    *quadrant = (unsigned)n;
    mr_pair a = mr_sum(x - n * MR_PI_2_PART0, -n * MR_PI_2_PART1), b = mr_sum(a.lo, -n * MR_PI_2_PART2);
    mr_pair c = mr_sum(a.hi, b.hi);
    return mr_sum(c.hi, c.lo + (b.lo - n * MR_PI_2_PART3));
}

static mr_pair piece_of(const mr_pieces *f, mr_pair x)
{
    return x.hi < 0 ? mr_piece(f, -x.hi, -x.lo) : mr_piece(f, x.hi, x.lo);
}

/* sin(|x| + turn pi/2) */
static double sin_turned(double x, unsigned turn)
{
    unsigned quadrant;
    if (!(mr_abs(x) < MR_INF)) return MR_NAN;
    mr_pair r = reduce(mr_abs(x), &quadrant);
    quadrant += turn;
    mr_pair s = piece_of(quadrant & 1 ? &mr_cos_pieces : &mr_sin_pieces, r);
    bool negative = (quadrant >> 1 & 1) != (!(quadrant & 1) && r.hi < 0);
    return negative ? -(s.hi + s.lo) : s.hi + s.lo;
}

double mr_sin(double x)
{
    return mr_canonical(mr_signed(sin_turned(x, 0), x));
}

double mr_cos(double x)
{
    return sin_turned(x, 1);
}

double mr_tan(double x)
{
    unsigned quadrant;
    if (!(mr_abs(x) < MR_INF)) return MR_NAN;
    mr_pair r = reduce(mr_abs(x), &quadrant), t = piece_of(&mr_tan_pieces, r);
    if (quadrant & 1) t = mr_div_pair((mr_pair){-1, 0}, mr_fast_sum(t.hi, t.lo));
    return mr_signed(mr_signed(t.hi + t.lo, r.hi), x);
}

/* a - factor b, where a is a constant in two parts and above the rest. */
static double less(double high, double low, double factor, mr_pair b)
{
    mr_pair s = mr_sum(high, -factor * b.hi);
    return s.hi + (s.lo + (low - factor * b.lo));
}

/* asin(sqrt((1 - a) / 2)), which is acos(a) / 2; 1 - a is exact from 1/2. */
static mr_pair half_acos(double a)
{
    mr_pair s = mr_sqrt_pair((mr_pair){(1 - a) * 0.5, 0});
    return mr_piece(&mr_asin_pieces, s.hi, s.lo);
}

double mr_asin(double x)
{
    double a = mr_abs(x);
    if (!(a <= 1)) return MR_NAN;
    if (a > 0.5) return mr_signed(less(MR_PI_2_HI, MR_PI_2_LO, 2, half_acos(a)), x);
    mr_pair s = mr_piece(&mr_asin_pieces, a, 0);
    return mr_signed(s.hi + s.lo, x);
}

double mr_acos(double x)
{
    double a = mr_abs(x);
    if (!(a <= 1)) return MR_NAN;
    if (a <= 0.5) return less(MR_PI_2_HI, MR_PI_2_LO, x < 0 ? -1 : 1, mr_piece(&mr_asin_pieces, a, 0));
    mr_pair h = half_acos(a);
    return x < 0 ? less(MR_PI_HI, MR_PI_LO, 2, h) : 2 * (h.hi + h.lo);
}

/* The angle of (x, y) in the first quadrant; both finite, one not 0. */
static mr_pair angle(double y, double x)
{
    double top = y < x ? y : x, bottom = y < x ? x : y;
    mr_pair q = {0, 0};
    if (top * 0x1p70 > bottom) { /* scaled, so that no product of the division is out of range */
        double scale = bottom > 1 ? 0x1p-500 : 0x1p500;
        q = mr_div_pair((mr_pair){top * scale, 0}, (mr_pair){bottom * scale, 0});
    } else if (y < x) {
        q.hi = top / bottom;
    }
    mr_pair a = mr_piece(&mr_atan_pieces, q.hi, q.lo);
    if (y < x) return a;
    mr_pair s = mr_fast_sum(MR_PI_2_HI, -a.hi);
    return (mr_pair){s.hi, s.lo + (MR_PI_2_LO - a.lo)};
}

double mr_atan(double x)
{
    if (x != x) return MR_NAN;
    double a = mr_abs(x);
    mr_pair t = a == MR_INF ? (mr_pair){MR_PI_2_HI, MR_PI_2_LO} : angle(a, 1);
    return mr_signed(t.hi + t.lo, x);
}

double mr_atan2(double y, double x)
{
    if (x != x || y != y) return MR_NAN;
    double ay = mr_abs(y), ax = mr_abs(x);
    if (ay == MR_INF && ax == MR_INF) ay = ax = 1;
    if (ay == MR_INF || ax == MR_INF) {
        ay = ay == MR_INF;
        ax = ax == MR_INF;
    }
    mr_pair t = ay == 0 ? (mr_pair){0, 0} : angle(ay, ax);
    double size = mr_signed(1, x) < 0 ? less(MR_PI_HI, MR_PI_LO, 1, t) : t.hi + t.lo;
    return mr_signed(size, y);
}

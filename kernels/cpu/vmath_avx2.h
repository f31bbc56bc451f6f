/* vmath_avx2.h: elementary functions on eight floats, for kernels of the AVX2 level. Fast mode only: the reference is
 * kernels/cpu/math.h.
 *
 * Every function takes the whole range of float, with denormals, infinities and NaN, and gives the same bits for a lane
 * whatever stands in the others, so that a remainder may be padded with anything. Errors (tests/unit/test_vmath_avx2.c)
 * are below 2.2 ULP. Polynomials are minimax fits of our own, of relative error below 2^-26; they run from the lowest
 * coefficient up.
 */
#ifndef MR_KERNELS_CPU_VMATH_AVX2_H
#define MR_KERNELS_CPU_VMATH_AVX2_H

#include <immintrin.h>

#include "kernels/cpu/math.h"

#define V(x) _mm256_set1_ps(x)

static inline __m256 v_bits(uint32_t bits)
{
    return _mm256_castsi256_ps(_mm256_set1_epi32((int)bits));
}
static inline __m256 v_abs(__m256 x)
{
    return _mm256_and_ps(x, v_bits(0x7fffffff));
}
static inline __m256 v_neg(__m256 x)
{
    return _mm256_xor_ps(x, v_bits(0x80000000));
}
/* The magnitude of x (not negative) with the sign of y. */
static inline __m256 v_sign(__m256 x, __m256 y)
{
    return _mm256_or_ps(x, _mm256_and_ps(y, v_bits(0x80000000)));
}
static inline __m256 v_fma(__m256 a, __m256 b, __m256 c)
{
    return _mm256_fmadd_ps(a, b, c);
}
static inline __m256 v_fnma(__m256 a, __m256 b, __m256 c)
{
    return _mm256_fnmadd_ps(a, b, c);
}
static inline __m256 v_lt(__m256 a, __m256 b)
{
    return _mm256_cmp_ps(a, b, _CMP_LT_OQ);
}
/* yes where mask, no elsewhere */
static inline __m256 v_if(__m256 mask, __m256 yes, __m256 no)
{
    return _mm256_blendv_ps(no, yes, mask);
}

/* c[0] + c[1] x + … + c[n-1] x^(n-1) */
static inline __attribute__((always_inline)) __m256 v_poly(__m256 x, const float *c, int n)
{
    __m256 y = V(c[n - 1]);
    for (int i = n - 2; i >= 0; i--) y = v_fma(y, x, V(c[i]));
    return y;
}

/* 2^k for k in [-126, 127] */
static inline __m256 v_pow2(__m256i k)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(k, _mm256_set1_epi32(127)), 23));
}

/* exp(x + lost) = 2^k (1 + z) with z in [√½ - 1, √2 - 1]; x is bounded, lost is far smaller than 1. */
static inline __m256 v_exp_parts(__m256 x, __m256 lost, __m256i *k)
{
    static const float c[] = {0.5f, 0x1.555554p-3f, 0x1.5554f8p-5f, 0x1.1112d4p-7f, 0x1.6d3a66p-10f, 0x1.9e7c90p-13f};
    __m256 n = _mm256_round_ps(_mm256_mul_ps(x, V(0x1.715476p+0f)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    *k = _mm256_cvtps_epi32(n);
    __m256 r = v_fnma(n, V(0x1.62e430p-1f), x); /* exact */
    r = _mm256_add_ps(v_fnma(n, V(-0x1.05c610p-29f), r), lost);
    return v_fma(_mm256_mul_ps(r, r), v_poly(r, c, 6), r);
}

/* x 2^k for k in [-252, 254], in two steps of which the second may overflow or round to a denormal. */
static inline __m256 v_scale(__m256 x, __m256i k)
{
    __m256i half = _mm256_srai_epi32(k, 1);
    return _mm256_mul_ps(_mm256_mul_ps(x, v_pow2(half)), v_pow2(_mm256_sub_epi32(k, half)));
}

/* Where exp under- or overflows. The bound comes first in min and max: they give their second argument when one of
 * them is NaN. */
static inline __m256 v_exp_bound(__m256 x)
{
    return _mm256_max_ps(V(-104), _mm256_min_ps(V(89), x));
}

static inline __m256 v_exp(__m256 x)
{
    __m256i k;
    __m256 z = v_exp_parts(v_exp_bound(x), _mm256_setzero_ps(), &k);
    return v_scale(_mm256_add_ps(z, V(1)), k);
}

static inline __m256 v_expm1(__m256 x)
{
    __m256i k;
    __m256 z = v_exp_parts(_mm256_max_ps(V(-20), v_exp_bound(x)), _mm256_setzero_ps(), &k);
    /* 2^k (1 + z) - 1, with half of 2^k so that k = 128 has one */
    __m256 s = v_pow2(_mm256_sub_epi32(k, _mm256_set1_epi32(1)));
    __m256 y = v_fma(z, s, _mm256_sub_ps(s, V(0.5f)));
    return v_if(v_lt(v_abs(x), V(0x1p-26f)), x, _mm256_add_ps(y, y)); /* also -0 */
}

/* The exponent and log(1 + f) = f - f²/2 + f³ P(f) of a positive, normal x = 2^k (1 + f), 1 + f in [√½, √2). */
static inline __m256 v_log_normal(__m256 x)
{
    static const float c[] = {0x1.555548p-2f,  -0x1.000006p-2f, 0x1.99a47ap-3f,  -0x1.555c52p-3f, 0x1.233b38p-3f,
                              -0x1.fc2562p-4f, 0x1.e6c394p-4f,  -0x1.de1bcep-4f, 0x1.148c22p-4f};
    __m256i bits = _mm256_castps_si256(x);
    __m256i k = _mm256_srai_epi32(_mm256_sub_epi32(bits, _mm256_set1_epi32(0x3f3504f3)), 23);
    __m256 m = _mm256_castsi256_ps(_mm256_sub_epi32(bits, _mm256_slli_epi32(k, 23)));
    __m256 n = _mm256_cvtepi32_ps(k), f = _mm256_sub_ps(m, V(1)), f2 = _mm256_mul_ps(f, f);
    __m256 y = _mm256_mul_ps(_mm256_mul_ps(f2, f), v_poly(f, c, 9));
    y = v_fma(n, V(-0x1.05c610p-29f), y);
    y = _mm256_add_ps(v_fnma(f2, V(0.5f), y), f);
    return v_fma(n, V(0x1.62e430p-1f), y);
}

static inline __m256 v_log(__m256 x)
{
    const __m256 infinity = v_bits(0x7f800000), zero = _mm256_setzero_ps();
    __m256 denormal = v_lt(x, V(0x1p-126f));
    __m256 y = v_log_normal(v_if(denormal, _mm256_mul_ps(x, V(0x1p24f)), x));
    y = v_if(denormal, _mm256_sub_ps(y, V(16.635532f)), y);
    y = v_if(_mm256_cmp_ps(x, zero, _CMP_EQ_OQ), v_neg(infinity), y);
    y = v_if(_mm256_cmp_ps(x, infinity, _CMP_EQ_OQ), infinity, y);
    return v_if(_mm256_cmp_ps(x, zero, _CMP_NGE_UQ), v_bits(0x7fc00000), y); /* negative, NaN */
}

/* log(1 + x) for x ≥ 0, not infinite: what 1 + x loses is put back. */
static inline __m256 v_log1p_positive(__m256 x)
{
    __m256 u = _mm256_add_ps(x, V(1)), lost = _mm256_sub_ps(x, _mm256_sub_ps(u, V(1)));
    return _mm256_add_ps(v_log_normal(u), _mm256_div_ps(lost, u));
}

/* x + x³ P(x²) near 0, else 1 - 2 / (exp(2|x|) + 1). */
static inline __m256 v_tanh(__m256 x)
{
    static const float c[] = {-0x1.555530p-2f, 0x1.110688p-3f, -0x1.b826fep-5f, 0x1.51971ap-6f, -0x1.734efep-8f};
    __m256 a = v_abs(x), x2 = _mm256_mul_ps(x, x);
    __m256 small = v_fma(_mm256_mul_ps(x2, v_poly(x2, c, 5)), x, x);
    __m256 e = v_exp(_mm256_add_ps(a, a));
    __m256 large = _mm256_sub_ps(V(1), _mm256_div_ps(V(2), _mm256_add_ps(e, V(1))));
    return v_if(v_lt(a, V(0.625f)), small, v_sign(large, x));
}

/* 1 / (1 + exp(-x)). With t = exp(-|x|) it is 1 / (1 + t), or t / (1 + t) for negative x; then what rounding t and 1 +
 * t lost is put back. */
static inline __m256 v_sigmoid(__m256 x)
{
    const __m256 zero = _mm256_setzero_ps(), one = V(1);
    __m256i k;
    __m256 z = v_exp_parts(v_exp_bound(_mm256_or_ps(x, v_bits(0x80000000))), zero, &k);
    __m256 m = _mm256_add_ps(z, one), top_lost = _mm256_sub_ps(z, _mm256_sub_ps(m, one)), t = v_scale(m, k);
    __m256 bottom = _mm256_add_ps(one, t), bottom_lost = _mm256_sub_ps(t, _mm256_sub_ps(bottom, one));
    __m256 y = _mm256_div_ps(_mm256_blendv_ps(one, t, x), bottom);
    return v_fma(_mm256_sub_ps(_mm256_blendv_ps(zero, top_lost, x), bottom_lost), y, y);
}

/* x + x Q(x²) below 1, else 1 - exp(-P(|x|)). */
static inline __m256 v_erf(__m256 x)
{
    static const float q[] = {0x1.06eba8p-3f, -0x1.812740p-2f,  0x1.ce2d74p-4f,  -0x1.b8044ap-6f,
                              0x1.5482a0p-8f, -0x1.a99294p-11f, 0x1.6981f6p-14f, -0x1.217f0ap-19f};
    static const float p[] = {-0x1.8b4032p-13f, 0x1.212c2ep+0f, 0x1.4434e8p-1f,   0x1.bc1940p-4f,
                              -0x1.9d0d5cp-6f,  0x1.139becp-8f, -0x1.cef6c0p-12f, 0x1.6c19b4p-16f};
    __m256 a = v_abs(x), x2 = _mm256_mul_ps(x, x);
    __m256 small = v_fma(x, v_poly(x2, q, 8), x);
    __m256 bounded = _mm256_min_ps(V(4), a); /* erf(4) is 1 in float */
    __m256 large = _mm256_sub_ps(V(1), v_exp(v_neg(v_poly(bounded, p, 8))));
    return v_if(v_lt(a, V(1)), small, v_sign(large, x));
}

/* The normal distribution's integral up to x, (1 + erf(x / √2)) / 2, without cancellation for negative x. Beyond u =
 * |x| lies exp(-u²/2) R(u), R(u) = s P(1 - s), s = 6 / (u + 3). What s lost, as an error δ of u, is put back through
 * R'(u) = u R(u) - 1/√(2π). */
static inline __m256 v_phi(__m256 x)
{
    static const float c[] = {0x1.f1b89cp-4f,   -0x1.5bb438p-4f, 0x1.3a0d18p-5f,  -0x1.021de0p-7f,
                              -0x1.c936cep-10f, 0x1.307606p-10f, 0x1.68c392p-13f, -0x1.67cb16p-13f,
                              -0x1.6176a0p-15f, 0x1.62d456p-16f, 0x1.358d00p-17f};
    __m256 u = _mm256_min_ps(V(14.5f), v_abs(x));
    __m256 d = _mm256_add_ps(u, V(3)), three = _mm256_sub_ps(d, u), s = _mm256_div_ps(V(6), d);
    __m256 lost = _mm256_add_ps(_mm256_sub_ps(u, _mm256_sub_ps(d, three)), _mm256_sub_ps(V(3), three));
    __m256 delta = _mm256_mul_ps(_mm256_mul_ps(v_fma(s, lost, _mm256_fmsub_ps(s, d, V(6))), d), V(1 / 6.0f));
    __m256 p = v_poly(_mm256_sub_ps(V(1), s), c, 11), r = _mm256_mul_ps(s, p);
    lost = v_fma(delta, _mm256_fmsub_ps(u, r, V(0x1.988454p-2f)), _mm256_fmsub_ps(s, p, r));
    /* u²/2 as h + l without error: the exponential would make 100 ULP of it. */
    __m256 half = _mm256_mul_ps(u, V(0.5f)), h = _mm256_mul_ps(u, half), l = _mm256_fmsub_ps(u, half, h);
    __m256i k;
    __m256 z = v_exp_parts(v_neg(h), v_neg(l), &k);
    __m256 tail = v_scale(_mm256_add_ps(r, v_fma(r, z, v_fma(lost, z, lost))), k);
    return _mm256_blendv_ps(_mm256_sub_ps(V(1), tail), tail, x);
}

/* Four of x minus the nearest multiple k of π/2, reduced in double. */
static inline __m256d v_half_pi_reduce(__m128 x, __m128i *k)
{
    __m256d d = _mm256_cvtps_pd(x);
    __m256d n = _mm256_round_pd(_mm256_mul_pd(d, _mm256_set1_pd(0x1.45f306dc9c883p-1)),
                                _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    *k = _mm256_cvtpd_epi32(n);
    d = _mm256_fnmadd_pd(n, _mm256_set1_pd(0x1.921fb54442d18p+0), d);
    return _mm256_fnmadd_pd(n, _mm256_set1_pd(0x1.1a62633145c07p-54), d);
}

/* sin(x + quarter · π/2) for |x| < 2^30 */
static inline __m256 v_sin_quarter(__m256 x, int quarter)
{
    static const float sc[] = {-0x1.555556p-3f, 0x1.111174p-7f, -0x1.a05978p-13f, 0x1.7c3e9ap-19f};
    static const float cc[] = {0x1.555556p-5f, -0x1.6c175ep-10f, 0x1.a071c4p-16f, -0x1.361b34p-22f};
    __m128i k0, k1;
    __m128 r0 = _mm256_cvtpd_ps(v_half_pi_reduce(_mm256_castps256_ps128(x), &k0));
    __m128 r1 = _mm256_cvtpd_ps(v_half_pi_reduce(_mm256_extractf128_ps(x, 1), &k1));
    __m256i k = _mm256_add_epi32(_mm256_set_m128i(k1, k0), _mm256_set1_epi32(quarter));
    __m256 r = _mm256_set_m128(r1, r0), r2 = _mm256_mul_ps(r, r);
    __m256 s = v_fma(_mm256_mul_ps(r2, v_poly(r2, sc, 4)), r, r);
    __m256 c = v_fma(_mm256_mul_ps(r2, r2), v_poly(r2, cc, 4), v_fnma(r2, V(0.5f), V(1)));
    __m256 y = v_if(_mm256_castsi256_ps(_mm256_slli_epi32(k, 31)), c, s);
    return _mm256_xor_ps(y, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_srli_epi32(k, 1), 31)));
}

/* Lanes beyond v_sin_quarter's range, one by one. */
static inline __m256 v_large_lanes(__m256 x, __m256 y, double (*f)(double))
{
    float in[8], out[8];
    int lanes = _mm256_movemask_ps(_mm256_cmp_ps(v_abs(x), V(0x1p30f), _CMP_GE_OQ));
    if (!lanes) return y;
    _mm256_storeu_ps(in, x);
    _mm256_storeu_ps(out, y);
    for (; lanes; lanes &= lanes - 1)
        out[__builtin_ctz((unsigned)lanes)] = (float)f(in[__builtin_ctz((unsigned)lanes)]);
    return _mm256_loadu_ps(out);
}

static inline __m256 v_sin(__m256 x)
{
    __m256 y = v_sin_quarter(x, 0);
    y = v_if(_mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_EQ_OQ), x, y); /* -0 */
    return v_large_lanes(x, y, mr_sin);
}

static inline __m256 v_cos(__m256 x)
{
    return v_large_lanes(x, v_sin_quarter(x, 1), mr_cos);
}

#undef V
#endif

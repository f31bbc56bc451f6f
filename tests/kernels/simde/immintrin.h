/* immintrin.h: AVX-512 by SIMDe on AVX2. It stands before the compiler's header, which SIMDe itself includes. */
#ifndef MR_TESTS_SIMDE_IMMINTRIN_H
#define MR_TESTS_SIMDE_IMMINTRIN_H

#include <math.h>
#include <simde/x86/avx512.h>
#include <simde/x86/f16c.h>
#include <simde/x86/fma.h>

/* What SIMDe lacks, or declares with other arguments, from the halves. */
static inline __m512 by_halves_cvtph_ps(__m256i x)
{
    simde__m512_private y;
    y.m256[0] = _mm256_cvtph_ps(_mm256_castsi256_si128(x));
    y.m256[1] = _mm256_cvtph_ps(_mm256_extracti128_si256(x, 1));
    return simde__m512_from_private(y);
}

static inline __m512i by_halves_madd_epi16(__m512i a, __m512i b)
{
    simde__m512i_private x = simde__m512i_to_private(a), y = simde__m512i_to_private(b);
    for (int i = 0; i < 2; i++) x.m256i[i] = _mm256_madd_epi16(x.m256i[i], y.m256i[i]);
    return simde__m512i_from_private(x);
}

static inline __m256i by_halves_cvtps_ph(__m512 x)
{
    simde__m512_private y = simde__m512_to_private(x);
    return _mm256_set_m128i(_mm256_cvtps_ph(y.m256[1], _MM_FROUND_TO_NEAREST_INT),
                            _mm256_cvtps_ph(y.m256[0], _MM_FROUND_TO_NEAREST_INT));
}

/* Conversions whose halves are of 256 bits. */
static inline __m512i by_halves_join(__m256i low, __m256i high)
{
    simde__m512i_private y;
    y.m256i[0] = low;
    y.m256i[1] = high;
    return simde__m512i_from_private(y);
}

static inline __m512i by_halves_cvtepu16_epi32(__m256i x)
{
    return by_halves_join(_mm256_cvtepu16_epi32(_mm256_castsi256_si128(x)),
                          _mm256_cvtepu16_epi32(_mm256_extracti128_si256(x, 1)));
}

static inline __m512i by_halves_cvtepu8_epi32(__m128i x)
{
    return by_halves_join(_mm256_cvtepu8_epi32(x), _mm256_cvtepu8_epi32(_mm_srli_si128(x, 8)));
}

static inline __m512i by_halves_cvtepu8_epi16(__m256i x)
{
    return by_halves_join(_mm256_cvtepu8_epi16(_mm256_castsi256_si128(x)),
                          _mm256_cvtepu8_epi16(_mm256_extracti128_si256(x, 1)));
}

/* The low words. */
static inline __m256i by_halves_cvtepi32_epi16(__m512i x)
{
    simde__m512i_private y = simde__m512i_to_private(x);
    simde__m256i_private words;
    for (int i = 0; i < 16; i++) words.i16[i] = (int16_t)y.i32[i];
    return simde__m256i_from_private(words);
}

static inline __m512d by_halves_cvtps_pd(__m256 x)
{
    simde__m512d_private y;
    y.m256d[0] = _mm256_cvtps_pd(_mm256_castps256_ps128(x));
    y.m256d[1] = _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1));
    return simde__m512d_from_private(y);
}

static inline __m256 by_halves_cvtpd_ps(__m512d x)
{
    simde__m512d_private y = simde__m512d_to_private(x);
    return _mm256_set_m128(_mm256_cvtpd_ps(y.m256d[1]), _mm256_cvtpd_ps(y.m256d[0]));
}

static inline __m256 by_halves_extractf32x8_ps(__m512 x, int half)
{
    return simde__m512_to_private(x).m256[half];
}

static inline float by_lanes_cvtss_f32(__m512 x)
{
    return simde__m512_to_private(x).f32[0];
}

static inline __m512 by_halves_cvtepi32_ps(__m512i x)
{
    simde__m512i_private a = simde__m512i_to_private(x);
    simde__m512_private y;
    for (int i = 0; i < 2; i++) y.m256[i] = _mm256_cvtepi32_ps(a.m256i[i]);
    return simde__m512_from_private(y);
}

/* To a whole number: the scale, bits 4 to 7 of mode, is 0. */
static inline __m256 half_round_ps(__m256 x, int mode)
{
    switch (mode & 3) {
    case _MM_FROUND_TO_NEG_INF:
        return _mm256_round_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    case _MM_FROUND_TO_POS_INF:
        return _mm256_round_ps(x, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    case _MM_FROUND_TO_ZERO:
        return _mm256_round_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    default:
        return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    }
}

static inline __m512 by_halves_roundscale_ps(__m512 x, int mode)
{
    simde__m512_private y = simde__m512_to_private(x);
    for (int i = 0; i < 2; i++) y.m256[i] = half_round_ps(y.m256[i], mode);
    return simde__m512_from_private(y);
}

static inline __m512i by_halves_cvtps_epi32(__m512 x)
{
    simde__m512_private a = simde__m512_to_private(x);
    return by_halves_join(_mm256_cvtps_epi32(a.m256[0]), _mm256_cvtps_epi32(a.m256[1]));
}

static inline __m512i by_halves_srai_epi32(__m512i x, int n)
{
    simde__m512i_private a = simde__m512i_to_private(x);
    return by_halves_join(_mm256_srai_epi32(a.m256i[0], n), _mm256_srai_epi32(a.m256i[1], n));
}

static inline __m256i by_halves_cvtpd_epi32(__m512d x)
{
    simde__m512d_private a = simde__m512d_to_private(x);
    return _mm256_set_m128i(_mm256_cvtpd_epi32(a.m256d[1]), _mm256_cvtpd_epi32(a.m256d[0]));
}

/* Saturated, as unsigned numbers. */
static inline __m128i by_lanes_cvtusepi32_epi8(__m512i x)
{
    simde__m512i_private a = simde__m512i_to_private(x);
    simde__m128i_private y;
    for (int i = 0; i < 16; i++) y.u8[i] = a.u32[i] > 255 ? 255 : (uint8_t)a.u32[i];
    return simde__m128i_from_private(y);
}

/* Lane by lane: what is masked is not touched. */
static inline __m512 by_lanes_maskz_loadu_ps(__mmask16 m, const float *p)
{
    simde__m512_private y;
    for (int i = 0; i < 16; i++) y.f32[i] = m >> i & 1 ? p[i] : 0;
    return simde__m512_from_private(y);
}

static inline void by_lanes_mask_storeu_ps(float *p, __mmask16 m, __m512 x)
{
    simde__m512_private y = simde__m512_to_private(x);
    for (int i = 0; i < 16; i++)
        if (m >> i & 1) p[i] = y.f32[i];
}

#undef _mm512_cvtepi32_ps
#undef _mm512_roundscale_ps
#undef _mm512_cvtps_epi32
#undef _mm512_srai_epi32
#undef _mm512_cvtpd_epi32
#undef _mm512_cvtusepi32_epi8
#undef _mm512_cvtph_ps
#undef _mm512_madd_epi16
#undef _mm512_cvtepu16_epi32
#undef _mm512_cvtepu8_epi16
#undef _mm512_cvtepu8_epi32
#undef _mm512_cvtepi32_epi16
#undef _mm512_maskz_loadu_ps
#undef _mm512_mask_storeu_ps
#undef _mm512_cvtps_ph
#undef _mm512_cvtps_pd
#undef _mm512_cvtpd_ps
#undef _mm512_extractf32x8_ps
#undef _mm512_cvtss_f32
#undef _mm512_shuffle_f32x4
#define _mm512_roundscale_ps(x, mode)     by_halves_roundscale_ps(x, mode)
#define _mm512_cvtepi32_ps(x)             by_halves_cvtepi32_ps(x)
#define _mm512_cvtps_epi32(x)             by_halves_cvtps_epi32(x)
#define _mm512_srai_epi32(x, n)           by_halves_srai_epi32(x, n)
#define _mm512_cvtpd_epi32(x)             by_halves_cvtpd_epi32(x)
#define _mm512_cvtusepi32_epi8(x)         by_lanes_cvtusepi32_epi8(x)
#define _mm512_cvtph_ps(x)                by_halves_cvtph_ps(x)
#define _mm512_madd_epi16(a, b)           by_halves_madd_epi16(a, b)
#define _mm512_cvtepu16_epi32(x)          by_halves_cvtepu16_epi32(x)
#define _mm512_cvtepu8_epi16(x)           by_halves_cvtepu8_epi16(x)
#define _mm512_cvtepu8_epi32(x)           by_halves_cvtepu8_epi32(x)
#define _mm512_cvtepi32_epi16(x)          by_halves_cvtepi32_epi16(x)
#define _mm512_maskz_loadu_ps(m, p)       by_lanes_maskz_loadu_ps(m, p)
#define _mm512_mask_storeu_ps(p, m, x)    by_lanes_mask_storeu_ps(p, m, x)
#define _mm512_cvtps_pd(x)                by_halves_cvtps_pd(x)
#define _mm512_cvtpd_ps(x)                by_halves_cvtpd_ps(x)
#define _mm512_extractf32x8_ps(x, half)   by_halves_extractf32x8_ps(x, half)
#define _mm512_cvtss_f32(x)               by_lanes_cvtss_f32(x)
#define _mm512_cvtps_ph(x, round)         by_halves_cvtps_ph(x) /* which is to nearest */
#define _mm512_shuffle_f32x4(a, b, lanes) simde_mm512_shuffle_f32x4(a, b, lanes)

/* Every CPU has what is emulated, and the checker says whether VNNI is there. */
extern int mr_simde_vnni;
#define target(isa)
#define __builtin_cpu_supports(isa) mr_simde_vnni

#else
#include_next <immintrin.h>
#endif

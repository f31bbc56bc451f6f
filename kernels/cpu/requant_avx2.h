/* requant_avx2.h: what becomes of exact int32 sums, eight at a time: the results of mr_requant_row, from float
 * arithmetic.
 *
 * Its error is below 2^-22 of the value, so that only a vector with a value that close to a tie goes through double.
 * Both packing instructions saturate, so the codes need no other bounds. */
#ifndef MR_KERNELS_CPU_REQUANT_AVX2_H
#define MR_KERNELS_CPU_REQUANT_AVX2_H

#include <immintrin.h>

#include "kernels/cpu/quant.h"

/* v rounded to even, NaN and what is beyond ±1024 at its bound; *near collects lanes that float cannot decide, those
 * less than `margin` from a tie. */
static inline __m256i mr_round_avx2(__m256 v, float margin, __m256 *near)
{
    const __m256 no_sign = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
    v = _mm256_min_ps(_mm256_max_ps(v, _mm256_set1_ps(-1024)), _mm256_set1_ps(1024)); /* of NaN: the second operand */
    __m256i whole = _mm256_cvtps_epi32(v);
    __m256 rest = _mm256_and_ps(_mm256_sub_ps(v, _mm256_cvtepi32_ps(whole)), no_sign);
    *near = _mm256_or_ps(*near, _mm256_cmp_ps(rest, _mm256_set1_ps(0.5f - margin), _CMP_GT_OQ));
    return whole;
}

/* Eight int32, of at most 16 bits, to codes. */
static inline void mr_store_codes_avx2(__m256i q, bool is_signed, void *y)
{
    __m128i half = _mm_packs_epi32(_mm256_castsi256_si128(q), _mm256_extracti128_si256(q, 1));
    _mm_storel_epi64(y, is_signed ? _mm_packs_epi16(half, half) : _mm_packus_epi16(half, half));
}

static inline void requant_quick(const mr_requant *r, const uint32_t *sum, int64_t row, int64_t col, int64_t n, void *y)
{
    if (!r->scale) {
        mr_requant_row(r, sum, row, col, n, y, 1);
        return;
    }
    const double *scale = r->scale + row * r->scale_row + col * r->scale_col;
    const __m256i zero = _mm256_set1_epi32(r->zero);
    __m256 factor = _mm256_set1_ps((float)scale[0]);
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256 near = _mm256_setzero_ps();
        if (r->scale_col)
            factor = _mm256_set_m128(_mm256_cvtpd_ps(_mm256_loadu_pd(scale + i + 4)),
                                     _mm256_cvtpd_ps(_mm256_loadu_pd(scale + i)));
        __m256 v = _mm256_cvtepi32_ps(_mm256_loadu_si256((const __m256i *)(sum + i)));
        __m256i q = mr_round_avx2(_mm256_mul_ps(v, factor), 0x1p-11f, &near);
        if (__builtin_expect(_mm256_movemask_ps(near), 0))
            mr_requant_row(r, sum + i, row, col + i, 8, (uint8_t *)y + i, 1);
        else
            mr_store_codes_avx2(_mm256_add_epi32(q, zero), r->type == MR_I8, (uint8_t *)y + i);
    }
    if (i < n) mr_requant_row(r, sum + i, row, col + i, n - i, (uint8_t *)y + i, 1);
}

#endif

/* requant_avx512.h: as requant_avx2.h, sixteen at a time. */
#ifndef MR_KERNELS_CPU_REQUANT_AVX512_H
#define MR_KERNELS_CPU_REQUANT_AVX512_H

#include <immintrin.h>

#include "kernels/cpu/quant.h"

static inline void requant_quick(const mr_requant *r, const uint32_t *sum, int64_t row, int64_t col, int64_t n, void *y)
{
    if (!r->scale) {
        mr_requant_row(r, sum, row, col, n, y, 1);
        return;
    }
    const double *scale = r->scale + row * r->scale_row + col * r->scale_col;
    const __m512i zero = _mm512_set1_epi32(r->zero), nothing = _mm512_setzero_si512();
    const __m512 low = _mm512_set1_ps(-1024), high = _mm512_set1_ps(1024), close = _mm512_set1_ps(0.5f - 0x1p-11f);
    __m512 factor = _mm512_set1_ps((float)scale[0]);
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        if (r->scale_col)
            factor = _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(_mm512_loadu_pd(scale + i))),
                                        _mm512_cvtpd_ps(_mm512_loadu_pd(scale + i + 8)), 1);
        __m512 v = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_loadu_si512(sum + i)), factor);
        v = _mm512_min_ps(_mm512_max_ps(v, low), high); /* of NaN: the second operand */
        __m512i q = _mm512_cvtps_epi32(v);
        __m512 rest = _mm512_abs_ps(_mm512_sub_ps(v, _mm512_cvtepi32_ps(q)));
        __m128i *to = (__m128i *)((uint8_t *)y + i);
        q = _mm512_add_epi32(q, zero);
        if (__builtin_expect(_mm512_cmp_ps_mask(rest, close, _CMP_GT_OQ), 0))
            mr_requant_row(r, sum + i, row, col + i, 16, to, 1);
        else if (r->type == MR_I8)
            _mm_storeu_si128(to, _mm512_cvtsepi32_epi8(q));
        else
            _mm_storeu_si128(to, _mm512_cvtusepi32_epi8(_mm512_max_epi32(q, nothing)));
    }
    if (i < n) mr_requant_row(r, sum + i, row, col + i, n - i, (uint8_t *)y + i, 1);
}

#endif

/* simd_avx512.h: vectors of the AVX-512 level; see simd_avx2.h. */
#ifndef MR_KERNELS_CPU_SIMD_AVX512_H
#define MR_KERNELS_CPU_SIMD_AVX512_H

#include <immintrin.h>

#include "runtime/narrow.h"

enum { VF = 16, VD = 8 };

typedef __m512 vf;
typedef __m512d vd;
typedef __mmask16 vf_mask; /* lanes that are read or written */

typedef __mmask16 vf_truth; /* lanes of which something holds */
#define vf_round(x, mode) _mm512_roundscale_ps(x, (mode) | _MM_FROUND_NO_EXC)

static inline vf vf_zero(void)
{
    return _mm512_setzero_ps();
}
static inline vf vf_set(float x)
{
    return _mm512_set1_ps(x);
}
static inline vf vf_load(const float *p)
{
    return _mm512_loadu_ps(p);
}
static inline void vf_store(float *p, vf x)
{
    _mm512_storeu_ps(p, x);
}
static inline vf vf_fma(vf a, vf b, vf c)
{
    return _mm512_fmadd_ps(a, b, c);
}
static inline vf vf_add(vf a, vf b)
{
    return _mm512_add_ps(a, b);
}
static inline vf vf_sub(vf a, vf b)
{
    return _mm512_sub_ps(a, b);
}
static inline vf vf_mul(vf a, vf b)
{
    return _mm512_mul_ps(a, b);
}
static inline vf vf_max(vf a, vf b)
{
    return _mm512_max_ps(a, b);
} /* b where one is NaN */
static inline vf vf_div(vf a, vf b)
{
    return _mm512_div_ps(a, b);
}
static inline vf vf_min(vf a, vf b)
{
    return _mm512_min_ps(a, b);
}
static inline vf vf_sqrt(vf x)
{
    return _mm512_sqrt_ps(x);
}
/* x where it holds, else 0. */
static inline vf vf_only(vf_truth mask, vf x)
{
    return _mm512_maskz_mov_ps(mask, x);
}
static inline vf_truth vf_is_nan(vf x)
{
    return _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
}
/* The first n lanes. */
static inline vf_mask vf_first(int64_t n)
{
    return n < VF ? (vf_mask)((1u << n) - 1) : (vf_mask)-1;
}
static inline vf vf_load_part(const float *p, vf_mask m)
{
    return _mm512_maskz_loadu_ps(m, p);
}
static inline void vf_store_part(float *p, vf_mask m, vf x)
{
    _mm512_mask_storeu_ps(p, m, x);
}

/* The even and the odd lanes of a and b. */
static inline void vf_split(vf a, vf b, vf *even, vf *odd)
{
    const __m512i e = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    *even = _mm512_permutex2var_ps(a, e, b);
    *odd = _mm512_permutex2var_ps(a, _mm512_add_epi32(e, _mm512_set1_epi32(1)), b);
}
/* a0 b0 a1 b1 … */
static inline void vf_zip(vf a, vf b, float *p)
{
    const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    vf_store(p, _mm512_permutex2var_ps(a, low, b));
    vf_store(p + 16, _mm512_permutex2var_ps(a, _mm512_add_epi32(low, _mm512_set1_epi32(8)), b));
}
/* a0 b0 c0 d0 a1 b1 … */
static inline void vf_interleave(vf a, vf b, vf c, vf d, float *p)
{
    vf ab = _mm512_unpacklo_ps(a, b), ab2 = _mm512_unpackhi_ps(a, b);
    vf cd = _mm512_unpacklo_ps(c, d), cd2 = _mm512_unpackhi_ps(c, d);
    vf x0 = _mm512_shuffle_ps(ab, cd, 0x44), x1 = _mm512_shuffle_ps(ab, cd, 0xee);     /* lanes 0, 4, 8, 12; 1, 5 … */
    vf x2 = _mm512_shuffle_ps(ab2, cd2, 0x44), x3 = _mm512_shuffle_ps(ab2, cd2, 0xee); /* 2, 6 …; 3, 7 … */
    vf y0 = _mm512_shuffle_f32x4(x0, x1, 0x44), y1 = _mm512_shuffle_f32x4(x0, x1, 0xee); /* 0 4 1 5; 8 12 9 13 */
    vf y2 = _mm512_shuffle_f32x4(x2, x3, 0x44), y3 = _mm512_shuffle_f32x4(x2, x3, 0xee);
    vf_store(p, _mm512_shuffle_f32x4(y0, y2, 0x88));
    vf_store(p + 16, _mm512_shuffle_f32x4(y0, y2, 0xdd));
    vf_store(p + 32, _mm512_shuffle_f32x4(y1, y3, 0x88));
    vf_store(p + 48, _mm512_shuffle_f32x4(y1, y3, 0xdd));
}

/* Rows become columns. */
static inline void vf_transpose(vf r[VF])
{
    vf t[VF];
    for (int i = 0; i < VF; i += 4) {
        vf a = _mm512_unpacklo_ps(r[i], r[i + 1]), b = _mm512_unpackhi_ps(r[i], r[i + 1]);
        vf c = _mm512_unpacklo_ps(r[i + 2], r[i + 3]), d = _mm512_unpackhi_ps(r[i + 2], r[i + 3]);
        t[i] = _mm512_shuffle_ps(a, c, 0x44), t[i + 1] = _mm512_shuffle_ps(a, c, 0xee);
        t[i + 2] = _mm512_shuffle_ps(b, d, 0x44), t[i + 3] = _mm512_shuffle_ps(b, d, 0xee);
    }
    for (int i = 0; i < 4; i++) { /* t[i + 4k]: elements i, i + 4 … of rows 4k … 4k + 3 */
        vf a = _mm512_shuffle_f32x4(t[i], t[i + 4], 0x88), b = _mm512_shuffle_f32x4(t[i], t[i + 4], 0xdd);
        vf c = _mm512_shuffle_f32x4(t[i + 8], t[i + 12], 0x88), d = _mm512_shuffle_f32x4(t[i + 8], t[i + 12], 0xdd);
        r[i] = _mm512_shuffle_f32x4(a, c, 0x88), r[i + 8] = _mm512_shuffle_f32x4(a, c, 0xdd);
        r[i + 4] = _mm512_shuffle_f32x4(b, d, 0x88), r[i + 12] = _mm512_shuffle_f32x4(b, d, 0xdd);
    }
}

/* (p[i] ^ flip) - zero */
static inline vf vf_load_bytes(const uint8_t *p, uint8_t flip, int32_t zero)
{
    __m512i v = _mm512_cvtepu8_epi32(_mm_xor_si128(_mm_loadu_si128((const __m128i *)p), _mm_set1_epi8((char)flip)));
    return _mm512_cvtepi32_ps(_mm512_sub_epi32(v, _mm512_set1_epi32(zero)));
}
static inline vf vf_load_f16(const mr_f16 *p)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
}
static inline void vf_store_f16(mr_f16 *p, vf x)
{
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
static inline vf vf_load_bf16(const mr_bf16 *p)
{
    __m512i x = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p));
    return _mm512_castsi512_ps(_mm512_slli_epi32(x, 16));
}
static inline void vf_store_bf16(mr_bf16 *p, vf x)
{
    __m512i bits = _mm512_castps_si512(x), one = _mm512_set1_epi32(1);
    __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), one);
    __m512i even = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    __m512i quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x400000));
    __m512i r = _mm512_mask_mov_epi32(even, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), quiet);
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16(_mm512_srli_epi32(r, 16)));
}

static inline vd vd_zero(void)
{
    return _mm512_setzero_pd();
}
static inline vd vd_set(double x)
{
    return _mm512_set1_pd(x);
}
static inline vd vd_load(const double *p)
{
    return _mm512_loadu_pd(p);
}
static inline void vd_store(double *p, vd x)
{
    _mm512_storeu_pd(p, x);
}
static inline vd vd_add(vd a, vd b)
{
    return _mm512_add_pd(a, b);
}
static inline vd vd_fma(vd a, vd b, vd c)
{
    return _mm512_fmadd_pd(a, b, c);
}

#endif

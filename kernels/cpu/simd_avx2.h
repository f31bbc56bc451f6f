/* simd_avx2.h: vectors of the AVX2 level, under the names that bodies for every width use: vf, vd of VF, VD lanes. */
#ifndef MR_KERNELS_CPU_SIMD_AVX2_H
#define MR_KERNELS_CPU_SIMD_AVX2_H

#include <immintrin.h>

#include "runtime/narrow.h"

enum { VF = 8, VD = 4 };

typedef __m256 vf;
typedef __m256d vd;
typedef __m256i vf_mask, vd_mask; /* lanes that are read or written */

typedef __m256 vf_truth; /* lanes of which something holds */
#define vf_round(x, mode) _mm256_round_ps(x, (mode) | _MM_FROUND_NO_EXC)

static inline vf vf_zero(void)
{
    return _mm256_setzero_ps();
}
static inline vf vf_set(float x)
{
    return _mm256_set1_ps(x);
}
static inline vf vf_load(const float *p)
{
    return _mm256_loadu_ps(p);
}
static inline void vf_store(float *p, vf x)
{
    _mm256_storeu_ps(p, x);
}
static inline vf vf_fma(vf a, vf b, vf c)
{
    return _mm256_fmadd_ps(a, b, c);
}
static inline vf vf_add(vf a, vf b)
{
    return _mm256_add_ps(a, b);
}
static inline vf vf_sub(vf a, vf b)
{
    return _mm256_sub_ps(a, b);
}
static inline vf vf_mul(vf a, vf b)
{
    return _mm256_mul_ps(a, b);
}
static inline vf vf_max(vf a, vf b)
{
    return _mm256_max_ps(a, b);
} /* b where one is NaN */
static inline vf vf_div(vf a, vf b)
{
    return _mm256_div_ps(a, b);
}
static inline vf vf_min(vf a, vf b)
{
    return _mm256_min_ps(a, b);
}
static inline vf vf_sqrt(vf x)
{
    return _mm256_sqrt_ps(x);
}
/* x where it holds, else 0. */
static inline vf vf_only(vf_truth mask, vf x)
{
    return _mm256_and_ps(mask, x);
}
static inline vf_truth vf_is_nan(vf x)
{
    return _mm256_cmp_ps(x, x, _CMP_UNORD_Q);
}
/* The first n lanes. */
static inline vf_mask vf_first(int64_t n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n < VF ? (int)n : VF), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
static inline vf vf_load_part(const float *p, vf_mask m)
{
    return _mm256_maskload_ps(p, m);
}
static inline void vf_store_part(float *p, vf_mask m, vf x)
{
    _mm256_maskstore_ps(p, m, x);
}

/* The even and the odd lanes of a and b. */
static inline void vf_split(vf a, vf b, vf *even, vf *odd)
{
    vf e = _mm256_shuffle_ps(a, b, 0x88), o = _mm256_shuffle_ps(a, b, 0xdd);
    *even = _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(e), 0xd8));
    *odd = _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(o), 0xd8));
}
/* a0 b0 a1 b1 … */
static inline void vf_zip(vf a, vf b, float *p)
{
    vf low = _mm256_unpacklo_ps(a, b), high = _mm256_unpackhi_ps(a, b);
    vf_store(p, _mm256_permute2f128_ps(low, high, 0x20));
    vf_store(p + 8, _mm256_permute2f128_ps(low, high, 0x31));
}
/* a0 b0 c0 d0 a1 b1 … */
static inline void vf_interleave(vf a, vf b, vf c, vf d, float *p)
{
    vf ab = _mm256_unpacklo_ps(a, b), ab2 = _mm256_unpackhi_ps(a, b);
    vf cd = _mm256_unpacklo_ps(c, d), cd2 = _mm256_unpackhi_ps(c, d);
    vf x0 = _mm256_shuffle_ps(ab, cd, 0x44), x1 = _mm256_shuffle_ps(ab, cd, 0xee);     /* lanes 0 and 4, 1 and 5 */
    vf x2 = _mm256_shuffle_ps(ab2, cd2, 0x44), x3 = _mm256_shuffle_ps(ab2, cd2, 0xee); /* 2 and 6, 3 and 7 */
    vf_store(p, _mm256_permute2f128_ps(x0, x1, 0x20));
    vf_store(p + 8, _mm256_permute2f128_ps(x2, x3, 0x20));
    vf_store(p + 16, _mm256_permute2f128_ps(x0, x1, 0x31));
    vf_store(p + 24, _mm256_permute2f128_ps(x2, x3, 0x31));
}

/* Rows become columns. */
static inline void vf_transpose(vf r[VF])
{
    vf t[VF];
    for (int i = 0; i < VF; i += 4) {
        vf a = _mm256_unpacklo_ps(r[i], r[i + 1]), b = _mm256_unpackhi_ps(r[i], r[i + 1]);
        vf c = _mm256_unpacklo_ps(r[i + 2], r[i + 3]), d = _mm256_unpackhi_ps(r[i + 2], r[i + 3]);
        t[i] = _mm256_shuffle_ps(a, c, 0x44), t[i + 1] = _mm256_shuffle_ps(a, c, 0xee);
        t[i + 2] = _mm256_shuffle_ps(b, d, 0x44), t[i + 3] = _mm256_shuffle_ps(b, d, 0xee);
    }
    for (int i = 0; i < 4; i++) {
        r[i] = _mm256_permute2f128_ps(t[i], t[i + 4], 0x20);
        r[i + 4] = _mm256_permute2f128_ps(t[i], t[i + 4], 0x31);
    }
}

/* (p[i] ^ flip) - zero */
static inline vf vf_load_bytes(const uint8_t *p, uint8_t flip, int32_t zero)
{
    __m256i v = _mm256_cvtepu8_epi32(_mm_xor_si128(_mm_loadl_epi64((const __m128i *)p), _mm_set1_epi8((char)flip)));
    return _mm256_cvtepi32_ps(_mm256_sub_epi32(v, _mm256_set1_epi32(zero)));
}
static inline vf vf_load_f16(const mr_f16 *p)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
}
static inline void vf_store_f16(mr_f16 *p, vf x)
{
    _mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
static inline vf vf_load_bf16(const mr_bf16 *p)
{
    __m256i x = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p));
    return _mm256_castsi256_ps(_mm256_slli_epi32(x, 16));
}
static inline void vf_store_bf16(mr_bf16 *p, vf x)
{
    __m256i bits = _mm256_castps_si256(x), one = _mm256_set1_epi32(1);
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), one);
    __m256i even = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
    __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    __m256i r = _mm256_srli_epi32(_mm256_blendv_epi8(even, quiet, nan), 16);
    r = _mm256_permute4x64_epi64(_mm256_packus_epi32(r, r), 0x08);
    _mm_storeu_si128((__m128i *)p, _mm256_castsi256_si128(r));
}

static inline vd vd_zero(void)
{
    return _mm256_setzero_pd();
}
static inline vd vd_set(double x)
{
    return _mm256_set1_pd(x);
}
static inline vd vd_load(const double *p)
{
    return _mm256_loadu_pd(p);
}
static inline void vd_store(double *p, vd x)
{
    _mm256_storeu_pd(p, x);
}
static inline vd vd_add(vd a, vd b)
{
    return _mm256_add_pd(a, b);
}
static inline vd vd_fma(vd a, vd b, vd c)
{
    return _mm256_fmadd_pd(a, b, c);
}

#endif

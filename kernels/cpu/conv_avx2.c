/* conv_avx2.c: see conv_simd.inc, intconv_simd.inc; tiles of 6 maps × 16 outputs. */
#include "kernels/cpu/requant_avx2.h"
#include "kernels/cpu/simd_avx2.h"

#define TILE_ROWS      6
#define LANES_TILE     8
#define FLOPS_PER_BYTE 6 /* of weights from memory */
#include "kernels/cpu/conv_levels.inc"

#define NAME(f) f##_plane
#include "kernels/cpu/intconv_plane.inc"
#undef NAME

#define NAME(f)  f##_pairs
#define INT_ROWS 6
#define GROUP    2
#define TARGET
#define VT             __m256i
#define VI             8
#define VT_ZERO()      _mm256_setzero_si256()
#define VT_SET(x)      _mm256_set1_epi32(x)
#define VT_ADD(a, b)   _mm256_add_epi32(a, b)
#define VT_LOAD(p)     _mm256_loadu_si256((const __m256i *)(p))
#define VT_STORE(p, x) _mm256_storeu_si256((__m256i *)(p), x)
#define LOAD(p)        _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(p)))
#define DOT(s, a, b)   _mm256_add_epi32(s, _mm256_madd_epi16(a, b))
#include "kernels/cpu/int_tile.inc"
#include "kernels/cpu/intconv_simd.inc"

void mr_conv_fill_avx2(mr_conv_fns *f)
{
    fill(f);
    fill_slots_pairs(f);
}

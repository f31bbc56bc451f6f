/* conv_avx512.c: see conv_simd.inc, intconv_simd.inc; tiles of 12 maps × 32 outputs. */
#include "kernels/cpu/requant_avx512.h"
#include "kernels/cpu/simd_avx512.h"

#define TILE_ROWS      12
#define LANES_TILE     14
#define FLOPS_PER_BYTE 13 /* of weights from memory */
#include "kernels/cpu/conv_levels.inc"

#define NAME(f) f##_plane
#include "kernels/cpu/intconv_plane.inc"
#undef NAME

#define INT_ROWS       12
#define VT             __m512i
#define VI             16
#define VT_ZERO()      _mm512_setzero_si512()
#define VT_SET(x)      _mm512_set1_epi32(x)
#define VT_ADD(a, b)   _mm512_add_epi32(a, b)
#define VT_LOAD(p)     _mm512_loadu_si512(p)
#define VT_STORE(p, x) _mm512_storeu_si512(p, x)

#define NAME(f) f##_pairs
#define GROUP   2
#define TARGET
#define LOAD(p)      _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)(p)))
#define DOT(s, a, b) _mm512_add_epi32(s, _mm512_madd_epi16(a, b))
#include "kernels/cpu/int_tile.inc"
#include "kernels/cpu/intconv_simd.inc"
#undef NAME
#undef GROUP
#undef TARGET
#undef LOAD
#undef DOT

#define NAME(f)      f##_fours
#define GROUP        4
#define TARGET       __attribute__((target("avx512vnni")))
#define LOAD(p)      _mm512_loadu_si512(p)
#define DOT(s, a, b) _mm512_dpbusd_epi32(s, b, a)
#include "kernels/cpu/int_tile.inc"
#include "kernels/cpu/intconv_simd.inc"

void mr_conv_fill_avx512(mr_conv_fns *f)
{
    fill(f);
    if (__builtin_cpu_supports("avx512vnni"))
        fill_slots_fours(f);
    else
        fill_slots_pairs(f);
}

/* intgemm_avx512.c: tiles of 12 × 32; groups of four bytes where the machine has VNNI (vpdpbusd, which does not
 * saturate either), else pairs of 16-bit products. */
#include <immintrin.h>
#include <string.h>

#include "kernels/cpu/intgemm.h"
#include "kernels/cpu/requant_avx512.h"
#include "kernels/cpu/slots.h"

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
#define LOAD(p)      _mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)(p)))
#define DOT(s, a, b) _mm512_add_epi32(s, _mm512_madd_epi16(a, b))
#include "kernels/cpu/int_tile.inc"
#include "kernels/cpu/intgemm_simd.inc"
#undef NAME
#undef GROUP
#undef TARGET
#undef LOAD
#undef DOT

#define NAME(f)      f##_fours
#define GROUP        4
#define TARGET       __attribute__((target("avx512vnni")))
#define LOAD(p)      _mm512_loadu_si512(p)
#define DOT(s, a, b) _mm512_dpbusd_epi32(s, a, b)
#include "kernels/cpu/int_tile.inc"
#include "kernels/cpu/intgemm_simd.inc"

void mr_intgemm_fill_avx512(mr_intgemm_fns *f)
{
    if (__builtin_cpu_supports("avx512vnni"))
        fill_fours(f);
    else
        fill_pairs(f);
}

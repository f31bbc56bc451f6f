/* vmath_avx512.h: vmath.inc on 16 floats. A file includes this one or vmath_avx2.h. */
#ifndef MR_KERNELS_CPU_VMATH_AVX512_H
#define MR_KERNELS_CPU_VMATH_AVX512_H

#include <immintrin.h>

#include "kernels/cpu/math.h"

#define VT                        __m512
#define VI                        __m512i
#define VB                        __mmask16
#define VD                        __m512d
#define VH                        __m256
#define VHI                       __m256i
#define V_LANES                   16
#define V_NEAREST                 (_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define V_ADD(a, b)               _mm512_add_ps(a, b)
#define V_SUB(a, b)               _mm512_sub_ps(a, b)
#define V_MUL(a, b)               _mm512_mul_ps(a, b)
#define V_DIV(a, b)               _mm512_div_ps(a, b)
#define V_MIN(a, b)               _mm512_min_ps(a, b)
#define V_MAX(a, b)               _mm512_max_ps(a, b)
#define V_AND(a, b)               _mm512_and_ps(a, b)
#define V_OR(a, b)                _mm512_or_ps(a, b)
#define V_XOR(a, b)               _mm512_xor_ps(a, b)
#define V_FMA(a, b, c)            _mm512_fmadd_ps(a, b, c)
#define V_FNMA(a, b, c)           _mm512_fnmadd_ps(a, b, c)
#define V_FMS(a, b, c)            _mm512_fmsub_ps(a, b, c)
#define V_SET(x)                  _mm512_set1_ps(x)
#define V_LOAD(p)                 _mm512_loadu_ps(p)
#define V_STORE(p, x)             _mm512_storeu_ps(p, x)
#define V_ROUND(x)                _mm512_roundscale_ps(x, V_NEAREST)
#define V_CMP(a, b, how)          _mm512_cmp_ps_mask(a, b, how)
#define V_IF(mask, yes, no)       _mm512_mask_blend_ps(mask, no, yes)
#define V_BY_SIGN(plus, minus, x) _mm512_mask_blend_ps(_mm512_movepi32_mask(V_AS_I(x)), plus, minus)
#define V_WHICH(mask)             (int)(mask)
#define V_AS_F(x)                 _mm512_castsi512_ps(x)
#define V_AS_I(x)                 _mm512_castps_si512(x)
#define V_ISET(x)                 _mm512_set1_epi32(x)
#define V_IADD(a, b)              _mm512_add_epi32(a, b)
#define V_ISUB(a, b)              _mm512_sub_epi32(a, b)
#define V_SLL(x, n)               _mm512_slli_epi32(x, n)
#define V_SRL(x, n)               _mm512_srli_epi32(x, n)
#define V_SRA(x, n)               _mm512_srai_epi32(x, n)
#define V_TO_I(x)                 _mm512_cvtps_epi32(x)
#define V_TO_F(x)                 _mm512_cvtepi32_ps(x)
#define V_D_OF(x)                 _mm512_cvtps_pd(x)
#define V_D_SET(x)                _mm512_set1_pd(x)
#define V_D_MUL(a, b)             _mm512_mul_pd(a, b)
#define V_D_FNMA(a, b, c)         _mm512_fnmadd_pd(a, b, c)
#define V_D_ROUND(x)              _mm512_roundscale_pd(x, V_NEAREST)
#define V_D_TO_I(x)               _mm512_cvtpd_epi32(x)
#define V_D_TO_F(x)               _mm512_cvtpd_ps(x)
#define V_LOW(x)                  _mm512_castps512_ps256(x)
#define V_HIGH(x)                 _mm512_extractf32x8_ps(x, 1)
#define V_JOIN(high, low)         _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1)
#define V_JOIN_I(high, low)       _mm512_inserti32x8(_mm512_castsi256_si512(low), high, 1)
#include "kernels/cpu/vmath.inc"
#undef VT
#undef VI
#undef VB
#undef VD
#undef VH
#undef VHI
#undef V_LANES
#undef V_NEAREST
#undef V_ADD
#undef V_SUB
#undef V_MUL
#undef V_DIV
#undef V_MIN
#undef V_MAX
#undef V_AND
#undef V_OR
#undef V_XOR
#undef V_FMA
#undef V_FNMA
#undef V_FMS
#undef V_SET
#undef V_LOAD
#undef V_STORE
#undef V_ROUND
#undef V_CMP
#undef V_IF
#undef V_BY_SIGN
#undef V_WHICH
#undef V_AS_F
#undef V_AS_I
#undef V_ISET
#undef V_IADD
#undef V_ISUB
#undef V_SLL
#undef V_SRL
#undef V_SRA
#undef V_TO_I
#undef V_TO_F
#undef V_D_OF
#undef V_D_SET
#undef V_D_MUL
#undef V_D_FNMA
#undef V_D_ROUND
#undef V_D_TO_I
#undef V_D_TO_F
#undef V_LOW
#undef V_HIGH
#undef V_JOIN
#undef V_JOIN_I

#endif

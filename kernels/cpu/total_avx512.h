/* total_avx512.h: see total_avx2.h. */
#ifndef MR_KERNELS_CPU_TOTAL_AVX512_H
#define MR_KERNELS_CPU_TOTAL_AVX512_H

#include "kernels/cpu/simd_avx512.h"

enum { TOTAL_STEPS = 128 };

static inline vd vd_low(vf x)
{
    return _mm512_cvtps_pd(_mm512_castps512_ps256(x));
}
static inline vd vd_high(vf x)
{
    return _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1));
}
static inline vf vf_from_vd(vd low, vd high)
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high), 1);
}
static inline vd vd_from_vf(vf x)
{
    return vd_add(vd_low(x), vd_high(x));
}

static inline double vd_total(vd x)
{
    double v[VD];
    vd_store(v, x);
    return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

static inline vf vf_keep(vf x, vf y, int64_t n)
{
    return _mm512_mask_mov_ps(y, vf_first(n), x);
}

static inline float vf_largest(vf x)
{
    float v[VF], top;
    vf_store(v, x);
    top = v[0];
    for (int i = 1; i < VF; i++) top = v[i] > top ? v[i] : top;
    return top;
}

#endif

/* total_avx2.h: the lanes of a vector brought to one number, in a fixed order. */
#ifndef MR_KERNELS_CPU_TOTAL_AVX2_H
#define MR_KERNELS_CPU_TOTAL_AVX2_H

#include "kernels/cpu/simd_avx2.h"

/* Floats of one lane are added up to so many vectors; then they go on in double, so that long sums stay exact enough.
 */
enum { TOTAL_STEPS = 128 };

static inline vd vd_low(vf x)
{
    return _mm256_cvtps_pd(_mm256_castps256_ps128(x));
}
static inline vd vd_high(vf x)
{
    return _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1));
}
static inline vf vf_from_vd(vd low, vd high)
{
    return _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low));
}
/* The sum of both halves, as doubles. */
static inline vd vd_from_vf(vf x)
{
    return vd_add(vd_low(x), vd_high(x));
}

static inline double vd_total(vd x)
{
    double v[VD];
    vd_store(v, x);
    return (v[0] + v[1]) + (v[2] + v[3]);
}

static inline vf vf_neg(vf x)
{
    return _mm256_xor_ps(x, vf_set(-0.0f));
}
static inline vf vf_nan(vf x)
{
    return _mm256_cmp_ps(x, x, _CMP_UNORD_Q);
}
/* x in the first n lanes, else y. */
static inline vf vf_keep(vf x, vf y, int64_t n)
{
    return _mm256_blendv_ps(y, x, _mm256_castsi256_ps(vf_first(n)));
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

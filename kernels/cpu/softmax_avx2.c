/* softmax_avx2.c: softmax and its logarithm in float, eight lanes wide. */
#include "kernels/cpu/softmax_job.h"

#include "kernels/cpu/simd_avx2.h"
#include "kernels/cpu/part_simd.h"
#include "kernels/cpu/total_avx2.h"
#include "kernels/cpu/vmath_avx2.h"

/* y 2^k, where that is no denormal */
static inline vf scaled(vf y, __m256i k)
{
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(y), _mm256_slli_epi32(k, 23)));
}

/* exp(x) for x ≤ 0 or NaN. Denormals, which are rare, take a multiplication more. */
static inline vf exp_below(vf x)
{
    __m256i k;
    vf y = vf_add(v_exp_parts(x, vf_zero(), &k), vf_set(1)), e = scaled(y, k);
    vf low = _mm256_cmp_ps(x, vf_set(-87.0f), _CMP_LT_OQ);
    if (_mm256_testz_ps(low, low)) return e;
    vf tiny = vf_mul(scaled(y, _mm256_add_epi32(k, _mm256_set1_epi32(64))), vf_set(0x1p-64f));
    tiny = _mm256_and_ps(tiny, _mm256_cmp_ps(x, vf_set(-104.0f), _CMP_NLT_UQ));
    return _mm256_blendv_ps(e, tiny, low);
}

static inline vf vf_log(vf x)
{
    return v_log(x);
}
static inline float vf_first_lane(vf x)
{
    return _mm256_cvtss_f32(x);
}

#define MR_BODY "kernels/cpu/softmax_simd.inc"
#include "kernels/cpu/each_float_simd.h"

void mr_softmax_fill_avx2(mr_softmax_fns *f)
{
    f->softmax[MR_F32] = softmax_f32;
    f->softmax[MR_F16] = softmax_f16;
    f->softmax[MR_BF16] = softmax_bf16;
    f->log_softmax[MR_F32] = log_softmax_f32;
    f->log_softmax[MR_F16] = log_softmax_f16;
    f->log_softmax[MR_BF16] = log_softmax_bf16;
}

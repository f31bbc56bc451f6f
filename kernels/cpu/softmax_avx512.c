/* softmax_avx512.c: softmax and its logarithm in float, sixteen lanes wide. */
#include "kernels/cpu/softmax_job.h"

#include "kernels/cpu/total_avx512.h"
#include "kernels/cpu/vmath_avx512.h"

/* exp(x) for x ≤ 0 or NaN: the polynomial and the reduction of vmath.inc. */
static inline vf exp_below(vf x)
{
    static const float c[] = {0.5f, 0x1.555554p-3f, 0x1.5554f8p-5f, 0x1.1112d4p-7f, 0x1.6d3a66p-10f, 0x1.9e7c90p-13f};
    vf n = _mm512_roundscale_ps(vf_mul(x, vf_set(0x1.715476p+0f)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    vf r = _mm512_fnmadd_ps(n, vf_set(0x1.62e430p-1f), x), y = vf_set(c[5]);
    r = _mm512_fnmadd_ps(n, vf_set(-0x1.05c610p-29f), r);
    for (int i = 4; i >= 0; i--) y = vf_fma(y, r, vf_set(c[i]));
    y = vf_add(vf_fma(vf_mul(r, r), y, r), vf_set(1));
    return _mm512_maskz_scalef_ps(_mm512_cmp_ps_mask(x, vf_set(-104), _CMP_NLT_UQ), y, n);
}

static inline vf vf_log(vf x)
{
    return v_log(x);
}

static inline float vf_first_lane(vf x)
{
    return _mm512_cvtss_f32(x);
}

static inline vf load_part(const float *p, int64_t n)
{
    return vf_load_part(p, vf_first(n));
}
static inline void store_part(float *p, int64_t n, vf x)
{
    vf_store_part(p, vf_first(n), x);
}

#define S        float
#define NAME(f)  f##_f32
#define VLD      vf_load
#define VST      vf_store
#define VLD_PART load_part
#define VST_PART store_part
#include "kernels/cpu/softmax_simd.inc"

void mr_softmax_fill_avx512(mr_softmax_fns *f)
{
    f->softmax[MR_F32] = softmax_f32;
    f->log_softmax[MR_F32] = log_softmax_f32;
}

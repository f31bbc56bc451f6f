/* unary_avx2.c: functions of one float, eight at a time, in float. */
#include "kernels/cpu/unary.h"

#include "kernels/cpu/part_avx2.h"
#include "kernels/cpu/vmath_avx2.h"

/* The bounds come first in min and max: they give their second argument when one of them is NaN. */
static inline vf clamp_01(vf x)
{
    return _mm256_max_ps(vf_zero(), _mm256_min_ps(vf_set(1), x));
}

/* tanh(log(1 + e)), e = exp(x), is n / (n + 2), n = e (e + 2); it is 1 from 20 on. */
static inline vf tanh_softplus(vf x)
{
    vf e = v_exp(_mm256_min_ps(vf_set(20), x)), n = vf_mul(e, vf_add(e, vf_set(2)));
    return _mm256_div_ps(n, vf_add(n, vf_set(2)));
}

static inline vf shrink(vf x, vf lambd, vf bias)
{
    vf above = _mm256_and_ps(v_lt(lambd, x), _mm256_sub_ps(x, bias));
    return v_if(v_lt(x, v_neg(lambd)), vf_add(x, bias), above);
}

static inline vf sign(vf x)
{
    vf y = v_if(v_lt(x, vf_zero()), vf_set(-1), _mm256_and_ps(v_lt(vf_zero(), x), vf_set(1)));
    return v_if(_mm256_cmp_ps(x, x, _CMP_UNORD_Q), x, y);
}

#define MR_BODY "kernels/cpu/unary_avx2.inc"
#include "kernels/cpu/each_float_avx2.h"

void mr_unary_fill_avx2(mr_unary_fns *f)
{
    fill_f32(f);
    fill_f16(f);
    fill_bf16(f);
}

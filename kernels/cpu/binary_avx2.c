/* binary_avx2.c: functions of two floats, eight pairs at a time, in float. */
#include "kernels/cpu/binary.h"

#include "kernels/cpu/simd_avx2.h"
#include "kernels/cpu/part_simd.h"
#include "kernels/cpu/vmath_avx2.h"
#include "kernels/cpu/wide.h"

#define MR_BODY "kernels/cpu/binary_avx2.inc"
#include "kernels/cpu/each_float_simd.h"

/* ---- Pow with one exponent that takes no logarithm ---- */

/* Without the -0 and -∞ that C's pow makes positive. */
static inline vf root(vf x)
{
    vf plus = vf_add(x, vf_zero());
    return _mm256_sqrt_ps(v_if(_mm256_cmp_ps(x, vf_set(-__builtin_inff()), _CMP_EQ_OQ), v_abs(plus), plus));
}

static inline vf square(vf x)
{
    return vf_mul(x, x);
}
static inline vf cube(vf x)
{
    return vf_mul(vf_mul(x, x), x);
}
static inline vf inverse(vf x)
{
    return _mm256_div_ps(vf_set(1), x);
}
static inline vf inverse_root(vf x)
{
    return inverse(root(x));
}

static inline __attribute__((always_inline)) void each(const mr_part *p, vf (*f)(vf))
{
    mr_lane in = mr_lane_in(p, 0), out = mr_lane_out(p);
    for (int64_t r = 0; r < p->rows; r++) {
        const float *from = (const float *)in.data + r * in.row;
        float *to = (float *)out.data + r * out.row;
        int64_t i = 0;
        for (; i + VF <= p->cols; i += VF) vf_store(to + i, f(vf_load(from + i)));
        if (i < p->cols) vf_store_n_f32(to + i, p->cols - i, f(vf_load_n_f32(from + i, p->cols - i)));
    }
}

static void pow_f32(const mr_part *p)
{
    const mr_binary_params *k = p->job->params;
    mr_lane base = mr_lane_in(p, 0), exponent = mr_lane_in(p, 1);
    double e = 0;
    if (base.step && !exponent.step && !exponent.row) mr_wide_load_f64(k->type, exponent.data, 1, &e);
    if (e == 2)
        each(p, square);
    else if (e == 3)
        each(p, cube);
    else if (e == 0.5)
        each(p, root);
    else if (e == -1)
        each(p, inverse);
    else if (e == -0.5)
        each(p, inverse_root);
    else
        mr_pow_f32(p);
}

void mr_binary_fill_avx2(mr_binary_fns *f)
{
    for (mr_dtype d = 0; d < MR_N_DTYPES; d++)
        if (mr_wide_kind_of(d)) f->pow[MR_F32][d] = pow_f32;
    fill_f32(f);
    fill_f16(f);
    fill_bf16(f);
}

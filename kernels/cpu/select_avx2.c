/* select_avx2.c: Where on every size, with the bodies of select.c, which the compiler turns into blends; Clip on eight
 * floats. */
#include "kernels/cpu/select.h"

#include "kernels/cpu/simd_avx2.h"
#include "kernels/cpu/part_simd.h"

#define MR_BODY "kernels/cpu/where.inc"
#include "kernels/cpu/each_size.h"

/* The bounds come first in min and max: they give their second argument when one of them is NaN. A bound that is NaN
 * is put in afterwards. */
static inline vf clip(vf x, vf min, vf max)
{
    vf y = _mm256_min_ps(max, _mm256_max_ps(min, x));
    return _mm256_or_ps(y, _mm256_or_ps(_mm256_cmp_ps(min, min, _CMP_UNORD_Q), _mm256_cmp_ps(max, max, _CMP_UNORD_Q)));
}

#define MR_BODY "kernels/cpu/clip_avx2.inc"
#include "kernels/cpu/each_float_simd.h"

void mr_select_fill_avx2(mr_select_fns *f)
{
    static const mr_elementwise_fn where[MR_N_SIZES] = {where_1, where_2, where_4, where_8, where_16};
    for (int i = 0; i < MR_N_SIZES; i++) f->where[i] = where[i];
    f->clip[MR_F32] = clip_f32;
    f->clip[MR_F16] = clip_f16;
    f->clip[MR_BF16] = clip_bf16;
}

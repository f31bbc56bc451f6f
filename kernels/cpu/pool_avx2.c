/* pool_avx2.c: see pool_simd.inc. */
#include "kernels/cpu/simd_avx2.h"

#include <math.h>
#include <string.h>

#include "kernels/cpu/conv_source.h"
#include "kernels/cpu/pool.h"
#include "kernels/cpu/simd_convert.inc"
#include "kernels/cpu/slots.h"

enum { POOL_TAPS = 128 };

/* A NaN of either wins. */
static inline vf larger(vf a, vf b)
{
    return _mm256_blendv_ps(_mm256_max_ps(b, a), b, _mm256_cmp_ps(b, b, _CMP_UNORD_Q));
}

static mr_conv_args pool_geometry(const mr_pool_args *a)
{
    mr_conv_args v = {.rank = a->rank, .batch = 1, .groups = 1, .channels = 1, .maps = 1};
    int64_t step = 1;
    for (int i = a->rank - 1; i >= 0; step *= a->axis[i].in, i--) {
        const mr_pool_axis *x = &a->axis[i];
        v.axis[i] = (mr_conv_axis){.in = x->in,
                                   .out = x->out,
                                   .taps = x->taps,
                                   .offset = -x->pad,
                                   .stride = x->stride,
                                   .dilation = x->dilation,
                                   .x_step = step};
    }
    v.x_channel = step;
    return v;
}

#define SPLIT             split_floats
#define T                 float
#define S                 float
#define SAME_TYPE         true
#define NAME(f)           f##_f32
#define WIDEN(x, n, y)    copy_floats(x, n, y)
#define NARROWED(x, n, y) copy_floats(x, n, y)
#include "kernels/cpu/pool_simd.inc"
#undef S
#undef NAME
#undef WIDEN
#undef NARROWED
#undef SAME_TYPE

#define SAME_TYPE false
#define S         mr_f16
#define NAME(f)   f##_f16
#define WIDEN     widen_f16
#define NARROWED  narrow_f16
#include "kernels/cpu/pool_simd.inc"
#undef S
#undef NAME
#undef WIDEN
#undef NARROWED

#define S        mr_bf16
#define NAME(f)  f##_bf16
#define WIDEN    widen_bf16
#define NARROWED narrow_bf16
#include "kernels/cpu/pool_simd.inc"

#define FILL(name, d) f->max[d] = max_pool_##name, f->average[d] = average_pool_##name, f->scratch[d] = scratch_##name

void mr_pool_fill_avx2(mr_pool_fns *f)
{
    FILL(f32, MR_F32);
    FILL(f16, MR_F16);
    FILL(bf16, MR_BF16);
}

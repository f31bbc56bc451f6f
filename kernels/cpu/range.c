/* range.c: start + i * delta, plain C. */
#include "kernels/cpu/range.h"

#include "kernels/cpu/math.h"
#include "runtime/narrow.h"
#include "kernels/cpu/sizes.h"

#define MR_BODY "kernels/cpu/range_int.inc"
#include "kernels/cpu/each_int.h"
#define MR_BODY "kernels/cpu/range_float.inc"
#include "kernels/cpu/each_float.h"

/* In float, each operation rounded to it, as the attribute stash_type asks. */
static inline float step_f32(float start, int64_t i, float delta)
{
    float way = (float)i * delta;
    return (float)mr_canonical(start + way);
}

#define S                     mr_f16
#define FN(f)                 f##_f16_stash
#define STEP(start, i, delta) mr_f16_from_f32(step_f32(mr_f16_to_f32(start), i, mr_f16_to_f32(delta)))
#include "kernels/cpu/range.inc"
#undef S
#define S                     mr_bf16
#define FN(f)                 f##_bf16_stash
#define STEP(start, i, delta) mr_bf16_from_f32(step_f32(mr_bf16_to_f32(start), i, mr_bf16_to_f32(delta)))
#include "kernels/cpu/range.inc"
#undef S

void mr_range_fill_scalar(mr_range_fns *f)
{
    *f = (mr_range_fns){
        .plain = {[MR_U8] = range_u8,
                  [MR_I8] = range_i8,
                  [MR_U16] = range_u16,
                  [MR_I16] = range_i16,
                  [MR_U32] = range_u32,
                  [MR_I32] = range_i32,
                  [MR_U64] = range_u64,
                  [MR_I64] = range_i64,
                  [MR_F16] = range_f16_stash,
                  [MR_BF16] = range_bf16_stash,
                  [MR_F32] = range_f32,
                  [MR_F64] = range_f64},
        .wide = {[MR_U8] = range_u8,
                 [MR_I8] = range_i8,
                 [MR_U16] = range_u16,
                 [MR_I16] = range_i16,
                 [MR_U32] = range_u32,
                 [MR_I32] = range_i32,
                 [MR_U64] = range_u64,
                 [MR_I64] = range_i64,
                 [MR_F16] = range_f16,
                 [MR_BF16] = range_bf16,
                 [MR_F32] = range_f32,
                 [MR_F64] = range_f64},
    };
}

/* select.c: which of several values an element is. */
#include "kernels/cpu/select.h"

#include "kernels/cpu/math.h"
#include "runtime/narrow.h"

#define MR_BODY "kernels/cpu/where.inc"
#include "kernels/cpu/each_size.h"

#define MR_BODY "kernels/cpu/clip_float.inc"
#include "kernels/cpu/each_float.h"

#define MR_BODY "kernels/cpu/clip_int.inc"
#include "kernels/cpu/each_int.h"

void mr_select_fill_scalar(mr_select_fns *f)
{
    static const mr_elementwise_fn where[MR_N_SIZES] = {where_1, where_2, where_4, where_8, where_16};
    for (int i = 0; i < MR_N_SIZES; i++) f->where[i] = where[i];
    f->clip[MR_F16] = clip_f16;
    f->clip[MR_BF16] = clip_bf16;
    f->clip[MR_F32] = clip_f32;
    f->clip[MR_F64] = clip_f64;
    f->clip[MR_I8] = clip_i8;
    f->clip[MR_U8] = clip_u8;
    f->clip[MR_I16] = clip_i16;
    f->clip[MR_U16] = clip_u16;
    f->clip[MR_I32] = clip_i32;
    f->clip[MR_U32] = clip_u32;
    f->clip[MR_I64] = clip_i64;
    f->clip[MR_U64] = clip_u64;
}

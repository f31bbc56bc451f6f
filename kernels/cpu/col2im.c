/* col2im.c: sliding blocks put back, plain C. */
#include "kernels/cpu/col2im.h"

#include "kernels/cpu/math.h"
#include "runtime/narrow.h"

typedef struct image_job {
    const mr_col2im_args *a;
    int64_t rows, taps, blocks; /* rows of an image, elements of a block, blocks */
} image_job;

static image_job job_of(const mr_col2im_args *a)
{
    image_job j = {a, 1, 1, 1};
    for (int d = 0; d < a->rank; d++) {
        j.taps *= a->axis[d].block;
        j.blocks *= a->axis[d].blocks;
        if (d < a->rank - 1) j.rows *= a->axis[d].image;
    }
    return j;
}

/* The block whose element `tap` lies at this row and column of the image; -1: none. */
static int64_t block_at(const mr_col2im_args *a, int64_t row, int64_t col, int64_t tap)
{
    int64_t block = 0, step = 1;
    for (int d = a->rank - 1; d >= 0; d--) {
        const mr_col2im_axis *s = &a->axis[d];
        int64_t at = d == a->rank - 1 ? col : row % s->image;
        if (d < a->rank - 1) row /= s->image;
        at += s->pad - tap % s->block * s->dilation;
        tap /= s->block;
        if (at < 0 || at % s->stride || at / s->stride >= s->blocks) return -1;
        block += at / s->stride * step;
        step *= s->blocks;
    }
    return block;
}

#define C         double
#define ADD(a, v) ((a) + LD(v))
#define PUT(v)    ST(mr_canonical(v))
#define MR_BODY   "kernels/cpu/col2im.inc"
#include "kernels/cpu/each_float.h"
#undef C
#undef ADD
#undef PUT

#define C         U
#define ADD(a, v) ((a) + (U)(v))
#define PUT(v)    ((S)(v))
#define MR_BODY   "kernels/cpu/col2im.inc"
#include "kernels/cpu/each_int.h"
#undef C
#undef ADD
#undef PUT

#define S         uint8_t
#define C         uint8_t
#define ADD(a, v) ((a) | (v))
#define PUT(v)    (v)
#define NAME(f)   f##_bool8
#include "kernels/cpu/col2im.inc"
#undef S
#undef C
#undef ADD
#undef PUT
#undef NAME

void mr_col2im_fill_scalar(mr_col2im_fns *f)
{
    *f = (mr_col2im_fns){
        .col2im = {[MR_F16] = col2im_f16,
                   [MR_BF16] = col2im_bf16,
                   [MR_F32] = col2im_f32,
                   [MR_F64] = col2im_f64,
                   [MR_U8] = col2im_u8,
                   [MR_I8] = col2im_i8,
                   [MR_U16] = col2im_u16,
                   [MR_I16] = col2im_i16,
                   [MR_U32] = col2im_u32,
                   [MR_I32] = col2im_i32,
                   [MR_U64] = col2im_u64,
                   [MR_I64] = col2im_i64,
                   [MR_BOOL] = col2im_bool8,
                   [MR_C64] = col2im_f32,
                   [MR_C128] = col2im_f64},
    };
}

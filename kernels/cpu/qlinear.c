/* qlinear.c: arithmetic on 8-bit codes, and what becomes of exact sums. */
#define QLINEAR_OP "kernels/cpu/qlinear_op.inc"
#include "kernels/cpu/qlinear_codes.inc"

#include "kernels/cpu/math.h"
#include "runtime/narrow.h"

static void lookup(const mr_part *p)
{
    const mr_qlinear_tables *t = p->job->params;
    const mr_lane x = mr_lane_in(p, 0), y = mr_lane_out(p);
    for (int64_t i = 0; i < p->rows; i++) {
        const uint8_t *from = (const uint8_t *)x.data + i * x.row;
        uint8_t *to = (uint8_t *)y.data + i * y.row;
        for (int64_t j = 0; j < p->cols; j++) to[j] = t->table[0][from[j * x.step]];
    }
}

static void choose(const mr_part *p)
{
    const mr_qlinear_tables *t = p->job->params;
    const mr_lane c = mr_lane_in(p, 0), a = mr_lane_in(p, 1), b = mr_lane_in(p, 2), y = mr_lane_out(p);
    for (int64_t i = 0; i < p->rows; i++) {
        const uint8_t *if_ = (const uint8_t *)c.data + i * c.row, *then = (const uint8_t *)a.data + i * a.row;
        const uint8_t *else_ = (const uint8_t *)b.data + i * b.row;
        uint8_t *to = (uint8_t *)y.data + i * y.row;
        for (int64_t j = 0; j < p->cols; j++)
            to[j] = if_[j * c.step] ? t->table[0][then[j * a.step]] : t->table[1][else_[j * b.step]];
    }
}

#define S            uint8_t
#define LOW          0
#define HIGH         UINT8_MAX
#define NAME(f)      f##_u8
#define PUT(v, zero) (uint8_t) code_of(v, zero, LOW, HIGH)
#include "kernels/cpu/qlinear_softmax.inc"
#include "kernels/cpu/rescale.inc"
#undef S
#undef LOW
#undef HIGH
#undef NAME
#undef PUT
#define S            int8_t
#define LOW          INT8_MIN
#define HIGH         INT8_MAX
#define NAME(f)      f##_i8
#define PUT(v, zero) (int8_t) code_of(v, zero, LOW, HIGH)
#include "kernels/cpu/qlinear_softmax.inc"
#include "kernels/cpu/rescale.inc"
#undef S
#undef LOW
#undef HIGH
#undef NAME
#undef PUT

#define PUT(v, zero) ST(mr_canonical(v))
#define MR_BODY      "kernels/cpu/rescale.inc"
#include "kernels/cpu/each_float.h"

void mr_qlinear_fill_scalar(mr_qlinear_fns *f)
{
    fill_codes(f);
    f->lookup = lookup;
    f->choose = choose;
    f->softmax[0] = softmax_u8, f->softmax[1] = softmax_i8;
    f->rescale[MR_U8] = rescale_u8;
    f->rescale[MR_I8] = rescale_i8;
    f->rescale[MR_F16] = rescale_f16;
    f->rescale[MR_BF16] = rescale_bf16;
    f->rescale[MR_F32] = rescale_f32;
    f->rescale[MR_F64] = rescale_f64;
}

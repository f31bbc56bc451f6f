/* unary.c: functions of one element. */
#include "kernels/cpu/unary.h"

#include "kernels/cpu/math.h"
#include "runtime/narrow.h"
#include "kernels/cpu/convert.h"

static inline double clamp_01(double x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

static inline double shrink(double x, const mr_unary_params *k)
{
    return x < -k->alpha ? x + k->beta : x > k->alpha ? x - k->beta : 0;
}

/* erfc(-x / √2). What rounding -x / √2 loses, δ, would come out multiplied by x²: erfc'(u) = -2/√π exp(-u²). */
static double gelu_erfc(double x)
{
    if (mr_abs(x) > 40) return x < 0 ? 0 : 2;
    mr_pair u = mr_mul(x, -0x1.6a09e667f3bcdp-1);
    double delta = u.lo - x * -0x1.bdd3413b26456p-55;
    return mr_erfc(u.hi) - delta * 0x1.20dd750429b6dp+0 * mr_exp(-u.hi * u.hi);
}

#define MR_BODY "kernels/cpu/unary_float.inc"
#include "kernels/cpu/each_float.h"

#define MR_BODY "kernels/cpu/unary_class.inc"
#include "kernels/cpu/each_float.h"

#define MR_BODY "kernels/cpu/unary_class.inc"
#include "kernels/cpu/each_narrow.h"

#define MR_BODY "kernels/cpu/unary_int.inc"
#include "kernels/cpu/each_int.h"

static void not_bool(const mr_part *p)
{
    const uint8_t *from = (const uint8_t *)mr_lane_in(p, 0).data;
    uint8_t *to = (uint8_t *)mr_lane_out(p).data;
    MR_ELEMENTS
    for (int64_t i = 0; i < p->cols; i++) to[i] = !from[i];
}

static void fill_classes(mr_unary_fns *f)
{
    fill_class_f16(f);
    fill_class_bf16(f);
    fill_class_f32(f);
    fill_class_f64(f);
    fill_class_f8e4m3fn(f);
    fill_class_f8e4m3fnuz(f);
    fill_class_f8e5m2(f);
    fill_class_f8e5m2fnuz(f);
    fill_class_f8e8m0(f);
    fill_class_f6e2m3(f);
    fill_class_f6e3m2(f);
    fill_class_f4e2m1(f);
}

void mr_unary_fill_scalar(mr_unary_fns *f)
{
    fill_f16(f);
    fill_bf16(f);
    fill_f32(f);
    fill_f64(f);
    fill_i8(f);
    fill_u8(f);
    fill_i16(f);
    fill_u16(f);
    fill_i32(f);
    fill_u32(f);
    fill_i64(f);
    fill_u64(f);
    fill_classes(f);
    f->bit_not[MR_BOOL] = not_bool;
}

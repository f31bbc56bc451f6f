/* binary.c: functions of two elements. */
#include "kernels/cpu/binary.h"

#include "kernels/cpu/math.h"
#include "runtime/narrow.h"
#include "kernels/cpu/convert.h"
#include "kernels/cpu/wide.h"

/* a - floor(a / b) b; a zero has the sign of b, and so has a finite a over an infinity of the other sign (ONNX's Mod
 * since opset 28). */
static inline double floor_mod(double a, double b)
{
    double m = mr_fmod(a, b);
    if (m == 0) return __builtin_copysign(0.0, b);
    return (m < 0) != (b < 0) ? m + b : m;
}

#define MR_BODY "kernels/cpu/binary_float.inc"
#include "kernels/cpu/each_float.h"

#define MR_BODY "kernels/cpu/binary_int.inc"
#include "kernels/cpu/each_int.h"

#include "kernels/cpu/binary_other.inc"

void mr_pow_f32(const mr_part *p)
{
    pow_f32(p);
}

void mr_binary_fill_scalar(mr_binary_fns *f)
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
    f->fn[MR_EQUAL][MR_BOOL] = equal_bool;
    f->fn[MR_BIT_AND][MR_BOOL] = bit_and_bool;
    f->fn[MR_BIT_OR][MR_BOOL] = bit_or_bool;
    f->fn[MR_BIT_XOR][MR_BOOL] = bit_xor_bool;
    f->fn[MR_EQUAL][MR_STRING] = equal_string;
}

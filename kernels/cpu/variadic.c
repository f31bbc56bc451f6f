/* variadic.c: functions of the elements of one or more operands. */
#include "kernels/cpu/variadic.h"

#include "kernels/cpu/math.h"
#include "runtime/narrow.h"
#include "kernels/cpu/wide.h"

#define MR_BODY "kernels/cpu/variadic_float.inc"
#include "kernels/cpu/each_float.h"

#define MR_BODY "kernels/cpu/variadic_int.inc"
#include "kernels/cpu/each_int.h"

void mr_variadic_fill_scalar(mr_variadic_fns *f)
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
}

/* binary_avx2.c: functions of two floats, eight pairs at a time, in float. */
#include "kernels/cpu/binary.h"

#include "kernels/cpu/part_avx2.h"
#include "kernels/cpu/vmath_avx2.h"

#define MR_BODY "kernels/cpu/binary_avx2.inc"
#include "kernels/cpu/each_float_avx2.h"

void mr_binary_fill_avx2(mr_binary_fns *f)
{
    fill_f32(f);
    fill_f16(f);
    fill_bf16(f);
}

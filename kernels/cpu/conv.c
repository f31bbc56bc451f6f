/* conv.c: the scalar convolution, which is also the reference. */
#include "kernels/cpu/conv.h"

#include <string.h>

#include "kernels/cpu/conv_panel.h"
#include "kernels/cpu/math.h"
#include "runtime/narrow.h"
#include "kernels/cpu/sums.h"

#define MR_BODY "kernels/cpu/conv.inc"
#include "kernels/cpu/each_float.h"

/* Integers: the body for each pair of types. */
#define SX      uint8_t
#define SW      uint8_t
#define NAME(f) f##_u8_u8
#include "kernels/cpu/intconv.inc"
#undef SW
#undef NAME
#define SW      int8_t
#define NAME(f) f##_u8_i8
#include "kernels/cpu/intconv.inc"
#undef SX
#undef SW
#undef NAME
#define SX      int8_t
#define SW      uint8_t
#define NAME(f) f##_i8_u8
#include "kernels/cpu/intconv.inc"
#undef SW
#undef NAME
#define SW      int8_t
#define NAME(f) f##_i8_i8
#include "kernels/cpu/intconv.inc"

void mr_conv_fill_scalar(mr_conv_fns *f)
{
    f->conv[MR_F16] = conv_f16;
    f->conv[MR_BF16] = conv_bf16;
    f->conv[MR_F32] = conv_f32;
    f->conv[MR_F64] = conv_f64;
    f->integer[0][0] = conv_u8_u8;
    f->integer[0][1] = conv_u8_i8;
    f->integer[1][0] = conv_i8_u8;
    f->integer[1][1] = conv_i8_i8;
}

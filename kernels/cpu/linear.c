/* linear.c: see linear.h. Eight rows stand side by side in vector registers; each has its sum to itself. */
#include "kernels/cpu/linear.h"

#include "kernels/cpu/math.h"

enum { LANES = 8 };

#define S      float
#define SUFFIX f32
#include "kernels/cpu/linear.inc"

#define S      double
#define SUFFIX f64
#include "kernels/cpu/linear.inc"

#define S      int32_t
#define SUFFIX i32
#include "kernels/cpu/linear.inc"

#define S      int64_t
#define SUFFIX i64
#include "kernels/cpu/linear.inc"

#define EACH(f) [MR_F32] = f##_f32, [MR_F64] = f##_f64, [MR_I32] = f##_i32, [MR_I64] = f##_i64

void mr_linear_fill_scalar(mr_linear_fns *f)
{
    *f = (mr_linear_fns){.product = {EACH(product)}, .distance = {EACH(distance)}};
}

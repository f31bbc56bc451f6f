/* unary_avx512.c: functions of one float, sixteen at a time, in float. */
#include <string.h>

#include "kernels/cpu/simd_avx512.h"
#include "kernels/cpu/vmath_avx512.h"

#include "kernels/cpu/unary_vectors.inc"

void mr_unary_fill_avx512(mr_unary_fns *f)
{
    fill(f);
}

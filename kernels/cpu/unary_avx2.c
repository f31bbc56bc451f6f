/* unary_avx2.c: functions of one float, eight at a time, in float. */
#include <string.h>

#include "kernels/cpu/simd_avx2.h"
#include "kernels/cpu/vmath_avx2.h"

#include "kernels/cpu/unary_vectors.inc"

void mr_unary_fill_avx2(mr_unary_fns *f)
{
    fill(f);
}

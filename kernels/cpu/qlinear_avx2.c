/* qlinear_avx2.c: sums and products of codes, eight at a time, decided in float where that is far enough from a tie. */
#include "kernels/cpu/requant_avx2.h"

#define QLINEAR_OP "kernels/cpu/qlinear_op_avx2.inc"
#include "kernels/cpu/qlinear_codes.inc"

void mr_qlinear_fill_avx2(mr_qlinear_fns *f)
{
    fill_codes(f);
}

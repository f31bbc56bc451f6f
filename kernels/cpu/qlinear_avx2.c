/* qlinear_avx2.c: sums and products of codes, as the compiler has them for AVX2. */
#include "kernels/cpu/qlinear_codes.inc"

void mr_qlinear_fill_avx2(mr_qlinear_fns *f)
{
    fill_codes(f);
}

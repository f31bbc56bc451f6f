/* gemm_avx2.c: tiles of 6 × 16 floats: 12 registers of sums, 2 of B, 1 of A. */
#include "kernels/cpu/simd_avx2.h"

#define TILE_ROWS 6
#include "kernels/cpu/gemm_levels.inc"

void mr_gemm_fill_avx2(mr_gemm_fns *f)
{
    fill(f);
}

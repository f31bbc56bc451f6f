/* gemm_avx512.c: tiles of 12 × 32 floats: 24 registers of sums, 2 of B, 1 of A. */
#include "kernels/cpu/simd_avx512.h"

#define TILE_ROWS 12
#include "kernels/cpu/gemm_levels.inc"

void mr_gemm_fill_avx512(mr_gemm_fns *f)
{
    fill(f);
}

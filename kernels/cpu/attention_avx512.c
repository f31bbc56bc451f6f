/* attention_avx512.c: attention in float, on tiles of 12 × 32. */
#include "kernels/cpu/simd_avx512.h"

#define TILE_ROWS 12
#include "kernels/cpu/attention_levels.inc"

void mr_attention_fill_avx512(mr_attention_fns *f)
{
    fill(f);
}

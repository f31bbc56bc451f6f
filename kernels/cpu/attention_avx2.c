/* attention_avx2.c: attention in float, on tiles of 6 × 16. */
#include "kernels/cpu/simd_avx2.h"

#define TILE_ROWS 6
#include "kernels/cpu/attention_levels.inc"

void mr_attention_fill_avx2(mr_attention_fns *f)
{
    fill(f);
}

/* rnn_avx512.c: recurrent cells in float, on tiles of 12 × 32. */
#include "kernels/cpu/simd_avx512.h"

#define TILE_ROWS 12
#include "kernels/cpu/rnn_levels.inc"

void mr_rnn_fill_avx512(mr_rnn_fns *f)
{
    fill(f);
}

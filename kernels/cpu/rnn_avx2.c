/* rnn_avx2.c: recurrent cells in float, on tiles of 6 × 16. */
#include "kernels/cpu/simd_avx2.h"

#define TILE_ROWS 6
#include "kernels/cpu/rnn_levels.inc"

void mr_rnn_fill_avx2(mr_rnn_fns *f)
{
    fill(f);
}

/* winograd.h: convolutions of 3 × 3 as products of transformed tiles, F(4 × 4, 3 × 3) (Lavin and Gray, 2015): 36
 * multiplications for 16 outputs instead of 144.
 *
 *   y = Aᵀ ((G g Gᵀ) ⊙ (Bᵀ d B)) A    for a 3 × 3 kernel g and a 6 × 6 tile d of the input
 *
 * With interpolation points 0, ±5/8, ±3/2, ∞, whose rounding errors are about half of those of the usual 0, ±1, ±2, ∞:
 * column i of Aᵀ has the powers of point i, row i of G its powers over Π (p_i - p_j), and row i of Bᵀ the coefficients of
 * Π (x - p_j), j ≠ i; at ∞ the highest power alone, and Π over all points. */
#ifndef MR_KERNELS_CPU_WINOGRAD_H
#define MR_KERNELS_CPU_WINOGRAD_H

#include "kernels/cpu/conv.h"

enum { MR_WINOGRAD_IN = 6, MR_WINOGRAD_OUT = 4, MR_WINOGRAD_PARTS = 36 };

#define MR_WINOGRAD_A 0.625f
#define MR_WINOGRAD_B 1.5f

/* Whether it pays: the shapes of x and y must be known. */
bool mr_winograd_fits(const mr_conv_args *v);
/* The same convolution seen tile by tile: 6 taps, a step of 4, an output for each tile. */
mr_conv_args mr_winograd_tiles(const mr_conv_args *v);
/* G g Gᵀ, rounded once from double. */
void mr_winograd_weights(const float *g, int64_t row_step, int64_t col_step, float *out);

#endif

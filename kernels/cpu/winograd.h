/* winograd.h: convolutions of 3 × 3 as products of transformed tiles, F(m × m, 3 × 3) (Lavin and Gray, 2015): for m =
 * 4, 36 multiplications give 16 outputs instead of 144; for m = 2, 16 give 4 instead of 36.
 *
 *   y = Aᵀ ((G g Gᵀ) ⊙ (Bᵀ d B)) A    for a 3 × 3 kernel g and a tile d of (m + 2)² inputs
 *
 * Column i of Aᵀ has the powers of interpolation point p_i, row i of G its powers over Π (p_i - p_j), and row i of Bᵀ
 * the coefficients of Π (x - p_j), j ≠ i; at ∞ the highest power alone, and Π over all points. For m = 2 they are 0,
 * ±1, ∞; for m = 4 they are 0, ±5/8, ±3/2, ∞, whose rounding errors are about half of those of the usual 0, ±1, ±2, ∞.
 */
#ifndef MR_KERNELS_CPU_WINOGRAD_H
#define MR_KERNELS_CPU_WINOGRAD_H

#include "kernels/cpu/conv.h"

#define MR_WINOGRAD_A 0.625f
#define MR_WINOGRAD_B 1.5f

/* The m that takes the least time, 0: the plain convolution. The shape of y must be known, else it is 0. Tiles are
 * computed `lanes` at a time, and while a byte of weights comes from memory, of which there are (m + 2)² / 9 times as
 * many, `flops` operations are done. */
int mr_winograd_best(const mr_conv_args *v, int64_t lanes, int64_t flops);
/* The same convolution seen tile by tile: m + 2 taps, a step of m, an output for each tile. */
mr_conv_args mr_winograd_tiles(const mr_conv_args *v, int m);
/* G g Gᵀ, rounded once from double. */
void mr_winograd_weights(int m, const float *g, float *out);

#endif

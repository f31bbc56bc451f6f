/* sums.h: blocks of sums of products, as the scalar matrix products and convolutions take them.
 *
 * A block has up to MR_SUMS_ROWS × MR_SUMS_COLS sums. Their factors are widened to the type C of the sum first:
 * a is [rows][MR_SUMS_DEPTH]; b is cut into panels of PANEL columns, each [depth][PANEL], so that the sums of a panel
 * stand side by side in vector registers. Every sum goes on in the order of depth, by one product and one addition
 * each, so that splitting the depth changes nothing. */
#ifndef MR_KERNELS_CPU_SUMS_H
#define MR_KERNELS_CPU_SUMS_H

#include <stdint.h>

enum { MR_SUMS_ROWS = 64, MR_SUMS_COLS = 64, MR_SUMS_DEPTH = 64 };

/* Columns of a panel: 64 bytes. */
#define MR_SUMS_PANEL(C) (64 / (int)sizeof(C))

/* acc[i][j] += Σ a[i][d] · b[j / PANEL][d][j % PANEL]; whole panels, which the columns fill up with anything. */
void mr_sums_f64(int64_t rows, int64_t cols, int64_t depth, const double *a, const double *b, double *acc);
void mr_sums_u32(int64_t rows, int64_t cols, int64_t depth, const uint32_t *a, const uint32_t *b, uint32_t *acc);
void mr_sums_u64(int64_t rows, int64_t cols, int64_t depth, const uint64_t *a, const uint64_t *b, uint64_t *acc);

#define MR_SUMS(C) _Generic((C)0, double : mr_sums_f64, uint32_t : mr_sums_u32, uint64_t : mr_sums_u64)

#endif

/* copies.h: copies between strided views, as ops describe them: shape by shape. */
#ifndef MR_OPS_COPIES_H
#define MR_OPS_COPIES_H

#include "kernels/cpu/cpu.h"
#include "ops/sizes.h"

/* have() of rows whose kernel is a copy: by the size of input 0's elements. */
mr_fn mr_have_copy(const mr_call *c);

/* Strides of a row-major tensor. */
void mr_row_major(const int64_t *dims, int rank, int64_t *strides);

/* Runs the copy kernel: y[y_first + …] = x[x_first + …] over the box, firsts in elements of input 0's type. */
void mr_copy_box(const mr_call *c, const void *x, int64_t x_first, void *y, int64_t y_first, const mr_box *box);

/* y = x with its axes permuted: y's dimension i is x's dimension perm[i]. dims are x's. */
void mr_copy_permuted(const mr_call *c, const void *x, void *y, const int64_t *dims, const int *perm, int rank);

#endif

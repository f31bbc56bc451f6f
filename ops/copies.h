/* copies.h: a tensor's dimensions as those that a reduction keeps and those that it takes together. */
#ifndef MR_OPS_COPIES_H
#define MR_OPS_COPIES_H

#include "kernels/cpu/box.h"
#include "runtime/op.h"

/* gone[d]: dimension d is reduced. */
void mr_reduce_boxes(const mr_tensor *x, const bool *gone, mr_box *kept, mr_box *reduced);

/* Axes in [-rank, rank-1], each once, as flags. what: "attribute axes" … */
mr_status mr_want_axes(mr_call *c, const int64_t *axes, int n, int rank, const char *what, bool *gone);

#endif

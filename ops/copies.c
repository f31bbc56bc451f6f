/* copies.c: a tensor's dimensions as those that a reduction keeps and those that it takes together. */
#include "ops/copies.h"

#include <string.h>

#include "ops/rules.h"

static void dense(mr_box *b)
{
    int64_t stride = 1;
    for (int d = b->rank - 1; d >= 0; d--) {
        b->ys[d] = stride;
        stride *= b->dims[d];
    }
}

void mr_reduce_boxes(const mr_tensor *x, const bool *gone, mr_box *kept, mr_box *reduced)
{
    int64_t stride = mr_tensor_count(x);
    kept->rank = reduced->rank = 0;
    for (int d = 0; d < x->rank; d++) {
        mr_box *b = gone[d] ? reduced : kept;
        stride = x->dims[d] ? stride / x->dims[d] : 0;
        b->dims[b->rank] = x->dims[d];
        b->xs[b->rank++] = stride;
    }
    dense(kept);
    dense(reduced);
}

mr_status mr_want_axes(mr_call *c, const int64_t *axes, int n, int rank, const char *what, bool *gone)
{
    memset(gone, 0, sizeof *gone * MR_MAX_RANK);
    for (int i = 0; i < n; i++) {
        int axis;
        mr_status st = mr_want_axis(c, axes[i], rank, what, &axis);
        if (st) return st;
        if (gone[axis]) return mr_call_fail(c, MR_E_SHAPES, "%s has axis %d twice", what, axis);
        gone[axis] = true;
    }
    return MR_OK;
}

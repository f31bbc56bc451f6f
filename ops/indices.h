/* indices.h: are the elements of an index tensor inside their axis? */
#ifndef MR_OPS_INDICES_H
#define MR_OPS_INDICES_H

#include "kernels/cpu/index.h"
#include "runtime/op.h"

/* Every element of integer input i in [-dim, dim - 1]: "index 5 at position 4 out of range [-5,4]". */
mr_status mr_want_indices(mr_call *c, int i, int64_t dim);
/* While inferring: an axis of input 0 without elements has none that an index could mean, and indices whose values are
 * known are inside of it. */
mr_status mr_want_axis_of_indices(mr_call *c, int i, int axis);
/* Likewise for tuples: along the last axis of input i, element j belongs to dims[j]. */
mr_status mr_want_tuples(mr_call *c, int i, const int64_t *dims);
mr_status mr_want_axes_of_tuples(mr_call *c, int i, int batch); /* dims: those of input 0 behind `batch` ones */

static inline mr_index mr_index_of(const mr_call *c, int i)
{
    return (mr_index){c->in[i].t->data, c->in[i].t->dtype == MR_I64};
}

/* The lines along an axis that the index tensor, input i, has in the data, input 0. */
void mr_lines_of(const mr_call *c, int i, int axis, mr_lines *l);

/* The tuples of input i, which point into the axes of the data, input 0, behind `batch` ones; strides: room for theirs.
 * inner: elements of what a tuple names. */
void mr_tuples_of(const mr_call *c, int i, int batch, int64_t *strides, mr_tuples *tuples, int64_t *inner);

#endif

/* stack.h: tensors cut along an axis, and put together again: what loops, scans and sequences need. */
#ifndef MR_STACK_H
#define MR_STACK_H

#include "runtime/op.h"

/* t[…, begin:begin+count, …] along axis as a value of its own; keep: whether the axis stays (count must be 1
 * otherwise). NULL: out of memory. */
mr_value *mr_cut(const mr_tensor *t, int axis, int64_t begin, int64_t count, bool keep);
/* n tensors of one shape along a new axis; in reverse order when asked. What they do not share is an error of the call.
 * n == 0 gives a tensor with no elements, of the type and inner dims of empty (unknown dims become 0); empty may be
 * NULL where there is at least one. */
mr_value *mr_stack(mr_call *c, mr_value *const *items, int64_t n, int axis, bool reverse, const mr_typed_shape *empty);
/* n tensors along an axis that they have. */
mr_value *mr_join(mr_call *c, mr_value *const *items, int64_t n, int axis);
mr_value *mr_scalar_i64(int64_t x);
mr_value *mr_scalar_bool(bool x);

#endif

/* rules.h: the rules that many operators share when shapes are inferred. Every function fails with a message that names
 * the input, the rule and both sides; unknown dims never fail. */
#ifndef MR_RULES_H
#define MR_RULES_H

#include "runtime/op.h"

/* Output o is a tensor of this type and shape. */
mr_status mr_out_tensor(mr_call *c, int o, mr_dtype d, const mr_shape *s);
/* Output o has the type and shape of input i (any kind of value). */
mr_status mr_out_like(mr_call *c, int o, int i);
/* infer of every op whose only output is like input 0 */
mr_status mr_infer_like(mr_call *c);
/* infer of elementwise ops with multidirectional broadcasting over all inputs: type of input 0 / bool */
mr_status mr_infer_broadcast(mr_call *c);
mr_status mr_infer_broadcast_bool(mr_call *c);

/* Broadcast b into a (in place). i: the input that b is, for the message. */
mr_status mr_broadcast_into(mr_call *c, mr_shape *a, const mr_shape *b, int i);
/* Input i must have this rank (or lie between lo and hi). Unknown ranks pass. */
mr_status mr_want_rank(mr_call *c, int i, int lo, int hi);
/* Input i, when it is there, has one element, whatever its rank. */
mr_status mr_want_one(mr_call *c, int i);
/* Two dims that must be equal; *out (may be NULL) gets the one that is known. what: the rule in words. */
mr_status mr_want_dim(mr_call *c, mr_dim a, mr_dim b, const char *what, mr_dim *out);
/* Axis in [-rank, rank-1] → [0, rank-1]; what: "attribute axis" … Fails when outside. */
mr_status mr_want_axis(mr_call *c, int64_t axis, int rank, const char *what, int *out);
/* The elements of integer input i as dims: from its value, or the partly known elements. n: how many (capacity
 * MR_MAX_RANK), or -1 when not even their number is known. Fails when there are more than MR_MAX_RANK. */
mr_status mr_in_dims(mr_call *c, int i, mr_dim *d, int *n);
/* How many elements input i has; -1: not known. */
int64_t mr_in_count(const mr_call *c, int i);
/* Every element known. */
bool mr_in_ints(mr_call *c, int i, int64_t *d, int *n);
bool mr_dim_known(mr_dim d);
bool mr_shape_some(const mr_shape *s); /* there are elements, for sure */
/* Same dim for sure: both known and equal, or the same symbol. */
bool mr_dim_same(mr_dim a, mr_dim b);
mr_dim mr_dim_mul(mr_dim a, mr_dim b);
mr_dim mr_dim_add(mr_dim a, mr_dim b);

/* Strides in elements of a shape of rank r, broadcast to `to` (0 where the dim is 1 and the other is not). */
void mr_broadcast_strides(const mr_tensor *t, const int64_t *to, int rank, int64_t *strides);

/* Slot helpers for have(): the slot of input 0's dtype in an array indexed by dtype. */
#define MR_SLOT(array, d) ((mr_fn)((unsigned)(d) < MR_N_DTYPES ? (array)[d] : NULL))

#endif

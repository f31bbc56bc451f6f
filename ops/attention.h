/* attention.h: what the attention operators share. */
#ifndef MR_OPS_ATTENTION_H
#define MR_OPS_ATTENTION_H

#include "kernels/cpu/attention.h"
#include "ops/rules.h"

/* Inputs 0, 1, 2 are Q, K, V. Dims that are not known are MR_DIM_UNKNOWN. */
typedef struct mr_attention_dims {
    mr_dim batch, heads, kv_heads, queries, past, keys, size, v_size;
} mr_attention_dims;

/* *have, unless it is unknown, must be dim k of input i; then it is known. */
mr_status mr_attention_want(mr_call *c, int i, int k, mr_dim *have, const char *what);
/* Heads of Q must be a multiple of the heads of K and V. */
mr_status mr_attention_want_groups(mr_call *c, const mr_attention_dims *d);
/* The rows of a [batch, heads, rows, size] tensor, or of a [batch, rows, heads · size] one. */
mr_attention_rows mr_attention_rows_of(const mr_tensor *t, int64_t size);
/* The attribute softmax_precision; MR_UNDEFINED: not given. */
mr_dtype mr_attention_read_precision(mr_reader *r);
/* x as a number of type d. */
double mr_attention_round(mr_dtype d, double x);
/* √scale, of type d, for Q and K; a negative scale turns Q. scale NaN: 1 / √size. */
void mr_attention_scale(mr_attention_args *a, double scale, mr_dtype d);

#endif

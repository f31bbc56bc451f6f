/* attention.h: attention over keys and values, and its relatives.
 *
 * Y = softmax(cap(Q·√scale (K·√scale)ᵀ) + bias)·V for each query head; kv_heads are shared by groups of query heads in
 * their order. bias is the mask plus -inf for each key that a query must not see; a query that sees none gives zeros.
 *
 * ONNX gives the operator as a chain of operators, and so the scalar level rounds what each of them hands on: scaled Q
 * and K, the scores, each step of the cap, the sum with the bias and the probabilities to Q's type, the softmax to its
 * precision. Within one, sums are taken in double in the order of the index. */
#ifndef MR_KERNELS_CPU_ATTENTION_H
#define MR_KERNELS_CPU_ATTENTION_H

#include "runtime/tensor.h"
#include "runtime/threads.h"

/* [batch, head, row] vectors of contiguous elements; strides count elements. */
typedef struct mr_attention_rows {
    const void *data;
    mr_dtype dtype;
    int64_t batch, head, row;
} mr_attention_rows;

/* What the output of scores holds. */
typedef enum mr_attention_stage { MR_QK_RAW, MR_QK_CAPPED, MR_QK_BIASED, MR_QK_SOFTMAX } mr_attention_stage;

typedef struct mr_attention_args {
    int64_t batch, heads, kv_heads, queries, past, keys, size, v_size; /* keys: without the past ones */
    mr_attention_rows q, k, v, k_past, v_past;                         /* past ones are read where past > 0 */
    void *y;                                                           /* of Q's type */
    int64_t y_batch, y_head, y_row;
    double q_scale, k_scale, cap; /* of Q's type; cap 0: none */
    mr_dtype precision;           /* of the softmax */
    mr_tensor mask;               /* data NULL: none */
    int64_t mask_strides[4];      /* [batch, head, query, key] */
    int64_t mask_keys;            /* keys that the mask has; those beyond are not seen */
    const int64_t *valid;         /* keys of each batch that aren't padding; NULL: all */
    bool causal;
    int64_t left, right; /* how far a query sees; -1: any distance */
    void *scores;        /* [batch, heads, queries, past + keys] of Q's type; NULL: not wanted */
    mr_attention_stage stage;
    mr_pool *pool;
    void *scratch; /* as many bytes as the scratch slot says */
} mr_attention_args;

/* Past rows, then new ones, [batch, heads, past + rows] of `bytes` each; y NULL: nothing to do. */
typedef struct mr_attention_join {
    const void *past;
    mr_attention_rows rows;
    void *y;
    int64_t batch, heads, n_past, n;
    size_t size, bytes; /* of an element, of a row */
    mr_pool *pool;
} mr_attention_join;

/* Rotates pairs of x by the angles whose cosines and sines the caches have: elements i and i + rotary / 2 (interleaved:
 * 2 i and 2 i + 1) of the first `rotary`; the others are copied. */
typedef struct mr_rotary_args {
    const void *x, *cos, *sin;
    void *y;
    const int64_t *positions; /* [batch, length], rows of the caches; NULL: the caches are [batch, length, …] */
    int64_t batch, heads, length, size, rotary;
    int64_t x_batch, x_head, x_row; /* of y too */
    bool interleaved;
    mr_pool *pool;
} mr_rotary_args;

/* For each token, with the state S [k_size, v_size] of its key-value head:
 *   S = exp(decay) S; v = beta (v - Sᵀk); S = S + k vᵀ; y = scale Sᵀq
 * without the first where decay is NULL, without the second where beta is. In double from the first token to the last.
 */
typedef struct mr_linear_attention_args {
    const void *q, *k, *v, *decay, *beta; /* [batch, length, heads · size], beta [batch, length, beta_heads] */
    void *y;
    const void *past; /* NULL: zeros */
    void *present;    /* NULL: not wanted */
    mr_dtype state;   /* type of past and present */
    int64_t batch, length, heads, kv_heads, k_size, v_size, beta_heads;
    bool decay_per_key; /* one for each element of the key, not for each head */
    double scale;
    mr_pool *pool;
    void *scratch; /* doubles: batch · kv_heads · (k_size + 1) · v_size */
} mr_linear_attention_args;

typedef void mr_attention_fn(const mr_attention_args *a);
typedef size_t mr_attention_size_fn(const mr_attention_args *a);

typedef struct mr_attention_fns {
    mr_attention_fn *attention[MR_N_DTYPES][MR_N_DTYPES]; /* by the types of Q and V */
    mr_attention_size_fn *scratch[MR_N_DTYPES][MR_N_DTYPES];
    /* The parts of an attention without past, mask, cap and windows, around a softmax of scores: scores gets the scaled
     * products in type precision, mix gives Y in that precision, then in Q's type. */
    mr_attention_fn *scores[MR_N_DTYPES], *mix[MR_N_DTYPES];
    void (*join)(const mr_attention_join *a);
    void (*rotary[MR_N_DTYPES])(const mr_rotary_args *a);
    void (*linear[MR_N_DTYPES])(const mr_linear_attention_args *a);
} mr_attention_fns;

/* The keys [*from, *to) that are left to a query by what is not the mask. Query i stands at key i + offset. */
static inline void mr_attention_range(const mr_attention_args *a, int64_t batch, int64_t query, int64_t *from,
                                      int64_t *to)
{
    const int64_t offset = a->past ? a->past : a->valid ? a->valid[batch] - a->queries : 0, at = query + offset;
    int64_t lo = 0, hi = a->past + a->keys;
    if (a->mask.data && hi > a->mask_keys) hi = a->mask_keys;
    if (a->valid && hi > a->valid[batch]) hi = a->valid[batch];
    if (a->causal && hi > at + 1) hi = at + 1;
    if (a->right >= 0 && hi - at - 1 > a->right) hi = at + 1 + a->right;
    if (a->left >= 0 && at - lo > a->left) lo = at - a->left;
    *from = lo;
    *to = hi < lo ? lo : hi;
}

/* NULL where there is too little to do to wake other threads. */
static inline mr_pool *mr_attention_pool(const mr_attention_args *a)
{
    double work = (double)a->batch * (double)a->heads * (double)a->queries * (double)(a->past + a->keys);
    return work * (double)(a->size + a->v_size) < 1 << 18 ? NULL : a->pool;
}

/* The scalar level's, for what a faster level leaves to it. */
void mr_attention_plain(const mr_attention_args *a);
size_t mr_attention_plain_scratch(const mr_attention_args *a);

void mr_attention_fill_scalar(mr_attention_fns *f);
void mr_attention_fill_avx2(mr_attention_fns *f);
void mr_attention_fill_avx512(mr_attention_fns *f);

#endif

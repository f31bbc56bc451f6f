/* attention.c: Attention. */
#include "ops/attention.h"

#include <math.h>
#include <string.h>

#include "kernels/cpu/cpu.h"
#include "ops/flops.h"

typedef struct attention_params {
    int64_t heads, kv_heads; /* 0: not given */
    bool causal, padded_mask;
    int64_t left, right;
    double scale; /* NaN: not given */
    float cap;
    mr_dtype precision; /* MR_UNDEFINED: Q's */
    mr_attention_stage stage;
} attention_params;

enum { Q, K, V, MASK, PAST_KEY, PAST_VALUE, VALID };
enum { Y, PRESENT_KEY, PRESENT_VALUE, SCORES };

/* ---- attributes ---- */

static int64_t read_window(mr_reader *r, const char *name)
{
    int64_t v = mr_read_int(r, name, -1);
    if (v < -1) mr_read_fail(r, MR_E_ATTRIBUTE, "attribute %s = %lld is negative and not -1", name, (long long)v);
    return v;
}

static void attention_read(mr_reader *r, void *params)
{
    attention_params *p = params;
    p->heads = mr_read_int(r, "q_num_heads", 0);
    p->kv_heads = mr_read_int(r, "kv_num_heads", 0);
    p->causal = mr_read_int(r, "is_causal", 0) != 0;
    p->left = read_window(r, "left_window_size");
    p->right = read_window(r, "right_window_size");
    p->scale = mr_read_has(r, "scale") ? (double)mr_read_float(r, "scale", 1) : NAN; /* NaN: 1 / √head_size */
    if (mr_read_has(r, "scale") && isnan(p->scale)) mr_read_fail(r, MR_E_ATTRIBUTE, "attribute scale is NaN");
    p->cap = mr_read_float(r, "softcap", 0);
    if (isnan(p->cap)) mr_read_fail(r, MR_E_ATTRIBUTE, "attribute softcap is NaN");
    p->precision = mr_attention_read_precision(r);
    p->padded_mask = mr_read_version(r) >= 24;
    int64_t stage = mr_read_int(r, "qk_matmul_output_mode", 0);
    if (stage < 0 || stage > 3)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute qk_matmul_output_mode = %lld is outside [0,3]", (long long)stage);
    p->stage = (mr_attention_stage)stage;
}

/* ---- shapes ---- */

/* The head size of input i, [batch, rows, heads · size]. */
static mr_status split_heads(mr_call *c, int i, int64_t heads, mr_dim *size)
{
    mr_dim d = c->in[i].shape.d[2];
    if (d < 0) return MR_OK;
    if (d % heads)
        return mr_call_fail_in(c, MR_E_SHAPES, i, "dim 2 is %lld, no multiple of %lld heads", (long long)d,
                               (long long)heads);
    if (*size >= 0 && d / heads != *size)
        return mr_call_fail_in(c, MR_E_SHAPES, i, "head size is %lld / %lld, that of Q %lld", (long long)d,
                               (long long)heads, (long long)*size);
    *size = d / heads;
    return MR_OK;
}

static mr_status dims_3d(mr_call *c, mr_attention_dims *d)
{
    const attention_params *p = c->params;
    mr_status st;
    if (p->heads < 1 || p->kv_heads < 1)
        return mr_call_fail(c, MR_E_ATTRIBUTE, "inputs of rank 3 need attributes q_num_heads and kv_num_heads");
    d->heads = p->heads, d->kv_heads = p->kv_heads;
    if ((st = mr_attention_want(c, Q, 1, &d->queries, "q_sequence_length"))) return st;
    for (int i = K; i <= V; i++)
        if ((st = mr_attention_want(c, i, 1, &d->keys, "kv_sequence_length"))) return st;
    if ((st = split_heads(c, Q, d->heads, &d->size)) || (st = split_heads(c, K, d->kv_heads, &d->size))) return st;
    return split_heads(c, V, d->kv_heads, &d->v_size);
}

static mr_status dims_4d(mr_call *c, mr_attention_dims *d)
{
    const attention_params *p = c->params;
    mr_status st;
    if (p->heads > 0) d->heads = p->heads;
    if (p->kv_heads > 0) d->kv_heads = p->kv_heads;
    if ((st = mr_attention_want(c, Q, 1, &d->heads, "q_num_heads")) ||
        (st = mr_attention_want(c, Q, 2, &d->queries, "q_sequence_length")) ||
        (st = mr_attention_want(c, Q, 3, &d->size, "head_size")) ||
        (st = mr_attention_want(c, K, 3, &d->size, "head_size")) ||
        (st = mr_attention_want(c, V, 3, &d->v_size, "v_head_size")))
        return st;
    for (int i = K; i <= V; i++)
        if ((st = mr_attention_want(c, i, 1, &d->kv_heads, "kv_num_heads")) ||
            (st = mr_attention_want(c, i, 2, &d->keys, "kv_sequence_length")))
            return st;
    return MR_OK;
}

static mr_status dims_past(mr_call *c, mr_attention_dims *d)
{
    mr_status st;
    d->past = 0;
    if (mr_in_has(c, PAST_KEY) != mr_in_has(c, PAST_VALUE))
        return mr_call_fail(c, MR_E_ARITY, "past_key and past_value must be given together");
    if (!mr_in_has(c, PAST_KEY)) return MR_OK;
    if (mr_in_has(c, VALID))
        return mr_call_fail(c, MR_E_ARITY, "nonpad_kv_seqlen must not be given together with past_key and past_value");
    d->past = MR_DIM_UNKNOWN;
    for (int i = PAST_KEY; i <= PAST_VALUE; i++)
        if ((st = mr_want_rank(c, i, 4, 4)) || (st = mr_attention_want(c, i, 0, &d->batch, "batch_size")) ||
            (st = mr_attention_want(c, i, 1, &d->kv_heads, "kv_num_heads")) ||
            (st = mr_attention_want(c, i, 2, &d->past, "past_sequence_length")))
            return st;
    if ((st = mr_attention_want(c, PAST_KEY, 3, &d->size, "head_size"))) return st;
    return mr_attention_want(c, PAST_VALUE, 3, &d->v_size, "v_head_size");
}

/* The mask broadcasts to [batch, heads, queries, keys]; from version 24 on its last dim may be shorter. */
static mr_status want_mask(mr_call *c, const mr_attention_dims *d)
{
    const attention_params *p = c->params;
    const mr_shape *s = &c->in[MASK].shape;
    const mr_dim to[4] = {d->batch, d->heads, d->queries, mr_dim_add(d->past, d->keys)};
    if (!mr_in_has(c, MASK)) return MR_OK;
    mr_status st = mr_want_rank(c, MASK, 0, 4);
    for (int k = 1; !st && k <= s->rank; k++) {
        mr_dim have = s->d[s->rank - k], want = to[4 - k];
        if (have < 0 || want < 0 || have == want || have == 1 || (k == 1 && p->padded_mask && have < want)) continue;
        st =
            mr_call_fail_in(c, MR_E_SHAPES, MASK, "does not broadcast to [%lld,%lld,%lld,%lld]: axis -%d has %lld",
                            (long long)to[0], (long long)to[1], (long long)to[2], (long long)to[3], k, (long long)have);
    }
    return st;
}

static mr_status attention_dims(mr_call *c, mr_attention_dims *d)
{
    const mr_dim u = MR_DIM_UNKNOWN;
    *d = (mr_attention_dims){u, u, u, u, u, u, u, u};
    mr_status st = mr_want_rank(c, Q, 3, 4);
    int rank = c->in[Q].shape.rank;
    for (int i = K; !st && i <= V; i++) {
        if (rank >= 0) st = mr_want_rank(c, i, rank, rank);
        if (c->in[i].shape.rank < 0) rank = -1;
    }
    for (int i = Q; !st && i <= V; i++) st = mr_attention_want(c, i, 0, &d->batch, "batch_size");
    if (!st && rank >= 0) st = rank == 3 ? dims_3d(c, d) : dims_4d(c, d);
    if (!st) st = dims_past(c, d);
    if (!st && mr_in_has(c, VALID)) st = mr_want_rank(c, VALID, 1, 1);
    if (!st) st = mr_attention_want(c, VALID, 0, &d->batch, "batch_size");
    if (!st) st = mr_attention_want_groups(c, d);
    return st ? st : want_mask(c, d);
}

static mr_status want_valid(mr_call *c, int64_t keys)
{
    const mr_tensor *t = mr_in_has(c, VALID) ? c->in[VALID].t : NULL;
    for (int64_t b = 0; t && b < t->dims[0]; b++)
        if (mr_tensor_int(t, b) < 0 || mr_tensor_int(t, b) > keys)
            return mr_call_fail_in(c, MR_E_NODE_VALUE, VALID, "nonpad_kv_seqlen[%lld] = %lld outside [0,%lld]",
                                   (long long)b, (long long)mr_tensor_int(t, b), (long long)keys);
    return MR_OK;
}

static mr_status attention_infer(mr_call *c)
{
    mr_attention_dims d;
    mr_status st = attention_dims(c, &d);
    if (!st && d.keys >= 0) st = want_valid(c, d.keys);
    if (st) return st;
    const mr_dim total = mr_dim_add(d.past, d.keys);
    mr_shape y = {.rank = c->in[Q].shape.rank};
    if (y.rank == 4) y = (mr_shape){.rank = 4, .d = {d.batch, d.heads, d.queries, d.v_size}};
    if (y.rank == 3) y = (mr_shape){.rank = 3, .d = {d.batch, d.queries, mr_dim_mul(d.heads, d.v_size)}};
    mr_shape key = {.rank = 4, .d = {d.batch, d.kv_heads, total, d.size}}, value = key, scores = key;
    value.d[3] = d.v_size;
    scores = (mr_shape){.rank = 4, .d = {d.batch, d.heads, d.queries, total}};
    mr_out_tensor(c, Y, mr_in_dtype(c, Q), &y);
    mr_out_tensor(c, PRESENT_KEY, mr_in_dtype(c, K), &key);
    mr_out_tensor(c, PRESENT_VALUE, mr_in_dtype(c, V), &value);
    return mr_out_tensor(c, SCORES, mr_in_dtype(c, Q), &scores);
}

/* ---- running ---- */

static void set_mask(const mr_call *c, mr_attention_args *a)
{
    const mr_tensor *t = c->in[MASK].t;
    const int64_t total = a->past + a->keys, to[4] = {a->batch, a->heads, a->queries, total};
    mr_tensor mask = *t;
    const bool padded = ((const attention_params *)c->params)->padded_mask && mask.rank > 0;
    a->mask_keys = padded ? mask.dims[mask.rank - 1] : total;
    int64_t shape[4] = {to[0], to[1], to[2], a->mask_keys};
    mr_broadcast_strides(&mask, shape, 4, a->mask_strides);
    a->mask = mask;
}

static mr_attention_args attention_args(mr_call *c)
{
    const attention_params *p = c->params;
    const mr_dtype type = mr_in_dtype(c, Q);
    mr_attention_dims d;
    mr_attention_args a = {0};
    if (attention_dims(c, &d)) return a;
    a = (mr_attention_args){.batch = d.batch, .heads = d.heads, .kv_heads = d.kv_heads, .queries = d.queries};
    a.past = d.past, a.keys = d.keys, a.size = d.size, a.v_size = d.v_size;
    mr_attention_scale(&a, p->scale, type);
    a.cap = mr_attention_round(type, p->cap);
    a.precision = p->precision && !mr_call_carried(c) ? p->precision : type;
    a.causal = p->causal, a.left = p->left, a.right = p->right, a.stage = p->stage;
    a.y_batch = d.queries * d.heads * d.v_size;
    a.y_head = c->in[Q].shape.rank == 3 ? d.v_size : d.queries * d.v_size;
    a.y_row = c->in[Q].shape.rank == 3 ? d.heads * d.v_size : d.v_size;
    a.pool = c->pool, a.scratch = c->scratch;
    return a;
}

static void point(mr_call *c, mr_attention_args *a)
{
    a->q = mr_attention_rows_of(c->in[Q].t, a->size);
    a->k = mr_attention_rows_of(c->in[K].t, a->size);
    a->v = mr_attention_rows_of(c->in[V].t, a->v_size);
    if (mr_in_has(c, PAST_KEY)) {
        a->k_past = mr_attention_rows_of(c->in[PAST_KEY].t, a->size);
        a->v_past = mr_attention_rows_of(c->in[PAST_VALUE].t, a->v_size);
    }
    if (mr_in_has(c, MASK)) set_mask(c, a);
    if (mr_in_has(c, VALID)) a->valid = c->in[VALID].t->data;
    a->y = c->out[Y].t ? c->out[Y].t->data : NULL;
    a->scores = mr_out_wanted(c, SCORES) ? c->out[SCORES].t->data : NULL;
}

static void put_present(mr_call *c, const mr_attention_args *a, int o, const mr_attention_rows *rows, int past)
{
    if (!mr_out_wanted(c, o)) return;
    const size_t size = mr_dtype_size(rows->dtype);
    mr_attention_join j = {.past = a->past ? c->in[past].t->data : NULL, .rows = *rows, .y = c->out[o].t->data};
    j.batch = a->batch, j.heads = a->kv_heads, j.n_past = a->past, j.n = a->keys;
    j.size = size;
    j.bytes = size * (size_t)(o == PRESENT_KEY ? a->size : a->v_size);
    j.pool = c->pool;
    c->cpu->attention.join(&j);
}

static mr_status attention_run(mr_call *c)
{
    mr_attention_args a = attention_args(c);
    point(c, &a);
    mr_status st = want_valid(c, a.keys);
    if (st) return st;
    put_present(c, &a, PRESENT_KEY, &a.k, PAST_KEY);
    put_present(c, &a, PRESENT_VALUE, &a.v, PAST_VALUE);
    if (a.heads) ((mr_attention_fn *)c->fn)(&a);
    return MR_OK;
}

static size_t attention_scratch(const mr_call *c)
{
    mr_call call = *c;
    mr_attention_args a = attention_args(&call);
    return a.heads ? c->cpu->attention.scratch[mr_in_dtype(c, Q)][mr_in_dtype(c, V)](&a) : 0;
}

static mr_fn have_attention(const mr_call *c)
{
    return MR_SLOT(c->cpu->attention.attention[mr_in_dtype(c, Q)], mr_in_dtype(c, V));
}

static const mr_impl attention_rows[] = {
    {.name = "attention", .dev = MR_CPU, .have = have_attention, .run = attention_run, .scratch = attention_scratch},
    {0}};

static double attention_flops(const mr_call *c)
{
    mr_attention_dims d;
    return attention_dims((mr_call *)(uintptr_t)c, &d) ? NAN : mr_flops_attention_of(&d);
}

const mr_op mr_ops_attention[] = {
    {"", "Attention", 23, 0, sizeof(attention_params), attention_read, attention_infer, attention_rows, 0, NULL,
     attention_flops},
    {0},
};

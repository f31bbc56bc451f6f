/* ms_gqa.c: com.microsoft's GroupQueryAttention. Each sequence of the batch has its own length, seqlens_k + 1, whose
 * last keys are the new ones; present is the past so far and then those, and all of the attention reads it. */
#include <math.h>
#include <string.h>

#include "kernels/cpu/cpu.h"
#include "ops/attention.h"
#include "ops/flops.h"

typedef struct gqa_params {
    int64_t heads, kv_heads, window, smooth;
    double scale, cap;
    bool rotary, interleaved, causal;
} gqa_params;

enum { QUERY, KEY, VALUE, PAST_KEY, PAST_VALUE, SEQLENS_K, TOTAL, COS, SIN, OTHERS };
enum { OUTPUT, PRESENT_KEY, PRESENT_VALUE, QK };

static void gqa_read(mr_reader *r, void *params)
{
    gqa_params *p = params;
    p->heads = mr_read_int(r, "num_heads", 0);
    p->kv_heads = mr_read_int(r, "kv_num_heads", 0);
    p->scale = mr_read_float(r, "scale", 0);
    p->cap = mr_read_float(r, "softcap", 0);
    p->window = mr_read_int(r, "local_window_size", -1);
    p->smooth = mr_read_int(r, "smooth_softmax", -1);
    p->rotary = mr_read_int(r, "do_rotary", 0) != 0;
    p->interleaved = mr_read_int(r, "rotary_interleaved", 0) != 0;
    p->causal = mr_read_int(r, "causal", 1) != 0;
    if (p->heads < 1 || p->kv_heads < 1 || p->heads % p->kv_heads)
        mr_read_fail(r, MR_E_ATTRIBUTE, "num_heads = %lld is no multiple of kv_num_heads = %lld", (long long)p->heads,
                     (long long)p->kv_heads);
}

static mr_status split(mr_call *c, int i, int64_t heads, mr_dim *size)
{
    const mr_shape *s = &c->in[i].shape;
    if (!mr_in_has(c, i) || s->rank != 3 || s->d[2] < 0) return MR_OK;
    if (s->d[2] % heads)
        return mr_call_fail_in(c, MR_E_SHAPES, i, "dim 2 is no multiple of %lld heads", (long long)heads);
    return mr_want_dim(c, *size, s->d[2] / heads, "head_size", size);
}

static mr_status gqa_dims(mr_call *c, mr_attention_dims *d)
{
    const gqa_params *p = c->params;
    const mr_dim u = MR_DIM_UNKNOWN;
    *d = (mr_attention_dims){u, p->heads, p->kv_heads, u, mr_in_has(c, PAST_KEY) ? u : 0, u, u, u};
    mr_status st = MR_OK;
    for (int i = QUERY; !st && i <= VALUE; i++)
        if (mr_in_has(c, i) && !(st = mr_want_rank(c, i, 3, 3)) &&
            !(st = mr_attention_want(c, i, 0, &d->batch, "batch_size")))
            st = mr_attention_want(c, i, 1, &d->queries, "sequence_length");
    if (!st) st = split(c, QUERY, p->heads, &d->size);
    if (!st) st = split(c, KEY, p->kv_heads, &d->size);
    if (!st) st = split(c, VALUE, p->kv_heads, &d->size);
    for (int i = PAST_KEY; !st && i <= PAST_VALUE; i++) {
        if (!mr_in_has(c, i)) continue;
        st = mr_want_rank(c, i, 4, 4);
        if (!st) st = mr_attention_want(c, i, 0, &d->batch, "batch_size");
        if (!st) st = mr_attention_want(c, i, 1, &d->kv_heads, "kv_num_heads");
        if (!st) st = mr_attention_want(c, i, 2, &d->past, "past_sequence_length");
        if (!st) st = mr_attention_want(c, i, 3, &d->size, "head_size");
    }
    if (!st && mr_in_has(c, PAST_KEY) != mr_in_has(c, PAST_VALUE))
        st = mr_call_fail(c, MR_E_SHAPES, "past_key and past_value come together");
    if (!st && p->rotary && !(mr_in_has(c, COS) && mr_in_has(c, SIN)))
        st = mr_call_fail(c, MR_E_SHAPES, "do_rotary = 1 needs cos_cache and sin_cache");
    const int64_t *n = &d->past;
    if (!st && c->in[TOTAL].t && mr_tensor_count(c->in[TOTAL].t) == 1 && *n >= 0) {
        int64_t total = mr_tensor_int(c->in[TOTAL].t, 0);
        d->keys = total > *n ? total : *n;
    }
    return st;
}

/* As far as they are known: each sequence has all of the new keys, and room for them in present. */
static mr_status want_lengths(mr_call *c, const mr_attention_dims *d)
{
    const bool rotary = ((const gqa_params *)c->params)->rotary;
    const mr_tensor *t = c->in[SEQLENS_K].t;
    const int64_t rows = rotary ? c->in[COS].shape.rank > 0 ? c->in[COS].shape.d[0] : -1 : INT64_MAX;
    const int64_t count = mr_in_count(c, SEQLENS_K);
    if (count >= 0 && d->batch >= 0 && count != d->batch)
        return mr_call_fail_in(c, MR_E_SHAPES, SEQLENS_K, "must have one for each of %lld sequences",
                               (long long)d->batch);
    const int64_t keys = d->keys < 0 ? INT64_MAX : d->keys; /* total_sequence_length may be known later */
    if (!t || d->past < 0 || d->queries < 0 || rows < 0) return MR_OK;
    for (int64_t b = 0; b < count; b++) {
        const int64_t n = mr_tensor_int(t, b) + 1, before = n - d->queries;
        if (before < 0 || before > d->past || n > keys || n > rows)
            return mr_call_fail_in(c, MR_E_NODE_VALUE, SEQLENS_K,
                                   "sequence %lld of %lld keys, %lld of them new: past has %lld, present %lld%s",
                                   (long long)b, (long long)n, (long long)d->queries, (long long)d->past,
                                   (long long)keys, n > rows ? ", and the caches end before" : "");
    }
    return MR_OK;
}

static mr_status gqa_infer(mr_call *c)
{
    mr_attention_dims d;
    mr_status st = gqa_dims(c, &d);
    if (st || (st = want_lengths(c, &d))) return st;
    mr_shape present = {.rank = 4, .d = {d.batch, d.kv_heads, d.keys, d.size}};
    mr_shape qk = {.rank = 4, .d = {d.batch, d.heads, d.queries, d.keys}};
    mr_out_tensor(c, PRESENT_KEY, mr_in_dtype(c, QUERY), &present);
    mr_out_tensor(c, PRESENT_VALUE, mr_in_dtype(c, QUERY), &present);
    mr_out_tensor(c, QK, mr_in_dtype(c, QUERY), &qk);
    return mr_out_like(c, OUTPUT, QUERY);
}

static bool has_others(const mr_call *c)
{
    for (int i = OTHERS; i < c->n_in; i++)
        if (mr_in_has(c, i)) return true;
    return false;
}

MR_COND(separate_key_and_value, gqa_params, 0, mr_in_has(c, KEY) && mr_in_has(c, VALUE));
MR_COND(no_inputs_after_sin_cache, gqa_params, 0, !has_others(c));
MR_COND(presents_wanted_and_no_qk, gqa_params, 0,
        mr_out_wanted(c, PRESENT_KEY) && mr_out_wanted(c, PRESENT_VALUE) && !mr_out_wanted(c, QK));
MR_COND(plain_softmax, gqa_params, 0, p->smooth <= 0);
MR_COND(is_causal, gqa_params, 0, p->causal);

/* ---- running: scratch is the rotated Q and K, positions, lengths, the kernel's own ---- */

static size_t padded(size_t n)
{
    return (n + 63) / 64 * 64;
}

static mr_attention_args args_of(const mr_call *c, const mr_attention_dims *d)
{
    const gqa_params *p = c->params;
    const mr_dtype type = mr_in_dtype(c, QUERY);
    mr_attention_args a = {.batch = d->batch, .heads = d->heads, .kv_heads = d->kv_heads, .queries = d->queries};
    a.keys = d->keys, a.size = a.v_size = d->size;
    a.q_scale = mr_attention_round(type, p->scale != 0 ? p->scale : 1 / sqrt((double)d->size)), a.k_scale = 1;
    a.cap = mr_attention_round(type, p->cap), a.precision = type, a.causal = true;
    a.left = p->window > 0 ? p->window - 1 : -1, a.right = -1;
    a.y_row = d->heads * d->size, a.y_head = d->size, a.y_batch = d->queries * a.y_row;
    a.pool = c->pool;
    return a;
}

static size_t rows_bytes(const mr_call *c, const mr_attention_dims *d, int64_t heads)
{
    return padded((size_t)(d->batch * d->queries * heads * d->size) * mr_dtype_size(mr_in_dtype(c, QUERY)));
}

static size_t gqa_scratch(const mr_call *c)
{
    const mr_dtype type = mr_in_dtype(c, QUERY);
    mr_call call = *c;
    mr_attention_dims d;
    if (gqa_dims(&call, &d)) return 0;
    mr_attention_args a = args_of(c, &d);
    int64_t valid;
    a.valid = &valid; /* there are lengths */
    return rows_bytes(c, &d, d.heads) + rows_bytes(c, &d, d.kv_heads) +
           padded((size_t)(d.batch * (d.queries + 1)) * sizeof(int64_t)) + c->cpu->attention.scratch[type][type](&a);
}

static void rotate(const mr_call *c, int i, const mr_attention_dims *d, int64_t heads, const int64_t *positions,
                   void *y)
{
    mr_rotary_args a = {.x = c->in[i].t->data, .cos = c->in[COS].t->data, .sin = c->in[SIN].t->data, .y = y};
    a.positions = positions, a.batch = d->batch, a.heads = heads, a.length = d->queries, a.size = d->size;
    a.rotary = 2 * c->in[COS].t->dims[1], a.interleaved = ((const gqa_params *)c->params)->interleaved;
    a.x_row = heads * d->size, a.x_head = d->size, a.x_batch = d->queries * a.x_row;
    a.pool = c->pool;
    c->cpu->attention.rotary[mr_in_dtype(c, i)](&a);
}

/* Past rows of each sequence, its new ones, then zeros. */
static void join(const mr_call *c, const mr_attention_dims *d, int past, const void *fresh, const int64_t *lengths,
                 int o)
{
    const size_t row = (size_t)d->size * mr_dtype_size(mr_in_dtype(c, QUERY));
    const char *old = mr_in_has(c, past) ? c->in[past].t->data : NULL;
    char *to = c->out[o].t->data;
    for (int64_t b = 0; b < d->batch; b++)
        for (int64_t h = 0; h < d->kv_heads; h++, to += (size_t)d->keys * row) {
            const int64_t before = lengths[b] - d->queries, head = b * d->kv_heads + h;
            if (before) memcpy(to, old + (size_t)(head * d->past) * row, (size_t)before * row);
            for (int64_t s = 0; s < d->queries; s++)
                memcpy(to + (size_t)(before + s) * row,
                       (const char *)fresh + (size_t)((b * d->queries + s) * d->kv_heads + h) * row, row);
            memset(to + (size_t)lengths[b] * row, 0, (size_t)(d->keys - lengths[b]) * row);
        }
}

static void find_lengths(const mr_call *c, const mr_attention_dims *d, int64_t *lengths, int64_t *positions)
{
    for (int64_t b = 0; b < d->batch; b++) {
        lengths[b] = mr_tensor_int(c->in[SEQLENS_K].t, b) + 1;
        for (int64_t s = 0; s < d->queries; s++) positions[b * d->queries + s] = lengths[b] - d->queries + s;
    }
}

static mr_status gqa_run(mr_call *c)
{
    const gqa_params *p = c->params;
    mr_attention_dims d;
    mr_status st = gqa_dims(c, &d);
    if (st) return st;
    char *q = c->scratch, *k = q + rows_bytes(c, &d, d.heads);
    int64_t *lengths = (int64_t *)(k + rows_bytes(c, &d, d.kv_heads)), *positions = lengths + d.batch;
    if ((st = want_lengths(c, &d))) return st;
    find_lengths(c, &d, lengths, positions);
    if (p->rotary) {
        rotate(c, QUERY, &d, d.heads, positions, q);
        rotate(c, KEY, &d, d.kv_heads, positions, k);
    }
    join(c, &d, PAST_KEY, p->rotary ? k : c->in[KEY].t->data, lengths, PRESENT_KEY);
    join(c, &d, PAST_VALUE, c->in[VALUE].t->data, lengths, PRESENT_VALUE);
    mr_attention_args a = args_of(c, &d);
    a.q = mr_attention_rows_of(c->in[QUERY].t, d.size);
    if (p->rotary) a.q.data = q;
    a.k = mr_attention_rows_of(c->out[PRESENT_KEY].t, d.size);
    a.v = mr_attention_rows_of(c->out[PRESENT_VALUE].t, d.size);
    a.valid = lengths, a.y = c->out[OUTPUT].t->data;
    a.scratch = (char *)lengths + padded((size_t)(d.batch * (d.queries + 1)) * sizeof(int64_t));
    ((mr_attention_fn *)c->fn)(&a);
    return MR_OK;
}

static mr_fn have_gqa(const mr_call *c)
{
    const mr_dtype d = mr_in_dtype(c, QUERY);
    bool same = !mr_in_has(c, PAST_KEY) || mr_in_dtype(c, PAST_KEY) == d;
    return same && d < MR_N_DTYPES && c->cpu->attention.rotary[d] ? MR_SLOT(c->cpu->attention.attention[d], d) : NULL;
}

static const mr_impl gqa_rows[] = {{.name = "group_query_attention",
                                    .have = have_gqa,
                                    .conds = MR_WHEN(&separate_key_and_value, &no_inputs_after_sin_cache,
                                                     &presents_wanted_and_no_qk, &plain_softmax, &is_causal),
                                    .run = gqa_run,
                                    .scratch = gqa_scratch},
                                   {0}};

static double gqa_flops(const mr_call *c)
{
    mr_attention_dims d;
    return gqa_dims((mr_call *)(uintptr_t)c, &d) ? NAN : mr_flops_attention_of(&d);
}

const mr_op mr_ops_ms_gqa[] = {
    {"com.microsoft", "GroupQueryAttention", 1, 0, sizeof(gqa_params), gqa_read, gqa_infer, gqa_rows, 0, NULL,
     gqa_flops},
    {0},
};

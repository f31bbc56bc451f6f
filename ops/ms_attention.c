/* ms_attention.c: com.microsoft's MultiHeadAttention and Attention. What a mask hides gets mask_filter_value added to
 * its score; both are a bias to the kernel. */
#include <math.h>
#include <string.h>

#include "kernels/cpu/cpu.h"
#include "ops/attention.h"
#include "ops/elementwise.h"
#include "ops/flops.h"
#include "ops/ms_attention.h"
#include "ops/widen.h"

typedef mr_ms_attention_params attention_params;
typedef mr_ms_attention_places places;

static void read_common(mr_reader *r, attention_params *p)
{
    p->heads = mr_read_int(r, "num_heads", 0);
    p->scale = mr_read_float(r, "scale", 0);
    p->filter = mr_read_float(r, "mask_filter_value", -10000);
    p->causal = mr_read_int(r, "unidirectional", 0) != 0;
    p->n_sizes = -1;
    if (p->heads < 1)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute num_heads = %lld is not positive", (long long)p->heads);
}

/* ---- the bias: [batch or 1, heads or 1, queries or 1, keys] ---- */

static mr_shape bias_shape(const mr_call *c, places at, const mr_attention_dims *d)
{
    mr_shape s = {.rank = 4, .d = {1, 1, 1, d->past + d->keys}};
    const bool masked = mr_in_has(c, at.mask), biased = mr_in_has(c, at.bias);
    if (masked) s.d[0] = d->batch;
    if (masked && c->in[at.mask].shape.rank == 3) s.d[2] = d->queries;
    for (int k = 0; biased && k < 3; k++)
        if (c->in[at.bias].shape.d[k] != 1) s.d[k] = c->in[at.bias].shape.d[k];
    if (!masked && !biased) s.d[3] = 0;
    return s;
}

static int64_t count_of(const mr_shape *s)
{
    return mr_dims_product(s->d, 0, s->rank);
}

/* A mask of rank 1 has the lengths of the batch's keys. */
static bool hidden(const mr_tensor *mask, const mr_attention_dims *d, int64_t batch, int64_t query, int64_t key)
{
    if (mask->rank == 1) return key >= mr_tensor_int(mask, batch);
    const int64_t total = mask->dims[mask->rank - 1];
    int64_t row = mask->rank == 3 ? batch * d->queries + query : batch;
    return mr_tensor_int(mask, row * total + key) == 0;
}

/* wide: room for as many doubles. */
static void make_bias(const mr_call *c, places at, const mr_attention_dims *d, const mr_tensor *to, double *wide)
{
    const attention_params *p = c->params;
    const mr_tensor *mask = mr_in_has(c, at.mask) ? c->in[at.mask].t : NULL;
    const mr_tensor *bias = mr_in_has(c, at.bias) ? c->in[at.bias].t : NULL;
    int64_t strides[4] = {0}, at_[4], i = 0;
    if (bias) mr_broadcast_strides(bias, to->dims, 4, strides);
    for (at_[0] = 0; at_[0] < to->dims[0]; at_[0]++)
        for (at_[1] = 0; at_[1] < to->dims[1]; at_[1]++)
            for (at_[2] = 0; at_[2] < to->dims[2]; at_[2]++)
                for (at_[3] = 0; at_[3] < to->dims[3]; at_[3]++, i++) {
                    int64_t from = 0;
                    for (int k = 0; k < 4; k++) from += at_[k] * strides[k];
                    wide[i] = bias ? mr_tensor_real(bias, from) : 0;
                    if (mask && hidden(mask, d, at_[0], at_[2], at_[3])) wide[i] += p->filter;
                }
    mr_unwiden(wide, to);
}

/* ---- shapes ---- */

static mr_status want_mask(mr_call *c, places at, const mr_attention_dims *d)
{
    mr_dim batch = d->batch, queries = d->queries, total = mr_dim_add(d->past, d->keys);
    if (!mr_in_has(c, at.mask)) return MR_OK;
    const int rank = c->in[at.mask].shape.rank;
    mr_status st = mr_want_rank(c, at.mask, 1, 3);
    if (!st) st = mr_attention_want(c, at.mask, 0, &batch, "batch_size");
    if (!st && rank == 3) st = mr_attention_want(c, at.mask, 1, &queries, "sequence_length");
    return st || rank < 2 ? st : mr_attention_want(c, at.mask, rank - 1, &total, "total_sequence_length");
}

static mr_status want_bias(mr_call *c, places at, const mr_attention_dims *d)
{
    const mr_dim to[] = {d->batch, d->heads, d->queries, mr_dim_add(d->past, d->keys)};
    if (!mr_in_has(c, at.bias)) return MR_OK;
    const mr_shape *s = &c->in[at.bias].shape;
    mr_status st = mr_want_rank(c, at.bias, 4, 4);
    for (int k = 0; !st && k < s->rank; k++)
        if (s->d[k] >= 0 && to[k] >= 0 && s->d[k] != to[k] && (k > 1 || s->d[k] != 1))
            st = mr_call_fail_in(c, MR_E_SHAPES, at.bias, "dim %d is %lld, must be %lld%s", k, (long long)s->d[k],
                                 (long long)to[k], k > 1 ? "" : " or 1");
    return st;
}

static mr_status split(mr_call *c, mr_dim wide, int64_t heads, mr_dim *size)
{
    if (wide < 0) return MR_OK;
    if (wide % heads)
        return mr_call_fail(c, MR_E_SHAPES, "%lld columns are no multiple of num_heads = %lld", (long long)wide,
                            (long long)heads);
    return mr_want_dim(c, *size, wide / heads, "the size of a head", size);
}

/* ---- running: scratch is Q, K and V where they are made here, the bias, the kernel's own ---- */

static char *take(char **at, size_t bytes)
{
    char *p = *at;
    *at += (bytes + 63) / 64 * 64;
    return p;
}

static mr_attention_args args_of(const mr_call *c, places at, const mr_attention_dims *d)
{
    const attention_params *p = c->params;
    const mr_dtype type = mr_in_dtype(c, at.typed);
    mr_attention_args a = {.batch = d->batch, .heads = d->heads, .kv_heads = d->heads, .queries = d->queries};
    a.past = d->past, a.keys = d->keys, a.size = d->size, a.v_size = d->v_size;
    a.q_scale = mr_attention_round(type, p->scale != 0 ? p->scale : 1 / sqrt((double)d->size)), a.k_scale = 1;
    a.precision = type, a.causal = p->causal, a.left = a.right = -1;
    a.y_row = d->heads * d->v_size, a.y_head = d->v_size, a.y_batch = d->queries * a.y_row;
    a.pool = c->pool;
    return a;
}

static size_t rest_bytes(const mr_call *c, places at, const mr_attention_dims *d)
{
    const mr_dtype type = mr_in_dtype(c, at.typed);
    const mr_shape s = bias_shape(c, at, d);
    mr_attention_args a = args_of(c, at, d);
    if (count_of(&s)) a.mask = (mr_tensor){.dtype = type, .rank = 4, .data = &a}; /* there is one */
    const size_t n = (size_t)count_of(&s) + 16;
    return n * (mr_dtype_size(type) + sizeof(double)) + 128 + c->cpu->attention.scratch[type][type](&a);
}

static void run_rest(mr_call *c, places at, const mr_attention_dims *d, mr_attention_args *a, char *room)
{
    const mr_shape s = bias_shape(c, at, d);
    if (count_of(&s)) {
        a->mask = (mr_tensor){.dtype = mr_in_dtype(c, at.typed)};
        mr_tensor_set_shape(&a->mask, &s);
        a->mask.data = take(&room, mr_tensor_bytes(&a->mask));
        make_bias(c, at, d, &a->mask, (double *)take(&room, (size_t)count_of(&s) * sizeof(double)));
        const int64_t to[4] = {d->batch, d->heads, d->queries, d->past + d->keys};
        mr_broadcast_strides(&a->mask, to, 4, a->mask_strides);
        a->mask_keys = to[3];
    }
    a->y = c->out[0].t->data, a->scratch = room;
    ((mr_attention_fn *)c->fn)(a);
}

static void put_present(mr_call *c, const mr_attention_args *a, const void *past, const mr_attention_rows *rows,
                        int64_t width, void *to)
{
    const size_t size = mr_dtype_size(rows->dtype);
    mr_attention_join j = {.past = a->past ? past : NULL, .rows = *rows, .y = to};
    j.batch = a->batch, j.heads = a->heads, j.n_past = a->past, j.n = a->keys;
    j.size = size, j.bytes = size * (size_t)width, j.pool = c->pool;
    c->cpu->attention.join(&j);
}

static mr_fn have_attention_of(const mr_call *c, mr_dtype d)
{
    bool have = d < MR_N_DTYPES && c->cpu->binary.fn[MR_ADD][d] && c->cpu->gemm.gemm[d];
    return have ? MR_SLOT(c->cpu->attention.attention[d], d) : NULL;
}

static mr_fn have_attention(const mr_call *c)
{
    return have_attention_of(c, mr_in_dtype(c, 0));
}

/* ---- MultiHeadAttention ---- */

enum { QUERY, KEY, VALUE, BIAS, PADDING, ATTENTION_BIAS, PAST_KEY, PAST_VALUE, PAST_LENGTH, CACHE };
enum { OUTPUT, PRESENT_KEY, PRESENT_VALUE, QK };
static const places multi = {QUERY, PADDING, ATTENTION_BIAS, PAST_KEY, PAST_VALUE};

static void multi_read(mr_reader *r, void *params)
{
    read_common(r, params);
}

static mr_status key_dims(mr_call *c, int i, mr_attention_dims *d, mr_dim *size)
{
    const mr_shape *s = &c->in[i].shape;
    mr_status st = mr_attention_want(c, i, 0, &d->batch, "batch_size");
    if (!st && s->rank == 3) st = mr_attention_want(c, i, 1, &d->keys, "kv_sequence_length");
    if (!st && s->rank == 3) st = split(c, s->d[2], d->heads, size);
    if (!st && s->rank == 4) st = mr_attention_want(c, i, 1, &d->heads, "num_heads");
    if (!st && s->rank == 4) st = mr_attention_want(c, i, 2, &d->keys, "kv_sequence_length");
    return st || s->rank != 4 ? st : mr_attention_want(c, i, 3, size, "the size of a head");
}

static mr_status multi_dims(mr_call *c, mr_attention_dims *d)
{
    const attention_params *p = c->params;
    const mr_dim u = MR_DIM_UNKNOWN;
    const mr_shape *q = &c->in[QUERY].shape;
    *d = (mr_attention_dims){u, p->heads, p->heads, u, mr_in_has(c, PAST_KEY) ? u : 0, u, u, u};
    mr_status st = MR_OK;
    if (q->rank == 3) {
        d->batch = q->d[0], d->queries = q->d[1];
        st = split(c, q->d[2], p->heads, &d->size);
    }
    if (!st && mr_in_has(c, KEY)) st = key_dims(c, KEY, d, &d->size);
    if (!st && mr_in_has(c, VALUE)) st = key_dims(c, VALUE, d, &d->v_size);
    for (int i = PAST_KEY; !st && i <= PAST_VALUE && mr_in_has(c, i); i++)
        if (!(st = mr_want_rank(c, i, 4, 4))) st = mr_attention_want(c, i, 2, &d->past, "past_sequence_length");
    if (!st) st = want_mask(c, multi, d);
    return st ? st : want_bias(c, multi, d);
}

static mr_status multi_infer(mr_call *c)
{
    mr_attention_dims d;
    mr_status st = multi_dims(c, &d);
    if (st) return st;
    const mr_dtype type = mr_in_dtype(c, QUERY);
    mr_shape y = {.rank = 3, .d = {d.batch, d.queries, mr_dim_mul(d.heads, d.v_size)}};
    mr_shape k = {.rank = 4, .d = {d.batch, d.heads, mr_dim_add(d.past, d.keys), d.size}}, v = k, qk = k;
    v.d[3] = d.v_size, qk.d[2] = d.queries, qk.d[3] = k.d[2];
    mr_out_tensor(c, PRESENT_KEY, type, &k);
    mr_out_tensor(c, PRESENT_VALUE, type, &v);
    mr_out_tensor(c, QK, type, &qk);
    return mr_out_tensor(c, OUTPUT, type, &y);
}

MR_COND(query_rank_3, attention_params, MR_NEEDS_RANK(QUERY), c->in[QUERY].shape.rank == 3);
MR_COND(key_and_value_rank_3_or_4, attention_params, MR_NEEDS_RANK(KEY) | MR_NEEDS_RANK(VALUE),
        mr_in_has(c, KEY) && mr_in_has(c, VALUE) && c->in[KEY].shape.rank <= 4 &&
            c->in[KEY].shape.rank == c->in[VALUE].shape.rank);
MR_COND(no_shared_buffers, attention_params, 0, !mr_in_has(c, PAST_LENGTH) && !mr_in_has(c, CACHE));
MR_COND(no_qk, attention_params, 0, !mr_out_wanted(c, QK));

/* Bytes of inputs with the projection's bias added. */
static size_t projected(const mr_call *c, int i)
{
    if (!mr_in_has(c, BIAS) || c->in[i].shape.rank != 3) return 0;
    return ((size_t)count_of(&c->in[i].shape) * mr_dtype_size(mr_in_dtype(c, i)) + 63) / 64 * 64;
}

static size_t multi_scratch(const mr_call *c)
{
    mr_call call = *c;
    mr_attention_dims d;
    if (multi_dims(&call, &d)) return 0;
    return projected(c, QUERY) + projected(c, KEY) + projected(c, VALUE) + rest_bytes(c, multi, &d);
}

/* Input i, or it plus its part of the bias, which begins at element *first. */
static mr_attention_rows project(mr_call *c, int i, int64_t size, int64_t *first, char **room)
{
    mr_tensor y = *c->in[i].t;
    if (!projected(c, i)) return mr_attention_rows_of(&y, size);
    const mr_binary_params k = {0};
    const mr_tensor *bias = c->in[BIAS].t;
    mr_operand in[] = {mr_operand_broadcast(c->in[i].t, &y), {.size = mr_dtype_size(y.dtype), .strides = {0, 0, 1}}};
    in[1].data = (const char *)bias->data + (size_t)*first * in[1].size;
    y.data = take(room, mr_tensor_bytes(&y));
    mr_elementwise j = mr_elementwise_to(&y, in, 2, &k);
    mr_elementwise_run(&j, c->cpu->binary.fn[MR_ADD][y.dtype], c->pool);
    *first += y.dims[2];
    return mr_attention_rows_of(&y, size);
}

static mr_status multi_run(mr_call *c)
{
    mr_attention_dims d;
    mr_status st = multi_dims(c, &d);
    if (st) return st;
    mr_attention_args a = args_of(c, multi, &d);
    char *room = c->scratch;
    int64_t first = 0;
    a.q = project(c, QUERY, d.size, &first, &room);
    a.k = project(c, KEY, d.size, &first, &room);
    a.v = project(c, VALUE, d.v_size, &first, &room);
    const void *past_key = NULL, *past_value = NULL;
    if (mr_in_has(c, PAST_KEY)) {
        past_key = c->in[PAST_KEY].t->data, past_value = c->in[PAST_VALUE].t->data;
        a.k_past = mr_attention_rows_of(c->in[PAST_KEY].t, d.size);
        a.v_past = mr_attention_rows_of(c->in[PAST_VALUE].t, d.v_size);
    }
    if (mr_out_wanted(c, PRESENT_KEY)) put_present(c, &a, past_key, &a.k, d.size, c->out[PRESENT_KEY].t->data);
    if (mr_out_wanted(c, PRESENT_VALUE)) put_present(c, &a, past_value, &a.v, d.v_size, c->out[PRESENT_VALUE].t->data);
    run_rest(c, multi, &d, &a, room);
    return MR_OK;
}

static const mr_impl multi_rows[] = {
    {.name = "multi_head_attention",
     .have = have_attention,
     .conds = MR_WHEN(&query_rank_3, &key_and_value_rank_3_or_4, &no_shared_buffers, &no_qk),
     .run = multi_run,
     .scratch = multi_scratch},
    {0}};

/* ---- Attention: Q, K and V are columns of input · weights + bias ---- */

enum { INPUT, WEIGHTS, WEIGHTS_BIAS, MASK_INDEX, PAST, SCORES_BIAS, PAST_SEQUENCE_LENGTH };
static const places single = {INPUT, MASK_INDEX, SCORES_BIAS, PAST, PAST};

void mr_ms_attention_read(mr_reader *r, void *params)
{
    attention_params *p = params;
    read_common(r, p);
    p->rotary = mr_read_int(r, "do_rotary", 0) != 0;
    p->shared = mr_read_int(r, "past_present_share_buffer", 0) != 0;
    p->n_sizes = mr_read_ints(r, "qkv_hidden_sizes", &p->sizes);
    mr_read_ignore(r, "rotary_embedding_dim");
    if (p->n_sizes >= 0 && (p->n_sizes != 3 || p->sizes[0] != p->sizes[1]))
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute qkv_hidden_sizes needs three values, the first two the same");
}

static mr_status single_dims(mr_call *c, places at, mr_attention_dims *d)
{
    const attention_params *p = c->params;
    const mr_dim u = MR_DIM_UNKNOWN;
    const mr_shape *x = &c->in[INPUT].shape, *w = &c->in[WEIGHTS].shape;
    *d = (mr_attention_dims){u, p->heads, p->heads, u, mr_in_has(c, at.past_key) ? u : 0, u, u, u};
    mr_status st = mr_want_rank(c, INPUT, 3, 3);
    if (!st) st = mr_want_rank(c, WEIGHTS, 2, 2);
    if (st) return st;
    if (x->rank == 3) d->batch = x->d[0], d->queries = d->keys = x->d[1];
    if (x->rank == 3 && w->rank == 2) st = mr_want_dim(c, x->d[2], w->d[0], "input_hidden_size", NULL);
    const mr_dim third = w->rank == 2 && w->d[1] >= 0 ? w->d[1] / 3 : u;
    if (!st) st = split(c, p->n_sizes < 0 ? third : p->sizes[0], p->heads, &d->size);
    if (!st) st = split(c, p->n_sizes < 0 ? third : p->sizes[2], p->heads, &d->v_size);
    if (!st && d->size >= 0 && d->v_size >= 0 && w->rank == 2)
        st = mr_want_dim(c, w->d[1], p->heads * (2 * d->size + d->v_size), "the columns of Q, K and V", NULL);
    if (!st && mr_in_has(c, at.past_key)) st = mr_want_rank(c, at.past_key, 5, 5);
    if (!st && mr_in_has(c, at.past_key)) st = mr_attention_want(c, at.past_key, 3, &d->past, "past_sequence_length");
    if (!st) st = want_mask(c, at, d);
    return st ? st : want_bias(c, at, d);
}

mr_status mr_ms_attention_infer(mr_call *c, places at)
{
    mr_attention_dims d;
    mr_status st = single_dims(c, at, &d);
    if (st) return st;
    mr_shape y = {.rank = 3, .d = {d.batch, d.queries, mr_dim_mul(d.heads, d.v_size)}};
    mr_shape present = {.rank = 5, .d = {2, d.batch, d.heads, mr_dim_add(d.past, d.keys), d.size}};
    mr_out_tensor(c, 1, mr_in_dtype(c, at.typed), &present);
    return mr_out_tensor(c, 0, mr_in_dtype(c, at.typed), &y);
}

size_t mr_ms_attention_scratch(const mr_call *c, places at)
{
    mr_call call = *c;
    mr_attention_dims d;
    return single_dims(&call, at, &d) ? 0 : rest_bytes(c, at, &d);
}

mr_status mr_ms_attention_run(mr_call *c, places at, const char *columns, char *room)
{
    mr_attention_dims d;
    mr_status st = single_dims(c, at, &d);
    if (st) return st;
    const mr_dtype type = mr_in_dtype(c, at.typed);
    const size_t size = mr_dtype_size(type);
    const int64_t width = d.heads * (2 * d.size + d.v_size);
    mr_attention_args a = args_of(c, at, &d);
    a.q = (mr_attention_rows){columns, type, d.queries * width, d.size, width};
    a.k = a.q, a.k.data = columns + (size_t)(d.heads * d.size) * size;
    a.v = a.q, a.v.data = columns + (size_t)(2 * d.heads * d.size) * size, a.v.head = d.v_size;
    const size_t half = (size_t)(d.batch * d.heads * d.size) * size;
    const char *past = mr_in_has(c, at.past_key) ? c->in[at.past_key].t->data : NULL;
    const char *past_value = past ? past + half * (size_t)d.past : NULL;
    a.k_past = a.v_past = (mr_attention_rows){past, type, d.heads * d.past * d.size, d.past * d.size, d.size};
    a.v_past.data = past_value;
    if (mr_out_wanted(c, 1)) {
        char *present = c->out[1].t->data;
        put_present(c, &a, past, &a.k, d.size, present);
        put_present(c, &a, past_value, &a.v, d.v_size, present + half * (size_t)(d.past + d.keys));
    }
    run_rest(c, at, &d, &a, room);
    return MR_OK;
}

mr_fn mr_ms_attention_have(const mr_call *c, places at)
{
    return have_attention_of(c, mr_in_dtype(c, at.typed));
}

static mr_status single_infer(mr_call *c)
{
    return mr_ms_attention_infer(c, single);
}

MR_COND(no_rotary, attention_params, 0, !p->rotary);
MR_COND(no_shared_buffer, attention_params, 0, !p->shared && !mr_in_has(c, PAST_SEQUENCE_LENGTH));

static mr_gemm_args single_gemm(const mr_call *c)
{
    const int64_t *x = c->in[INPUT].shape.d, *w = c->in[WEIGHTS].shape.d;
    mr_gemm_args g = {.alpha = 1, .beta = 1, .c_col = 1, .pool = c->pool};
    g.p = (mr_product){.m = x[0] * x[1], .n = w[1], .k = w[0], .a_row = w[0], .a_col = 1, .b_row = w[1], .b_col = 1};
    return g;
}

static size_t columns_bytes(const mr_call *c, const mr_gemm_args *g)
{
    return ((size_t)(g->p.m * g->p.n) * mr_dtype_size(mr_in_dtype(c, INPUT)) + 63) / 64 * 64;
}

static size_t single_scratch(const mr_call *c)
{
    mr_gemm_args g = single_gemm(c);
    mr_gemm_size_fn *size = c->cpu->gemm.scratch[mr_in_dtype(c, INPUT)];
    size_t product = size ? size(&g) : 0, rest = mr_ms_attention_scratch(c, single);
    return columns_bytes(c, &g) + (product > rest ? product : rest);
}

static mr_status single_run(mr_call *c)
{
    mr_gemm_args g = single_gemm(c);
    char *room = c->scratch, *columns = take(&room, columns_bytes(c, &g));
    g.a = c->in[INPUT].t->data, g.b = c->in[WEIGHTS].t->data, g.y = columns, g.scratch = room;
    g.c = mr_in_has(c, WEIGHTS_BIAS) ? c->in[WEIGHTS_BIAS].t->data : NULL;
    c->cpu->gemm.gemm[mr_in_dtype(c, INPUT)](&g);
    return mr_ms_attention_run(c, single, columns, room);
}

MR_COND(present_of_one_size, attention_params, MR_NEEDS_SHAPE(WEIGHTS),
        (!mr_out_wanted(c, 1) && !mr_in_has(c, PAST)) || p->n_sizes < 0 || p->sizes[2] == p->sizes[0]);

static const mr_impl single_rows[] = {{.name = "ms_attention",
                                       .have = have_attention,
                                       .conds = MR_WHEN(&no_rotary, &no_shared_buffer, &present_of_one_size),
                                       .run = single_run,
                                       .scratch = single_scratch},
                                      {0}};

static double multi_flops(const mr_call *c)
{
    mr_attention_dims d;
    return multi_dims((mr_call *)(uintptr_t)c, &d) ? NAN : mr_flops_attention_of(&d);
}
/* Q, K and V are products of their own. */
double mr_ms_attention_flops(const mr_call *c, places at)
{
    mr_attention_dims d;
    if (single_dims((mr_call *)(uintptr_t)c, at, &d)) return NAN;
    const mr_shape *w = &c->in[1].shape, *x = &c->in[0].shape;
    return mr_flops_attention_of(&d) + 2 * mr_count(w) * (double)x->d[0] * (double)x->d[1];
}
static double single_flops(const mr_call *c)
{
    return mr_ms_attention_flops(c, single);
}

#define OP(name, read, infer, rows, flops)                                                                             \
    {                                                                                                                  \
        "com.microsoft", name, 1, 0, sizeof(attention_params), read, infer, rows, 0, NULL, flops                       \
    }

const mr_op mr_ops_ms_attention[] = {
    OP("MultiHeadAttention", multi_read, multi_infer, multi_rows, multi_flops),
    OP("Attention", mr_ms_attention_read, single_infer, single_rows, single_flops),
    {0},
};

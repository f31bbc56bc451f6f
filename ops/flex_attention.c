/* flex_attention.c: FlexAttention. Between its parts stand subgraphs, so scores and probabilities are whole tensors. */
#include <math.h>

#include "kernels/cpu/cpu.h"
#include "ops/attention.h"
#include "ops/control.h"

typedef struct flex_params {
    int score_mod, prob_mod; /* subgraphs; -1: not given */
    mr_dtype precision;      /* MR_UNDEFINED: not given */
    double scale;            /* NaN: not given */
} flex_params;

enum { Q, K, V };

static void flex_read(mr_reader *r, void *params)
{
    flex_params *p = params;
    p->score_mod = mr_read_graph(r, "score_mod");
    p->prob_mod = mr_read_graph(r, "prob_mod");
    p->scale = mr_read_has(r, "scale") ? (double)mr_read_float(r, "scale", 1) : NAN; /* NaN: 1 / √head_size */
    if (mr_read_has(r, "scale") && isnan(p->scale)) mr_read_fail(r, MR_E_ATTRIBUTE, "attribute scale is NaN");
    p->precision = mr_attention_read_precision(r);
}

static mr_dtype precision_of(const mr_call *c)
{
    const flex_params *p = c->params;
    if (p->precision && !mr_call_carried(c)) return p->precision;
    return mr_in_dtype(c, Q) == MR_F64 ? MR_F64 : MR_F32;
}

/* ---- shapes ---- */

static mr_status flex_dims(mr_call *c, mr_attention_dims *d)
{
    const mr_dim u = MR_DIM_UNKNOWN;
    mr_status st;
    *d = (mr_attention_dims){u, u, u, u, 0, u, u, u};
    for (int i = Q; i <= V; i++)
        if ((st = mr_want_rank(c, i, 4, 4)) || (st = mr_attention_want(c, i, 0, &d->batch, "batch_size"))) return st;
    if ((st = mr_attention_want(c, Q, 1, &d->heads, "q_num_heads")) ||
        (st = mr_attention_want(c, Q, 2, &d->queries, "q_sequence_length")) ||
        (st = mr_attention_want(c, V, 3, &d->v_size, "v_head_size")))
        return st;
    for (int i = K; i <= V; i++)
        if ((st = mr_attention_want(c, i, 1, &d->kv_heads, "kv_num_heads")) ||
            (st = mr_attention_want(c, i, 2, &d->keys, "kv_sequence_length")))
            return st;
    for (int i = Q; i <= K; i++)
        if ((st = mr_attention_want(c, i, 3, &d->size, "head_size"))) return st;
    return mr_attention_want_groups(c, d);
}

/* A modifier takes and gives tensors of one type and shape. */
static mr_status want_modified(mr_call *c, const char *name, const mr_typed_shape *in, const mr_typed_shape *out)
{
    bool fits = out->type.kind == MR_NONE || mr_type_equal(out->type, in->type);
    if (fits && out->shape.rank >= 0 && out->shape.rank != in->shape.rank) fits = false;
    for (int k = 0; fits && k < out->shape.rank; k++)
        if (out->shape.d[k] >= 0 && in->shape.d[k] >= 0 && out->shape.d[k] != in->shape.d[k]) fits = false;
    if (fits) return MR_OK;
    const char *const *symbols = c->node->graph->model->symbols;
    char have[256], want[256];
    return mr_call_fail(c, MR_E_SHAPES, "%s gives %s%s, must give %s%s", name, mr_dtype_name((mr_dtype)out->type.elem),
                        mr_shape_string(&out->shape, symbols, have, sizeof have),
                        mr_dtype_name((mr_dtype)in->type.elem),
                        mr_shape_string(&in->shape, symbols, want, sizeof want));
}

static mr_status infer_modifier(mr_call *c, int k, const char *name, const mr_attention_dims *d)
{
    if (k < 0) return MR_OK;
    const mr_typed_shape in = {mr_type_tensor(precision_of(c)),
                               {.rank = 4, .d = {d->batch, d->heads, d->queries, d->keys}}};
    mr_typed_shape out = {.shape = mr_shape_unknown()};
    mr_status st = mr_infer_subgraph(c, k, true, 1, &in, 1, &out);
    return st ? st : want_modified(c, name, &in, &out);
}

static mr_status flex_infer(mr_call *c)
{
    const flex_params *p = c->params;
    mr_attention_dims d;
    mr_status st = flex_dims(c, &d);
    if (!st) st = infer_modifier(c, p->score_mod, "score_mod", &d);
    if (!st) st = infer_modifier(c, p->prob_mod, "prob_mod", &d);
    if (st) return st;
    mr_shape y = {.rank = 4, .d = {d.batch, d.heads, d.queries, d.v_size}};
    return mr_out_tensor(c, 0, mr_in_dtype(c, Q), &y);
}

/* ---- running ---- */

static void flex_args(const mr_call *c, const mr_attention_dims *d, mr_attention_args *a)
{
    const flex_params *p = c->params;
    *a = (mr_attention_args){.batch = d->batch, .heads = d->heads, .kv_heads = d->kv_heads, .queries = d->queries};
    a->keys = d->keys, a->size = d->size, a->v_size = d->v_size;
    mr_attention_scale(a, p->scale, mr_in_dtype(c, Q));
    a->precision = precision_of(c);
    a->left = a->right = -1;
    a->y_batch = d->heads * d->queries * d->v_size;
    a->y_head = d->queries * d->v_size;
    a->y_row = d->v_size;
    a->pool = c->pool;
    a->scratch = c->scratch;
}

/* *v becomes what the modifier makes of it. */
static mr_status modify(mr_call *c, int k, const char *name, mr_value **v)
{
    mr_value *out = NULL;
    if (k < 0) return MR_OK;
    mr_status st = mr_call_subgraph(c, k, 1, v, 1, &out);
    if (st) return st;
    const mr_typed_shape want = {(*v)->type, mr_tensor_shape(&(*v)->t)}, have = {out->type, mr_tensor_shape(&out->t)};
    mr_value_release(*v);
    *v = out;
    return want_modified(c, name, &want, &have);
}

/* The scores become probabilities, in a tensor of their own: a modifier's result may belong to others. */
static mr_status softmax(mr_call *c, mr_value **v)
{
    const mr_tensor *t = &(*v)->t;
    mr_value *p = mr_value_tensor(t->dtype, t->rank, t->dims);
    if (!p) return mr_call_fail(c, MR_E_MEMORY, "out of memory for the probabilities");
    mr_softmax_args a = {.x = t->data, .y = p->t.data, .n = t->dims[3], .inner = 1, .pool = c->pool};
    a.outer = mr_dims_product(t->dims, 0, 3);
    c->cpu->softmax.softmax[t->dtype](&a);
    mr_value_release(*v);
    *v = p;
    return MR_OK;
}

static mr_status attend(mr_call *c, mr_attention_args *a, mr_value *y, mr_value **scores)
{
    const flex_params *p = c->params;
    const mr_dtype type = mr_in_dtype(c, Q);
    const int64_t dims[4] = {a->batch, a->heads, a->queries, a->keys};
    if (!(*scores = mr_value_tensor(a->precision, 4, dims)))
        return mr_call_fail(c, MR_E_MEMORY, "out of memory for the scores");
    a->scores = (*scores)->t.data;
    if (a->heads) c->cpu->attention.scores[type](a);
    mr_status st = modify(c, p->score_mod, "score_mod", scores);
    if (!st) st = softmax(c, scores);
    if (!st) st = modify(c, p->prob_mod, "prob_mod", scores);
    if (st) return st;
    a->scores = (*scores)->t.data;
    a->y = y->t.data;
    if (a->heads) c->cpu->attention.mix[type](a);
    return MR_OK;
}

static mr_status flex_run(mr_call *c)
{
    mr_attention_dims d;
    mr_attention_args a;
    mr_status st = flex_dims(c, &d);
    if (st) return st;
    flex_args(c, &d, &a);
    a.q = mr_attention_rows_of(c->in[Q].t, d.size);
    a.k = mr_attention_rows_of(c->in[K].t, d.size);
    a.v = mr_attention_rows_of(c->in[V].t, d.v_size);
    const int64_t dims[4] = {d.batch, d.heads, d.queries, d.v_size};
    mr_value *y = mr_value_tensor(mr_in_dtype(c, Q), 4, dims), *scores = NULL;
    st = y ? attend(c, &a, y, &scores) : mr_call_fail(c, MR_E_MEMORY, "out of memory for the output");
    mr_value_release(scores);
    if (!st) return mr_call_set_value(c, 0, y);
    mr_value_release(y);
    return st;
}

static size_t flex_scratch(const mr_call *c)
{
    const mr_dtype type = mr_in_dtype(c, Q);
    mr_attention_dims d;
    mr_attention_args a;
    mr_call call = *c;
    if (flex_dims(&call, &d) || d.heads <= 0) return 0;
    flex_args(c, &d, &a);
    return c->cpu->attention.scratch[type][type](&a);
}

static mr_fn have_flex(const mr_call *c)
{
    const mr_attention_fns *f = &c->cpu->attention;
    const mr_dtype type = mr_in_dtype(c, Q);
    return f->scores[type] && f->mix[type] && c->cpu->softmax.softmax[precision_of(c)] ? (mr_fn)f->scores[type] : NULL;
}

static const mr_impl flex_rows[] = {
    {.name = "flex_attention", .dev = MR_CPU, .have = have_flex, .run = flex_run, .scratch = flex_scratch}, {0}};

const mr_op mr_ops_flex_attention[] = {
    {"ai.onnx.preview", "FlexAttention", 1, 0, sizeof(flex_params), flex_read, flex_infer, flex_rows, MR_OP_CONTROL,
     NULL, NULL},
    {0},
};

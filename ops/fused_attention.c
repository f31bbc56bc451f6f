/* fused_attention.c: the rewriter's own attention: inputs Q, K, V, and a mask that is added. */
#include <math.h>

#include "kernels/cpu/cpu.h"
#include "ops/attention.h"
#include "ops/element.h"
#include "ops/flops.h"
#include "ops/fused.h"
#include "ops/fused_attention.h"

enum { Q, K, V, MASK };

static const mr_fused_attention *fused_of(const mr_call *c)
{
    return c->node->fused;
}

static mr_status infer(mr_call *c)
{
    const mr_fused_attention *f = fused_of(c);
    return mr_out_tensor(c, 0, f->type, &f->shape);
}

static int64_t extent(const mr_shape *s, int axis)
{
    return axis < 0 ? 1 : s->d[axis];
}

static int64_t step(const mr_shape *s, int axis)
{
    return axis < 0 ? 0 : mr_dims_product(s->d, axis + 1, s->rank);
}

static mr_attention_rows rows_of(const mr_arg *a, mr_attention_axes x)
{
    return (mr_attention_rows){.data = a->t ? a->t->data : NULL,
                               .dtype = (mr_dtype)a->type.elem,
                               .batch = step(&a->shape, x.batch),
                               .head = step(&a->shape, x.head),
                               .row = step(&a->shape, x.row)};
}

/* The mask broadcasts to [batch, heads, queries, keys], or to that without heads where operands have none. */
static void set_mask(const mr_call *c, mr_attention_args *a)
{
    const int64_t to[4] = {a->batch, a->heads, a->queries, a->keys};
    mr_tensor t = *c->in[MASK].t;
    if (fused_of(c)->q.head < 0 && t.rank == 3) {
        t.dims[3] = t.dims[2], t.dims[2] = t.dims[1], t.dims[1] = 1;
        t.rank = 4;
    }
    mr_broadcast_strides(&t, to, 4, a->mask_strides);
    a->mask = t;
}

static mr_attention_args args_of(const mr_call *c)
{
    const mr_fused_attention *f = fused_of(c);
    const mr_shape *q = &c->in[Q].shape, *k = &c->in[K].shape, *v = &c->in[V].shape, *y = &c->out[0].shape;
    mr_attention_args a = {.batch = extent(q, f->q.batch), .heads = extent(q, f->q.head)};
    a.kv_heads = a.heads;
    a.queries = extent(q, f->q.row), a.keys = extent(k, f->k.row);
    a.size = q->d[q->rank - 1], a.v_size = v->d[v->rank - 1];
    a.q = rows_of(&c->in[Q], f->q), a.k = rows_of(&c->in[K], f->k), a.v = rows_of(&c->in[V], f->v);
    a.y = c->out[0].t ? c->out[0].t->data : NULL;
    a.y_batch = step(y, f->y.batch), a.y_head = step(y, f->y.head), a.y_row = step(y, f->y.row);
    a.q_scale = f->scale, a.k_scale = 1;
    a.precision = f->type;
    a.left = a.right = -1;
    a.mask_keys = a.keys;
    if (mr_in_has(c, MASK) && c->in[MASK].t) set_mask(c, &a);
    a.pool = c->pool, a.scratch = c->scratch;
    return a;
}

static mr_fn have(const mr_call *c)
{
    return MR_SLOT(c->cpu->attention.attention[mr_in_dtype(c, Q)], mr_in_dtype(c, V));
}

static size_t scratch(const mr_call *c)
{
    mr_attention_args a = args_of(c);
    return c->cpu->attention.scratch[mr_in_dtype(c, Q)][mr_in_dtype(c, V)](&a);
}

/* Does the mask leave a query no key? */
static bool blind(const mr_attention_args *a, int64_t b, int64_t h, int64_t i)
{
    const int64_t at = b * a->mask_strides[0] + h * a->mask_strides[1] + i * a->mask_strides[2];
    for (int64_t k = 0; k < a->keys; k++)
        if (mr_tensor_real(&a->mask, at + k * a->mask_strides[3]) != -INFINITY) return false;
    return true;
}

static void fill_nan(const mr_call *c, const mr_attention_args *a, int64_t b, int64_t h, int64_t i)
{
    const size_t size = mr_dtype_size(fused_of(c)->type);
    char *y = (char *)a->y + (size_t)(b * a->y_batch + h * a->y_head + i * a->y_row) * size;
    for (int64_t d = 0; d < a->v_size; d++) mr_element_set(fused_of(c)->type, NAN, y + (size_t)d * size);
}

/* The kernel gives zeros to a query that sees nothing; softmax of nothing but -inf is NaN. */
static void mark_blind(const mr_call *c, const mr_attention_args *a)
{
    const bool each = a->mask_strides[2] != 0; /* queries of a head see different keys */
    for (int64_t i = 0; i < a->batch * a->heads * a->queries; i++) {
        const int64_t query = i % a->queries, head = i / a->queries % a->heads, batch = i / a->queries / a->heads;
        if (!each && query) continue;
        if (!blind(a, batch, head, query)) continue;
        for (int64_t k = query; k < (each ? query + 1 : a->queries); k++) fill_nan(c, a, batch, head, k);
    }
}

static mr_status run(mr_call *c)
{
    mr_attention_args a = args_of(c);
    ((mr_attention_fn *)c->fn)(&a);
    if (a.mask.data && !fused_of(c)->zeros) mark_blind(c, &a);
    return MR_OK;
}

static const mr_impl rows[] = {{.name = "attention_in_place", .have = have, .run = run, .scratch = scratch}, {0}};

static double flops(const mr_call *c)
{
    const mr_attention_args a = args_of(c);
    const mr_attention_dims d = {a.batch, a.heads, a.kv_heads, a.queries, 0, a.keys, a.size, a.v_size};
    return mr_flops_attention_of(&d);
}

const mr_op mr_ops_fused_attention[] = {
    {.domain = MR_FUSED_DOMAIN, .name = "Attention", .since = 1, .infer = infer, .impls = rows, .flops = flops},
    {0},
};

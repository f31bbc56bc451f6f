/* search.c: TopK, NonZero, Unique: values looked for. */
#include "kernels/cpu/cpu.h"
#include "ops/rules.h"
#include "ops/sizes.h"

#include <string.h>

/* ---- TopK ---- */

typedef struct topk_params {
    int64_t axis;
    int64_t k; /* -1: input 1 */
    bool largest;
} topk_params;

static void topk_read(mr_reader *r, void *params)
{
    topk_params *p = params;
    int version = mr_read_version(r);
    p->axis = mr_read_int(r, "axis", -1);
    p->k = version < 10 ? mr_read_int(r, "k", 0) : -1;
    p->largest = version < 11 || mr_read_int(r, "largest", 1);
    if (version >= 11) mr_read_ignore(r, "sorted"); /* without it any order will do */
    if (version < 10 && p->k < 0) mr_read_fail(r, MR_E_ATTRIBUTE, "attribute k is %lld", (long long)p->k);
}

static mr_status topk_infer(mr_call *c)
{
    const topk_params *p = c->params;
    mr_shape s = c->in[0].shape;
    int64_t k = p->k;
    mr_status st = mr_want_rank(c, 0, 1, MR_MAX_RANK);
    if (!st && k < 0) st = mr_want_one(c, 1);
    if (!st && k < 0 && c->in[1].t) {
        k = mr_tensor_int(c->in[1].t, 0);
        if (k < 0) return mr_call_fail_in(c, MR_E_NODE_VALUE, 1, "k is %lld", (long long)k);
    }
    if (!st && s.rank >= 0) {
        int axis;
        st = mr_want_axis(c, p->axis, s.rank, "attribute axis", &axis);
        if (!st && s.d[axis] >= 0 && k > s.d[axis])
            st = mr_call_fail_in(c, MR_E_SHAPES, 0, "k is %lld, but axis %d has only %lld", (long long)k, axis,
                                 (long long)s.d[axis]);
        if (!st) s.d[axis] = k;
    }
    if (!st) st = mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
    return st ? st : mr_out_tensor(c, 1, MR_I64, &s);
}

static mr_fn topk_have(const mr_call *c)
{
    return MR_SLOT(c->cpu->search.topk, mr_in_dtype(c, 0));
}

static mr_status topk_run(mr_call *c)
{
    const topk_params *p = c->params;
    const mr_tensor *x = c->in[0].t;
    int axis = (int)(p->axis < 0 ? p->axis + x->rank : p->axis);
    mr_topk_args a = {.x = x->data,
                      .values = c->out[0].t->data,
                      .indices = c->out[1].t->data,
                      .outer = mr_dims_product(x->dims, 0, axis),
                      .n = x->dims[axis],
                      .inner = mr_dims_product(x->dims, axis + 1, x->rank),
                      .k = c->out[0].t->dims[axis],
                      .largest = p->largest,
                      .pool = c->pool};
    ((void (*)(const mr_topk_args *))c->fn)(&a);
    return MR_OK;
}

static const mr_impl topk_impls[] = {{.name = "topk_cpu", .have = topk_have, .run = topk_run}, {0}};

/* ---- NonZero ---- */

/* "For scalar input, NonZero produces output shape (0, N)". */
static mr_status nonzero_infer(mr_call *c)
{
    int rank = c->in[0].shape.rank;
    mr_shape s = {.rank = 2, .d = {rank < 0 ? MR_DIM_UNKNOWN : rank, MR_DIM_UNKNOWN}};
    return mr_out_tensor(c, 0, MR_I64, &s);
}

static mr_fn nonzero_have(const mr_call *c)
{
    return MR_SLOT(c->cpu->search.nonzero, mr_in_dtype(c, 0));
}

static mr_status nonzero_count(mr_call *c)
{
    const mr_tensor *x = c->in[0].t;
    c->out[0].shape.d[1] = c->cpu->search.nonzero_count[x->dtype](x->data, mr_tensor_count(x));
    return MR_OK;
}

static mr_status nonzero_run(mr_call *c)
{
    const mr_tensor *x = c->in[0].t;
    mr_nonzero_args a = {
        .x = x->data, .y = c->out[0].t->data, .count = c->out[0].t->dims[1], .rank = x->rank, .dims = x->dims};
    ((void (*)(const mr_nonzero_args *))c->fn)(&a);
    return MR_OK;
}

static const mr_impl nonzero_impls[] = {
    {.name = "nonzero_cpu", .have = nonzero_have, .run = nonzero_run, .count = nonzero_count}, {0}};

/* ---- Unique ---- */

typedef struct unique_params {
    bool flat; /* no axis: over all elements */
    int64_t axis;
    bool sorted;
    int first, inverse, counts; /* outputs; com.microsoft's gives no first items: -1 */
} unique_params;

static void unique_read(mr_reader *r, void *params)
{
    unique_params *p = params;
    p->flat = !mr_read_has(r, "axis");
    p->axis = p->flat ? 0 : mr_read_int(r, "axis", 0);
    p->sorted = mr_read_int(r, "sorted", 1) != 0;
    p->first = 1, p->inverse = 2, p->counts = 3;
}

/* com.microsoft's: of a vector, in the order of their first items. */
static void ms_unique_read(mr_reader *r, void *params)
{
    (void)r;
    *(unique_params *)params = (unique_params){.flat = true, .first = -1, .inverse = 1, .counts = 2};
}

static mr_status unique_infer(mr_call *c)
{
    const unique_params *p = c->params;
    mr_shape s = p->flat ? mr_shape_1d(MR_DIM_UNKNOWN) : c->in[0].shape, vector = mr_shape_1d(MR_DIM_UNKNOWN);
    const mr_shape *x = &c->in[0].shape;
    mr_dim along = mr_shape_known(x) ? mr_dims_product(x->d, 0, x->rank) : MR_DIM_UNKNOWN;
    mr_status st = MR_OK;
    if (!p->flat && s.rank >= 0) {
        int axis;
        if ((st = mr_want_axis(c, p->axis, s.rank, "attribute axis", &axis))) return st;
        along = s.d[axis];
        s.d[axis] = MR_DIM_UNKNOWN;
    }
    mr_shape inverse = mr_shape_1d(along);
    st = mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
    if (!st && p->first > 0) st = mr_out_tensor(c, p->first, MR_I64, &vector);
    if (!st) st = mr_out_tensor(c, p->inverse, MR_I64, &inverse);
    return st ? st : mr_out_tensor(c, p->counts, MR_I64, &vector);
}

static mr_status ms_unique_infer(mr_call *c)
{
    mr_status st = mr_want_rank(c, 0, 1, 1);
    return st ? st : unique_infer(c);
}

static mr_fn unique_have(const mr_call *c)
{
    return MR_SLOT(c->cpu->search.unique, mr_in_dtype(c, 0));
}

/* What count finds out: n items in groups of equal ones. */
typedef struct groups {
    int64_t outer, n, inner, count;
    int64_t *first; /* of each group: its first item */
    int64_t *size;
    int64_t *of; /* the group of each item */
} groups;

/* Groups in ascending order, from the items in sorted order. */
static void make_groups(groups *g, const int64_t *order, const bool *fresh)
{
    g->count = 0;
    for (int64_t i = 0; i < g->n; i++) {
        if (fresh[i]) {
            g->first[g->count] = order[i];
            g->size[g->count++] = 0;
        }
        g->size[g->count - 1]++;
        g->of[order[i]] = g->count - 1;
    }
}

/* Renumbers the groups in the order of their first items; spare: room for as many. */
static void by_occurrence(groups *g, int64_t *rank, int64_t *spare)
{
    int64_t next = 0;
    for (int64_t i = 0; i < g->n; i++)
        if (g->first[g->of[i]] == i) rank[g->of[i]] = next++;
    for (int64_t i = 0; i < g->n; i++) g->of[i] = rank[g->of[i]];
    memcpy(spare, g->size, sizeof *spare * (size_t)g->count);
    for (int64_t k = 0; k < g->count; k++) g->size[rank[k]] = spare[k];
    memcpy(spare, g->first, sizeof *spare * (size_t)g->count);
    for (int64_t k = 0; k < g->count; k++) g->first[rank[k]] = spare[k];
}

static mr_status unique_count(mr_call *c)
{
    const unique_params *p = c->params;
    const mr_tensor *x = c->in[0].t;
    int axis = (int)(p->axis < 0 ? p->axis + x->rank : p->axis);
    groups *g = mr_call_alloc(c, sizeof *g);
    if (!g) return c->error->status;
    *g = p->flat ? (groups){.outer = 1, .n = mr_tensor_count(x), .inner = 1}
                 : (groups){.outer = mr_dims_product(x->dims, 0, axis),
                            .n = x->dims[axis],
                            .inner = mr_dims_product(x->dims, axis + 1, x->rank)};
    size_t n = (size_t)g->n + 1;
    int64_t *order = mr_call_alloc(c, sizeof *order * n), *spare = mr_call_alloc(c, sizeof *spare * n);
    bool *fresh = mr_call_alloc(c, sizeof *fresh * n);
    g->first = mr_call_alloc(c, sizeof *g->first * n);
    g->size = mr_call_alloc(c, sizeof *g->size * n);
    g->of = mr_call_alloc(c, sizeof *g->of * n);
    if (!order || !spare || !fresh || !g->first || !g->size || !g->of) return c->error->status;
    mr_unique_args a = {
        .x = x->data, .outer = g->outer, .n = g->n, .inner = g->inner, .order = order, .spare = spare, .fresh = fresh};
    ((void (*)(const mr_unique_args *))c->fn)(&a);
    make_groups(g, order, fresh);
    if (!p->sorted) by_occurrence(g, order, spare);
    c->state = g;
    c->out[0].shape.d[p->flat ? 0 : axis] = g->count;
    if (p->first > 0 && c->n_out > p->first) c->out[p->first].shape.d[0] = g->count;
    if (c->n_out > p->counts) c->out[p->counts].shape.d[0] = g->count;
    return MR_OK;
}

static void put_vector(mr_call *c, int o, const int64_t *from, int64_t n)
{
    if (mr_out_wanted(c, o)) memcpy(c->out[o].t->data, from, sizeof *from * (size_t)n);
}

static mr_status unique_run(mr_call *c)
{
    const unique_params *p = c->params;
    const groups *g = c->state;
    const mr_tensor *x = c->in[0].t;
    if (mr_out_wanted(c, 0)) {
        mr_gather_args a = {.x = x->data,
                            .y = c->out[0].t->data,
                            .index = {g->first, true},
                            .outer = g->outer,
                            .dim = g->n,
                            .n = g->count,
                            .inner = g->inner,
                            .pool = c->pool};
        c->cpu->move.gather[mr_size_index(mr_dtype_size(x->dtype))](&a);
    }
    if (p->first > 0) put_vector(c, p->first, g->first, g->count);
    put_vector(c, p->inverse, g->of, g->n);
    put_vector(c, p->counts, g->size, g->count);
    return MR_OK;
}

static const mr_impl unique_impls[] = {
    {.name = "unique_cpu", .have = unique_have, .run = unique_run, .count = unique_count}, {0}};

const mr_op mr_ops_search[] = {
    {.name = "TopK",
     .domain = "",
     .since = 1,
     .params_size = sizeof(topk_params),
     .read = topk_read,
     .infer = topk_infer,
     .impls = topk_impls},
    {.name = "NonZero", .domain = "", .since = 9, .infer = nonzero_infer, .impls = nonzero_impls},
    {.name = "Unique",
     .domain = "",
     .since = 11,
     .params_size = sizeof(unique_params),
     .read = unique_read,
     .infer = unique_infer,
     .impls = unique_impls},
    {.name = "Unique",
     .domain = "com.microsoft",
     .since = 1,
     .params_size = sizeof(unique_params),
     .read = ms_unique_read,
     .infer = ms_unique_infer,
     .impls = unique_impls},
    {0},
};

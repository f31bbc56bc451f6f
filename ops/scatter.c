/* scatter.c: Scatter, ScatterElements, ScatterND, TensorScatter: a copy of the data with updates put in. */
#include "kernels/cpu/scatter.h"

#include "ops/copies.h"
#include "ops/indices.h"
#include "ops/rules.h"

#include <stdio.h>
#include <string.h>

enum { REDUCE_NONE, REDUCE_ADD, REDUCE_MUL, REDUCE_MAX, REDUCE_MIN };

typedef struct scatter_params {
    int64_t axis;
    int reduction;
} scatter_params;

static const char *const reductions[] = {"none", "add", "mul", "max", "min", NULL};

static void read_reduction(mr_reader *r, scatter_params *p)
{
    int version = mr_read_version(r);
    p->reduction = version >= 16 ? mr_read_enum(r, "reduction", reductions, REDUCE_NONE) : REDUCE_NONE;
    if (p->reduction >= REDUCE_MAX && version < 18)
        mr_read_fail(r, MR_E_ATTRIBUTE, "reduction \"%s\" needs opset 18, model declares %d", reductions[p->reduction],
                     mr_read_node(r)->opset);
}

static void elements_read(mr_reader *r, void *params)
{
    scatter_params *p = params;
    p->axis = mr_read_int(r, "axis", 0);
    read_reduction(r, p);
}

static void nd_read(mr_reader *r, void *params)
{
    read_reduction(r, params);
}

static mr_scatter_how how(const scatter_params *p)
{
    return (mr_scatter_how)(p->reduction - REDUCE_ADD);
}

static void show_reduction(const mr_call *c, const void *params, char *buf, size_t size)
{
    (void)c;
    snprintf(buf, size, "reduction = %s", reductions[((const scatter_params *)params)->reduction]);
}

static bool is_none(const mr_call *c, const void *params)
{
    (void)c;
    return ((const scatter_params *)params)->reduction == REDUCE_NONE;
}

static const mr_cond reduction_none = {"reduction == none", is_none, 0, show_reduction};

/* Output 0 begins as the data, unless it is computed over it. */
static void copy_data(mr_call *c)
{
    const mr_tensor *x = c->in[0].t, *y = c->out[0].t;
    mr_box all = {.rank = 1, .dims = {mr_tensor_count(x)}, .xs = {1}, .ys = {1}};
    if (x->data != y->data) mr_copy_box(c, x->data, 0, y->data, 0, &all);
}

/* Input i, the updates, as it was before: when it's the data too, output 0 may be computed over it. */
static size_t updates_bytes(const mr_call *c, int i)
{
    return c->node->in[i] == c->node->in[0] ? mr_tensor_bytes(c->in[i].t) : 0;
}

static size_t scatter_scratch(const mr_call *c)
{
    return updates_bytes(c, 2);
}
static size_t cache_scratch(const mr_call *c)
{
    return updates_bytes(c, 1);
}

static const void *updates_of(const mr_call *c, int i)
{
    const mr_tensor *u = c->in[i].t;
    return u->data == c->out[0].t->data ? memcpy(c->scratch, u->data, mr_tensor_bytes(u)) : u->data;
}

/* ---- Scatter, ScatterElements ---- */

static mr_status elements_infer(mr_call *c)
{
    const scatter_params *p = c->params;
    const mr_shape *x = &c->in[0].shape, *index = &c->in[1].shape, *updates = &c->in[2].shape;
    mr_status st = mr_want_rank(c, 0, 1, MR_MAX_RANK);
    if (!st && x->rank >= 0) {
        int axis;
        st = mr_want_axis(c, p->axis, x->rank, "attribute axis", &axis);
        if (!st) st = mr_want_rank(c, 1, x->rank, x->rank);
        if (!st) st = mr_want_rank(c, 2, x->rank, x->rank);
        if (!st) st = mr_want_axis_of_indices(c, 1, axis);
        for (int d = 0; !st && index->rank >= 0 && d < x->rank; d++) {
            if (updates->rank >= 0)
                st = mr_want_dim(c, index->d[d], updates->d[d], "indices and updates have one shape", NULL);
            if (!st && d != axis && x->d[d] >= 0 && index->d[d] > x->d[d])
                st = mr_call_fail_in(c, MR_E_SHAPES, 1, "axis %d has %lld, but 'data' has only %lld there", d,
                                     (long long)index->d[d], (long long)x->d[d]);
        }
    }
    return st ? st : mr_out_like(c, 0, 0);
}

static mr_fn set_have(const mr_call *c)
{
    return MR_SLOT_BY_SIZE(c->cpu->scatter.set, mr_in_dtype(c, 0));
}

static mr_fn reduce_have(const mr_call *c)
{
    const scatter_params *p = c->params;
    return p->reduction == REDUCE_NONE ? NULL : MR_SLOT(c->cpu->scatter.reduce[how(p)], mr_in_dtype(c, 0));
}

static mr_status elements_run(mr_call *c)
{
    const scatter_params *p = c->params;
    int axis = (int)(p->axis < 0 ? p->axis + c->in[0].t->rank : p->axis);
    mr_lines lines;
    mr_status st = mr_want_indices(c, 1, c->in[0].t->dims[axis]);
    if (st) return st;
    const void *updates = updates_of(c, 2);
    copy_data(c);
    mr_lines_of(c, 1, axis, &lines);
    mr_scatter_elements_args a = {.updates = updates, .y = c->out[0].t->data, .lines = &lines, .pool = c->pool};
    ((void (*)(const mr_scatter_elements_args *))c->fn)(&a);
    return MR_OK;
}

static const mr_impl elements_impls[] = {{.name = "scatter_elements_reduce_cpu",
                                          .have = reduce_have,
                                          .run = elements_run,
                                          .scratch = scatter_scratch,
                                          .inplace = 1},
                                         {.name = "scatter_elements_cpu",
                                          .have = set_have,
                                          .conds = MR_WHEN(&reduction_none),
                                          .run = elements_run,
                                          .scratch = scatter_scratch,
                                          .inplace = 1},
                                         {0}};

/* ---- ScatterND ---- */

/* "The shape of updates must equal indices.shape[0:q-1] ++ data.shape[k:r]". */
static mr_status nd_want_updates(mr_call *c)
{
    const mr_shape *x = &c->in[0].shape, *index = &c->in[1].shape, *updates = &c->in[2].shape;
    int64_t k = index->d[index->rank - 1];
    if (k > x->rank)
        return mr_call_fail_in(c, MR_E_SHAPES, 1, "tuples of %lld, but 'data' has rank %d", (long long)k, x->rank);
    int lead = index->rank - 1;
    mr_status st = mr_want_axes_of_tuples(c, 1, 0);
    if (!st) st = mr_want_rank(c, 2, lead + x->rank - (int)k, lead + x->rank - (int)k);
    if (st || updates->rank < 0) return st;
    for (int d = 0; !st && d < updates->rank; d++)
        st = mr_want_dim(c, d < lead ? index->d[d] : x->d[d - lead + k], updates->d[d],
                         d < lead ? "updates has a slice for each tuple of indices" : "updates has slices of data",
                         NULL);
    return st;
}

static mr_status nd_infer(mr_call *c)
{
    const mr_shape *x = &c->in[0].shape, *index = &c->in[1].shape;
    mr_status st = mr_want_rank(c, 0, 1, MR_MAX_RANK);
    if (!st) st = mr_want_rank(c, 1, 1, MR_MAX_RANK);
    if (!st && x->rank >= 0 && index->rank >= 0 && index->d[index->rank - 1] >= 0) st = nd_want_updates(c);
    return st ? st : mr_out_like(c, 0, 0);
}

static mr_fn set_nd_have(const mr_call *c)
{
    return MR_SLOT_BY_SIZE(c->cpu->scatter.set_nd, mr_in_dtype(c, 0));
}

static mr_fn reduce_nd_have(const mr_call *c)
{
    const scatter_params *p = c->params;
    return p->reduction == REDUCE_NONE ? NULL : MR_SLOT(c->cpu->scatter.reduce_nd[how(p)], mr_in_dtype(c, 0));
}

static mr_status nd_run(mr_call *c)
{
    int64_t strides[MR_MAX_RANK], inner;
    mr_tuples tuples;
    mr_status st = mr_want_tuples(c, 1, c->in[0].t->dims);
    if (st) return st;
    const void *updates = updates_of(c, 2);
    copy_data(c);
    mr_tuples_of(c, 1, 0, strides, &tuples, &inner);
    mr_scatter_nd_args a = {
        .updates = updates, .y = c->out[0].t->data, .tuples = &tuples, .inner = inner, .pool = c->pool};
    ((void (*)(const mr_scatter_nd_args *))c->fn)(&a);
    return MR_OK;
}

static const mr_impl nd_impls[] = {
    {.name = "scatter_nd_reduce_cpu", .have = reduce_nd_have, .run = nd_run, .scratch = scatter_scratch, .inplace = 1},
    {.name = "scatter_nd_cpu",
     .have = set_nd_have,
     .conds = MR_WHEN(&reduction_none),
     .run = nd_run,
     .scratch = scatter_scratch,
     .inplace = 1},
    {0}};

/* ---- TensorScatter ---- */

typedef struct cache_params {
    int64_t axis;
    bool circular;
} cache_params;

static void cache_read(mr_reader *r, void *params)
{
    static const char *const modes[] = {"linear", "circular", NULL};
    cache_params *p = params;
    p->axis = mr_read_int(r, "axis", -2);
    p->circular = mr_read_enum(r, "mode", modes, 0) == 1;
}

static mr_status cache_want_indices(mr_call *c, int64_t n, int64_t most)
{
    const cache_params *p = c->params;
    const int64_t *at = c->in[2].t->data;
    for (int64_t b = 0; !p->circular && b < c->in[2].t->dims[0]; b++)
        if (at[b] < 0 || at[b] > most - n)
            return mr_call_fail_in(c, MR_E_NODE_VALUE, 2, "index %lld at position %lld out of range [0,%lld]",
                                   (long long)at[b], (long long)b, (long long)(most - n));
    return MR_OK;
}

static mr_status cache_infer(mr_call *c)
{
    const cache_params *p = c->params;
    const mr_shape *x = &c->in[0].shape, *update = &c->in[1].shape;
    mr_status st = mr_want_rank(c, 0, 2, MR_MAX_RANK);
    if (!st && mr_in_has(c, 2)) st = mr_want_rank(c, 2, 1, 1);
    if (!st && x->rank >= 0) {
        int axis;
        st = mr_want_axis(c, p->axis, x->rank, "attribute axis", &axis);
        if (!st && axis == 0) st = mr_call_fail(c, MR_E_ATTRIBUTE, "attribute axis is 0, the batch dimension");
        if (!st) st = mr_want_rank(c, 1, x->rank, x->rank);
        for (int d = 0; !st && update->rank >= 0 && d < x->rank; d++) {
            if (d != axis)
                st = mr_want_dim(c, x->d[d], update->d[d], "past_cache and update differ along axis only", NULL);
            else if (x->d[d] >= 0 && update->d[d] > x->d[d])
                st = mr_call_fail_in(c, MR_E_SHAPES, 1, "%lld along axis %d, but the cache has %lld",
                                     (long long)update->d[d], d, (long long)x->d[d]);
        }
        if (!st && mr_in_has(c, 2) && c->in[2].shape.rank == 1)
            st = mr_want_dim(c, x->d[0], c->in[2].shape.d[0], "write_indices has one index for each batch element",
                             NULL);
        bool known = update->rank >= 0 && update->d[axis] >= 0 && x->d[axis] >= 0;
        if (!st && mr_in_has(c, 2) && c->in[2].t && known) st = cache_want_indices(c, update->d[axis], x->d[axis]);
    }
    return st ? st : mr_out_like(c, 0, 0);
}

/* Rows [from, from + n) of the update go to rows `to` and on of batch element b. */
static void cache_write(const mr_call *c, const void *updates, int axis, int64_t b, int64_t from, int64_t to, int64_t n)
{
    const mr_tensor *update = c->in[1].t, *y = c->out[0].t;
    int64_t inner = mr_dims_product(y->dims, axis + 1, y->rank), before = mr_dims_product(y->dims, 1, axis);
    int64_t x_step = update->dims[axis] * inner, y_step = y->dims[axis] * inner;
    mr_box box = {.rank = 2, .dims = {before, n * inner}, .xs = {x_step, 1}, .ys = {y_step, 1}};
    mr_copy_box(c, updates, b * before * x_step + from * inner, y->data, b * before * y_step + to * inner, &box);
}

static mr_status cache_run(mr_call *c)
{
    const cache_params *p = c->params;
    const mr_tensor *y = c->out[0].t;
    int axis = (int)(p->axis < 0 ? p->axis + y->rank : p->axis);
    int64_t n = c->in[1].t->dims[axis], most = y->dims[axis];
    bool placed = mr_in_has(c, 2);
    mr_status st = placed ? cache_want_indices(c, n, most) : MR_OK;
    if (st) return st;
    const void *updates = updates_of(c, 1);
    copy_data(c);
    for (int64_t b = 0; n > 0 && b < y->dims[0]; b++) {
        int64_t to = placed ? ((const int64_t *)c->in[2].t->data)[b] % most : 0;
        if (to < 0) to += most;
        int64_t first = n < most - to ? n : most - to; /* the rest begins at 0 again */
        cache_write(c, updates, axis, b, 0, to, first);
        cache_write(c, updates, axis, b, first, 0, n - first);
    }
    return MR_OK;
}

static const mr_impl cache_impls[] = {
    {.name = "tensor_scatter_cpu", .have = mr_have_copy, .run = cache_run, .scratch = cache_scratch, .inplace = 1},
    {0}};

const mr_op mr_ops_scatter[] = {
    {.name = "Scatter",
     .domain = "",
     .since = 9,
     .until = 10,
     .params_size = sizeof(scatter_params),
     .read = elements_read,
     .infer = elements_infer,
     .impls = elements_impls},
    {.name = "ScatterElements",
     .domain = "",
     .since = 11,
     .params_size = sizeof(scatter_params),
     .read = elements_read,
     .infer = elements_infer,
     .impls = elements_impls},
    {.name = "ScatterND",
     .domain = "",
     .since = 11,
     .params_size = sizeof(scatter_params),
     .read = nd_read,
     .infer = nd_infer,
     .impls = nd_impls},
    {.name = "TensorScatter",
     .domain = "",
     .since = 24,
     .params_size = sizeof(cache_params),
     .read = cache_read,
     .infer = cache_infer,
     .impls = cache_impls},
    {0},
};

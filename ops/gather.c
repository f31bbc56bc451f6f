/* gather.c: Gather, GatherElements, GatherND, OneHot, Compress: elements and slices found by index. */
#include "kernels/cpu/cpu.h"
#include "ops/elems.h"
#include "ops/indices.h"
#include "ops/sizes.h"

#include <string.h>

typedef struct axis_params {
    int64_t axis;
} axis_params;

static void axis_read_0(mr_reader *r, void *params)
{
    ((axis_params *)params)->axis = mr_read_int(r, "axis", 0);
}

static int axis_of(int64_t axis, int rank)
{
    return (int)(axis < 0 ? axis + rank : axis);
}

/* ---- Gather ---- */

/* Of a vector with partly known elements, one index or a vector of them. */
static mr_status gather_elems(mr_call *c)
{
    int n = mr_elems_count(c, 0);
    const mr_tensor *index = c->in[1].t;
    if (n < 0 || c->in[0].shape.rank != 1 || !index || index->rank > 1 || mr_tensor_count(index) > MR_MAX_ELEMS)
        return MR_OK;
    mr_dim *d = mr_elems_new(c, 0, (int)mr_tensor_count(index));
    if (!d) return c->error->status;
    for (int64_t i = 0; i < mr_tensor_count(index); i++) {
        int64_t k = mr_tensor_int(index, i);
        if (k < 0) k += n;
        if (k >= 0 && k < n) d[i] = mr_elem(c, 0, (int)k);
    }
    return MR_OK;
}

static mr_status gather_infer(mr_call *c)
{
    const axis_params *p = c->params;
    const mr_shape *x = &c->in[0].shape, *index = &c->in[1].shape;
    mr_shape s = mr_shape_unknown();
    mr_status st = mr_want_rank(c, 0, 1, MR_MAX_RANK);
    if (!st && x->rank >= 0 && index->rank >= 0) {
        int axis;
        st = mr_want_axis(c, p->axis, x->rank, "attribute axis", &axis);
        if (!st) st = mr_want_axis_of_indices(c, 1, axis);
        s.rank = x->rank - 1 + index->rank;
        if (!st && s.rank > MR_MAX_RANK)
            st = mr_call_fail_in(c, MR_E_RANK, 1, "the result would have rank %d, at most %d", s.rank, MR_MAX_RANK);
        if (st) return st;
        memcpy(s.d, x->d, sizeof *s.d * (size_t)axis);
        memcpy(s.d + axis, index->d, sizeof *s.d * (size_t)index->rank);
        memcpy(s.d + axis + index->rank, x->d + axis + 1, sizeof *s.d * (size_t)(x->rank - axis - 1));
    }
    if (!st) st = mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
    return st ? st : gather_elems(c);
}

static mr_fn gather_have(const mr_call *c)
{
    return MR_SLOT_BY_SIZE(c->cpu->move.gather, mr_in_dtype(c, 0));
}

static mr_status gather_run(mr_call *c)
{
    const axis_params *p = c->params;
    const mr_tensor *x = c->in[0].t;
    int axis = axis_of(p->axis, x->rank);
    mr_status st = mr_want_indices(c, 1, x->dims[axis]);
    if (st) return st;
    mr_gather_args a = {.x = x->data,
                        .y = c->out[0].t->data,
                        .index = mr_index_of(c, 1),
                        .outer = mr_dims_product(x->dims, 0, axis),
                        .dim = x->dims[axis],
                        .n = mr_tensor_count(c->in[1].t),
                        .inner = mr_dims_product(x->dims, axis + 1, x->rank),
                        .pool = c->pool};
    ((void (*)(const mr_gather_args *))c->fn)(&a);
    return MR_OK;
}

static const mr_impl gather_impls[] = {{.name = "gather_cpu", .have = gather_have, .run = gather_run}, {0}};

/* ---- GatherElements ---- */

/* The index tensor may be smaller than the data, but for the axis. */
static mr_status elements_infer(mr_call *c)
{
    const axis_params *p = c->params;
    const mr_shape *x = &c->in[0].shape, *index = &c->in[1].shape;
    mr_status st = mr_want_rank(c, 0, 1, MR_MAX_RANK);
    if (!st && x->rank >= 0) {
        int axis;
        st = mr_want_axis(c, p->axis, x->rank, "attribute axis", &axis);
        if (!st) st = mr_want_rank(c, 1, x->rank, x->rank);
        if (!st) st = mr_want_axis_of_indices(c, 1, axis);
        for (int d = 0; !st && index->rank >= 0 && d < x->rank; d++)
            if (d != axis && x->d[d] >= 0 && index->d[d] > x->d[d])
                st = mr_call_fail_in(c, MR_E_SHAPES, 1, "axis %d has %lld, but 'data' has only %lld there", d,
                                     (long long)index->d[d], (long long)x->d[d]);
    }
    return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, 0), index);
}

static mr_fn elements_have(const mr_call *c)
{
    return MR_SLOT_BY_SIZE(c->cpu->move.gather_elements, mr_in_dtype(c, 0));
}

static mr_status elements_run(mr_call *c)
{
    const axis_params *p = c->params;
    int axis = axis_of(p->axis, c->in[0].t->rank);
    mr_lines lines;
    mr_status st = mr_want_indices(c, 1, c->in[0].t->dims[axis]);
    if (st) return st;
    mr_lines_of(c, 1, axis, &lines);
    mr_gather_elements_args a = {.x = c->in[0].t->data, .y = c->out[0].t->data, .lines = &lines, .pool = c->pool};
    ((void (*)(const mr_gather_elements_args *))c->fn)(&a);
    return MR_OK;
}

static const mr_impl elements_impls[] = {{.name = "gather_elements_cpu", .have = elements_have, .run = elements_run},
                                         {0}};

/* ---- GatherND ---- */

typedef struct nd_params {
    int64_t batch;
} nd_params;

static void nd_read(mr_reader *r, void *params)
{
    ((nd_params *)params)->batch = mr_read_version(r) >= 12 ? mr_read_int(r, "batch_dims", 0) : 0;
}

static mr_status nd_check_batch(mr_call *c, int64_t batch)
{
    const mr_shape *x = &c->in[0].shape, *index = &c->in[1].shape;
    mr_status st = mr_want_rank(c, 0, 1, MR_MAX_RANK);
    if (!st) st = mr_want_rank(c, 1, 1, MR_MAX_RANK);
    if (st || x->rank < 0 || index->rank < 0) return st;
    int least = x->rank < index->rank ? x->rank : index->rank;
    if (batch < 0 || batch >= least)
        return mr_call_fail(c, MR_E_SHAPES, "attribute batch_dims = %lld is outside [0,%d]", (long long)batch,
                            least - 1);
    for (int d = 0; !st && d < batch; d++)
        st = mr_want_dim(c, x->d[d], index->d[d], "the batch dimensions of data and indices are equal", NULL);
    return st;
}

static mr_status nd_infer(mr_call *c)
{
    const nd_params *p = c->params;
    const mr_shape *x = &c->in[0].shape, *index = &c->in[1].shape;
    mr_shape s = mr_shape_unknown();
    mr_status st = nd_check_batch(c, p->batch);
    bool known = !st && x->rank >= 0 && index->rank >= 0 && index->d[index->rank - 1] >= 0;
    if (known) {
        int64_t k = index->d[index->rank - 1], b = p->batch;
        if (k < 1 || k > x->rank - b)
            return mr_call_fail_in(c, MR_E_SHAPES, 1, "tuples of %lld, which must be 1 … %lld long", (long long)k,
                                   (long long)(x->rank - b));
        if ((st = mr_want_axes_of_tuples(c, 1, (int)b))) return st;
        int lead = index->rank - 1, tail = (int)(x->rank - b - k);
        if (lead + tail > MR_MAX_RANK)
            return mr_call_fail_in(c, MR_E_RANK, 1, "the result would have rank %d, at most %d", lead + tail,
                                   MR_MAX_RANK);
        s.rank = lead + tail;
        memcpy(s.d, index->d, sizeof *s.d * (size_t)lead);
        memcpy(s.d + lead, x->d + b + k, sizeof *s.d * (size_t)tail);
    }
    return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
}

static mr_fn nd_have(const mr_call *c)
{
    return MR_SLOT_BY_SIZE(c->cpu->move.gather_nd, mr_in_dtype(c, 0));
}

static mr_status nd_run(mr_call *c)
{
    const nd_params *p = c->params;
    int64_t strides[MR_MAX_RANK], inner;
    mr_tuples tuples;
    mr_status st = mr_want_tuples(c, 1, c->in[0].t->dims + p->batch);
    if (st) return st;
    mr_tuples_of(c, 1, (int)p->batch, strides, &tuples, &inner);
    mr_gather_nd_args a = {
        .x = c->in[0].t->data, .y = c->out[0].t->data, .tuples = &tuples, .inner = inner, .pool = c->pool};
    ((void (*)(const mr_gather_nd_args *))c->fn)(&a);
    return MR_OK;
}

static const mr_impl nd_impls[] = {{.name = "gather_nd_cpu", .have = nd_have, .run = nd_run}, {0}};

/* ---- OneHot ---- */

static void one_hot_read(mr_reader *r, void *params)
{
    ((axis_params *)params)->axis = mr_read_int(r, "axis", -1);
}

/* "In case … is of non-integer type, it will be casted to int64". What int64 cannot hold is outside every range. */
static int64_t as_int64(const mr_tensor *t, int64_t i)
{
    if (mr_dtype_in(t->dtype, MR_INTS)) {
        int64_t v = mr_tensor_int(t, i);
        return t->dtype == MR_U64 && v < 0 ? INT64_MAX : v;
    }
    double v = mr_tensor_real(t, i);
    return v >= -0x1p62 && v <= 0x1p62 ? (int64_t)v : INT64_MAX;
}

static mr_status one_hot_infer(mr_call *c)
{
    const axis_params *p = c->params;
    const mr_shape *index = &c->in[0].shape;
    mr_shape s = mr_shape_unknown();
    mr_dim depth = mr_elems_count(c, 1) == 1 ? mr_elem(c, 1, 0) : MR_DIM_UNKNOWN;
    mr_status st = mr_want_rank(c, 2, 1, 1);
    if (!st && c->in[2].shape.rank == 1) st = mr_want_dim(c, c->in[2].shape.d[0], 2, "values are [off, on]", NULL);
    if (!st) st = mr_want_one(c, 1);
    if (!st && c->in[1].t) {
        depth = as_int64(c->in[1].t, 0);
        if (depth < 0 || depth == INT64_MAX)
            return mr_call_fail_in(c, MR_E_NODE_VALUE, 1, "depth %g", mr_tensor_real(c->in[1].t, 0));
    }
    if (!st && index->rank >= 0) {
        int axis;
        if (index->rank == MR_MAX_RANK)
            return mr_call_fail_in(c, MR_E_RANK, 0, "the result would have rank %d, at most %d", index->rank + 1,
                                   MR_MAX_RANK);
        st = mr_want_axis(c, p->axis, index->rank + 1, "attribute axis", &axis);
        s.rank = index->rank + 1;
        for (int d = 0; !st && d < s.rank; d++) s.d[d] = d < axis ? index->d[d] : d == axis ? depth : index->d[d - 1];
    }
    return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, 2), &s);
}

static mr_fn one_hot_have(const mr_call *c)
{
    return MR_SLOT_BY_SIZE(c->cpu->move.one_hot, mr_in_dtype(c, 2));
}

static size_t one_hot_scratch(const mr_call *c)
{
    return sizeof(int64_t) * (size_t)mr_dims_product(c->in[0].shape.d, 0, c->in[0].shape.rank);
}

static mr_status one_hot_run(mr_call *c)
{
    const axis_params *p = c->params;
    const mr_tensor *index = c->in[0].t, *values = c->in[2].t, *y = c->out[0].t;
    int axis = axis_of(p->axis, y->rank);
    int64_t depth = y->dims[axis], n = mr_tensor_count(index), *hot = c->scratch;
    size_t size = mr_dtype_size(y->dtype);
    for (int64_t i = 0; i < n; i++) {
        int64_t k = as_int64(index, i);
        if (k < 0) k += depth;
        hot[i] = k >= 0 && k < depth ? k : -1;
    }
    mr_box all = {.rank = 1, .dims = {mr_tensor_count(y)}, .xs = {0}, .ys = {1}};
    mr_copy_args off = {.x = values->data, .y = y->data, .box = &all, .pool = c->pool};
    c->cpu->move.copy[mr_size_index(size)](&off);
    mr_one_hot_args a = {.on = (const char *)values->data + size,
                         .y = y->data,
                         .hot = hot,
                         .outer = mr_dims_product(y->dims, 0, axis),
                         .depth = depth,
                         .inner = mr_dims_product(y->dims, axis + 1, y->rank),
                         .pool = c->pool};
    ((void (*)(const mr_one_hot_args *))c->fn)(&a);
    return MR_OK;
}

static const mr_impl one_hot_impls[] = {
    {.name = "one_hot_cpu", .have = one_hot_have, .run = one_hot_run, .scratch = one_hot_scratch}, {0}};

/* ---- Compress ---- */

typedef struct compress_params {
    bool flat; /* no axis: over all elements */
    int64_t axis;
} compress_params;

static void compress_read(mr_reader *r, void *params)
{
    compress_params *p = params;
    p->flat = !mr_read_has(r, "axis");
    p->axis = p->flat ? 0 : mr_read_int(r, "axis", 0);
}

static mr_dim chosen(const mr_tensor *condition)
{
    mr_dim n = 0;
    for (int64_t i = 0; condition && i < condition->dims[0]; i++) n += ((const uint8_t *)condition->data)[i] != 0;
    return condition ? n : MR_DIM_UNKNOWN;
}

static mr_status compress_infer(mr_call *c)
{
    const compress_params *p = c->params;
    mr_shape s = p->flat ? mr_shape_1d(MR_DIM_UNKNOWN) : c->in[0].shape;
    mr_dim along = MR_DIM_UNKNOWN;
    int axis = 0;
    mr_status st = mr_want_rank(c, 0, 1, MR_MAX_RANK);
    if (!st) st = mr_want_rank(c, 1, 1, 1);
    if (!st && s.rank >= 0 && !p->flat) st = mr_want_axis(c, p->axis, s.rank, "attribute axis", &axis);
    if (st) return st;
    if (!p->flat && s.rank >= 0)
        along = s.d[axis];
    else if (p->flat && mr_shape_known(&c->in[0].shape))
        along = mr_dims_product(c->in[0].shape.d, 0, c->in[0].shape.rank);
    if (c->in[1].shape.rank == 1 && along >= 0 && c->in[1].shape.d[0] > along)
        return mr_call_fail_in(c, MR_E_SHAPES, 1, "%lld conditions for %lld elements", (long long)c->in[1].shape.d[0],
                               (long long)along);
    if (s.rank >= 0) s.d[axis] = chosen(c->in[1].t);
    return mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
}

static size_t compress_scratch(const mr_call *c)
{
    return sizeof(int64_t) * (size_t)c->in[1].shape.d[0];
}

/* Gathers the slices whose condition holds. */
static mr_status compress_run(mr_call *c)
{
    const compress_params *p = c->params;
    const mr_tensor *x = c->in[0].t, *condition = c->in[1].t;
    int64_t *index = c->scratch, n = 0;
    for (int64_t i = 0; i < condition->dims[0]; i++)
        if (((const uint8_t *)condition->data)[i]) index[n++] = i;
    int axis = axis_of(p->axis, x->rank);
    mr_gather_args a = {.x = x->data,
                        .y = c->out[0].t->data,
                        .index = {index, true},
                        .outer = 1,
                        .dim = mr_tensor_count(x),
                        .n = n,
                        .inner = 1,
                        .pool = c->pool};
    if (!p->flat) {
        a.outer = mr_dims_product(x->dims, 0, axis);
        a.dim = x->dims[axis];
        a.inner = mr_dims_product(x->dims, axis + 1, x->rank);
    }
    ((void (*)(const mr_gather_args *))c->fn)(&a);
    return MR_OK;
}

static const mr_impl compress_impls[] = {
    {.name = "compress_cpu", .have = gather_have, .run = compress_run, .scratch = compress_scratch}, {0}};

const mr_op mr_ops_gather[] = {
    {.name = "Gather",
     .domain = "",
     .since = 1,
     .params_size = sizeof(axis_params),
     .read = axis_read_0,
     .infer = gather_infer,
     .impls = gather_impls},
    {.name = "GatherElements",
     .domain = "",
     .since = 11,
     .params_size = sizeof(axis_params),
     .read = axis_read_0,
     .infer = elements_infer,
     .impls = elements_impls},
    {.name = "GatherND",
     .domain = "",
     .since = 11,
     .params_size = sizeof(nd_params),
     .read = nd_read,
     .infer = nd_infer,
     .impls = nd_impls},
    {.name = "OneHot",
     .domain = "",
     .since = 9,
     .params_size = sizeof(axis_params),
     .read = one_hot_read,
     .infer = one_hot_infer,
     .impls = one_hot_impls},
    {.name = "Compress",
     .domain = "",
     .since = 9,
     .params_size = sizeof(compress_params),
     .read = compress_read,
     .infer = compress_infer,
     .impls = compress_impls},
    {.name = "GatherND",
     .domain = "com.microsoft",
     .since = 1,
     .params_size = sizeof(nd_params),
     .read = nd_read,
     .infer = nd_infer,
     .impls = nd_impls},
    {0},
};

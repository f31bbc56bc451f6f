/* concat.c: Concat, Split: one tensor from several along an axis, and back. */
#include "ops/copies.h"
#include "ops/elems.h"

#include <string.h>

/* A tensor of [outer, own, inner] to or from `at` of the axis of one of [outer, all, inner]. */
typedef struct slab {
    int64_t outer, inner, own, all, at;
} slab;

static slab slab_of(const mr_tensor *t, int axis, int64_t all, int64_t at)
{
    return (slab){mr_dims_product(t->dims, 0, axis), mr_dims_product(t->dims, axis + 1, t->rank), t->dims[axis], all,
                  at};
}

/* ---- Concat ---- */

typedef struct concat_params {
    int64_t axis;
} concat_params;

static void concat_read(mr_reader *r, void *params)
{
    ((concat_params *)params)->axis = mr_read_int(r, "axis", 1);
}

/* Adds input i to the shape; first: the input that the shape began with. */
static mr_status concat_add(mr_call *c, int first, int i, int axis, mr_shape *s)
{
    const mr_shape *x = &c->in[i].shape;
    if (x->rank < 0) {
        s->d[axis] = MR_DIM_UNKNOWN;
        return MR_OK;
    }
    if (x->rank != s->rank)
        return mr_call_fail_in(c, MR_E_RANK, i,
                               "concatenation along axis %d needs equal ranks, but input %d has rank %d", axis, first,
                               s->rank);
    for (int d = 0; d < s->rank; d++) {
        if (d == axis)
            s->d[d] = mr_dim_add(s->d[d], x->d[d]);
        else if (s->d[d] >= 0 && x->d[d] >= 0 && s->d[d] != x->d[d])
            return mr_call_fail_in(c, MR_E_SHAPES, i,
                                   "concatenation along axis %d needs all other axes equal: axis %d has %lld, that of "
                                   "input %d has %lld",
                                   axis, d, (long long)x->d[d], first, (long long)s->d[d]);
        else if (s->d[d] < 0 && x->d[d] != MR_DIM_UNKNOWN)
            s->d[d] = x->d[d];
    }
    return MR_OK;
}

static mr_status concat_elems(mr_call *c)
{
    int n = 0;
    for (int i = 0; i < c->n_in; i++) {
        int own = mr_elems_count(c, i);
        if (own < 0 && c->in[i].shape.rank == 1 && c->in[i].shape.d[0] >= 0)
            own = (int)(c->in[i].shape.d[0] & INT32_MAX);
        if (own < 0 || (n += own) > MR_MAX_ELEMS) return MR_OK;
    }
    mr_dim *d = mr_elems_new(c, 0, n);
    if (!d) return c->error->status;
    for (int i = 0; i < c->n_in; i++) {
        int own = (int)c->in[i].shape.d[0];
        for (int k = 0; k < own; k++) *d++ = mr_elems_count(c, i) < 0 ? MR_DIM_UNKNOWN : mr_elem(c, i, k);
    }
    return MR_OK;
}

static mr_status concat_infer(mr_call *c)
{
    const concat_params *p = c->params;
    int first = 0;
    while (first < c->n_in && c->in[first].shape.rank < 0) first++;
    if (first == c->n_in) {
        mr_shape s = mr_shape_unknown();
        return mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
    }
    mr_shape s = c->in[first].shape;
    int axis;
    mr_status st = mr_want_rank(c, first, 1, MR_MAX_RANK);
    if (!st) st = mr_want_axis(c, p->axis, s.rank, "attribute axis", &axis);
    for (int i = 0; !st && i < c->n_in; i++)
        if (i != first) st = concat_add(c, first, i, axis, &s);
    if (!st) st = mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
    return st || s.rank != 1 ? st : concat_elems(c);
}

static mr_status concat_run(mr_call *c)
{
    const concat_params *p = c->params;
    const mr_tensor *y = c->out[0].t;
    int axis = (int)(p->axis < 0 ? p->axis + y->rank : p->axis);
    for (int64_t i = 0, at = 0; i < c->n_in; at += c->in[i].t->dims[axis], i++) {
        slab s = slab_of(c->in[i].t, axis, y->dims[axis], at);
        mr_box box = {
            .rank = 2, .dims = {s.outer, s.own * s.inner}, .xs = {s.own * s.inner, 1}, .ys = {s.all * s.inner, 1}};
        mr_copy_box(c, c->in[i].t->data, 0, y->data, s.at * s.inner, &box);
    }
    return MR_OK;
}

static const mr_impl concat_impls[] = {{.name = "concat_cpu", .have = mr_have_copy, .run = concat_run}, {0}};

/* ---- Split ---- */

typedef struct split_params {
    int64_t axis;
    int n; /* lengths in the attribute; -1: in input 1, or equal parts */
    const int64_t *lengths;
    int64_t num_outputs; /* 0: not given */
} split_params;

static void split_read(mr_reader *r, void *params)
{
    split_params *p = params;
    int version = mr_read_version(r);
    p->axis = mr_read_int(r, "axis", 0);
    p->n = version < 13 ? mr_read_ints(r, "split", &p->lengths) : -1;
    bool counted = version >= 18 && mr_read_has(r, "num_outputs");
    p->num_outputs = counted ? mr_read_int(r, "num_outputs", 0) : 0;
    const mr_node *n = mr_read_node(r);
    if (counted && p->num_outputs != n->n_out)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute num_outputs is %lld, but the node has %d outputs",
                     (long long)p->num_outputs, n->n_out);
    bool has_split = n->n_in > 1 && n->in[1] >= 0;
    if (version >= 18 && counted == has_split)
        mr_read_fail(r, MR_E_ATTRIBUTE, "%s input split and attribute num_outputs %s given, needs exactly one",
                     counted ? "both" : "neither", counted ? "are" : "is");
}

/* Length k as the file or the input says it; false: not known. */
static bool given_length(const mr_call *c, const split_params *p, int k, int64_t *length)
{
    if (p->n >= 0) {
        *length = p->lengths[k];
        return true;
    }
    const mr_tensor *t = c->in[1].t;
    if (t)
        *length = mr_dtype_in(t->dtype, MR_INTS) ? mr_tensor_int(t, k) : (int64_t)mr_tensor_real(t, k);
    else
        *length = mr_elem(c, 1, k);
    return t || *length != MR_DIM_UNKNOWN;
}

static mr_status given_lengths(mr_call *c, const split_params *p, mr_dim dim, mr_dim *lengths)
{
    int64_t n = p->n >= 0 ? p->n : mr_in_count(c, 1), sum = 0;
    bool known = n >= 0;
    if (n >= 0 && n != c->n_out)
        return mr_call_fail(c, MR_E_SHAPES, "split has %lld lengths, but the node has %d outputs", (long long)n,
                            c->n_out);
    for (int k = 0; k < c->n_out; k++) {
        int64_t length = MR_DIM_UNKNOWN;
        if (n < 0 || !given_length(c, p, k, &length)) {
            known = false;
        } else if (length < 0 && (p->n >= 0 || c->in[1].t)) {
            return mr_call_fail(c, MR_E_SHAPES, "split has length %lld at position %d", (long long)length, k);
        }
        lengths[k] = length;
        known = known && length >= 0;
        if (known && __builtin_add_overflow(sum, length, &sum)) sum = INT64_MAX;
    }
    if (known && dim >= 0 && sum != dim)
        return mr_call_fail_in(c, MR_E_SHAPES, 0, "the lengths of split sum to %lld, axis %lld has %lld",
                               (long long)sum, (long long)p->axis, (long long)dim);
    return MR_OK;
}

/* From version 18 on the last parts may be smaller; before, parts are equal. */
static mr_status even_lengths(mr_call *c, const split_params *p, mr_dim dim, mr_dim *lengths)
{
    int64_t n = c->n_out, part = dim / n + (dim % n != 0), left = dim;
    if (dim >= 0 && !p->num_outputs && dim % n)
        return mr_call_fail_in(c, MR_E_SHAPES, 0, "axis %lld has %lld, which cannot be split into %lld equal parts",
                               (long long)p->axis, (long long)dim, (long long)n);
    for (int k = 0; k < n; k++) {
        lengths[k] = dim < 0 ? MR_DIM_UNKNOWN : part < left ? part : left;
        left -= part < left ? part : left;
    }
    if (n == 1) lengths[0] = dim;
    return MR_OK;
}

static void split_elems(mr_call *c)
{
    if (mr_elems_count(c, 0) < 0 || c->in[0].t) return;
    for (int o = 0, at = 0; o < c->n_out; o++) {
        if (c->out[o].shape.d[0] < 0) return;
        c->out[o].elems = c->in[0].elems + at;
        at += (int)c->out[o].shape.d[0];
    }
}

static mr_status split_lengths(mr_call *c, mr_dim dim, mr_dim **lengths)
{
    const split_params *p = c->params;
    *lengths = mr_call_alloc(c, sizeof **lengths * (size_t)c->n_out);
    if (!*lengths) return c->error->status;
    bool given = p->n >= 0 || mr_in_has(c, 1);
    return given ? given_lengths(c, p, dim, *lengths) : even_lengths(c, p, dim, *lengths);
}

static mr_status split_infer(mr_call *c)
{
    const split_params *p = c->params;
    mr_shape s = c->in[0].shape;
    mr_dim *lengths;
    int axis = 0;
    mr_status st = s.rank < 0 ? MR_OK : mr_want_axis(c, p->axis, s.rank, "attribute axis", &axis);
    if (!st) st = split_lengths(c, s.rank > 0 ? s.d[axis] : MR_DIM_UNKNOWN, &lengths);
    for (int o = 0; !st && o < c->n_out; o++) {
        if (s.rank > 0) s.d[axis] = lengths[o];
        st = mr_out_tensor(c, o, mr_in_dtype(c, 0), &s);
    }
    if (!st && s.rank == 1) split_elems(c);
    return st;
}

static mr_status split_run(mr_call *c)
{
    const split_params *p = c->params;
    const mr_tensor *x = c->in[0].t;
    int axis = (int)(p->axis < 0 ? p->axis + x->rank : p->axis);
    mr_dim *lengths;
    mr_status st = split_lengths(c, x->dims[axis], &lengths);
    int64_t at = 0;
    for (int o = 0; !st && o < c->n_out; at += lengths[o], o++) {
        if (!mr_out_wanted(c, o)) continue;
        slab s = slab_of(c->out[o].t, axis, x->dims[axis], at);
        mr_box box = {
            .rank = 2, .dims = {s.outer, s.own * s.inner}, .xs = {s.all * s.inner, 1}, .ys = {s.own * s.inner, 1}};
        mr_copy_box(c, x->data, s.at * s.inner, c->out[o].t->data, 0, &box);
    }
    return st;
}

static const mr_impl split_impls[] = {{.name = "split_cpu", .have = mr_have_copy, .run = split_run}, {0}};

const mr_op mr_ops_concat[] = {
    {.name = "Concat",
     .domain = "",
     .since = 1,
     .params_size = sizeof(concat_params),
     .read = concat_read,
     .infer = concat_infer,
     .impls = concat_impls},
    {.name = "Split",
     .domain = "",
     .since = 1,
     .params_size = sizeof(split_params),
     .read = split_read,
     .infer = split_infer,
     .impls = split_impls},
    {0},
};

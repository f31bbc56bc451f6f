/* expand.c: Expand, Tile: elements repeated along axes. */
#include "ops/copies.h"
#include "ops/elems.h"

/* ---- Expand ---- */

static mr_status expand_infer(mr_call *c)
{
    mr_shape s = c->in[0].shape, to = mr_shape_unknown();
    mr_status st = mr_want_rank(c, 1, 1, 1);
    if (!st) st = mr_in_dims(c, 1, to.d, &to.rank);
    for (int k = 0; !st && c->in[1].t && k < to.rank; k++)
        if (to.d[k] < 0) st = mr_call_fail_in(c, MR_E_NODE_VALUE, 1, "dimension %d is %lld", k, (long long)to.d[k]);
    if (!st) st = mr_broadcast_into(c, &s, &to, 1);
    /* A dimension whose value is only known later is left open, so that it's checked then. */
    for (int k = 1; !st && !c->in[1].t && k <= to.rank && s.rank >= 0; k++)
        if (to.d[to.rank - k] == MR_DIM_UNKNOWN) s.d[s.rank - k] = MR_DIM_UNKNOWN;
    return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
}

static mr_status expand_run(mr_call *c)
{
    const mr_tensor *x = c->in[0].t, *y = c->out[0].t;
    mr_box box = {.rank = y->rank};
    mr_broadcast_strides(x, y->dims, y->rank, box.xs);
    mr_row_major(y->dims, y->rank, box.ys);
    for (int d = 0; d < y->rank; d++) box.dims[d] = y->dims[d];
    mr_copy_box(c, x->data, 0, y->data, 0, &box);
    return MR_OK;
}

static const mr_impl expand_impls[] = {{.name = "expand_cpu", .have = mr_have_copy, .run = expand_run}, {0}};

/* ---- Tile ---- */

/* Version 1 repeats along one axis, both given as float scalars. */
static mr_status one_repeat(mr_call *c, int rank, mr_dim *repeats, bool *known)
{
    int axis = 0;
    const mr_tensor *tiles = c->in[1].t, *along = c->in[2].t;
    mr_status st = mr_want_one(c, 1);
    if (!st) st = mr_want_one(c, 2);
    if (!st && along) st = mr_want_axis(c, (int64_t)mr_tensor_real(along, 0), rank, "axis", &axis);
    if (!st && tiles && mr_tensor_real(tiles, 0) <= -1)
        st = mr_call_fail_in(c, MR_E_NODE_VALUE, 1, "repeat %lld", (long long)mr_tensor_real(tiles, 0));
    *known = tiles && along;
    for (int d = 0; d < rank; d++) repeats[d] = 1;
    if (!st && *known) repeats[axis] = (int64_t)mr_tensor_real(tiles, 0);
    return st;
}

static mr_status all_repeats(mr_call *c, int rank, mr_dim *repeats, bool *known)
{
    int n = -1;
    mr_status st = mr_want_rank(c, 1, 1, 1);
    if (!st) st = mr_in_dims(c, 1, repeats, &n);
    *known = n >= 0;
    if (!st && *known && n != rank) st = mr_call_fail_in(c, MR_E_SHAPES, 1, "%d repeats for rank %d", n, rank);
    return st;
}

static mr_status tile_infer(mr_call *c)
{
    mr_shape s = c->in[0].shape;
    if (s.rank < 0) return mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
    mr_dim repeats[MR_MAX_RANK];
    bool known, exact = c->in[1].t;
    mr_status st = (mr_call_version(c) < 6 ? one_repeat : all_repeats)(c, s.rank, repeats, &known);
    for (int d = 0; !st && d < s.rank; d++) {
        if (known && exact && repeats[d] < 0)
            return mr_call_fail_in(c, MR_E_NODE_VALUE, 1, "repeat %lld along axis %d", (long long)repeats[d], d);
        mr_dim all = known ? mr_dim_mul(s.d[d], repeats[d]) : MR_DIM_UNKNOWN;
        if (known && exact && s.d[d] >= 0 && all < 0)
            return mr_call_fail_in(c, MR_E_SIZE, 1, "%lld times %lld along axis %d", (long long)s.d[d],
                                   (long long)repeats[d], d);
        s.d[d] = all;
    }
    return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
}

/* Each axis is two in y: the repeats, and the elements that they repeat. */
static mr_status tile_run(mr_call *c)
{
    const mr_tensor *x = c->in[0].t, *y = c->out[0].t;
    if (mr_tensor_count(y) == 0) return MR_OK;
    mr_box box = {.rank = 2 * x->rank};
    int64_t strides[MR_MAX_RANK];
    mr_row_major(x->dims, x->rank, strides);
    for (int d = 0; d < x->rank; d++) {
        box.dims[2 * d] = y->dims[d] / x->dims[d];
        box.dims[2 * d + 1] = x->dims[d];
        box.xs[2 * d] = 0;
        box.xs[2 * d + 1] = strides[d];
    }
    mr_row_major(box.dims, box.rank, box.ys);
    mr_copy_box(c, x->data, 0, y->data, 0, &box);
    return MR_OK;
}

static const mr_impl tile_impls[] = {{.name = "tile_cpu", .have = mr_have_copy, .run = tile_run}, {0}};

const mr_op mr_ops_expand[] = {
    {.name = "Expand", .domain = "", .since = 8, .infer = expand_infer, .impls = expand_impls},
    {.name = "Tile", .domain = "", .since = 1, .infer = tile_infer, .impls = tile_impls},
    {0},
};

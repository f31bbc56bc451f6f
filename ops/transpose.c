/* transpose.c: Transpose, DepthToSpace, SpaceToDepth, Trilu, ReverseSequence, UnfoldTensor: the same elements in
 * another order. */
#include "ops/copies.h"
#include "ops/rules.h"

#include <string.h>

/* ---- Transpose ---- */

typedef struct transpose_params {
    int n; /* -1: reversed */
    const int64_t *perm;
} transpose_params;

static void transpose_read(mr_reader *r, void *params)
{
    transpose_params *p = params;
    p->n = mr_read_ints(r, "perm", &p->perm);
}

static mr_status want_permutation(mr_call *c, const transpose_params *p, int rank)
{
    uint32_t seen = 0;
    if (p->n != rank) return mr_call_fail_in(c, MR_E_RANK, 0, "attribute perm has %d values, needs %d", p->n, rank);
    for (int i = 0; i < rank; i++) {
        if (p->perm[i] < 0 || p->perm[i] >= rank || (seen >> p->perm[i] & 1))
            return mr_call_fail(c, MR_E_ATTRIBUTE, "attribute perm is no permutation of 0 … %d: %lld at position %d",
                                rank - 1, (long long)p->perm[i], i);
        seen |= UINT32_C(1) << p->perm[i];
    }
    return MR_OK;
}

static mr_status transpose_infer(mr_call *c)
{
    const transpose_params *p = c->params;
    const mr_shape *x = &c->in[0].shape;
    mr_shape s = {.rank = x->rank};
    if (p->n >= 0 && x->rank >= 0) {
        mr_status st = want_permutation(c, p, x->rank);
        if (st) return st;
    }
    for (int i = 0; i < x->rank; i++) s.d[i] = x->d[p->n < 0 ? x->rank - 1 - i : p->perm[i]];
    return mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
}

static mr_status transpose_run(mr_call *c)
{
    const transpose_params *p = c->params;
    const mr_tensor *x = c->in[0].t;
    int perm[MR_MAX_RANK];
    for (int i = 0; i < x->rank; i++) perm[i] = p->n < 0 ? x->rank - 1 - i : (int)p->perm[i];
    mr_copy_permuted(c, x->data, c->out[0].t->data, x->dims, perm, x->rank);
    return MR_OK;
}

static const mr_impl transpose_impls[] = {{.name = "transpose_cpu", .have = mr_have_copy, .run = transpose_run}, {0}};

/* ---- DepthToSpace, SpaceToDepth ---- */

typedef struct depth_params {
    int64_t block;
    int mode;
} depth_params;

enum { DEPTH_DCR, DEPTH_CRD };

static void depth_read(mr_reader *r, void *params)
{
    static const char *const modes[] = {"DCR", "CRD", NULL};
    depth_params *p = params;
    bool to_space = !strcmp(mr_read_node(r)->op_type, "DepthToSpace");
    p->block = mr_read_int(r, "blocksize", 0);
    p->mode = mr_read_version(r) >= (to_space ? 11 : 28) ? mr_read_enum(r, "mode", modes, DEPTH_DCR) : DEPTH_DCR;
    if (p->block < 1 || p->block > INT32_MAX)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute blocksize is %lld, must be 1 or more", (long long)p->block);
}

static mr_status want_divisible(mr_call *c, int axis, int64_t by)
{
    mr_dim d = c->in[0].shape.d[axis];
    if (d < 0 || d % by == 0) return MR_OK;
    return mr_call_fail_in(c, MR_E_SHAPES, 0,
                           "axis %d has %lld, which blocksize does not divide: needs a multiple of %lld", axis,
                           (long long)d, (long long)by);
}

static mr_dim dim_div(mr_dim d, int64_t by)
{
    return by == 1 ? d : d < 0 ? MR_DIM_UNKNOWN : d / by;
}

static mr_status depth_to_space_infer(mr_call *c)
{
    const depth_params *p = c->params;
    const mr_dim *x = c->in[0].shape.d;
    mr_shape s = mr_shape_of_rank(4);
    mr_status st = mr_want_rank(c, 0, 4, 4);
    if (!st && c->in[0].shape.rank == 4) {
        st = want_divisible(c, 1, p->block * p->block);
        s = (mr_shape){
            4, {x[0], dim_div(x[1], p->block * p->block), mr_dim_mul(x[2], p->block), mr_dim_mul(x[3], p->block)}};
    }
    return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
}

static mr_status space_to_depth_infer(mr_call *c)
{
    const depth_params *p = c->params;
    const mr_dim *x = c->in[0].shape.d;
    mr_shape s = mr_shape_of_rank(4);
    mr_status st = mr_want_rank(c, 0, 4, 4);
    if (!st && c->in[0].shape.rank == 4) {
        st = want_divisible(c, 2, p->block);
        if (!st) st = want_divisible(c, 3, p->block);
        s = (mr_shape){4,
                       {x[0], mr_dim_mul(x[1], p->block * p->block), dim_div(x[2], p->block), dim_div(x[3], p->block)}};
    }
    return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
}

static mr_status depth_to_space_run(mr_call *c)
{
    static const int perms[][6] = {[DEPTH_DCR] = {0, 3, 4, 1, 5, 2}, [DEPTH_CRD] = {0, 1, 4, 2, 5, 3}};
    const depth_params *p = c->params;
    const int64_t *x = c->in[0].t->dims, b = p->block, depth = x[1] / (b * b);
    int64_t dcr[6] = {x[0], b, b, depth, x[2], x[3]}, crd[6] = {x[0], depth, b, b, x[2], x[3]};
    mr_copy_permuted(c, c->in[0].t->data, c->out[0].t->data, p->mode == DEPTH_DCR ? dcr : crd, perms[p->mode], 6);
    return MR_OK;
}

static mr_status space_to_depth_run(mr_call *c)
{
    static const int perms[][6] = {[DEPTH_DCR] = {0, 3, 5, 1, 2, 4}, [DEPTH_CRD] = {0, 1, 3, 5, 2, 4}};
    const depth_params *p = c->params;
    const int64_t *x = c->in[0].t->dims, b = p->block;
    int64_t dims[6] = {x[0], x[1], x[2] / b, b, x[3] / b, b};
    mr_copy_permuted(c, c->in[0].t->data, c->out[0].t->data, dims, perms[p->mode], 6);
    return MR_OK;
}

static const mr_impl depth_to_space_impls[] = {
    {.name = "depth_to_space_cpu", .have = mr_have_copy, .run = depth_to_space_run}, {0}};
static const mr_impl space_to_depth_impls[] = {
    {.name = "space_to_depth_cpu", .have = mr_have_copy, .run = space_to_depth_run}, {0}};

/* ---- Trilu ---- */

typedef struct trilu_params {
    bool upper;
} trilu_params;

static void trilu_read(mr_reader *r, void *params)
{
    ((trilu_params *)params)->upper = mr_read_int(r, "upper", 1) != 0;
}

static mr_status trilu_infer(mr_call *c)
{
    mr_status st = mr_want_rank(c, 0, 2, MR_MAX_RANK);
    if (!st) st = mr_want_one(c, 1);
    return st ? st : mr_out_like(c, 0, 0);
}

static mr_fn trilu_have(const mr_call *c)
{
    return MR_SLOT_BY_SIZE(c->cpu->move.trilu, mr_in_dtype(c, 0));
}

static mr_status trilu_run(mr_call *c)
{
    const trilu_params *p = c->params;
    const mr_tensor *x = c->in[0].t;
    int64_t rows = x->dims[x->rank - 2], cols = x->dims[x->rank - 1], k = 0;
    if (mr_in_has(c, 1)) k = mr_tensor_int(c->in[1].t, 0);
    k = k < -rows ? -rows : k > cols ? cols : k; /* beyond the corners nothing changes */
    mr_trilu_args a = {.x = x->data,
                       .y = c->out[0].t->data,
                       .n = mr_dims_product(x->dims, 0, x->rank - 2),
                       .rows = rows,
                       .cols = cols,
                       .k = k,
                       .upper = p->upper,
                       .pool = c->pool};
    ((void (*)(const mr_trilu_args *))c->fn)(&a);
    return MR_OK;
}

static const mr_impl trilu_impls[] = {{.name = "trilu_cpu", .have = trilu_have, .run = trilu_run}, {0}};

/* ---- ReverseSequence ---- */

typedef struct reverse_params {
    int batch, time;
} reverse_params;

static void reverse_read(mr_reader *r, void *params)
{
    reverse_params *p = params;
    int64_t batch = mr_read_int(r, "batch_axis", 1), time = mr_read_int(r, "time_axis", 0);
    if ((batch | 1) != 1 || (time | 1) != 1 || batch == time)
        mr_read_fail(r, MR_E_ATTRIBUTE, "batch_axis = %lld and time_axis = %lld: must be 0 and 1, or 1 and 0",
                     (long long)batch, (long long)time);
    p->batch = batch == 1, p->time = time == 1;
}

static mr_status want_lengths(mr_call *c)
{
    const reverse_params *p = c->params;
    const int64_t times = c->in[0].shape.d[p->time], *n = c->in[1].t->data;
    for (int64_t b = 0; b < c->in[1].t->dims[0]; b++)
        if (n[b] < 0 || n[b] > times)
            return mr_call_fail_in(c, MR_E_NODE_VALUE, 1, "length %lld at position %lld out of range [0,%lld]",
                                   (long long)n[b], (long long)b, (long long)times);
    return MR_OK;
}

static mr_status reverse_infer(mr_call *c)
{
    const reverse_params *p = c->params;
    mr_status st = mr_want_rank(c, 0, 2, MR_MAX_RANK);
    if (!st) st = mr_want_rank(c, 1, 1, 1);
    if (!st && c->in[0].shape.rank >= 0 && c->in[1].shape.rank == 1)
        st = mr_want_dim(c, c->in[0].shape.d[p->batch], c->in[1].shape.d[0],
                         "sequence_lens has one length for each element of the batch axis", NULL);
    if (!st && c->in[1].t && c->in[0].shape.rank >= 0 && c->in[0].shape.d[p->time] >= 0) st = want_lengths(c);
    return st ? st : mr_out_like(c, 0, 0);
}

/* Rows [0, n) of one batch element backwards, the rest as they are. */
static void reverse_one(mr_call *c, int64_t first, int64_t step, int64_t times, int64_t inner, int64_t n)
{
    const void *x = c->in[0].t->data;
    void *y = c->out[0].t->data;
    mr_box back = {.rank = 2, .dims = {n, inner}, .xs = {-step, 1}, .ys = {step, 1}};
    mr_box rest = {.rank = 2, .dims = {times - n, inner}, .xs = {step, 1}, .ys = {step, 1}};
    if (n > 0) mr_copy_box(c, x, first + (n - 1) * step, y, first, &back);
    mr_copy_box(c, x, first + n * step, y, first + n * step, &rest);
}

static mr_status reverse_run(mr_call *c)
{
    const reverse_params *p = c->params;
    const mr_tensor *x = c->in[0].t;
    int64_t inner = mr_dims_product(x->dims, 2, x->rank), times = x->dims[p->time], batches = x->dims[p->batch];
    int64_t step = p->time == 0 ? batches * inner : inner, stride = p->time == 0 ? inner : times * inner;
    const int64_t *n = c->in[1].t->data;
    mr_status st = want_lengths(c);
    for (int64_t b = 0; b < batches && !st; b++) reverse_one(c, b * stride, step, times, inner, n[b]);
    return st;
}

static const mr_impl reverse_impls[] = {{.name = "reverse_sequence_cpu", .have = mr_have_copy, .run = reverse_run},
                                        {0}};

/* ---- UnfoldTensor: every window of `size` elements along an axis, `step` apart, in a dimension of its own ---- */

typedef struct unfold_params {
    int64_t axis, size, step;
} unfold_params;

static void unfold_read(mr_reader *r, void *params)
{
    unfold_params *p = params;
    p->axis = mr_read_int(r, "dim", -1);
    p->size = mr_read_int(r, "size", 0);
    p->step = mr_read_int(r, "step", 1);
    if (p->size < 1 || p->step < 1) mr_read_fail(r, MR_E_ATTRIBUTE, "attributes size and step must be positive");
}

static mr_status unfold_infer(mr_call *c)
{
    const unfold_params *p = c->params;
    mr_shape s = c->in[0].shape;
    int axis;
    mr_status st = mr_want_rank(c, 0, 1, MR_MAX_RANK - 1);
    if (!st && s.rank > 0) st = mr_want_axis(c, p->axis, s.rank, "attribute dim", &axis);
    if (st || s.rank < 0) return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
    if (s.d[axis] >= 0 && s.d[axis] < p->size)
        return mr_call_fail_in(c, MR_E_SHAPES, 0, "axis %d has %lld, less than size = %lld", axis, (long long)s.d[axis],
                               (long long)p->size);
    s.d[axis] = s.d[axis] < 0 ? MR_DIM_UNKNOWN : (s.d[axis] - p->size) / p->step + 1;
    s.d[s.rank++] = p->size;
    return mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
}

static mr_status unfold_run(mr_call *c)
{
    const unfold_params *p = c->params;
    const mr_tensor *x = c->in[0].t, *y = c->out[0].t;
    const int axis = (int)(p->axis < 0 ? p->axis + x->rank : p->axis);
    mr_box box = {.rank = y->rank};
    mr_row_major(x->dims, x->rank, box.xs);
    mr_row_major(y->dims, y->rank, box.ys);
    memcpy(box.dims, y->dims, sizeof *box.dims * (size_t)y->rank);
    box.xs[x->rank] = box.xs[axis];
    box.xs[axis] *= p->step;
    mr_copy_box(c, x->data, 0, y->data, 0, &box);
    return MR_OK;
}

static const mr_impl unfold_rows[] = {{.name = "unfold", .have = mr_have_copy, .run = unfold_run}, {0}};

const mr_op mr_ops_transpose[] = {
    {.name = "UnfoldTensor",
     .domain = "com.microsoft",
     .since = 1,
     .params_size = sizeof(unfold_params),
     .read = unfold_read,
     .infer = unfold_infer,
     .impls = unfold_rows},
    {.name = "Transpose",
     .domain = "",
     .since = 1,
     .params_size = sizeof(transpose_params),
     .read = transpose_read,
     .infer = transpose_infer,
     .impls = transpose_impls},
    {.name = "DepthToSpace",
     .domain = "",
     .since = 1,
     .params_size = sizeof(depth_params),
     .read = depth_read,
     .infer = depth_to_space_infer,
     .impls = depth_to_space_impls},
    {.name = "SpaceToDepth",
     .domain = "",
     .since = 1,
     .params_size = sizeof(depth_params),
     .read = depth_read,
     .infer = space_to_depth_infer,
     .impls = space_to_depth_impls},
    {.name = "Trilu",
     .domain = "",
     .since = 14,
     .params_size = sizeof(trilu_params),
     .read = trilu_read,
     .infer = trilu_infer,
     .impls = trilu_impls},
    {.name = "ReverseSequence",
     .domain = "",
     .since = 10,
     .params_size = sizeof(reverse_params),
     .read = reverse_read,
     .infer = reverse_infer,
     .impls = reverse_impls},
    {.name = "Trilu",
     .domain = "com.microsoft",
     .since = 1,
     .params_size = sizeof(trilu_params),
     .read = trilu_read,
     .infer = trilu_infer,
     .impls = trilu_impls},
    {0},
};

/* pad.c: Pad, CenterCropPad: elements added around, or taken away from, a tensor. */
#include "ops/copies.h"
#include "ops/element.h"
#include "ops/elems.h"

#include <string.h>

/* ---- a tensor in a frame of one value ---- */

/* What is kept of each axis: n elements, from x[from] on, at y[to]. */
typedef struct kept {
    int64_t from[MR_MAX_RANK], to[MR_MAX_RANK], n[MR_MAX_RANK];
} kept;

static bool keep(const mr_tensor *x, const mr_tensor *y, const int64_t *begin, kept *k)
{
    bool any = true;
    for (int d = 0; d < x->rank; d++) {
        k->from[d] = begin[d] < 0 ? -begin[d] : 0;
        k->to[d] = begin[d] < 0 ? 0 : begin[d];
        int64_t in_x = x->dims[d] - k->from[d], in_y = y->dims[d] - k->to[d];
        k->n[d] = in_x < in_y ? in_x : in_y;
        any = any && k->n[d] > 0;
    }
    return any;
}

/* Sets the part of y where the axes before `axis` are inside, and axis itself is in [from, to). */
static void fill_side(const mr_call *c, const kept *k, int axis, int64_t from, int64_t to, const void *value)
{
    const mr_tensor *y = c->out[0].t;
    mr_box box = {.rank = y->rank};
    int64_t first = 0;
    mr_row_major(y->dims, y->rank, box.ys);
    for (int d = 0; d < y->rank; d++) {
        box.dims[d] = d < axis ? k->n[d] : d == axis ? to - from : y->dims[d];
        first += (d < axis ? k->to[d] : d == axis ? from : 0) * box.ys[d];
    }
    if (to > from) mr_copy_box(c, value, 0, y->data, first, &box);
}

/* begin: how many elements of value stand before each axis; negative: how many of x are left out there. */
static void frame(const mr_call *c, const int64_t *begin, const void *value)
{
    const mr_tensor *x = c->in[0].t, *y = c->out[0].t;
    kept k;
    if (!keep(x, y, begin, &k)) {
        mr_box all = {.rank = 1, .dims = {mr_tensor_count(y)}, .ys = {1}};
        mr_copy_box(c, value, 0, y->data, 0, &all);
        return;
    }
    mr_box box = {.rank = x->rank};
    int64_t x_first = 0, y_first = 0;
    mr_row_major(x->dims, x->rank, box.xs);
    mr_row_major(y->dims, y->rank, box.ys);
    for (int d = 0; d < x->rank; d++) {
        box.dims[d] = k.n[d];
        x_first += k.from[d] * box.xs[d];
        y_first += k.to[d] * box.ys[d];
        fill_side(c, &k, d, 0, k.to[d], value);
        fill_side(c, &k, d, k.to[d] + k.n[d], y->dims[d], value);
    }
    mr_copy_box(c, x->data, x_first, y->data, y_first, &box);
}

/* ---- Pad ---- */

enum { PAD_CONSTANT, PAD_REFLECT, PAD_EDGE, PAD_WRAP };

typedef struct pad_params {
    int mode;
    int n; /* pads in the attribute; -1: in input 1 */
    const int64_t *pads;
    float value;
} pad_params;

static void pad_read(mr_reader *r, void *params)
{
    static const char *const modes[] = {"constant", "reflect", "edge", "wrap", NULL};
    pad_params *p = params;
    int version = *mr_read_node(r)->domain ? 18 : mr_read_version(r); /* com.microsoft's is like ONNX's then */
    p->mode = mr_read_enum(r, "mode", modes, PAD_CONSTANT);
    if (p->mode == PAD_WRAP && version < 19)
        mr_read_fail(r, MR_E_ATTRIBUTE, "mode \"wrap\" needs opset 19, model declares %d", mr_read_node(r)->opset);
    p->n = version < 11 ? mr_read_ints(r, version < 2 ? "paddings" : "pads", &p->pads) : -1;
    if (version < 11) p->value = mr_read_float(r, "value", 0);
}

/* The axes that pads are for, in their order; false: not known. */
static bool pad_axes(mr_call *c, int rank, int64_t *axes, int *n)
{
    if (mr_in_has(c, 3)) return mr_in_ints(c, 3, axes, n);
    for (int d = 0; d < rank; d++) axes[d] = d;
    *n = rank;
    return true;
}

static int64_t pad_count(const mr_call *c, const pad_params *p)
{
    return p->n >= 0 ? p->n : mr_in_count(c, 1);
}

/* How many there are is known before which. */
static mr_status want_pads(mr_call *c, int rank)
{
    int64_t count = pad_count(c, c->params), n = mr_in_has(c, 3) ? mr_in_count(c, 3) : rank;
    if (mr_in_has(c, 3) && n > rank)
        return mr_call_fail_in(c, MR_E_SHAPES, 3, "has more axes than input 0, which has rank %d", rank);
    if (count < 0 || n < 0 || count == 2 * n) return MR_OK;
    return mr_call_fail(c, MR_E_SHAPES, "pads has %lld values, needs %lld: a begin and an end for each of %lld axes",
                        (long long)count, (long long)(2 * n), (long long)n);
}

/* Pad k as the file or the input says it; false: not known. */
static bool pad_at(const mr_call *c, const pad_params *p, int k, int64_t *pad)
{
    if (p->n >= 0)
        *pad = p->pads[k];
    else if (c->in[1].t)
        *pad = mr_tensor_int(c->in[1].t, k);
    else
        *pad = mr_elem(c, 1, k);
    return p->n >= 0 || c->in[1].t || *pad != MR_DIM_UNKNOWN;
}

static mr_status padded_dim(mr_call *c, int axis, mr_dim dim, int64_t begin, int64_t end, mr_dim *out)
{
    int64_t sum = 0;
    if (begin == 0 && end == 0) return *out = dim, MR_OK;
    if (dim < 0) return *out = MR_DIM_UNKNOWN, MR_OK;
    if (__builtin_add_overflow(dim, begin, &sum) || __builtin_add_overflow(sum, end, &sum) || sum < 0)
        return mr_call_fail_in(c, MR_E_SHAPES, 0, "axis %d has %lld; with pads %lld and %lld it would have %lld", axis,
                               (long long)dim, (long long)begin, (long long)end, (long long)sum);
    return *out = sum, MR_OK;
}

/* Which axis a pair of pads is for is not known, but there must be one that it leaves something of. */
static mr_status want_some_axis(mr_call *c, const mr_shape *x)
{
    int64_t n = pad_count(c, c->params) / 2, longest = 0, begin, end, sum;
    for (int d = 0; d < x->rank; d++) {
        if (x->d[d] < 0) return MR_OK;
        longest = x->d[d] > longest ? x->d[d] : longest;
    }
    for (int k = 0; k < n; k++) {
        bool known = pad_at(c, c->params, k, &begin) && pad_at(c, c->params, (int)n + k, &end);
        if (known && !__builtin_add_overflow(begin, end, &sum) && sum < -longest)
            return mr_call_fail(c, MR_E_SHAPES, "pads %lld and %lld leave nothing of any axis", (long long)begin,
                                (long long)end);
    }
    return MR_OK;
}

/* The padded shape, and (when all is known) the pads of every axis. begin, end: zeroed. */
static mr_status pad_shape(mr_call *c, mr_shape *s, int64_t *begin, int64_t *end)
{
    const pad_params *p = c->params;
    int rank = s->rank, n;
    int64_t axes[MR_MAX_RANK];
    bool seen[MR_MAX_RANK] = {0};
    mr_status st = want_pads(c, rank);
    if (st) return st;
    bool which = pad_axes(c, rank, axes, &n);
    if (!which && (st = want_some_axis(c, s))) return st;
    if (!which || pad_count(c, p) < 0) return *s = mr_shape_of_rank(rank), MR_OK;
    for (int k = 0; k < n; k++) {
        int axis;
        if ((st = mr_want_axis(c, axes[k], rank, "axes", &axis))) return st;
        if (seen[axis]) return mr_call_fail(c, MR_E_SHAPES, "axes has axis %d twice", axis);
        seen[axis] = true;
        bool known = pad_at(c, p, k, &begin[axis]);
        known = pad_at(c, p, n + k, &end[axis]) && known;
        if (!known)
            s->d[axis] = MR_DIM_UNKNOWN;
        else if ((st = padded_dim(c, axis, s->d[axis], begin[axis], end[axis], &s->d[axis])))
            return st;
    }
    return MR_OK;
}

/* Negative pads take elements away first; modes that repeat what is left need some. */
static int64_t left_of(int64_t dim, int64_t begin, int64_t end)
{
    return dim + (begin < 0 ? begin : 0) + (end < 0 ? end : 0);
}

static mr_status want_left(mr_call *c, const mr_shape *s, const int64_t *begin, const int64_t *end)
{
    for (int d = 0; d < s->rank && mr_shape_some(s); d++)
        if (left_of(c->in[0].shape.d[d], begin[d], end[d]) <= 0)
            return mr_call_fail_in(c, MR_E_SHAPES, 0, "axis %d has no elements left to repeat", d);
    return MR_OK;
}

static mr_status pad_infer(mr_call *c)
{
    const pad_params *p = c->params;
    mr_shape s = c->in[0].shape;
    int64_t begin[MR_MAX_RANK] = {0}, end[MR_MAX_RANK] = {0};
    mr_status st = s.rank < 0 ? MR_OK : pad_shape(c, &s, begin, end);
    if (!st && p->n < 0) st = mr_want_one(c, 2);
    if (!st && p->mode != PAD_CONSTANT) st = want_left(c, &s, begin, end);
    return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
}

static mr_fn pad_have(const mr_call *c)
{
    const pad_params *p = c->params;
    if (p->mode == PAD_CONSTANT) return mr_have_copy(c);
    return MR_SLOT_BY_SIZE(c->cpu->move.take, mr_in_dtype(c, 0));
}

static size_t pad_scratch(const mr_call *c)
{
    const pad_params *p = c->params;
    size_t n = 0;
    for (int d = 0; p->mode != PAD_CONSTANT && d < c->out[0].shape.rank; d++) n += (size_t)c->out[0].shape.d[d];
    return n * sizeof(int64_t);
}

static void pad_constant(const mr_call *c, const int64_t *begin)
{
    const pad_params *p = c->params;
    mr_dtype d = c->out[0].t->dtype;
    _Alignas(16) char value[MR_ELEMENT_BYTES] = {0};
    if (mr_in_has(c, 2))
        memcpy(value, c->in[2].t->data, mr_dtype_size(d));
    else if (p->n >= 0)
        mr_element_set(d, p->value, value);
    frame(c, begin, value);
}

/* Which of n elements stands at i, counted from the first one; i may be anything. */
static int64_t source(int mode, int64_t i, int64_t n)
{
    if (mode == PAD_EDGE) return i < 0 ? 0 : i < n ? i : n - 1;
    int64_t period = mode == PAD_WRAP ? n : n > 1 ? 2 * (n - 1) : 1;
    i %= period;
    if (i < 0) i += period;
    return i < n ? i : period - i;
}

static void pad_repeating(const mr_call *c, const int64_t *begin, const int64_t *end)
{
    const pad_params *p = c->params;
    const mr_tensor *x = c->in[0].t, *y = c->out[0].t;
    const int64_t *at[MR_MAX_RANK];
    int64_t strides[MR_MAX_RANK], *map = c->scratch, left = 0, before = 0;
    mr_row_major(x->dims, x->rank, strides);
    for (int d = 0; d < x->rank; d++) {
        int64_t cut = begin[d] < 0 ? -begin[d] : 0;
        left = left_of(x->dims[d], begin[d], end[d]);
        before = begin[d] < 0 ? 0 : begin[d];
        for (int64_t i = 0; i < y->dims[d]; i++) map[i] = (cut + source(p->mode, i - before, left)) * strides[d];
        at[d] = map;
        map += y->dims[d];
    }
    mr_take_args a = {.x = x->data,
                      .y = y->data,
                      .rank = y->rank,
                      .dims = y->dims,
                      .at = at,
                      .run = before,
                      .run_length = left,
                      .pool = c->pool};
    ((void (*)(const mr_take_args *))c->fn)(&a);
}

static mr_status pad_run(mr_call *c)
{
    const pad_params *p = c->params;
    int64_t begin[MR_MAX_RANK] = {0}, end[MR_MAX_RANK] = {0};
    mr_shape s = c->in[0].shape;
    mr_status st = pad_shape(c, &s, begin, end);
    if (st || mr_tensor_count(c->out[0].t) == 0) return st;
    if (p->mode == PAD_CONSTANT || s.rank == 0)
        pad_constant(c, begin);
    else
        pad_repeating(c, begin, end);
    return MR_OK;
}

static const mr_impl pad_impls[] = {{.name = "pad_cpu", .have = pad_have, .run = pad_run, .scratch = pad_scratch}, {0}};

/* ---- CenterCropPad ---- */

typedef struct center_params {
    int n; /* -1: all axes */
    const int64_t *axes;
} center_params;

static void center_read(mr_reader *r, void *params)
{
    center_params *p = params;
    p->n = mr_read_ints(r, "axes", &p->axes);
}

static mr_status center_infer(mr_call *c)
{
    const center_params *p = c->params;
    mr_shape s = c->in[0].shape;
    mr_dim to[MR_MAX_RANK];
    bool seen[MR_MAX_RANK] = {0};
    int n = -1;
    mr_status st = mr_want_rank(c, 1, 1, 1);
    if (!st) st = mr_in_dims(c, 1, to, &n);
    if (st || s.rank < 0) return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
    int wanted = p->n < 0 ? s.rank : p->n;
    if (n >= 0 && n != wanted) return mr_call_fail_in(c, MR_E_SHAPES, 1, "%d dimensions for %d axes", n, wanted);
    for (int k = 0; k < wanted; k++) {
        int axis = k;
        if (p->n >= 0 && (st = mr_want_axis(c, p->axes[k], s.rank, "attribute axes", &axis))) return st;
        if (seen[axis]) return mr_call_fail(c, MR_E_ATTRIBUTE, "attribute axes has axis %d twice", axis);
        seen[axis] = true;
        s.d[axis] = n < 0 ? MR_DIM_UNKNOWN : to[k];
        if (c->in[1].t && s.d[axis] < 0)
            return mr_call_fail_in(c, MR_E_NODE_VALUE, 1, "dimension %d is %lld", k, (long long)s.d[axis]);
    }
    return mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
}

/* The odd element is cut off on the right, and added on the right. */
static mr_status center_run(mr_call *c)
{
    const mr_tensor *x = c->in[0].t, *y = c->out[0].t;
    const mr_u128 zero = {0, 0};
    int64_t begin[MR_MAX_RANK];
    for (int d = 0; d < x->rank; d++) begin[d] = (y->dims[d] - x->dims[d]) / 2;
    if (mr_tensor_count(y) > 0) frame(c, begin, &zero);
    return MR_OK;
}

static const mr_impl center_impls[] = {{.name = "center_crop_pad_cpu", .have = mr_have_copy, .run = center_run}, {0}};

const mr_op mr_ops_pad[] = {
    {.name = "Pad",
     .domain = "",
     .since = 1,
     .params_size = sizeof(pad_params),
     .read = pad_read,
     .infer = pad_infer,
     .impls = pad_impls},
    {.name = "Pad",
     .domain = "com.microsoft",
     .since = 1,
     .params_size = sizeof(pad_params),
     .read = pad_read,
     .infer = pad_infer,
     .impls = pad_impls},
    {.name = "CenterCropPad",
     .domain = "",
     .since = 18,
     .params_size = sizeof(center_params),
     .read = center_read,
     .infer = center_infer,
     .impls = center_impls},
    {0},
};

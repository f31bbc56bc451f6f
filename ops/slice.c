/* slice.c: Slice: every step-th element from start to end of each axis. */
#include "ops/copies.h"
#include "ops/elems.h"

#include <string.h>

/* Version 1 has them as attributes. */
typedef struct slice_params {
    bool inputs;
    int n_starts, n_ends, n_axes; /* -1: not given */
    const int64_t *starts, *ends, *axes;
} slice_params;

static void slice_read(mr_reader *r, void *params)
{
    slice_params *p = params;
    p->inputs = mr_read_version(r) >= 10;
    if (p->inputs) return;
    p->n_starts = mr_read_ints(r, "starts", &p->starts);
    p->n_ends = mr_read_ints(r, "ends", &p->ends);
    p->n_axes = mr_read_ints(r, "axes", &p->axes);
}

/* What is taken of one axis. */
typedef struct range {
    int64_t start, step;
    mr_dim count; /* unknown or a symbol when the axis or its bounds are */
} range;

/* One of starts, ends, axes, steps. */
typedef struct numbers {
    int n;      /* -1: not given */
    bool exact; /* else they are dims, some of them symbols or unknown */
    int64_t at[MR_MAX_RANK];
} numbers;

static bool is_known(const numbers *a, int k)
{
    return a->exact || (a->n >= 0 && a->at[k] >= 0);
}

static mr_status input_numbers(mr_call *c, int i, numbers *a)
{
    *a = (numbers){.n = -1, .exact = true};
    if (!mr_in_has(c, i)) return MR_OK;
    mr_status st = mr_want_rank(c, i, 0, 1);      /* a scalar is taken for a vector of one */
    if (!st) st = mr_in_dims(c, i, a->at, &a->n); /* how many, even if not which */
    if (!st) a->exact = c->in[i].t != NULL;
    return st;
}

static void attribute_numbers(const int64_t *from, int n, numbers *a)
{
    *a = (numbers){.n = n > MR_MAX_RANK ? MR_MAX_RANK + 1 : n, .exact = true};
    if (n > 0 && n <= MR_MAX_RANK) memcpy(a->at, from, sizeof *from * (size_t)n);
}

typedef struct bounds {
    numbers starts, ends, axes, steps;
} bounds;

static mr_status read_bounds(mr_call *c, const slice_params *p, bounds *b)
{
    if (!p->inputs) {
        attribute_numbers(p->starts, p->n_starts, &b->starts);
        attribute_numbers(p->ends, p->n_ends, &b->ends);
        attribute_numbers(p->axes, p->n_axes, &b->axes);
        b->steps = (numbers){.n = -1, .exact = true};
        return MR_OK;
    }
    mr_status st = input_numbers(c, 1, &b->starts);
    if (!st) st = input_numbers(c, 2, &b->ends);
    if (!st) st = input_numbers(c, 3, &b->axes);
    return st ? st : input_numbers(c, 4, &b->steps);
}

static mr_status want_count(mr_call *c, const numbers *a, int n, const char *what)
{
    if (a->n < 0 || n < 0 || a->n == n) return MR_OK;
    return mr_call_fail(c, MR_E_SHAPES, "%s has %d values, starts has %d", what, a->n, n);
}

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* "starts is clamped to [0, dim] for positive stepping, or to [0, dim - 1] for negative stepping; ends to [0, dim], or
 * to
 * [-1, dim - 1]", after negative ones have had dim added. */
static range known_range(int64_t start, int64_t end, int64_t step, int64_t dim)
{
    if (dim == 0) return (range){0, step, 0};
    start = clamp(start < 0 ? start + dim : start, 0, step > 0 ? dim : dim - 1);
    end = clamp(end < 0 ? end + dim : end, step > 0 ? 0 : -1, step > 0 ? dim : dim - 1);
    int64_t span = step > 0 ? end - start : start - end;
    uint64_t stride = step > 0 ? (uint64_t)step : -(uint64_t)step;
    return (range){start, step, span <= 0 ? 0 : (int64_t)(((uint64_t)span - 1) / stride + 1)};
}

static range slice_range(const bounds *b, int k, mr_dim dim)
{
    const range unknown = {0, 1, MR_DIM_UNKNOWN};
    if (!is_known(&b->starts, k) || !is_known(&b->steps, k)) return unknown;
    int64_t start = b->starts.at[k], end = b->ends.at[k], step = b->steps.n < 0 ? 1 : b->steps.at[k];
    bool known = is_known(&b->ends, k);
    if (known && dim >= 0) return known_range(start, end, step, dim);
    bool whole = known ? end >= INT32_MAX : b->ends.n >= 0 && mr_dim_same(end, dim);
    return start == 0 && step == 1 && whole ? (range){0, 1, dim} : unknown;
}

/* The ranges of all axes of input 0, whose rank is known. */
static mr_status slice_ranges(mr_call *c, const bounds *b, range *ranges)
{
    const mr_shape *x = &c->in[0].shape;
    bool seen[MR_MAX_RANK] = {0};
    for (int d = 0; d < x->rank; d++) ranges[d] = (range){0, 1, b->axes.exact ? x->d[d] : MR_DIM_UNKNOWN};
    int n = b->starts.n >= 0 ? b->starts.n : b->ends.n;
    if (n < 0 && b->axes.n < 0) /* any of the leading axes */
        for (int d = 0; d < x->rank; d++) ranges[d].count = MR_DIM_UNKNOWN;
    if (n < 0) n = b->axes.n;
    if (n > x->rank) return mr_call_fail_in(c, MR_E_RANK, 0, "starts has %d values", n);
    for (int k = 0; k < b->steps.n; k++)
        if (b->steps.exact && b->steps.at[k] == 0)
            return mr_call_fail(c, MR_E_NODE_VALUE, "steps is 0 at position %d", k);
    for (int k = 0; b->axes.exact && k < n; k++) {
        int axis = k;
        mr_status st = b->axes.n < 0 ? MR_OK : mr_want_axis(c, b->axes.at[k], x->rank, "axes", &axis);
        if (st) return st;
        if (seen[axis]) return mr_call_fail(c, MR_E_SHAPES, "axes has axis %d twice", axis);
        seen[axis] = true;
        ranges[axis] = slice_range(b, k, x->d[axis]);
    }
    return MR_OK;
}

static mr_status slice_all(mr_call *c, range *ranges)
{
    bounds b;
    mr_status st = read_bounds(c, c->params, &b);
    if (!st) st = want_count(c, &b.ends, b.starts.n, "ends");
    if (!st) st = want_count(c, &b.axes, b.starts.n, "axes");
    if (!st) st = want_count(c, &b.steps, b.starts.n, "steps");
    return st ? st : slice_ranges(c, &b, ranges);
}

static mr_status slice_elems(mr_call *c, const range *r)
{
    int n = mr_elems_count(c, 0);
    if (n < 0 || r->count < 0 || c->in[0].t) return MR_OK;
    mr_dim *d = mr_elems_new(c, 0, (int)r->count);
    if (!d) return c->error->status;
    for (int k = 0; k < r->count; k++) d[k] = mr_elem(c, 0, (int)(r->start + k * r->step));
    return MR_OK;
}

static mr_status slice_infer(mr_call *c)
{
    mr_shape s = c->in[0].shape;
    if (s.rank < 0) return mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
    range ranges[MR_MAX_RANK];
    mr_status st = slice_all(c, ranges);
    if (st) return st;
    for (int d = 0; d < s.rank; d++) s.d[d] = ranges[d].count;
    st = mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
    return st || s.rank != 1 ? st : slice_elems(c, ranges);
}

static mr_status slice_run(mr_call *c)
{
    const mr_tensor *x = c->in[0].t, *y = c->out[0].t;
    range ranges[MR_MAX_RANK];
    mr_status st = slice_all(c, ranges);
    if (st) return st;
    int64_t first = 0;
    mr_box box = {.rank = x->rank};
    mr_row_major(x->dims, x->rank, box.xs);
    mr_row_major(y->dims, y->rank, box.ys);
    for (int d = 0; d < x->rank; d++) {
        first += ranges[d].start * box.xs[d];
        box.xs[d] *= ranges[d].count > 1 ? ranges[d].step : 1; /* a step as large as int64 is never taken */
        box.dims[d] = ranges[d].count;
    }
    if (mr_tensor_count(y) > 0) mr_copy_box(c, x->data, first, y->data, 0, &box);
    return MR_OK;
}

static const mr_impl slice_impls[] = {{.name = "slice_cpu", .have = mr_have_copy, .run = slice_run}, {0}};

const mr_op mr_ops_slice[] = {
    {.name = "Slice",
     .domain = "",
     .since = 1,
     .params_size = sizeof(slice_params),
     .read = slice_read,
     .infer = slice_infer,
     .impls = slice_impls},
    {0},
};

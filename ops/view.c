/* view.c: Reshape, Flatten, Squeeze, Unsqueeze, Identity: the same elements under another shape or name. */
#include "ops/elems.h"

#include <stdio.h>
#include <string.h>

static const char *shape_text(const mr_call *c, const mr_shape *s, char *buf, size_t size)
{
    return mr_shape_string(s, c->node->graph->model->symbols, buf, size);
}

/* ---- Reshape ---- */

typedef struct reshape_params {
    int n; /* -1: the shape is an input */
    const int64_t *shape;
    bool allowzero;
} reshape_params;

static void reshape_read(mr_reader *r, void *params)
{
    reshape_params *p = params;
    int version = mr_read_version(r);
    p->n = -1;
    if (version < 5) {
        p->n = mr_read_ints(r, "shape", &p->shape);
        mr_read_ignore(r, "consumed_inputs");
        if (p->n < 0) mr_read_fail(r, MR_E_ATTRIBUTE, "required attribute \"shape\" missing");
        if (p->n > MR_MAX_RANK)
            mr_read_fail(r, MR_E_ATTRIBUTE, "attribute shape has %d values, at most %d", p->n, MR_MAX_RANK);
    }
    p->allowzero = version >= 14 && mr_read_int(r, "allowzero", 0);
}

/* A target as it's given; values are exact, or dims that may be unknown. */
typedef struct target {
    mr_shape given;
    bool exact;
} target;

static mr_status reshape_target(mr_call *c, const reshape_params *p, target *t)
{
    t->exact = true;
    if (p->n >= 0) {
        t->given.rank = p->n;
        memcpy(t->given.d, p->shape, sizeof *p->shape * (size_t)p->n);
        return MR_OK;
    }
    t->exact = c->in[1].t != NULL;
    mr_status st = mr_want_rank(c, 1, 0, 1);
    return st ? st : mr_in_dims(c, 1, t->given.d, &t->given.rank);
}

/* The numbers of an exact target, as the file has them. */
static const char *target_text(const target *t, char *buf, size_t size)
{
    size_t n = (size_t)snprintf(buf, size, "[");
    for (int k = 0; k < t->given.rank && n < size; k++)
        n += (size_t)snprintf(buf + n, size - n, k ? ",%lld" : "%lld", (long long)t->given.d[k]);
    if (n < size) snprintf(buf + n, size - n, "]");
    return buf;
}

static mr_status check_target(mr_call *c, const reshape_params *p, const target *t)
{
    char text[512];
    int inferred = 0, zeros = 0;
    for (int k = 0; k < t->given.rank; k++) {
        int64_t v = t->given.d[k];
        if (v < -1)
            return mr_call_fail(c, MR_E_RESHAPE, "shape %s has %lld", target_text(t, text, sizeof text), (long long)v);
        inferred += v == -1;
        zeros += v == 0;
    }
    if (inferred > 1)
        return mr_call_fail(c, MR_E_RESHAPE, "shape %s has -1 %d times", target_text(t, text, sizeof text), inferred);
    if (p->allowzero && inferred && zeros)
        return mr_call_fail(c, MR_E_RESHAPE, "allowzero=1 with both 0 and -1 in %s", target_text(t, text, sizeof text));
    return MR_OK;
}

static mr_status does_not_fit(mr_call *c, const target *t, const mr_shape *out)
{
    char text[512], shape[512];
    int64_t have = mr_dims_product(c->in[0].shape.d, 0, c->in[0].shape.rank);
    target_text(t, text, sizeof text);
    if (!mr_shape_known(out))
        return mr_call_fail_in(c, MR_E_RESHAPE, 0, "%lld elements cannot be divided into %s", (long long)have, text);
    return mr_call_fail_in(c, MR_E_RESHAPE, 0, "%lld elements do not fit %s, which has %lld", (long long)have,
                           shape_text(c, out, shape, sizeof shape), (long long)mr_dims_product(out->d, 0, out->rank));
}

/* Takes what both shapes have out of them: the product of the rest stays equal, symbols and zeros or not. */
static void cancel(mr_shape *a, mr_shape *b)
{
    for (int i = 0; i < a->rank; i++)
        for (int k = 0; k < b->rank; k++) {
            if (!mr_dim_same(a->d[i], b->d[k])) continue;
            a->d[i--] = a->d[--a->rank];
            b->d[k] = b->d[--b->rank];
            break;
        }
}

/* The numbers multiplied; *symbol is what else there is, MR_DIM_UNKNOWN when it's more than one symbol, 1 when none. */
static int64_t numbers(const mr_shape *s, mr_dim *symbol)
{
    int64_t n = 1;
    *symbol = 1;
    for (int i = 0; i < s->rank; i++) {
        if (s->d[i] < 0)
            *symbol = *symbol == 1 ? s->d[i] : MR_DIM_UNKNOWN;
        else if (__builtin_mul_overflow(n, s->d[i], &n))
            return INT64_MAX; /* divides nothing that there is */
    }
    return n;
}

/* The one dimension at `hole` that the others leave; unknown when symbols hide it. */
static mr_status fill_hole(mr_call *c, const target *t, mr_shape *out, int hole)
{
    mr_shape a = c->in[0].shape, b = *out;
    b.d[hole] = b.d[--b.rank];
    cancel(&a, &b);
    mr_dim rest_a, rest_b;
    int64_t have = numbers(&a, &rest_a), others = numbers(&b, &rest_b);
    if (rest_b != 1 || rest_a == MR_DIM_UNKNOWN) return MR_OK;
    if (others == 0 || have % others != 0) {
        if (rest_a != 1) return MR_OK;
        return t->exact && others ? does_not_fit(c, t, out) : MR_OK;
    }
    out->d[hole] = mr_dim_mul(rest_a, have / others);
    return MR_OK;
}

static mr_status copy_dims(mr_call *c, const reshape_params *p, const target *t, mr_shape *out)
{
    const mr_shape *x = &c->in[0].shape;
    *out = t->given;
    for (int k = 0; k < out->rank && !p->allowzero; k++) {
        if (out->d[k] != 0) continue;
        if (x->rank >= 0 && k >= x->rank) {
            char text[512];
            return mr_call_fail_in(c, MR_E_RESHAPE, 0, "shape %s copies axis %d, which rank %d does not have",
                                   target_text(t, text, sizeof text), k, x->rank);
        }
        out->d[k] = x->rank < 0 ? MR_DIM_UNKNOWN : x->d[k];
    }
    return MR_OK;
}

static mr_status reshape_infer(mr_call *c)
{
    const reshape_params *p = c->params;
    target t = {.given = mr_shape_unknown()};
    mr_shape out;
    mr_status st = reshape_target(c, p, &t);
    if (!st && t.given.rank < 0) return mr_out_tensor(c, 0, mr_in_dtype(c, 0), &t.given);
    if (!st && t.exact) st = check_target(c, p, &t);
    if (!st) st = copy_dims(c, p, &t, &out);
    if (st) return st;
    int holes = 0, hole = -1;
    for (int k = 0; k < out.rank; k++)
        if (out.d[k] == MR_DIM_UNKNOWN) holes++, hole = k;
    /* A value that is only known later must still be seen then: what can be derived from it is for symbols. */
    bool derive = t.exact || !mr_shape_known(&c->in[0].shape);
    if (holes == 1 && derive && c->in[0].shape.rank >= 0 && (st = fill_hole(c, &t, &out, hole))) return st;
    bool known = mr_shape_known(&out) && mr_shape_known(&c->in[0].shape);
    if (known && mr_dims_product(out.d, 0, out.rank) != mr_dims_product(c->in[0].shape.d, 0, c->in[0].shape.rank))
        return does_not_fit(c, &t, &out);
    st = mr_out_tensor(c, 0, mr_in_dtype(c, 0), &out);
    mr_elems_pass(c);
    return st;
}

/* ---- Flatten ---- */

typedef struct flatten_params {
    int64_t axis;
} flatten_params;

static void flatten_read(mr_reader *r, void *params)
{
    ((flatten_params *)params)->axis = mr_read_int(r, "axis", 1);
}

static mr_status flatten_infer(mr_call *c)
{
    const flatten_params *p = c->params;
    const mr_shape *x = &c->in[0].shape;
    mr_shape s = mr_shape_of_rank(2);
    if (x->rank >= 0) {
        if (p->axis < -x->rank || p->axis > x->rank)
            return mr_call_fail_in(c, MR_E_RANK, 0, "attribute axis = %lld is outside [%d,%d]", (long long)p->axis,
                                   -x->rank, x->rank);
        int axis = (int)(p->axis < 0 ? p->axis + x->rank : p->axis);
        s.d[0] = s.d[1] = 1;
        for (int d = 0; d < x->rank; d++) s.d[d >= axis] = mr_dim_mul(s.d[d >= axis], x->d[d]);
    }
    return mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
}

/* ---- Squeeze, Unsqueeze ---- */

typedef struct axes_params {
    int n; /* -1: an input, or not given */
    const int64_t *axes;
} axes_params;

static void axes_read(mr_reader *r, void *params)
{
    axes_params *p = params;
    p->n = mr_read_version(r) < 13 ? mr_read_ints(r, "axes", &p->axes) : -1;
}

/* Axes in [-rank, rank - 1] as set[axis]. */
static mr_status mark_axes(mr_call *c, const int64_t *axes, int n, int rank, bool *set)
{
    for (int k = 0; k < n; k++) {
        int axis;
        mr_status st = mr_want_axis(c, axes[k], rank, "axes", &axis);
        if (st) return st;
        if (set[axis]) return mr_call_fail(c, MR_E_SHAPES, "axes has axis %d twice", axis);
        set[axis] = true;
    }
    return MR_OK;
}

/* The axes from attribute or input; n -1: not given; false: given, and not known. */
static bool axes_of(mr_call *c, const axes_params *p, int64_t *axes, int *n)
{
    const mr_tensor *t = mr_in_has(c, 1) ? c->in[1].t : NULL;
    *n = t ? (int)mr_tensor_count(t) : p->n;
    if (*n > MR_MAX_RANK) return true; /* too many, whatever they are */
    if (p->n >= 0) memcpy(axes, p->axes, sizeof *axes * (size_t)p->n);
    return p->n >= 0 || !mr_in_has(c, 1) || mr_in_ints(c, 1, axes, n);
}

static mr_status squeeze_shape(mr_call *c, const int64_t *axes, int n, mr_shape *s)
{
    const mr_shape *x = &c->in[0].shape;
    bool drop[MR_MAX_RANK] = {0};
    mr_status st = mark_axes(c, axes, n < 0 ? 0 : n, x->rank, drop);
    s->rank = 0;
    for (int d = 0; !st && d < x->rank; d++) {
        if (n < 0 && x->d[d] < 0) return *s = mr_shape_unknown(), MR_OK;
        if (n < 0) drop[d] = x->d[d] == 1;
        if (!drop[d])
            s->d[s->rank++] = x->d[d];
        else if (x->d[d] >= 0 && x->d[d] != 1)
            st = mr_call_fail_in(c, MR_E_SHAPES, 0, "axis %d is to be squeezed, but is %lld", d, (long long)x->d[d]);
    }
    return st;
}

/* How many axes are given is known before which. */
static mr_status want_ones(mr_call *c)
{
    const mr_shape *x = &c->in[0].shape;
    int64_t n = mr_in_has(c, 1) ? mr_in_count(c, 1) : 0;
    int ones = 0;
    for (int d = 0; d < x->rank; d++) ones += x->d[d] < 0 || x->d[d] == 1;
    if (x->rank < 0 || n <= ones) return MR_OK;
    return mr_call_fail_in(c, MR_E_SHAPES, 0, "%lld axes are to be squeezed, it has %d of extent 1", (long long)n,
                           ones);
}

static mr_status squeeze_infer(mr_call *c)
{
    const axes_params *p = c->params;
    mr_shape s = mr_shape_unknown();
    int64_t axes[MR_MAX_RANK];
    int n = -1;
    mr_status st = MR_OK;
    if (mr_in_has(c, 1) && !c->in[1].t && (st = want_ones(c))) return st;
    if (axes_of(c, p, axes, &n) && c->in[0].shape.rank >= 0) {
        if (n > c->in[0].shape.rank) return mr_call_fail_in(c, MR_E_RANK, 0, "%d axes are to be squeezed", n);
        /* An empty attribute is how the first versions say "all"; an empty tensor says "none". */
        st = squeeze_shape(c, axes, n == 0 && p->n == 0 ? -1 : n, &s);
    }
    if (!st) st = mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
    if (!st) mr_elems_pass(c);
    return st;
}

static mr_status unsqueeze_infer(mr_call *c)
{
    const axes_params *p = c->params;
    const mr_shape *x = &c->in[0].shape;
    mr_shape s = mr_shape_unknown();
    int64_t axes[MR_MAX_RANK];
    int n = -1;
    mr_status st = MR_OK;
    bool known = axes_of(c, p, axes, &n);
    if (!known) n = (int)mr_in_count(c, 1);
    if (n >= 0 && x->rank >= 0) {
        bool insert[MR_MAX_RANK] = {0};
        if (x->rank + n > MR_MAX_RANK)
            return mr_call_fail_in(c, MR_E_RANK, 0, "rank %d with %d more; minirt's tensors have at most %d dimensions",
                                   x->rank, n, MR_MAX_RANK);
        s = mr_shape_of_rank(x->rank + n);
        if (known) st = mark_axes(c, axes, n, s.rank, insert);
        for (int d = 0, from = 0; known && !st && d < s.rank; d++) s.d[d] = insert[d] ? 1 : x->d[from++];
    }
    if (!st) st = mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
    if (!st) mr_elems_pass(c);
    return st;
}

/* com.microsoft's ExpandDims: the axis is one number. */
static mr_status expand_dims_infer(mr_call *c)
{
    mr_status st = mr_want_one(c, 1);
    return st ? st : unsqueeze_infer(c);
}

/* ---- Identity ---- */

static mr_status identity_infer(mr_call *c)
{
    mr_status st = mr_out_like(c, 0, 0);
    mr_elems_pass(c);
    return st;
}

const mr_op mr_ops_view[] = {
    {.name = "Reshape",
     .domain = "",
     .since = 1,
     .params_size = sizeof(reshape_params),
     .read = reshape_read,
     .infer = reshape_infer,
     .flags = MR_OP_VIEW},
    {.name = "Flatten",
     .domain = "",
     .since = 1,
     .params_size = sizeof(flatten_params),
     .read = flatten_read,
     .infer = flatten_infer,
     .flags = MR_OP_VIEW},
    {.name = "Squeeze",
     .domain = "",
     .since = 1,
     .params_size = sizeof(axes_params),
     .read = axes_read,
     .infer = squeeze_infer,
     .flags = MR_OP_VIEW},
    {.name = "Unsqueeze",
     .domain = "",
     .since = 1,
     .params_size = sizeof(axes_params),
     .read = axes_read,
     .infer = unsqueeze_infer,
     .flags = MR_OP_VIEW},
    {.name = "SampleOp", .domain = "com.microsoft", .since = 1, .infer = identity_infer, .flags = MR_OP_VIEW},
    {.name = "ExpandDims",
     .domain = "com.microsoft",
     .since = 1,
     .params_size = sizeof(axes_params),
     .read = axes_read,
     .infer = expand_dims_infer,
     .flags = MR_OP_VIEW},
    {.name = "Identity", .domain = "", .since = 1, .infer = identity_infer, .flags = MR_OP_VIEW},
    {0},
};

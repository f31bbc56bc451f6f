/* binary_infer.c: shapes of operators of two operands, and their arithmetic on dimensions. */
#include "ops/binary.h"
#include "ops/elems.h"

/* ---- arithmetic on dimensions ---- */

typedef struct {
    bool known; /* then v is the number, else d the symbol, or unknown */
    int64_t v;
    mr_dim d;
} element;

static element element_of(const mr_call *c, int i, int k)
{
    const mr_arg *a = &c->in[i];
    element e = {.d = MR_DIM_UNKNOWN};
    if (a->t) return (element){.known = true, .v = mr_tensor_int(a->t, mr_elems_count(c, i) == 1 ? 0 : k)};
    if (a->elems) e.d = a->elems[mr_elems_count(c, i) == 1 ? 0 : k];
    if (e.d >= 0) e.known = true, e.v = e.d;
    return e;
}

static bool number(mr_binary_op op, int64_t a, int64_t b, int64_t *v)
{
    switch (op) {
    case MR_ADD:
        return !__builtin_add_overflow(a, b, v);
    case MR_SUB:
        return !__builtin_sub_overflow(a, b, v);
    case MR_MUL:
        return !__builtin_mul_overflow(a, b, v);
    case MR_DIV:
        return b != 0 && b != -1 && (*v = a / b, true);
    case MR_MOD:
        return a >= 0 && b > 0 && (*v = a % b, true);
    case MR_EQUAL:
        *v = a == b;
        return true;
    default:
        return false;
    }
}

static bool is(element e, int64_t v)
{
    return e.known && e.v == v;
}

/* Where one is a symbol: what leaves it as it is, and what holds for every dimension. */
static mr_dim symbolic(mr_binary_op op, element a, element b)
{
    bool same = !a.known && !b.known && mr_dim_same(a.d, b.d);
    switch (op) {
    case MR_ADD:
        return is(b, 0) ? a.d : is(a, 0) ? b.d : MR_DIM_UNKNOWN;
    case MR_SUB:
        return is(b, 0) ? a.d : same ? 0 : MR_DIM_UNKNOWN;
    case MR_MUL:
        return is(b, 1) ? a.d : is(a, 1) ? b.d : is(a, 0) || is(b, 0) ? 0 : MR_DIM_UNKNOWN;
    case MR_DIV:
        return is(b, 1) ? a.d : MR_DIM_UNKNOWN;
    case MR_EQUAL: /* no dimension is negative */
        if (same) return 1;
        return (a.known && a.v < 0 && b.d < MR_DIM_UNKNOWN) || (b.known && b.v < 0 && a.d < MR_DIM_UNKNOWN)
                   ? 0
                   : MR_DIM_UNKNOWN;
    default:
        return MR_DIM_UNKNOWN;
    }
}

static mr_status set_elems(mr_call *c)
{
    const binary_params *p = c->params;
    int na = mr_elems_count(c, 0), nb = mr_elems_count(c, 1), n = na > nb ? na : nb;
    bool one_each = na == nb || na == 1 || nb == 1;
    if (na < 0 || nb < 0 || na * nb == 0 || !one_each || (c->in[0].t && c->in[1].t)) return MR_OK;
    mr_dim *d = mr_elems_new(c, 0, n);
    if (!d) return MR_EMEMORY;
    for (int k = 0; k < n; k++) {
        element a = element_of(c, 0, k), b = element_of(c, 1, k);
        int64_t v = -1;
        if (!a.known || !b.known)
            d[k] = symbolic(p->op, a, b);
        else if (number(p->op, a.v, b.v, &v) && v >= 0)
            d[k] = v;
    }
    return MR_OK;
}

/* ---- shapes ---- */

int mr_binary_axis(const binary_params *p, int rank_a, int rank_b)
{
    if (!p->has_axis) return rank_a - rank_b;
    return (int)(p->axis < 0 ? p->axis + rank_a : p->axis);
}

static bool one_element(const mr_shape *s)
{
    for (int i = 0; i < s->rank; i++)
        if (s->d[i] != 1) return false;
    return true;
}

/* B's dimensions are some of A's that follow one another, or it is one element. */
static mr_status want_aligned(mr_call *c, int axis)
{
    const mr_shape *a = &c->in[0].shape, *b = &c->in[1].shape;
    if (axis < 0 || axis + b->rank > a->rank)
        return mr_call_fail_in(c, MR_E_SHAPES, 1, "does not stand within A of rank %d from axis %d on", a->rank, axis);
    for (int i = 0; i < b->rank; i++) {
        mr_dim da = a->d[axis + i], db = b->d[i];
        if (da >= 0 && db >= 0 && da != db && db != 1)
            return mr_call_fail_in(c, MR_E_SHAPES, 1, "axis %d has %lld, axis %d of A, which it stands at, %lld", i,
                                   (long long)db, axis + i, (long long)da);
    }
    return MR_OK;
}

static mr_status want_equal(mr_call *c)
{
    const mr_shape *a = &c->in[0].shape, *b = &c->in[1].shape;
    if (a->rank != b->rank)
        return mr_call_fail_in(c, MR_E_SHAPES, 1, "the shapes must be equal; %s has rank %d", mr_in_name(c, 0),
                               a->rank);
    for (int i = 0; i < a->rank; i++)
        if (a->d[i] >= 0 && b->d[i] >= 0 && a->d[i] != b->d[i])
            return mr_call_fail_in(c, MR_E_SHAPES, 1, "the shapes must be equal; axis %d of %s has %lld", i,
                                   mr_in_name(c, 0), (long long)a->d[i]);
    return MR_OK;
}

static mr_status infer_legacy(mr_call *c, mr_dtype d)
{
    const binary_params *p = c->params;
    const mr_shape *a = &c->in[0].shape, *b = &c->in[1].shape;
    mr_status st = MR_OK;
    if (a->rank >= 0 && b->rank >= 0) {
        if (p->broadcast && !(one_element(b) && b->rank <= a->rank))
            st = want_aligned(c, mr_binary_axis(p, a->rank, b->rank));
        else if (!p->broadcast)
            st = want_equal(c);
        if (st && !p->broadcast) mr_call_hint(c, "before opset 7, B is broadcast only with the attribute broadcast=1");
    }
    return st ? st : mr_out_tensor(c, 0, d, a);
}

static mr_status infer_to(mr_call *c, mr_dtype d)
{
    const binary_params *p = c->params;
    mr_status st = p->legacy ? infer_legacy(c, d) : d == MR_BOOL ? mr_infer_broadcast_bool(c) : mr_infer_broadcast(c);
    return st ? st : set_elems(c);
}

mr_status mr_infer_binary(mr_call *c)
{
    return infer_to(c, mr_in_dtype(c, 0));
}
mr_status mr_infer_compare(mr_call *c)
{
    return infer_to(c, MR_BOOL);
}

/* Before opset 7 the slope is one number, or one for each channel: axis 1. */
static mr_status infer_prelu_legacy(mr_call *c)
{
    const mr_shape *x = &c->in[0].shape, *slope = &c->in[1].shape;
    if (x->rank >= 0 && slope->rank >= 0 && !one_element(slope) && slope->rank != x->rank) {
        mr_status st = mr_want_rank(c, 1, 1, 1);
        if (!st && x->rank < 2)
            st = mr_call_fail_in(c, MR_E_SHAPES, 1, "has a number for each channel, but X has none");
        if (st || (st = want_aligned(c, 1))) return st;
    } else if (slope->rank == x->rank && !one_element(slope)) {
        mr_status st = want_equal(c);
        if (st) return st;
    }
    return mr_out_like(c, 0, 0);
}

mr_status mr_infer_prelu(mr_call *c)
{
    const binary_params *p = c->params;
    if (p->legacy) return infer_prelu_legacy(c);
    mr_shape s = c->in[0].shape;
    mr_status st = mr_broadcast_into(c, &s, &c->in[1].shape, 1);
    if (st) return st;
    if (s.rank >= 0 && c->in[0].shape.rank >= 0)
        for (int i = 0; i < s.rank; i++)
            if (s.rank != c->in[0].shape.rank ||
                (s.d[i] >= 0 && c->in[0].shape.d[i] >= 0 && s.d[i] != c->in[0].shape.d[i]))
                return mr_call_fail_in(c, MR_E_SHAPES, 1, "does not broadcast to X, whose shape the output has");
    return mr_out_like(c, 0, 0);
}

mr_status mr_infer_swiglu(mr_call *c)
{
    mr_status st = c->in[0].shape.rank >= 0 && c->in[1].shape.rank >= 0 ? want_equal(c) : MR_OK;
    return st ? st : mr_out_like(c, 0, 0);
}

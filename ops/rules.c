/* rules.c: shape rules that many operators share. */
#include "ops/rules.h"

#include <string.h>

mr_status mr_out_tensor(mr_call *c, int o, mr_dtype d, const mr_shape *s)
{
    if (o >= c->n_out) return MR_OK;
    c->out[o].type = mr_type_tensor(d);
    c->out[o].shape = *s;
    return MR_OK;
}

mr_status mr_out_like(mr_call *c, int o, int i)
{
    if (o >= c->n_out) return MR_OK;
    c->out[o].type = c->in[i].type;
    c->out[o].shape = c->in[i].shape;
    return MR_OK;
}

mr_status mr_infer_like(mr_call *c)
{
    return mr_out_like(c, 0, 0);
}

bool mr_dim_known(mr_dim d)
{
    return d >= 0;
}
bool mr_shape_some(const mr_shape *s)
{
    for (int d = 0; d < s->rank; d++)
        if (s->d[d] <= 0) return false;
    return s->rank >= 0;
}
bool mr_dim_same(mr_dim a, mr_dim b)
{
    return a == b && a != MR_DIM_UNKNOWN;
}

mr_dim mr_dim_mul(mr_dim a, mr_dim b)
{
    int64_t r;
    if (a == 0 || b == 0) return 0;
    if (a == 1) return b;
    if (b == 1) return a;
    if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &r)) return MR_DIM_UNKNOWN;
    return r;
}

mr_dim mr_dim_add(mr_dim a, mr_dim b)
{
    int64_t r;
    if (a == 0) return b;
    if (b == 0) return a;
    if (a < 0 || b < 0 || __builtin_add_overflow(a, b, &r)) return MR_DIM_UNKNOWN;
    return r;
}

/* ---- broadcasting ---- */

static bool broadcast_dim(mr_dim a, mr_dim b, mr_dim *out)
{
    if (a == 1 || mr_dim_same(a, b))
        *out = b;
    else if (b == 1)
        *out = a;
    else if (a < 0 && b < 0)
        *out = MR_DIM_UNKNOWN;
    else if (a < 0)
        *out = b; /* > 1 or 0: the other can only be that or 1 */
    else if (b < 0)
        *out = a;
    else
        return false;
    return true;
}

mr_status mr_broadcast_into(mr_call *c, mr_shape *a, const mr_shape *b, int i)
{
    if (a->rank < 0 || b->rank < 0) {
        *a = mr_shape_unknown();
        return MR_OK;
    }
    mr_shape r = {.rank = a->rank > b->rank ? a->rank : b->rank};
    for (int k = 1; k <= r.rank; k++) {
        mr_dim x = k <= a->rank ? a->d[a->rank - k] : 1, y = k <= b->rank ? b->d[b->rank - k] : 1;
        if (broadcast_dim(x, y, &r.d[r.rank - k])) continue;
        char left[256], right[256];
        const char *const *names = c->node->graph->model->symbols;
        return mr_call_fail_in(c, MR_E_SHAPES, i, "%s does not broadcast with %s: axis -%d has %lld and %lld",
                               mr_shape_string(b, names, right, sizeof right),
                               mr_shape_string(a, names, left, sizeof left), k, (long long)y, (long long)x);
    }
    *a = r;
    return MR_OK;
}

static mr_status infer_broadcast_to(mr_call *c, mr_dtype d)
{
    mr_shape s = c->in[0].shape;
    for (int i = 1; i < c->n_in; i++) {
        if (!mr_in_has(c, i)) continue;
        mr_status st = mr_broadcast_into(c, &s, &c->in[i].shape, i);
        if (st) return st;
    }
    return mr_out_tensor(c, 0, d, &s);
}

mr_status mr_infer_broadcast(mr_call *c)
{
    return infer_broadcast_to(c, mr_in_dtype(c, 0));
}
mr_status mr_infer_broadcast_bool(mr_call *c)
{
    return infer_broadcast_to(c, MR_BOOL);
}

void mr_broadcast_strides(const mr_tensor *t, const int64_t *to, int rank, int64_t *strides)
{
    int64_t s = 1;
    for (int k = 1; k <= rank; k++) {
        int64_t d = k <= t->rank ? t->dims[t->rank - k] : 1;
        strides[rank - k] = d == 1 && to[rank - k] != 1 ? 0 : s;
        if (k > t->rank) strides[rank - k] = 0;
        s *= d;
    }
}

/* ---- wants ---- */

mr_status mr_want_rank(mr_call *c, int i, int lo, int hi)
{
    int r = c->in[i].shape.rank;
    if (r < 0 || (r >= lo && r <= hi)) return MR_OK;
    if (lo == hi) return mr_call_fail_in(c, MR_E_RANK, i, "expected rank %d, got rank %d", lo, r);
    if (hi >= MR_MAX_RANK) return mr_call_fail_in(c, MR_E_RANK, i, "expected rank %d or more, got rank %d", lo, r);
    return mr_call_fail_in(c, MR_E_RANK, i, "expected rank %d to %d, got rank %d", lo, hi, r);
}

mr_status mr_want_one(mr_call *c, int i)
{
    const mr_shape *s = &c->in[i].shape;
    for (int d = 0; mr_in_has(c, i) && d < s->rank; d++)
        if (s->d[d] >= 0 && s->d[d] != 1) return mr_call_fail_in(c, MR_E_SHAPES, i, "expected one element");
    return MR_OK;
}

mr_status mr_want_dim(mr_call *c, mr_dim a, mr_dim b, const char *what, mr_dim *out)
{
    if (a >= 0 && b >= 0 && a != b)
        return mr_call_fail(c, MR_E_SHAPES, "%s: %lld and %lld differ", what, (long long)a, (long long)b);
    if (out) *out = a >= 0 || b == MR_DIM_UNKNOWN ? a : b;
    return MR_OK;
}

mr_status mr_want_axis(mr_call *c, int64_t axis, int rank, const char *what, int *out)
{
    if (axis < -rank || axis >= rank)
        return mr_call_fail(c, MR_E_SHAPES, "%s = %lld is outside [%d,%d]", what, (long long)axis, -rank, rank - 1);
    *out = (int)(axis < 0 ? axis + rank : axis);
    return MR_OK;
}

mr_status mr_in_dims(mr_call *c, int i, mr_dim *d, int *n)
{
    const mr_arg *a = &c->in[i];
    int64_t count = a->t ? mr_tensor_count(a->t) : a->shape.rank == 0 ? 1 : a->shape.rank == 1 ? a->shape.d[0] : -1;
    *n = -1;
    if (count < 0) return MR_OK;
    if (count > MR_MAX_RANK)
        return mr_call_fail_in(c, MR_E_RANK, i, "has %lld elements; minirt's tensors have at most %d dimensions",
                               (long long)count, MR_MAX_RANK);
    *n = (int)count;
    for (int k = 0; k < *n; k++) d[k] = a->t ? mr_tensor_int(a->t, k) : a->elems ? a->elems[k] : MR_DIM_UNKNOWN;
    return MR_OK;
}

int64_t mr_in_count(const mr_call *c, int i)
{
    const mr_shape *s = &c->in[i].shape;
    return mr_shape_known(s) ? mr_dims_product(s->d, 0, s->rank) : -1;
}

bool mr_in_ints(mr_call *c, int i, int64_t *d, int *n)
{
    const mr_tensor *t = mr_in_has(c, i) ? c->in[i].t : NULL;
    if (!t || mr_tensor_count(t) > MR_MAX_RANK) return false;
    *n = (int)mr_tensor_count(t);
    for (int k = 0; k < *n; k++) d[k] = mr_tensor_int(t, k);
    return true;
}

/* indices.c: are the elements of an index tensor inside their axis? */
#include "ops/indices.h"

#include "ops/rules.h"

#include <stdio.h>

static mr_status outside(mr_call *c, int i, int64_t at, int64_t dim)
{
    const mr_tensor *t = c->in[i].t;
    char position[512] = "";
    size_t n = 0;
    if (t->rank == 1) {
        snprintf(position, sizeof position, " at position %lld", (long long)at);
    } else if (t->rank > 1) {
        int64_t left = mr_tensor_count(t), rest = at;
        for (int d = 0; d < t->rank; d++) {
            left /= t->dims[d];
            n += (size_t)snprintf(position + n, sizeof position - n, "%s%lld", d ? "," : " at position [",
                                  (long long)(rest / left));
            rest %= left;
        }
        snprintf(position + n, sizeof position - n, "]");
    }
    return mr_call_fail_in(c, MR_E_NODE_VALUE, i, "index %lld%s out of range [%lld,%lld]",
                           (long long)mr_tensor_int(t, at), position, (long long)-dim, (long long)dim - 1);
}

mr_status mr_want_indices(mr_call *c, int i, int64_t dim)
{
    const mr_tensor *t = c->in[i].t;
    int64_t n = mr_tensor_count(t);
    if (mr_index_inside(mr_index_of(c, i), n, dim)) return MR_OK;
    for (int64_t k = 0; k < n; k++) {
        int64_t v = mr_tensor_int(t, k);
        if (v < -dim || v >= dim) return outside(c, i, k, dim);
    }
    return MR_OK;
}

mr_status mr_want_axis_of_indices(mr_call *c, int i, int axis)
{
    mr_dim dim = c->in[0].shape.d[axis];
    if (dim == 0 && mr_shape_some(&c->in[i].shape))
        return mr_call_fail_in(c, MR_E_SHAPES, i, "axis %d of input 0 has no elements to point to", axis);
    return dim > 0 && c->in[i].t ? mr_want_indices(c, i, dim) : MR_OK;
}

mr_status mr_want_tuples(mr_call *c, int i, const int64_t *dims)
{
    const mr_tensor *t = c->in[i].t;
    int64_t n = mr_tensor_count(t), width = t->dims[t->rank - 1];
    for (int64_t k = 0, j = 0; k < n; k++) {
        int64_t v = mr_tensor_int(t, k);
        if (v < -dims[j] || v >= dims[j]) return outside(c, i, k, dims[j]);
        if (++j == width) j = 0;
    }
    return MR_OK;
}

mr_status mr_want_axes_of_tuples(mr_call *c, int i, int batch)
{
    const mr_shape *x = &c->in[0].shape, *index = &c->in[i].shape;
    const mr_dim *dims = x->d + batch;
    bool known = true;
    for (int64_t j = 0; j < index->d[index->rank - 1]; j++) {
        if (dims[j] == 0 && mr_shape_some(index))
            return mr_call_fail_in(c, MR_E_SHAPES, i, "axis %d of input 0 has no elements to point to", batch + (int)j);
        known &= dims[j] >= 0;
    }
    return known && c->in[i].t ? mr_want_tuples(c, i, dims) : MR_OK;
}

void mr_lines_of(const mr_call *c, int i, int axis, mr_lines *l)
{
    const mr_tensor *data = c->in[0].t, *t = c->in[i].t;
    *l = (mr_lines){.index = mr_index_of(c, i), .n = t->dims[axis], .dim = data->dims[axis]};
    int64_t xs = 1, ys = 1;
    l->rest.rank = t->rank - 1;
    for (int d = t->rank - 1, k = t->rank - 2; d >= 0; d--) {
        if (d == axis) {
            l->xs = xs, l->ys = ys;
        } else {
            l->rest.dims[k] = t->dims[d];
            l->rest.xs[k] = xs, l->rest.ys[k] = ys;
            k--;
        }
        xs *= data->dims[d], ys *= t->dims[d];
    }
    mr_box_simplify(&l->rest);
}

void mr_tuples_of(const mr_call *c, int i, int batch, int64_t *strides, mr_tuples *tuples, int64_t *inner)
{
    const mr_tensor *data = c->in[0].t, *t = c->in[i].t;
    int k = (int)t->dims[t->rank - 1];
    *inner = mr_dims_product(data->dims, batch + k, data->rank);
    int64_t stride = *inner;
    for (int j = k - 1; j >= 0; stride *= data->dims[batch + j], j--) strides[j] = stride;
    *tuples = (mr_tuples){.index = mr_index_of(c, i),
                          .n = mr_dims_product(t->dims, 0, t->rank - 1),
                          .k = k,
                          .each = mr_dims_product(t->dims, batch, t->rank - 1),
                          .batch = stride,
                          .dims = data->dims + batch,
                          .strides = strides};
}

/* stack.c: tensors cut along an axis, and put together again. */
#include "ops/stack.h"

#include <string.h>

/* Rows of `run` elements, `rows` of them, `from_step` and `to_step` elements apart. Strings are copied by value. */
static bool copy_rows(mr_value *to, int64_t to_at, int64_t to_step, const mr_tensor *from, int64_t from_at,
                      int64_t from_step, int64_t rows, int64_t run)
{
    size_t size = mr_dtype_size(from->dtype);
    for (int64_t r = 0; r < rows; r++) {
        int64_t d = to_at + r * to_step, s = from_at + r * from_step;
        if (from->dtype != MR_STRING) {
            memcpy((char *)to->t.data + (size_t)d * size, (const char *)from->data + (size_t)s * size,
                   (size_t)run * size);
            continue;
        }
        const mr_string *strings = from->data;
        for (int64_t i = 0; i < run; i++)
            if (!mr_value_set_string(to, d + i, strings[s + i].data, strings[s + i].len)) return false;
    }
    return true;
}

mr_value *mr_cut(const mr_tensor *t, int axis, int64_t begin, int64_t count, bool keep)
{
    int64_t dims[MR_MAX_RANK], outer = mr_dims_product(t->dims, 0, axis);
    int64_t inner = mr_dims_product(t->dims, axis + 1, t->rank);
    int rank = 0;
    for (int d = 0; d < t->rank; d++)
        if (d != axis || keep) dims[rank++] = d == axis ? count : t->dims[d];
    mr_value *v = mr_value_tensor(t->dtype, rank, dims);
    if (v && !copy_rows(v, 0, count * inner, t, begin * inner, t->dims[axis] * inner, outer, count * inner)) {
        mr_value_release(v);
        return NULL;
    }
    return v;
}

static mr_value *empty_stack(const mr_typed_shape *like, int axis)
{
    int64_t dims[MR_MAX_RANK] = {0};
    int rank = (like->shape.rank > 0 ? like->shape.rank : 0) + 1;
    for (int d = 0, k = 0; d < rank; d++)
        if (d != axis) dims[d] = like->shape.d[k] > 0 ? like->shape.d[k] : 0, k++;
    return mr_value_tensor((mr_dtype)like->type.elem, rank, dims);
}

static bool same(const mr_tensor *a, const mr_tensor *b, int except)
{
    if (a->dtype != b->dtype || a->rank != b->rank) return false;
    for (int d = 0; d < a->rank; d++)
        if (d != except && a->dims[d] != b->dims[d]) return false;
    return true;
}

static mr_value *mismatch(mr_call *c, const mr_tensor *a, const mr_tensor *b, int64_t i)
{
    char x[256], y[256];
    mr_shape sa = mr_tensor_shape(a), sb = mr_tensor_shape(b);
    mr_call_fail(c, MR_E_NODE_VALUE, "tensors to be put together differ: the first is %s%s, number %lld is %s%s",
                 mr_dtype_name(a->dtype), mr_shape_string(&sa, NULL, x, sizeof x), (long long)i,
                 mr_dtype_name(b->dtype), mr_shape_string(&sb, NULL, y, sizeof y));
    return NULL;
}

mr_value *mr_stack(mr_call *c, mr_value *const *items, int64_t n, int axis, bool reverse, const mr_typed_shape *empty)
{
    if (n == 0) return empty ? empty_stack(empty, axis) : NULL;
    const mr_tensor *first = &items[0]->t;
    int64_t dims[MR_MAX_RANK];
    if (first->rank + 1 > MR_MAX_RANK) {
        mr_call_fail(c, MR_E_RANK, "the stacked tensor would have more than %d dimensions", MR_MAX_RANK);
        return NULL;
    }
    for (int d = 0, k = 0; d <= first->rank; d++) dims[d] = d == axis ? n : first->dims[k++];
    int64_t outer = mr_dims_product(dims, 0, axis), inner = mr_dims_product(dims, axis + 1, first->rank + 1);
    mr_value *v = mr_value_tensor(first->dtype, first->rank + 1, dims);
    for (int64_t i = 0; v && i < n; i++) {
        const mr_tensor *t = &items[i]->t;
        bool fits = same(first, t, -1);
        if (!fits) mismatch(c, first, t, i);
        int64_t at = (reverse ? n - 1 - i : i) * inner;
        if (fits && copy_rows(v, at, n * inner, t, 0, inner, outer, inner)) continue;
        mr_value_release(v);
        v = NULL;
    }
    return v;
}

mr_value *mr_join(mr_call *c, mr_value *const *items, int64_t n, int axis)
{
    const mr_tensor *first = &items[0]->t;
    int64_t dims[MR_MAX_RANK], total = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!same(first, &items[i]->t, axis)) return mismatch(c, first, &items[i]->t, i);
        total += items[i]->t.dims[axis];
    }
    memcpy(dims, first->dims, sizeof dims);
    dims[axis] = total;
    int64_t outer = mr_dims_product(dims, 0, axis), inner = mr_dims_product(dims, axis + 1, first->rank), at = 0;
    mr_value *v = mr_value_tensor(first->dtype, first->rank, dims);
    for (int64_t i = 0; v && i < n; i++) {
        int64_t run = items[i]->t.dims[axis] * inner;
        if (!copy_rows(v, at, total * inner, &items[i]->t, 0, run, outer, run)) {
            mr_value_release(v);
            return NULL;
        }
        at += run;
    }
    return v;
}

mr_value *mr_scalar_i64(int64_t x)
{
    mr_value *v = mr_value_tensor(MR_I64, 0, NULL);
    if (v) *(int64_t *)v->t.data = x;
    return v;
}

mr_value *mr_scalar_bool(bool x)
{
    mr_value *v = mr_value_tensor(MR_BOOL, 0, NULL);
    if (v) *(uint8_t *)v->t.data = x;
    return v;
}

/* value.c: values and their reference counts. */
#include "value.h"

#include <stdlib.h>
#include <string.h>

#include "region.h"

enum { ALIGN = 64 };

static mr_value *value_new(mr_type type)
{
    mr_value *v = calloc(1, sizeof *v);
    if (v) {
        v->type = type;
        v->refs = 1;
    }
    return v;
}

mr_value *mr_value_tensor(mr_dtype dtype, int rank, const int64_t *dims)
{
    mr_shape s = {.rank = rank};
    size_t bytes;
    if (rank < 0 || rank > MR_MAX_RANK || !mr_dtype_size(dtype)) return NULL;
    if (rank) memcpy(s.d, dims, sizeof(int64_t) * (size_t)rank);
    if (!mr_shape_bytes(&s, dtype, &bytes) || bytes > PTRDIFF_MAX - ALIGN) return NULL;
    mr_value *v = value_new(mr_type_tensor(dtype));
    if (!v) return NULL;
    /* calloc, not aligned_alloc: the pages of large tensors then come zeroed, untouched. */
    v->buffer = calloc(1, bytes + ALIGN);
    if (!v->buffer) {
        free(v);
        return NULL;
    }
    v->t.dtype = dtype;
    mr_tensor_set_shape(&v->t, &s);
    v->t.data = (char *)v->buffer + (ALIGN - (uintptr_t)v->buffer % ALIGN) % ALIGN;
    return v;
}

mr_value *mr_value_copy(const mr_tensor *t)
{
    mr_value *v = mr_value_tensor(t->dtype, t->rank, t->dims);
    if (!v) return NULL;
    if (t->dtype != MR_STRING) {
        size_t bytes = mr_tensor_bytes(t);
        if (bytes) memcpy(v->t.data, t->data, bytes);
        return v;
    }
    const mr_string *s = t->data;
    for (int64_t i = 0, n = mr_tensor_count(t); i < n; i++)
        if (!mr_value_set_string(v, i, s[i].data, s[i].len)) {
            mr_value_release(v);
            return NULL;
        }
    return v;
}

mr_value *mr_value_borrow(const mr_tensor *t)
{
    mr_value *v = value_new(mr_type_tensor(t->dtype));
    if (v) v->t = *t;
    return v;
}

mr_value *mr_value_list(mr_type type, int64_t n, mr_value *const *items)
{
    size_t bytes;
    if (n < 0 || __builtin_mul_overflow((size_t)n, sizeof *items, &bytes)) return NULL;
    mr_value *v = value_new(type);
    if (!v) return NULL;
    v->items = malloc(bytes ? bytes : 1);
    if (!v->items) {
        free(v);
        return NULL;
    }
    v->n = n;
    for (int64_t i = 0; i < n; i++) v->items[i] = mr_value_retain(items[i]);
    return v;
}

mr_value *mr_value_retain(mr_value *v)
{
    if (v) __atomic_add_fetch(&v->refs, 1, __ATOMIC_RELAXED);
    return v;
}

void mr_value_release(mr_value *v)
{
    if (!v || __atomic_sub_fetch(&v->refs, 1, __ATOMIC_ACQ_REL) > 0) return;
    for (int64_t i = 0; i < v->n; i++) mr_value_release(v->items[i]);
    free(v->items);
    free(v->buffer);
    if (v->strings) mr_region_free(v->strings);
    free(v->strings);
    free(v);
}

bool mr_value_set_string(mr_value *v, int64_t i, const char *data, size_t len)
{
    if (!v->strings && !(v->strings = calloc(1, sizeof(mr_region)))) return false;
    char *copy = mr_region_string(v->strings, data, len);
    if (!copy) return false;
    ((mr_string *)v->t.data)[i] = (mr_string){copy, len};
    return true;
}

mr_value *mr_value_densify(const mr_value *sparse)
{
    const mr_tensor *values = &sparse->items[0]->t, *indices = &sparse->items[1]->t;
    mr_value *v = mr_value_tensor(values->dtype, sparse->t.rank, sparse->t.dims);
    size_t size = mr_dtype_size(values->dtype);
    for (int64_t i = 0; v && i < values->dims[0]; i++) {
        int64_t at = ((const int64_t *)indices->data)[i];
        const mr_string *s = (const mr_string *)values->data + i;
        if (values->dtype != MR_STRING) {
            memcpy((char *)v->t.data + (size_t)at * size, (const char *)values->data + (size_t)i * size, size);
        } else if (!mr_value_set_string(v, at, s->data, s->len)) {
            mr_value_release(v);
            v = NULL;
        }
    }
    return v;
}

const mr_tensor *mr_value_dense(const mr_value *v)
{
    if (v && v->type.kind == MR_OPTIONAL && v->n == 1) v = v->items[0];
    return v && v->type.kind == MR_TENSOR ? &v->t : NULL;
}

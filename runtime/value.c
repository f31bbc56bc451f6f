/* value.c: values and their reference counts. */
#include "value.h"

#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "region.h"
#include "spare.h"

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

/* Bytes of a buffer; false: no tensor has this shape and type, or none that can be addressed. */
static bool buffer_bytes(mr_dtype dtype, int rank, const int64_t *dims, mr_shape *s, size_t *bytes)
{
    if (rank < 0 || rank > MR_MAX_RANK || !mr_dtype_size(dtype)) return false;
    *s = (mr_shape){.rank = rank};
    if (rank) memcpy(s->d, dims, sizeof(int64_t) * (size_t)rank);
    return mr_shape_bytes(s, dtype, bytes) && *bytes <= PTRDIFF_MAX - 2 * ALIGN;
}

static bool charge(mr_value *v, size_t bytes)
{
    if (!v->account) v->account = mr_account_retain(mr_account_current());
    if (!mr_account_charge(v->account, bytes)) return false;
    v->held += bytes;
    return true;
}

/* Takes the buffer over; NULL, or over the limit: so is the value. */
static mr_value *tensor_in(void *buffer, mr_dtype dtype, const mr_shape *s)
{
    mr_value *v = buffer ? value_new(mr_type_tensor(dtype)) : NULL;
    if (!v) {
        free(buffer);
        return NULL;
    }
    v->buffer = buffer;
    v->t.dtype = dtype;
    mr_tensor_set_shape(&v->t, s);
    v->t.data = (char *)buffer + (ALIGN - (uintptr_t)buffer % ALIGN) % ALIGN;
    if (charge(v, mr_tensor_bytes(&v->t))) return v;
    mr_value_release(v);
    return NULL;
}

/* Before it is allocated: a kernel may not have the pages either. */
static bool would_fit(size_t bytes)
{
    mr_account *a = mr_account_current();
    if (!mr_account_charge(a, bytes)) return false;
    mr_account_credit(a, bytes);
    return true;
}

mr_value *mr_value_tensor(mr_dtype dtype, int rank, const int64_t *dims)
{
    mr_shape s;
    size_t bytes;
    if (!buffer_bytes(dtype, rank, dims, &s, &bytes) || !would_fit(bytes)) return NULL;
    /* calloc, not aligned_alloc: the pages of large tensors then come zeroed, untouched. */
    return tensor_in(calloc(1, bytes + ALIGN), dtype, &s);
}

static size_t whole_lines(size_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN + ALIGN;
}

mr_value *mr_value_uninit(mr_dtype dtype, int rank, const int64_t *dims)
{
    mr_shape s;
    size_t bytes;
    if (dtype == MR_STRING) return mr_value_tensor(dtype, rank, dims);
    if (!buffer_bytes(dtype, rank, dims, &s, &bytes) || !would_fit(bytes)) return NULL;
    return tensor_in(aligned_alloc(ALIGN, whole_lines(bytes)), dtype, &s);
}

mr_value *mr_value_of_spare(mr_spares *home, bool only_spare, mr_dtype dtype, int rank, const int64_t *dims)
{
    mr_shape s;
    size_t bytes;
    if (!buffer_bytes(dtype, rank, dims, &s, &bytes) || !would_fit(bytes)) return NULL;
    size_t size = whole_lines(bytes);
    void *buffer = mr_spares_take(home, &size);
    if (!buffer && !only_spare) buffer = aligned_alloc(ALIGN, size);
    mr_value *v = tensor_in(buffer, dtype, &s);
    if (v) v->home = mr_spares_retain(home), v->room = size;
    return v;
}

mr_value *mr_value_copy(const mr_tensor *t)
{
    mr_value *v = mr_value_uninit(t->dtype, t->rank, t->dims);
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
    if (v->home)
        mr_spares_put(v->home, v->buffer, v->room), mr_spares_release(v->home);
    else
        free(v->buffer);
    mr_account_credit(v->account, v->held);
    mr_account_release(v->account);
    if (v->strings) mr_region_free(v->strings);
    free(v->strings);
    free(v);
}

size_t mr_value_charged(const mr_value *v, const mr_account *a)
{
    size_t sum = v->account == a ? v->held : 0;
    for (int64_t i = 0; i < v->n; i++) sum += mr_value_charged(v->items[i], a);
    return sum;
}

bool mr_value_set_string(mr_value *v, int64_t i, const char *data, size_t len)
{
    if (!v->strings && !(v->strings = calloc(1, sizeof(mr_region)))) return false;
    if (!charge(v, len)) return false;
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

/* tensor.c: shapes and the elements of dense tensors. */
#include "tensor.h"

#include <stdio.h>
#include <string.h>

#include "narrow.h"

mr_shape mr_shape_of_rank(int rank)
{
    mr_shape s = {.rank = rank};
    for (int i = 0; i < rank; i++) s.d[i] = MR_DIM_UNKNOWN;
    return s;
}

bool mr_shape_known(const mr_shape *s)
{
    for (int i = 0; i < s->rank; i++)
        if (s->d[i] < 0) return false;
    return s->rank >= 0;
}

bool mr_shape_equal(const mr_shape *a, const mr_shape *b)
{
    if (a->rank != b->rank) return false;
    for (int i = 0; i < a->rank; i++)
        if (a->d[i] != b->d[i]) return false;
    return true;
}

const char *mr_shape_string(const mr_shape *s, const char *const *symbols, char *buf, size_t size)
{
    if (s->rank < 0) {
        snprintf(buf, size, "[?]");
        return buf;
    }
    size_t at = 0;
    for (int i = 0; i < s->rank && at < size; i++) {
        const char *comma = i ? "," : "[";
        mr_dim d = s->d[i];
        int n;
        if (d >= 0)
            n = snprintf(buf + at, size - at, "%s%lld", comma, (long long)d);
        else if (d < MR_DIM_UNKNOWN && symbols)
            n = snprintf(buf + at, size - at, "%s%s", comma, symbols[-(d + 2)]);
        else
            n = snprintf(buf + at, size - at, "%s?", comma);
        at += (size_t)n;
    }
    if (at < size) snprintf(buf + at, size - at, s->rank ? "]" : "[]");
    return buf;
}

int64_t mr_dims_product(const int64_t *d, int from, int to)
{
    for (int i = from; i < to; i++)
        if (d[i] == 0) return 0;
    int64_t n = 1;
    for (int i = from; i < to; i++)
        if (__builtin_mul_overflow(n, d[i], &n)) return -1;
    return n;
}

bool mr_shape_bytes(const mr_shape *s, mr_dtype d, size_t *bytes)
{
    if (!mr_shape_known(s)) return false;
    int64_t n = mr_dims_product(s->d, 0, s->rank);
    return n >= 0 && !__builtin_mul_overflow((size_t)n, mr_dtype_size(d), bytes) && *bytes <= PTRDIFF_MAX;
}

int64_t mr_tensor_count(const mr_tensor *t)
{
    return mr_dims_product(t->dims, 0, t->rank);
}
size_t mr_tensor_bytes(const mr_tensor *t)
{
    return (size_t)mr_tensor_count(t) * mr_dtype_size(t->dtype);
}

mr_shape mr_tensor_shape(const mr_tensor *t)
{
    mr_shape s = {.rank = t->rank};
    memcpy(s.d, t->dims, sizeof(int64_t) * (size_t)t->rank);
    return s;
}

void mr_tensor_set_shape(mr_tensor *t, const mr_shape *s)
{
    t->rank = s->rank;
    memcpy(t->dims, s->d, sizeof(int64_t) * (size_t)s->rank);
}

int64_t mr_tensor_int(const mr_tensor *t, int64_t i)
{
    switch (t->dtype) {
    case MR_I64:
        return ((const int64_t *)t->data)[i];
    case MR_U64:
        return (int64_t)((const uint64_t *)t->data)[i];
    case MR_I32:
        return ((const int32_t *)t->data)[i];
    case MR_U32:
        return ((const uint32_t *)t->data)[i];
    case MR_I16:
        return ((const int16_t *)t->data)[i];
    case MR_U16:
        return ((const uint16_t *)t->data)[i];
    case MR_I8:
    case MR_I4:
    case MR_I2:
        return ((const int8_t *)t->data)[i];
    case MR_U8:
    case MR_U4:
    case MR_U2:
    case MR_BOOL:
        return ((const uint8_t *)t->data)[i];
    default:
        return 0;
    }
}

double mr_tensor_real(const mr_tensor *t, int64_t i)
{
    switch (t->dtype) {
    case MR_F32:
        return ((const float *)t->data)[i];
    case MR_F64:
        return ((const double *)t->data)[i];
    case MR_F16:
        return mr_f16_to_f32(((const mr_f16 *)t->data)[i]);
    case MR_BF16:
        return mr_bf16_to_f32(((const mr_bf16 *)t->data)[i]);
    case MR_U64:
        return (double)((const uint64_t *)t->data)[i];
    default:
        return (double)mr_tensor_int(t, i);
    }
}

/* model_tensor.c: TensorProto and SparseTensorProto to values, in every encoding that ONNX has. */
#include <stdlib.h>
#include <string.h>

#include "model.h"

enum { FORGET = 1 << 16 }; /* bytes from which copied pages of the file are given back */

typedef struct reading {
    const mr_source *source;
    const Onnx__TensorProto *p;
    const char *name;
    mr_tensor t; /* type and shape; data when it can be borrowed */
    int64_t count;
    mr_error *e;
} reading;

static mr_value *short_of_memory(reading *r)
{
    mr_fail(r->e, MR_E_MEMORY, "tensor '%s': no memory for %lld elements of %s", r->name, (long long)r->count,
            mr_dtype_name(r->t.dtype));
    return NULL;
}

static bool read_dims(reading *r, const int64_t *dims, size_t n)
{
    if (n > MR_MAX_RANK) {
        mr_fail(r->e, MR_E_RANK_LIMIT, "tensor '%s': rank %zu, at most %d is supported", r->name, n, MR_MAX_RANK);
        return false;
    }
    r->t.rank = (int)n;
    for (size_t i = 0; i < n; i++) {
        r->t.dims[i] = dims[i];
        if (dims[i] < 0) {
            mr_fail(r->e, MR_E_TENSOR, "tensor '%s': negative dimension %lld", r->name, (long long)dims[i]);
            return false;
        }
    }
    mr_shape s = mr_tensor_shape(&r->t);
    size_t bytes;
    char text[256];
    if (!mr_shape_bytes(&s, r->t.dtype, &bytes)) {
        mr_fail(r->e, MR_E_TENSOR, "tensor '%s': the shape %s is too large", r->name,
                mr_shape_string(&s, NULL, text, sizeof text));
        return false;
    }
    r->count = mr_tensor_count(&r->t);
    return true;
}

/* Elements of less than a byte: a stream of bits, the lowest first. */
static void unpack(uint8_t *dst, const uint8_t *src, size_t src_bytes, int64_t n, mr_dtype d)
{
    unsigned bits = (unsigned)mr_dtype_wire_bits(d);
    bool is_signed = d == MR_I4 || d == MR_I2;
    for (int64_t i = 0; i < n; i++) {
        size_t bit = (size_t)i * bits, at = bit / 8;
        unsigned two = src[at] | (at + 1 < src_bytes ? (unsigned)src[at + 1] << 8 : 0);
        unsigned v = two >> bit % 8 & ((1u << bits) - 1);
        if (is_signed && v >> (bits - 1)) v |= 0xffu << bits;
        dst[i] = (uint8_t)v;
    }
}

static size_t packed_bytes(int64_t n, mr_dtype d)
{
    unsigned bits = (unsigned)mr_dtype_wire_bits(d);
    return (size_t)n / 8 * bits + ((size_t)n % 8 * bits + 7) / 8;
}

static size_t raw_bytes(const reading *r)
{
    return mr_dtype_wire_bits(r->t.dtype) < 8 ? packed_bytes(r->count, r->t.dtype)
                                              : (size_t)r->count * mr_dtype_size(r->t.dtype);
}

static bool fits_raw(reading *r, size_t have)
{
    size_t need = raw_bytes(r);
    /* Groups of four 6-bit elements take three bytes; the last group may be written whole. */
    if (have == need || (mr_dtype_wire_bits(r->t.dtype) == 6 && have == (need + 2) / 3 * 3)) return true;
    mr_shape s = mr_tensor_shape(&r->t);
    char text[256];
    mr_fail(r->e, MR_E_TENSOR, "tensor '%s': %s%s takes %zu bytes, the data has %zu", r->name,
            mr_dtype_name(r->t.dtype), mr_shape_string(&s, NULL, text, sizeof text), need, have);
    return false;
}

/* Kernels that move elements take them as integers, of 8 bytes at most. */
static size_t alignment(mr_dtype d)
{
    return mr_dtype_size(d) < 8 ? mr_dtype_size(d) : 8;
}

/* Little-endian bytes of a map, which can be NULL: then they are copied. */
static mr_value *read_raw(reading *r, const mr_map *map, const uint8_t *data, size_t size)
{
    mr_dtype d = r->t.dtype;
    if (!fits_raw(r, size)) return NULL;
    /* Bools are always copied, since any byte but 0 and 1 is made 1. */
    bool as_is = mr_dtype_wire_bits(d) >= 8 && d != MR_BOOL;
    if (map && as_is && size && (uintptr_t)data % alignment(d) == 0) {
        r->t.data = (void *)data;
        mr_value *v = mr_value_borrow(&r->t);
        return v ? v : short_of_memory(r);
    }
    mr_value *v = mr_value_tensor(d, r->t.rank, r->t.dims);
    if (!v) return short_of_memory(r);
    uint8_t *dst = v->t.data;
    if (d == MR_BOOL)
        for (size_t i = 0; i < size; i++) dst[i] = data[i] != 0;
    else if (!as_is)
        unpack(dst, data, size, r->count, d);
    else if (size)
        memcpy(dst, data, size);
    if (map && size >= FORGET) mr_map_forget(map, (size_t)(data - (const uint8_t *)map->data), size);
    return v;
}

static bool entry_number(reading *r, const char *key, const char *text, uint64_t *out)
{
    char *end;
    *out = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && *end == 0 && *out <= INT64_MAX) return true;
    mr_fail(r->e, MR_E_EXTERNAL, "tensor '%s': external %s '%s' is no count of bytes", r->name, key, text);
    return false;
}

static mr_value *read_external(reading *r)
{
    const char *location = NULL;
    uint64_t offset = 0, length = raw_bytes(r);
    for (size_t i = 0; i < r->p->n_external_data; i++) {
        const char *key = r->p->external_data[i]->key, *value = r->p->external_data[i]->value;
        if (!key || !value) continue;
        if (strcmp(key, "location") == 0) location = value;
        if (strcmp(key, "offset") == 0 && !entry_number(r, key, value, &offset)) return NULL;
        if (strcmp(key, "length") == 0 && !entry_number(r, key, value, &length)) return NULL;
    }
    if (!location || !*location) {
        mr_fail(r->e, MR_E_EXTERNAL, "tensor '%s': external data without a location", r->name);
        return NULL;
    }
    if (r->t.dtype == MR_STRING) {
        mr_fail(r->e, MR_E_EXTERNAL, "tensor '%s': strings cannot be external data", r->name);
        return NULL;
    }
    if (!r->source->model) {
        mr_fail(r->e, MR_E_EXTERNAL, "tensor '%s': external data '%s' outside of a model", r->name, location);
        return NULL;
    }
    const mr_map *map = mr_external_map(r->source->model, r->name, location, r->e);
    if (!map) return NULL;
    if (offset > map->size || length > map->size - offset) {
        mr_fail(r->e, MR_E_EXTERNAL, "tensor '%s': file '%s' has %zu bytes, needs %llu+%llu", r->name, location,
                map->size, (unsigned long long)offset, (unsigned long long)length);
        mr_error_hint(r->e, "the data file is cut off, or belongs to another model");
        return NULL;
    }
    return read_raw(r, map, (const uint8_t *)map->data + offset, length);
}

/* ---- typed fields ---- */

static bool has_count(reading *r, size_t have, size_t need, const char *field)
{
    if (have == need) return true;
    mr_shape s = mr_tensor_shape(&r->t);
    char text[256];
    mr_fail(r->e, MR_E_TENSOR, "tensor '%s': %s%s takes %zu entries of %s, there are %zu", r->name,
            mr_dtype_name(r->t.dtype), mr_shape_string(&s, NULL, text, sizeof text), need, field, have);
    return false;
}

static void narrow_int32(void *dst, const int32_t *src, int64_t n, mr_dtype d)
{
    size_t size = mr_dtype_size(d);
    for (int64_t i = 0; i < n; i++) {
        if (d == MR_BOOL)
            ((uint8_t *)dst)[i] = src[i] != 0;
        else if (size == 1)
            ((uint8_t *)dst)[i] = (uint8_t)(d >= MR_F6E2M3 ? src[i] & 63 : src[i]);
        else if (size == 2)
            ((uint16_t *)dst)[i] = (uint16_t)src[i];
        else
            ((int32_t *)dst)[i] = src[i];
    }
}

/* int32_data holds an element an entry, but for 4- and 2-bit types a packed byte an entry. */
static mr_value *read_int32(reading *r)
{
    mr_dtype d = r->t.dtype;
    bool packed = mr_dtype_wire_bits(d) < 6;
    size_t need = packed ? packed_bytes(r->count, d) : (size_t)r->count;
    if (!has_count(r, r->p->n_int32_data, need, "int32_data")) return NULL;
    mr_value *v = mr_value_tensor(d, r->t.rank, r->t.dims);
    if (!v) return short_of_memory(r);
    if (!packed) {
        narrow_int32(v->t.data, r->p->int32_data, r->count, d);
        return v;
    }
    uint8_t *bytes = malloc(need + 1);
    if (!bytes) {
        mr_value_release(v);
        return short_of_memory(r);
    }
    for (size_t i = 0; i < need; i++) bytes[i] = (uint8_t)r->p->int32_data[i];
    unpack(v->t.data, bytes, need, r->count, d);
    free(bytes);
    return v;
}

static mr_value *read_uint64(reading *r)
{
    if (!has_count(r, r->p->n_uint64_data, (size_t)r->count, "uint64_data")) return NULL;
    mr_value *v = mr_value_tensor(r->t.dtype, r->t.rank, r->t.dims);
    if (!v) return short_of_memory(r);
    for (int64_t i = 0; i < r->count; i++)
        if (r->t.dtype == MR_U32)
            ((uint32_t *)v->t.data)[i] = (uint32_t)r->p->uint64_data[i];
        else
            ((uint64_t *)v->t.data)[i] = r->p->uint64_data[i];
    return v;
}

static mr_value *read_strings(reading *r)
{
    if (!has_count(r, r->p->n_string_data, (size_t)r->count, "string_data")) return NULL;
    mr_value *v = mr_value_tensor(MR_STRING, r->t.rank, r->t.dims);
    for (int64_t i = 0; v && i < r->count; i++)
        if (!mr_value_set_string(v, i, (const char *)r->p->string_data[i].data, r->p->string_data[i].len)) {
            mr_value_release(v);
            v = NULL;
        }
    return v ? v : short_of_memory(r);
}

/* Entries of the element's own type, or of its parts' (complex numbers). */
static mr_value *read_plain(reading *r, const void *src, size_t have, size_t parts, const char *field)
{
    if (!has_count(r, have, (size_t)r->count * parts, field)) return NULL;
    mr_value *v = mr_value_tensor(r->t.dtype, r->t.rank, r->t.dims);
    if (!v) return short_of_memory(r);
    if (have) memcpy(v->t.data, src, mr_tensor_bytes(&v->t));
    return v;
}

static mr_value *read_typed(reading *r)
{
    const Onnx__TensorProto *p = r->p;
    switch (r->t.dtype) {
    case MR_F32:
        return read_plain(r, p->float_data, p->n_float_data, 1, "float_data");
    case MR_C64:
        return read_plain(r, p->float_data, p->n_float_data, 2, "float_data");
    case MR_F64:
        return read_plain(r, p->double_data, p->n_double_data, 1, "double_data");
    case MR_C128:
        return read_plain(r, p->double_data, p->n_double_data, 2, "double_data");
    case MR_I64:
        return read_plain(r, p->int64_data, p->n_int64_data, 1, "int64_data");
    case MR_U32:
    case MR_U64:
        return read_uint64(r);
    case MR_STRING:
        return read_strings(r);
    default:
        return read_int32(r);
    }
}

static bool start(reading *r)
{
    const Onnx__TensorProto *p = r->p;
    int fields = (p->n_float_data > 0) + (p->n_int32_data > 0) + (p->n_string_data > 0) + (p->n_int64_data > 0) +
                 (p->n_double_data > 0) + (p->n_uint64_data > 0) + p->has_raw_data;
    if (p->data_type <= 0 || p->data_type >= MR_N_DTYPES) {
        mr_fail(r->e, MR_E_TENSOR, "tensor '%s': unknown element type %d", r->name, p->data_type);
        return false;
    }
    r->t.dtype = (mr_dtype)p->data_type;
    if (p->segment) {
        mr_fail(r->e, MR_E_TENSOR, "tensor '%s': segments of tensors are not part of a model", r->name);
        return false;
    }
    if (fields > 1) {
        mr_fail(r->e, MR_E_TENSOR, "tensor '%s': data in more than one field", r->name);
        return false;
    }
    if (p->has_raw_data && r->t.dtype == MR_STRING) {
        mr_fail(r->e, MR_E_TENSOR, "tensor '%s': strings cannot be raw_data", r->name);
        return false;
    }
    return read_dims(r, p->dims, p->n_dims);
}

mr_value *mr_tensor_load(const mr_source *s, const Onnx__TensorProto *p, const char *what, mr_error *e)
{
    reading r = {.source = s, .p = p, .name = p->name && *p->name ? p->name : what, .e = e};
    if (!start(&r)) return NULL;
    if (p->has_data_location && p->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
        return read_external(&r);
    if (!p->has_raw_data) return read_typed(&r);
    mr_wire_raw raw;
    memcpy(&raw, p->raw_data.data, sizeof raw);
    return read_raw(&r, s->map, s->bytes + raw.offset, raw.size);
}

/* ---- sparse ---- */

/* Indices count through the dense tensor (linear), whether the file gives them so or as rows of coordinates. */
static bool linear_indices(const mr_tensor *given, const mr_tensor *dense, int64_t *out, const char *name, mr_error *e)
{
    const int64_t *at = given->data;
    int64_t n = given->dims[0], total = mr_tensor_count(dense);
    for (int64_t i = 0; i < n; i++) {
        bool inside = true;
        out[i] = given->rank == 1 ? at[i] : 0;
        for (int k = 0; given->rank == 2 && k < dense->rank; k++) {
            int64_t x = at[i * dense->rank + k];
            inside = inside && x >= 0 && x < dense->dims[k];
            if (inside) out[i] = out[i] * dense->dims[k] + x;
        }
        if (!inside || out[i] < 0 || out[i] >= total) {
            mr_fail(e, MR_E_TENSOR, "sparse tensor '%s': index %lld lies outside the shape", name, (long long)i);
            return false;
        }
        if (i && out[i] <= out[i - 1]) {
            mr_fail(e, MR_E_TENSOR, "sparse tensor '%s': index %lld is not above the one before", name, (long long)i);
            return false;
        }
    }
    return true;
}

static mr_value *sparse_value(reading *r, const mr_value *values, const mr_value *given)
{
    const mr_tensor *v = &values->t, *g = &given->t;
    if (v->rank != 1 || g->dtype != MR_I64 || g->rank < 1 || g->rank > 2 || g->dims[0] != v->dims[0] ||
        (g->rank == 2 && g->dims[1] != r->t.rank)) {
        mr_fail(r->e, MR_E_TENSOR, "sparse tensor '%s': values must be [N], indices int64 [N] or [N,rank of the shape]",
                r->name);
        return NULL;
    }
    if (r->t.rank == 0 || r->count == 0) {
        mr_fail(r->e, MR_E_TENSOR, "sparse tensor '%s': its shape must have dimensions, all above 0", r->name);
        return NULL;
    }
    mr_value *indices = mr_value_tensor(MR_I64, 1, v->dims);
    if (!indices) return short_of_memory(r);
    mr_value *out = NULL;
    if (linear_indices(g, &r->t, indices->t.data, r->name, r->e)) {
        mr_type type = {.kind = MR_SPARSE, .elem = (uint8_t)v->dtype};
        out = mr_value_list(type, 2, (mr_value *const[]){(mr_value *)values, indices});
        if (out)
            out->t = r->t;
        else
            short_of_memory(r);
    }
    mr_value_release(indices);
    return out;
}

mr_value *mr_sparse_load(const mr_source *s, const Onnx__SparseTensorProto *p, const char *what, mr_error *e)
{
    const char *name = p->values && p->values->name && *p->values->name ? p->values->name : what;
    reading r = {.source = s, .name = name, .e = e};
    if (!p->values || !p->indices) {
        mr_fail(e, MR_E_TENSOR, "sparse tensor '%s': values or indices are missing", name);
        return NULL;
    }
    mr_value *values = mr_tensor_load(s, p->values, name, e), *indices = NULL, *v = NULL;
    if (values && (indices = mr_tensor_load(s, p->indices, name, e))) {
        r.t.dtype = values->t.dtype;
        if (read_dims(&r, p->dims, p->n_dims)) v = sparse_value(&r, values, indices);
    }
    mr_value_release(values);
    mr_value_release(indices);
    return v;
}

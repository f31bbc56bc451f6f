/* pb_write.c: writes values as ONNX's messages. The messages live in a region and point into the tensors. */
#include <errno.h>
#include <string.h>

#include "onnx.pb-c.h"
#include "pb.h"
#include "runtime/region.h"

/* Elements of less than a byte: a stream of bits, the lowest first. */
static void pack(uint8_t *to, const uint8_t *from, int64_t n, unsigned bits)
{
    for (int64_t i = 0; i < n; i++) {
        size_t bit = (size_t)i * bits;
        unsigned two = (from[i] & ((1u << bits) - 1)) << bit % 8;
        to[bit / 8] |= (uint8_t)two;
        if (two >> 8) to[bit / 8 + 1] |= (uint8_t)(two >> 8);
    }
}

static bool fill_strings(mr_region *r, Onnx__TensorProto *p, const mr_tensor *t)
{
    p->n_string_data = (size_t)mr_tensor_count(t);
    p->string_data = MR_REGION_NEW(r, ProtobufCBinaryData, p->n_string_data + 1);
    for (size_t i = 0; p->string_data && i < p->n_string_data; i++) {
        mr_string s = ((const mr_string *)t->data)[i];
        p->string_data[i] = (ProtobufCBinaryData){s.len, (uint8_t *)(uintptr_t)s.data};
    }
    return p->string_data != NULL;
}

static Onnx__TensorProto *tensor_proto(mr_region *r, const char *name, const mr_tensor *t)
{
    Onnx__TensorProto *p = MR_REGION_NEW(r, Onnx__TensorProto, 1);
    if (!p) return NULL;
    onnx__tensor_proto__init(p);
    p->name = (char *)(uintptr_t)name;
    p->has_data_type = true;
    p->data_type = t->dtype;
    p->n_dims = (size_t)t->rank;
    p->dims = (int64_t *)(uintptr_t)t->dims;
    if (t->dtype == MR_STRING) return fill_strings(r, p, t) ? p : NULL;
    unsigned bits = (unsigned)mr_dtype_wire_bits(t->dtype);
    p->has_raw_data = true;
    p->raw_data = (ProtobufCBinaryData){mr_tensor_bytes(t), t->data};
    if (bits >= 8) return p;
    int64_t n = mr_tensor_count(t);
    p->raw_data.len = ((size_t)n * bits + 7) / 8;
    p->raw_data.data = mr_region_alloc(r, p->raw_data.len + 1);
    if (p->raw_data.data) pack(p->raw_data.data, t->data, n, bits);
    return p->raw_data.data ? p : NULL;
}

static Onnx__SparseTensorProto *sparse_proto(mr_region *r, const mr_value *v)
{
    Onnx__SparseTensorProto *p = MR_REGION_NEW(r, Onnx__SparseTensorProto, 1);
    if (!p) return NULL;
    onnx__sparse_tensor_proto__init(p);
    p->values = tensor_proto(r, NULL, &v->items[0]->t);
    p->indices = tensor_proto(r, NULL, &v->items[1]->t);
    p->n_dims = (size_t)v->t.rank;
    p->dims = (int64_t *)(uintptr_t)v->t.dims;
    return p->values && p->indices ? p : NULL;
}

static Onnx__MapProto *map_proto(mr_region *r, const char *name, const mr_value *v);

static Onnx__SequenceProto *sequence_proto(mr_region *r, const char *name, const mr_value *v)
{
    Onnx__SequenceProto *p = MR_REGION_NEW(r, Onnx__SequenceProto, 1);
    void **items = MR_REGION_NEW(r, void *, v->n + 1);
    if (!p || !items) return NULL;
    onnx__sequence_proto__init(p);
    p->name = (char *)(uintptr_t)name;
    p->has_elem_type = true;
    bool maps = v->type.kind == MR_SEQ_MAP;
    for (int64_t i = 0; i < v->n; i++) {
        items[i] = maps ? (void *)map_proto(r, NULL, v->items[i]) : (void *)tensor_proto(r, NULL, &v->items[i]->t);
        if (!items[i]) return NULL;
    }
    if (maps) {
        p->elem_type = ONNX__SEQUENCE_PROTO__DATA_TYPE__MAP;
        p->n_map_values = (size_t)v->n;
        p->map_values = (Onnx__MapProto **)items;
    } else {
        p->elem_type = ONNX__SEQUENCE_PROTO__DATA_TYPE__TENSOR;
        p->n_tensor_values = (size_t)v->n;
        p->tensor_values = (Onnx__TensorProto **)items;
    }
    return p;
}

/* The vector of a map's values as a sequence of scalars. */
static Onnx__SequenceProto *scalars_proto(mr_region *r, const mr_tensor *t)
{
    int64_t n = mr_tensor_count(t);
    Onnx__SequenceProto *p = MR_REGION_NEW(r, Onnx__SequenceProto, 1);
    if (!p) return NULL;
    onnx__sequence_proto__init(p);
    p->has_elem_type = true;
    p->elem_type = ONNX__SEQUENCE_PROTO__DATA_TYPE__TENSOR;
    p->n_tensor_values = (size_t)n;
    p->tensor_values = MR_REGION_NEW(r, Onnx__TensorProto *, n + 1);
    for (int64_t i = 0; p->tensor_values && i < n; i++) {
        mr_tensor one = {.dtype = t->dtype, .data = (char *)t->data + (size_t)i * mr_dtype_size(t->dtype)};
        if (!(p->tensor_values[i] = tensor_proto(r, NULL, &one))) return NULL;
        p->tensor_values[i]->dims = NULL;
    }
    return p->tensor_values ? p : NULL;
}

static Onnx__MapProto *map_proto(mr_region *r, const char *name, const mr_value *v)
{
    const mr_tensor *keys = &v->items[0]->t;
    int64_t n = mr_tensor_count(keys);
    Onnx__MapProto *p = MR_REGION_NEW(r, Onnx__MapProto, 1);
    if (!p) return NULL;
    onnx__map_proto__init(p);
    p->name = (char *)(uintptr_t)name;
    p->has_key_type = true;
    p->key_type = keys->dtype;
    p->values = scalars_proto(r, &v->items[1]->t);
    if (keys->dtype == MR_STRING) {
        Onnx__TensorProto *strings = tensor_proto(r, NULL, keys);
        p->n_string_keys = strings ? strings->n_string_data : 0;
        p->string_keys = strings ? strings->string_data : NULL;
        return p->values && strings ? p : NULL;
    }
    p->n_keys = (size_t)n;
    p->keys = MR_REGION_NEW(r, int64_t, n + 1);
    for (int64_t i = 0; p->keys && i < n; i++) p->keys[i] = mr_tensor_int(keys, i);
    return p->values && p->keys ? p : NULL;
}

static Onnx__OptionalProto *optional_proto(mr_region *r, const char *name, const mr_value *v)
{
    Onnx__OptionalProto *p = MR_REGION_NEW(r, Onnx__OptionalProto, 1);
    if (!p) return NULL;
    onnx__optional_proto__init(p);
    p->name = (char *)(uintptr_t)name;
    p->has_elem_type = true;
    p->elem_type = ONNX__OPTIONAL_PROTO__DATA_TYPE__UNDEFINED;
    if (v->n == 0) return p;
    if (v->items[0]->type.kind == MR_SEQUENCE) {
        p->elem_type = ONNX__OPTIONAL_PROTO__DATA_TYPE__SEQUENCE;
        p->sequence_value = sequence_proto(r, NULL, v->items[0]);
        return p->sequence_value ? p : NULL;
    }
    p->elem_type = ONNX__OPTIONAL_PROTO__DATA_TYPE__TENSOR;
    p->tensor_value = tensor_proto(r, NULL, &v->items[0]->t);
    return p->tensor_value ? p : NULL;
}

static ProtobufCMessage *message(mr_region *r, const char *name, const mr_value *v)
{
    switch ((mr_kind)v->type.kind) {
    case MR_TENSOR:
        return (ProtobufCMessage *)tensor_proto(r, name, &v->t);
    case MR_SPARSE:
        return (ProtobufCMessage *)sparse_proto(r, v);
    case MR_SEQUENCE:
    case MR_SEQ_MAP:
        return (ProtobufCMessage *)sequence_proto(r, name, v);
    case MR_MAP:
        return (ProtobufCMessage *)map_proto(r, name, v);
    default:
        return (ProtobufCMessage *)optional_proto(r, name, v);
    }
}

typedef struct file_buffer {
    ProtobufCBuffer base;
    FILE *f;
} file_buffer;

static void append(ProtobufCBuffer *b, size_t n, const uint8_t *bytes)
{
    fwrite(bytes, 1, n, ((file_buffer *)b)->f);
}

mr_status mr_pb_write(FILE *f, const char *name, const mr_value *v, mr_error *e)
{
    mr_region r = {0};
    ProtobufCMessage *m = message(&r, name, v);
    file_buffer b = {{append}, f};
    if (m) protobuf_c_message_pack_to_buffer(m, &b.base);
    mr_region_free(&r);
    if (!m) return mr_fail(e, MR_E_MEMORY, "out of memory");
    return ferror(f) ? mr_fail(e, MR_E_IO, "cannot write: %s", strerror(errno)) : MR_OK;
}

/* pb.c: reads values from ONNX's messages. */
#include "pb.h"

#include <stdlib.h>
#include <string.h>

#include "../../runtime/model.h"
#include "file.h"

/* The wire types with which each of the first fields occurs at the top of a message: bit w of at[field]. */
enum { N_FIELDS = 32, VARINT = 1 << 0, FIXED64 = 1 << 1, BYTES = 1 << 2, FIXED32 = 1 << 5 };

typedef struct fields {
    unsigned at[N_FIELDS];
    uint64_t second; /* the last varint of field 2: data_type, elem_type or key_type */
    bool valid;
} fields;

static bool varint(const uint8_t **p, const uint8_t *end, uint64_t *x)
{
    *x = 0;
    for (int shift = 0; *p < end && shift < 64; shift += 7) {
        uint8_t b = *(*p)++;
        *x |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80)) return true;
    }
    return false;
}

static bool skip(const uint8_t **p, const uint8_t *end, unsigned wire, uint64_t *x)
{
    uint64_t n = wire == 1 ? 8 : wire == 5 ? 4 : 0;
    if (wire == 0) return varint(p, end, x);
    if (wire == 2 && !varint(p, end, &n)) return false;
    if ((wire != 1 && wire != 2 && wire != 5) || n > (uint64_t)(end - *p)) return false;
    *p += n;
    return true;
}

static fields survey(const uint8_t *bytes, size_t size)
{
    fields f = {.valid = true};
    const uint8_t *p = bytes, *end = bytes ? bytes + size : bytes;
    while (p < end) {
        uint64_t tag, x = 0;
        if (!varint(&p, end, &tag) || tag >> 3 == 0 || tag >> 3 >= N_FIELDS || !skip(&p, end, tag & 7, &x)) {
            f.valid = false;
            break;
        }
        f.at[tag >> 3] |= 1u << (tag & 7);
        if (tag >> 3 == 2) f.second = x;
    }
    return f;
}

/* A tensor has dims 1, data_type 2, data in 4 to 7 and 9 to 11, a name 8. A sparse tensor has two tensors, 1 and 2. The
 * others have a name 1, a type 2, and what they hold in 3 to 7. */
static bool fits(const fields *f, mr_kind kind)
{
    const unsigned *at = f->at;
    bool beyond = at[8] || at[9] || at[10] || at[11] || at[13] || at[14] || at[16];
    if (!f->valid || at[12] || at[15]) return false;
    if (kind == MR_SPARSE) return at[1] == BYTES && at[2] == BYTES && !beyond;
    if (at[2] & ~(unsigned)VARINT) return false;
    if (kind == MR_TENSOR) return at[2] && !(at[3] & BYTES);
    return !beyond && !(at[1] & VARINT);
}

/* What the fields speak for, where several messages fit. A type of 1 to 5 is a kind of value: tensor, sparse tensor,
 * sequence, map, optional; a map has the data type of its keys there instead. */
static mr_kind kind_of(const fields *f)
{
    if (fits(f, MR_SPARSE)) return MR_SPARSE;
    if (!fits(f, MR_SEQUENCE)) return fits(f, MR_TENSOR) ? MR_TENSOR : MR_NONE;
    const unsigned *at = f->at;
    if (f->second == 0) return at[2] ? MR_OPTIONAL : MR_NONE; /* nothing in it */
    if (f->second > 5) return at[3] || (at[4] && at[5]) ? MR_MAP : MR_TENSOR;
    if (f->second == 1) return at[4] ? MR_TENSOR : MR_SEQUENCE;
    if (f->second == 3 && at[5]) return MR_OPTIONAL_SEQ;
    return f->second == 4 && at[6] ? MR_SEQ_MAP : MR_TENSOR;
}

static const ProtobufCMessageDescriptor *message_of(mr_kind kind)
{
    switch (kind) {
    case MR_SEQUENCE:
    case MR_SEQ_MAP:
        return &onnx__sequence_proto__descriptor;
    case MR_OPTIONAL:
    case MR_OPTIONAL_SEQ:
        return &onnx__optional_proto__descriptor;
    case MR_MAP:
        return &onnx__map_proto__descriptor;
    case MR_SPARSE:
        return &onnx__sparse_tensor_proto__descriptor;
    default:
        return &onnx__tensor_proto__descriptor;
    }
}

static mr_value *no_memory(mr_error *e)
{
    mr_fail(e, MR_E_MEMORY, "no memory for the values of the file");
    return NULL;
}

/* A list of the n items, which it takes over. */
static mr_value *list_of(mr_type type, mr_value **items, int64_t n, mr_error *e)
{
    mr_value *list = e->status == MR_OK ? mr_value_list(type, n, items) : NULL;
    if (!list) no_memory(e);
    for (int64_t i = 0; i < n; i++) mr_value_release(items[i]);
    return list;
}

static mr_value *tensors_load(const mr_source *s, const Onnx__SequenceProto *p, mr_dtype elem, mr_error *e)
{
    mr_type type = {.kind = MR_SEQUENCE, .elem = (uint8_t)elem};
    mr_value **items = calloc(p->n_tensor_values + 1, sizeof *items), *list = NULL;
    int64_t n = 0;
    if (!items) return no_memory(e);
    for (size_t i = 0; i < p->n_tensor_values && e->status == MR_OK; i++)
        if ((items[n] = mr_tensor_load(s, p->tensor_values[i], "element", e))) n++;
    if (n) type.elem = items[0]->type.elem;
    list = list_of(type, items, n, e);
    free(items);
    return list;
}

/* Keys and values as two vectors. */
static mr_value *map_keys(const Onnx__MapProto *p)
{
    bool strings = p->n_string_keys || p->key_type == MR_STRING;
    int64_t n = (int64_t)(strings ? p->n_string_keys : p->n_keys);
    mr_value *v = mr_value_tensor(strings ? MR_STRING : MR_I64, 1, &n);
    for (int64_t i = 0; v && i < n; i++) {
        if (!strings) {
            ((int64_t *)v->t.data)[i] = p->keys[i];
        } else if (!mr_value_set_string(v, i, (char *)p->string_keys[i].data, p->string_keys[i].len)) {
            mr_value_release(v);
            v = NULL;
        }
    }
    return v;
}

static mr_value *map_values(const mr_value *list, mr_dtype elem, mr_error *e)
{
    mr_value *v = mr_value_tensor(elem, 1, &list->n);
    size_t size = mr_dtype_size(elem);
    if (!v) return no_memory(e);
    for (int64_t i = 0; i < list->n; i++) {
        const mr_tensor *t = &list->items[i]->t;
        if (t->dtype != elem || mr_tensor_count(t) != 1) {
            mr_fail(e, MR_E_INPUT_FORMAT, "value %lld of the map is not one %s", (long long)i, mr_dtype_name(elem));
            break;
        }
        if (elem != MR_STRING)
            memcpy((char *)v->t.data + (size_t)i * size, t->data, size);
        else if (!mr_value_set_string(v, i, ((mr_string *)t->data)->data, ((mr_string *)t->data)->len))
            no_memory(e);
    }
    return v;
}

static mr_value *map_load(const mr_source *s, const Onnx__MapProto *p, mr_type expected, mr_error *e)
{
    Onnx__SequenceProto none = ONNX__SEQUENCE_PROTO__INIT;
    mr_value *list = tensors_load(s, p->values ? p->values : &none, expected.elem, e);
    if (!list) return NULL;
    mr_value *parts[2] = {map_keys(p), map_values(list, list->type.elem, e)};
    if (!parts[0] || !parts[1]) no_memory(e);
    mr_type type = {.kind = MR_MAP, .elem = list->type.elem};
    type.key = parts[0] && p->n_string_keys ? MR_STRING : (uint8_t)(p->key_type ? p->key_type : MR_I64);
    if (e->status == MR_OK && mr_tensor_count(&parts[0]->t) != list->n)
        mr_fail(e, MR_E_INPUT_FORMAT, "the map has %lld keys and %lld values", (long long)mr_tensor_count(&parts[0]->t),
                (long long)list->n);
    mr_value_release(list);
    return list_of(type, parts, 2, e);
}

static mr_value *maps_load(const mr_source *s, const Onnx__SequenceProto *p, mr_type expected, mr_error *e)
{
    mr_type type = {.kind = MR_SEQ_MAP, .elem = expected.elem, .key = expected.key};
    mr_value **items = calloc(p->n_map_values + 1, sizeof *items), *list;
    int64_t n = 0;
    if (!items) return no_memory(e);
    for (size_t i = 0; i < p->n_map_values && e->status == MR_OK; i++)
        if ((items[n] = map_load(s, p->map_values[i], expected, e))) n++;
    if (n) type.elem = items[0]->type.elem, type.key = items[0]->type.key;
    list = list_of(type, items, n, e);
    free(items);
    return list;
}

static mr_value *optional_load(const mr_source *s, const Onnx__OptionalProto *p, mr_type expected, mr_error *e)
{
    mr_value *item = NULL;
    if (p->tensor_value)
        item = mr_tensor_load(s, p->tensor_value, "the optional's value", e);
    else if (p->sequence_value)
        item = tensors_load(s, p->sequence_value, expected.elem, e);
    else if (p->sparse_tensor_value || p->map_value || p->optional_value)
        mr_fail(e, MR_E_INPUT_FORMAT, "an optional of this kind of value is not read: tensors and sequences are");
    if (e->status != MR_OK) return NULL;
    mr_type type = {.kind = expected.kind, .elem = item ? item->type.elem : expected.elem};
    if (item) type.kind = item->type.kind == MR_SEQUENCE ? MR_OPTIONAL_SEQ : MR_OPTIONAL;
    return list_of(type, &item, item != NULL, e);
}

static mr_value *load(const mr_source *s, const ProtobufCMessage *m, mr_type type, mr_error *e)
{
    switch ((mr_kind)type.kind) {
    case MR_SEQUENCE:
        return tensors_load(s, (const Onnx__SequenceProto *)m, type.elem, e);
    case MR_SEQ_MAP:
        return maps_load(s, (const Onnx__SequenceProto *)m, type, e);
    case MR_OPTIONAL:
    case MR_OPTIONAL_SEQ:
        return optional_load(s, (const Onnx__OptionalProto *)m, type, e);
    case MR_MAP:
        return map_load(s, (const Onnx__MapProto *)m, type, e);
    case MR_SPARSE:
        return mr_sparse_load(s, (const Onnx__SparseTensorProto *)m, "value", e);
    default:
        return mr_tensor_load(s, (const Onnx__TensorProto *)m, "value", e);
    }
}

static const char *name_of(const ProtobufCMessage *m)
{
    if (m->descriptor == &onnx__tensor_proto__descriptor) return ((const Onnx__TensorProto *)m)->name;
    if (m->descriptor == &onnx__sequence_proto__descriptor) return ((const Onnx__SequenceProto *)m)->name;
    if (m->descriptor == &onnx__optional_proto__descriptor) return ((const Onnx__OptionalProto *)m)->name;
    if (m->descriptor == &onnx__map_proto__descriptor) return ((const Onnx__MapProto *)m)->name;
    return NULL;
}

static mr_status not_pb(const void *bytes, size_t size, mr_kind expected, mr_kind found, mr_error *e)
{
    const char *want = expected == MR_NONE ? "value" : message_of(expected)->short_name;
    const char *look = found == MR_NONE ? mr_bytes_look(bytes, size) : message_of(found)->short_name;
    mr_fail(e, MR_E_INPUT_FORMAT, "not a protobuf %s: it looks like %s%s", want, found == MR_NONE ? "" : "a protobuf ",
            look);
    if (strstr(look, "image")) mr_error_hint(e, "pictures are read as PNG and JPEG: convert it");
    return e->status;
}

mr_status mr_pb_parse(const void *bytes, size_t size, mr_type expected, mr_value **out, char **name, mr_error *e)
{
    *out = NULL;
    if (name) *name = NULL;
    fields f = survey(bytes, size);
    mr_kind found = size ? kind_of(&f) : MR_NONE;
    bool optional = expected.kind == MR_OPTIONAL || expected.kind == MR_OPTIONAL_SEQ;
    if (expected.kind == MR_NONE || (optional && found == MR_TENSOR)) expected.kind = (uint8_t)found;
    if (expected.kind == MR_NONE || (f.valid && !fits(&f, expected.kind)))
        return not_pb(bytes, size, expected.kind, found, e);
    ProtobufCMessage *m;
    mr_error why = {0};
    if (mr_wire_unpack(message_of(expected.kind), bytes, size, &m, &why) != MR_OK) {
        if (why.code == MR_E_TRUNCATED && !mr_sniff(bytes, size))
            mr_fail(e, MR_E_INPUT_FORMAT, "truncated: the file ends inside a field of its %s",
                    message_of(expected.kind)->short_name);
        else
            not_pb(bytes, size, expected.kind, MR_NONE, e);
        mr_error_clear(&why);
        return e->status;
    }
    mr_source s = {.bytes = bytes};
    *out = load(&s, m, expected, e);
    if (*out && name && name_of(m)) *name = strdup(name_of(m));
    protobuf_c_message_free_unpacked(m, NULL);
    if (*out && e->status != MR_OK) {
        mr_value_release(*out);
        *out = NULL;
    }
    return e->status;
}

/* What a malformed tensor is to a model's file is here a bad input. */
static void not_the_model(mr_error *e)
{
    if (e->status != MR_EINVALID) return;
    e->status = MR_EINPUT;
    e->code = MR_E_INPUT_FORMAT;
}

mr_status mr_pb_read(const char *path, mr_type expected, mr_value **out, char **name, mr_error *e)
{
    mr_map *file;
    *out = NULL;
    mr_error why = {0};
    if (mr_file_open(path, &file, e) != MR_OK) return e->status;
    if (mr_pb_parse(file->data, file->size, expected, out, name, &why) != MR_OK) {
        not_the_model(&why);
        mr_error_in_file(e, &why, path);
    }
    mr_map_close(file);
    return e->status;
}

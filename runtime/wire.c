/* wire.c: the walk over the wire format, driven by protobuf-c's descriptors. */
#include "wire.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "onnx.pb-c.h"

enum {
    DEEPEST = 100,    /* nested messages, as in protobuf itself */
    LENGTH_BYTES = 5, /* of a message's length, written before it is known; padded varints are valid */
    LONGEST_VARINT = 10,
    RAW_DATA = 9 /* TensorProto.raw_data */
};

enum { VARINT = 0, FIXED64 = 1, LENGTH = 2, FIXED32 = 5 };

typedef struct slim {
    const uint8_t *in;
    size_t size; /* of in */
    uint8_t *out;
    size_t n, cap; /* of out */
    mr_error *e;
} slim;

static bool put(slim *s, const void *bytes, size_t n)
{
    if (n > s->cap - s->n) {
        size_t cap = s->cap ? s->cap : 4096;
        while (cap - s->n < n) cap *= 2;
        uint8_t *out = cap <= INT32_MAX ? realloc(s->out, cap) : NULL;
        if (!out) {
            mr_fail(s->e, MR_E_MEMORY, "no memory for a model of %zu bytes", s->size);
            return false;
        }
        s->out = out;
        s->cap = cap;
    }
    memcpy(s->out + s->n, bytes, n);
    s->n += n;
    return true;
}

static bool varint(const slim *s, size_t *at, size_t end, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; shift < 7 * LONGEST_VARINT && *at < end; shift += 7) {
        uint8_t byte = s->in[(*at)++];
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return true;
    }
    return false;
}

static int wire_type_of(ProtobufCType t)
{
    switch (t) {
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_FLOAT:
        return FIXED32;
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return FIXED64;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE:
        return LENGTH;
    default:
        return VARINT;
    }
}

static bool malformed(slim *s, size_t at, const ProtobufCMessageDescriptor *d, const char *what)
{
    mr_fail(s->e, MR_E_NOT_ONNX, "not an ONNX model: %s, in a %s at byte %zu", what, d->short_name, at);
    return false;
}

/* A field that does not end where its message ends: the file was cut off when the message is the file itself, or when
 * the message already claims all that there is. */
static bool overrun(slim *s, size_t at, size_t end, const ProtobufCMessageDescriptor *d,
                    const ProtobufCFieldDescriptor *f)
{
    if (end < s->size) return malformed(s, at, d, "a field is longer than its message");
    mr_fail(s->e, MR_E_TRUNCATED,
            "truncated: the file ends at byte %zu, inside field %s of a %s that begins at byte %zu", s->size,
            f ? f->name : "?", d->short_name, at);
    return false;
}

/* A number of the field that begins at start. */
static bool number(slim *s, size_t start, size_t *at, size_t end, const ProtobufCMessageDescriptor *d,
                   const ProtobufCFieldDescriptor *f, uint64_t *value)
{
    size_t begin = *at;
    if (varint(s, at, end, value)) return true;
    if (*at - begin == LONGEST_VARINT) return malformed(s, start, d, "a number of more than 64 bits");
    return overrun(s, start, end, d, f);
}

static bool message(slim *s, const ProtobufCMessageDescriptor *d, size_t at, size_t end, int depth);

/* A field of n bytes at `at`, its key at `start`. */
static bool length_field(slim *s, const ProtobufCMessageDescriptor *d, const ProtobufCFieldDescriptor *f, size_t start,
                         size_t key_end, size_t at, size_t n, int depth)
{
    if (f->type == PROTOBUF_C_TYPE_MESSAGE) {
        if (depth == DEEPEST) return malformed(s, start, d, "messages are nested too deeply");
        uint8_t length[LENGTH_BYTES] = {0};
        if (!put(s, s->in + start, key_end - start) || !put(s, length, LENGTH_BYTES)) return false;
        size_t begin = s->n;
        if (!message(s, f->descriptor, at, at + n, depth + 1)) return false;
        size_t written = s->n - begin;
        for (int i = 0; i < LENGTH_BYTES; i++, written >>= 7)
            s->out[begin - LENGTH_BYTES + (size_t)i] = (uint8_t)((written & 0x7f) | (i < LENGTH_BYTES - 1 ? 0x80 : 0));
        return true;
    }
    if (d == &onnx__tensor_proto__descriptor && f->id == RAW_DATA) {
        mr_wire_raw raw = {.offset = at, .size = n};
        uint8_t length = sizeof raw;
        return put(s, s->in + start, key_end - start) && put(s, &length, 1) && put(s, &raw, sizeof raw);
    }
    return put(s, s->in + start, at + n - start);
}

static bool message(slim *s, const ProtobufCMessageDescriptor *d, size_t at, size_t end, int depth)
{
    while (at < end) {
        size_t start = at;
        uint64_t key, n = 0;
        if (!number(s, start, &at, end, d, NULL, &key)) return false;
        const ProtobufCFieldDescriptor *f =
            key >> 3 <= UINT32_MAX ? protobuf_c_message_descriptor_get_field(d, (unsigned)(key >> 3)) : NULL;
        size_t key_end = at;
        int type = (int)(key & 7);
        if (type == VARINT) {
            if (!number(s, start, &at, end, d, f, &n)) return false;
            n = 0;
        } else if (type == LENGTH) {
            if (!number(s, start, &at, end, d, f, &n)) return false;
        } else if (type == FIXED32 || type == FIXED64) {
            n = type == FIXED32 ? 4 : 8;
        } else {
            return malformed(s, start, d, "a field of unknown kind");
        }
        if (key >> 3 == 0) return malformed(s, start, d, "a field with number 0");
        if (n > end - at) return overrun(s, start, end, d, f);
        if (f) { /* what is not known is left out */
            int want = wire_type_of(f->type);
            bool packed = f->label == PROTOBUF_C_LABEL_REPEATED && type == LENGTH;
            if (type != want && !packed) return malformed(s, start, d, "a field of the wrong kind");
            if (type == LENGTH ? !length_field(s, d, f, start, key_end, at, n, depth)
                               : !put(s, s->in + start, at + n - start))
                return false;
        }
        at += n;
    }
    return true;
}

mr_status mr_wire_unpack(const ProtobufCMessageDescriptor *d, const void *bytes, size_t n, ProtobufCMessage **out,
                         mr_error *e)
{
    slim s = {.in = bytes, .size = n, .e = e};
    *out = NULL;
    if (message(&s, d, 0, n, 0)) {
        *out = protobuf_c_message_unpack(d, NULL, s.n, s.out);
        if (!*out) mr_fail(e, MR_E_NOT_ONNX, "not an ONNX model: its bytes are no %s", d->short_name);
    }
    free(s.out);
    return *out ? MR_OK : e->status;
}

/* safetensors.c: 8 bytes length, a JSON header of that length, then the bytes of all tensors. */
#include "safetensors.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

static const char *const names[MR_N_DTYPES] = {
    [MR_F32] = "F32",   [MR_F64] = "F64",          [MR_F16] = "F16",        [MR_BF16] = "BF16",
    [MR_I8] = "I8",     [MR_I16] = "I16",          [MR_I32] = "I32",        [MR_I64] = "I64",
    [MR_U8] = "U8",     [MR_U16] = "U16",          [MR_U32] = "U32",        [MR_U64] = "U64",
    [MR_BOOL] = "BOOL", [MR_F8E4M3FN] = "F8_E4M3", [MR_F8E5M2] = "F8_E5M2", [MR_F8E8M0] = "F8_E8M0",
    [MR_C64] = "C64",
};

static mr_dtype dtype_of(const char *name)
{
    for (int d = 1; d < MR_N_DTYPES; d++)
        if (names[d] && strcmp(names[d], name) == 0) return (mr_dtype)d;
    return MR_UNDEFINED;
}

static bool read_dims(const json_t *shape, mr_shape *s)
{
    s->rank = (int)json_array_size(shape);
    if (!json_is_array(shape) || json_array_size(shape) > MR_MAX_RANK) return false;
    for (int i = 0; i < s->rank; i++) s->d[i] = json_integer_value(json_array_get(shape, (size_t)i));
    return mr_shape_known(s);
}

static mr_status add(const char *name, const json_t *entry, const char *data, size_t size, mr_set *set, mr_error *e)
{
    const char *type = json_string_value(json_object_get(entry, "dtype"));
    const json_t *offsets = json_object_get(entry, "data_offsets");
    json_int_t begin = json_integer_value(json_array_get(offsets, 0)),
               end = json_integer_value(json_array_get(offsets, 1));
    mr_dtype d = type ? dtype_of(type) : MR_UNDEFINED;
    mr_shape s;
    size_t bytes;
    if (d == MR_UNDEFINED)
        return mr_fail(e, MR_E_INPUT_FORMAT, "tensor '%s' has the type '%s', which is not read", name,
                       type ? type : "?");
    if (!read_dims(json_object_get(entry, "shape"), &s) || !mr_shape_bytes(&s, d, &bytes))
        return mr_fail(e, MR_E_INPUT_FORMAT, "tensor '%s' has a malformed shape", name);
    if (begin < 0 || end < begin || (size_t)end > size || (size_t)(end - begin) != bytes)
        return mr_fail(e, MR_E_INPUT_FORMAT,
                       "tensor '%s': its bytes %lld to %lld do not fit its shape, or the file is truncated", name,
                       (long long)begin, (long long)end);
    mr_value *v = mr_value_tensor(d, s.rank, s.d);
    if (v && bytes) memcpy(v->t.data, data + begin, bytes);
    return mr_set_add(set, name, v, e);
}

static mr_status parse(const unsigned char *bytes, size_t size, mr_set *set, mr_error *e)
{
    uint64_t length = 0;
    for (int i = 7; i >= 0 && size >= 8; i--) length = length << 8 | bytes[i];
    if (size < 8 || length < 2 || bytes[8] != '{')
        return mr_fail(e, MR_E_INPUT_FORMAT, "not a safetensors file: it looks like %s", mr_bytes_look(bytes, size));
    if (length > size - 8) return mr_fail(e, MR_E_INPUT_FORMAT, "truncated: the file ends inside the header");
    json_error_t at;
    json_t *header = json_loadb((const char *)bytes + 8, length, 0, &at), *entry;
    const char *name;
    if (!json_is_object(header)) mr_fail(e, MR_E_INPUT_FORMAT, "the header is no JSON object: %s", at.text);
    json_object_foreach(header, name, entry) if (e->status == MR_OK && strcmp(name, "__metadata__") != 0)
        add(name, entry, (const char *)bytes + 8 + length, size - 8 - length, set, e);
    json_decref(header);
    return e->status;
}

mr_status mr_safetensors_read(const char *path, mr_set *set, mr_error *e)
{
    mr_map *file;
    mr_error why = {0};
    if (mr_file_open(path, &file, e)) return e->status;
    if (parse(file->data, file->size, set, &why)) mr_error_in_file(e, &why, path);
    mr_map_close(file);
    return e->status;
}

static json_t *entry_of(const mr_tensor *t, size_t *offset)
{
    json_t *shape = json_array();
    for (int i = 0; i < t->rank; i++) json_array_append_new(shape, json_integer(t->dims[i]));
    size_t begin = *offset;
    *offset += mr_tensor_bytes(t);
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", names[t->dtype], "shape", shape, "data_offsets",
                     (json_int_t)begin, (json_int_t)*offset);
}

static mr_status writable(const mr_set *set, mr_error *e)
{
    char type[64];
    for (int i = 0; i < set->n; i++) {
        const mr_value *v = set->at[i].value;
        if (v->type.kind != MR_TENSOR || !names[v->t.dtype])
            return mr_fail(e, MR_E_USAGE, "'%s' is %s, which safetensors does not have", set->at[i].name,
                           mr_type_string(v->type, type, sizeof type));
    }
    return MR_OK;
}

mr_status mr_safetensors_write(const char *path, const mr_set *set, mr_error *e)
{
    if (writable(set, e)) return e->status;
    json_t *header = json_object();
    size_t offset = 0;
    for (int i = 0; i < set->n; i++)
        json_object_set_new(header, set->at[i].name, entry_of(&set->at[i].value->t, &offset));
    char *text = json_dumps(header, JSON_COMPACT);
    json_decref(header);
    FILE *f = text ? fopen(path, "w") : NULL;
    if (f) {
        size_t length = (strlen(text) + 7) / 8 * 8;
        unsigned char start[8];
        for (int i = 0; i < 8; i++) start[i] = (unsigned char)((uint64_t)length >> 8 * i);
        fwrite(start, 1, 8, f);
        fprintf(f, "%-*s", (int)length, text);
        for (int i = 0; i < set->n; i++) fwrite(set->at[i].value->t.data, 1, mr_tensor_bytes(&set->at[i].value->t), f);
    }
    free(text);
    if (!f || ferror(f) | fclose(f)) return mr_fail(e, MR_E_IO, "cannot write %s: %s", path, strerror(errno));
    return MR_OK;
}

/* literal.c: tensors written on the command line, and bytes without a header. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "element.h"
#include "file.h"
#include "onnx.pb-c.h"
#include "runtime/model.h"
#include "spec.h"

static mr_status bad_spec(const char *text, size_t n, mr_error *e)
{
    return mr_fail(e, MR_E_USAGE, "'%.*s' is not a type and shape such as f32[1,3]", (int)n, text);
}

mr_status mr_spec_parse(const char *text, size_t n, mr_dtype *dtype, mr_shape *shape, mr_error *e)
{
    const char *bracket = memchr(text, '[', n), *end = text + n;
    *shape = mr_shape_scalar();
    *dtype = mr_dtype_parse(text, bracket ? (size_t)(bracket - text) : n);
    if (*dtype == MR_UNDEFINED) return bad_spec(text, n, e);
    if (!bracket) return MR_OK;
    if (n < 2 || end[-1] != ']') return bad_spec(text, n, e);
    for (const char *p = bracket + 1; p < end - 1; p++) {
        char *stop;
        errno = 0;
        int64_t d = strtoll(p, &stop, 10);
        if (errno || *p < '0' || *p > '9' || (*stop != ',' && stop != end - 1) || shape->rank == MR_MAX_RANK)
            return bad_spec(text, n, e);
        shape->d[shape->rank++] = d;
        p = stop;
    }
    return MR_OK;
}

/* The next element into buf (room for the whole text), *p behind it; the length, -1 at the end. */
static int next_element(const char **p, char *buf, bool *quoted)
{
    int n = 0;
    while (**p && strchr(" ,[]", **p)) ++*p;
    if (!**p) return -1;
    *quoted = **p == '"';
    if (*quoted) {
        for (++*p; **p && **p != '"'; ++*p) {
            if (**p == '\\' && (*p)[1]) ++*p;
            buf[n++] = **p;
        }
        if (**p) ++*p;
    } else {
        while (**p && !strchr(",[]", **p)) buf[n++] = *(*p)++;
        while (n && buf[n - 1] == ' ') n--;
    }
    buf[n] = 0;
    return n;
}

static mr_status fill(mr_value *v, int64_t from, int64_t to, mr_error *e)
{
    size_t size = mr_dtype_size(v->t.dtype);
    for (int64_t i = from; i < to; i++) {
        if (v->t.dtype != MR_STRING)
            memcpy((char *)v->t.data + (size_t)i * size, v->t.data, size);
        else if (!mr_value_set_string(v, i, ((mr_string *)v->t.data)->data, ((mr_string *)v->t.data)->len))
            return mr_fail(e, MR_E_MEMORY, "out of memory");
    }
    return MR_OK;
}

static mr_status parse_elements(const char *text, char *buf, mr_value *v, mr_error *e)
{
    int64_t count = mr_tensor_count(&v->t), i = 0;
    const char *p = text;
    bool quoted;
    for (int n; (n = next_element(&p, buf, &quoted)) >= 0; i++) {
        if (i == count) {
            while (next_element(&p, buf, &quoted) >= 0) i++;
            return mr_fail(e, MR_E_USAGE, "%lld values for %lld elements", (long long)i + 1, (long long)count);
        }
        bool ok = v->t.dtype == MR_STRING ? mr_value_set_string(v, i, buf, (size_t)n) : mr_element_parse(&v->t, i, buf);
        if (!ok) return mr_fail(e, MR_E_USAGE, "'%s' is not a %s", buf, mr_dtype_name(v->t.dtype));
    }
    if (i == 1) return fill(v, 1, count, e);
    return i == count ? MR_OK : mr_fail(e, MR_E_USAGE, "%lld values for %lld elements", (long long)i, (long long)count);
}

static mr_value *new_tensor(mr_dtype dtype, const mr_shape *shape, mr_error *e)
{
    mr_value *v = mr_value_tensor(dtype, shape->rank, shape->d);
    if (!v) mr_fail(e, MR_E_MEMORY, "no memory for a tensor of this shape");
    return v;
}

mr_status mr_literal_parse(const char *text, mr_dtype dtype, const mr_shape *shape, mr_value **out, mr_error *e)
{
    char *buf = malloc(strlen(text) + 1);
    *out = new_tensor(dtype, shape, e);
    if (!buf) mr_fail(e, MR_E_MEMORY, "out of memory");
    if (e->status == MR_OK) parse_elements(text, buf, *out, e);
    free(buf);
    if (e->status == MR_OK) return MR_OK;
    mr_value_release(*out);
    *out = NULL;
    return e->status;
}

/* The bytes are those of a TensorProto's raw_data: its reader checks their number and unpacks them. */
mr_status mr_raw_read(const char *path, mr_dtype dtype, const mr_shape *shape, mr_value **out, mr_error *e)
{
    mr_map *file;
    *out = NULL;
    if (dtype == MR_STRING) return mr_fail(e, MR_E_USAGE, "raw: has no strings");
    if (mr_file_open(path, &file, e)) return e->status;
    mr_wire_raw where = {0, file->size};
    Onnx__TensorProto p = ONNX__TENSOR_PROTO__INIT;
    p.has_data_type = true;
    p.data_type = dtype;
    p.n_dims = (size_t)shape->rank;
    p.dims = (int64_t *)(uintptr_t)shape->d;
    p.has_raw_data = true;
    p.raw_data = (ProtobufCBinaryData){sizeof where, (uint8_t *)&where};
    mr_source source = {.bytes = file->data};
    mr_error why = {0};
    *out = mr_tensor_load(&source, &p, path, &why);
    if (!*out) mr_fail(e, MR_E_INPUT_FORMAT, "%s", why.text ? why.text : path);
    mr_error_clear(&why);
    mr_map_close(file);
    return e->status;
}

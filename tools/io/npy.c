/* npy.c: reads NumPy's file of one array. */
#include "npy.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "element.h"
#include "file.h"
#include "utf8.h"

typedef struct header {
    mr_dtype dtype;
    size_t item;     /* bytes of an element in the file */
    bool swap;       /* big-endian */
    bool fortran;    /* the first axis varies fastest */
    bool wide_chars; /* strings of UTF-32, else of bytes */
    int rank;
    int64_t dims[MR_MAX_RANK];
    const uint8_t *data;
    size_t left; /* bytes behind the header */
} header;

bool mr_bytes_are_npy(const void *bytes, size_t size)
{
    return size >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0;
}

/* The text behind 'key': in the dict, or NULL. */
static const char *find_key(const char *dict, const char *key)
{
    char quoted[32];
    for (int q = 0; q < 2; q++) {
        snprintf(quoted, sizeof quoted, q ? "\"%s\"" : "'%s'", key);
        const char *at = strstr(dict, quoted);
        if (!at) continue;
        at += strlen(quoted);
        while (*at == ' ') at++;
        if (*at++ != ':') continue;
        while (*at == ' ') at++;
        return at;
    }
    return NULL;
}

static mr_status bad_header(const char *dict, mr_error *e)
{
    return mr_fail(e, MR_E_INPUT_FORMAT, "the npy header is malformed: %.200s", dict);
}

static mr_dtype numeric_type(char kind, unsigned size)
{
    static const struct {
        char kind;
        unsigned size;
        mr_dtype dtype;
    } types[] = {{'b', 1, MR_BOOL}, {'i', 1, MR_I8},  {'i', 2, MR_I16}, {'i', 4, MR_I32},   {'i', 8, MR_I64},
                 {'u', 1, MR_U8},   {'u', 2, MR_U16}, {'u', 4, MR_U32}, {'u', 8, MR_U64},   {'f', 2, MR_F16},
                 {'f', 4, MR_F32},  {'f', 8, MR_F64}, {'c', 8, MR_C64}, {'c', 16, MR_C128}, {'f', 1, MR_F8E5M2}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].kind == kind && types[i].size == size) return types[i].dtype;
    return MR_UNDEFINED;
}

/* "<f4", "|V1", ">U12" */
static mr_status read_descr(header *h, const char *descr, mr_dtype expected, mr_error *e)
{
    char order = descr[0], kind = descr[0] ? descr[1] : 0;
    unsigned size = kind ? (unsigned)strtoul(descr + 2, NULL, 10) : 0;
    h->swap = order == '>';
    h->item = size;
    if (kind == 'O') {
        mr_fail(e, MR_E_INPUT_FORMAT,
                "an array of Python objects (a pickle): only arrays of numbers and strings are read");
        mr_error_hint(e, "convert it before saving: numpy.save(path, array.astype(numpy.float32))");
        return e->status;
    }
    if (kind == 'U' || kind == 'S') {
        h->dtype = MR_STRING;
        h->wide_chars = kind == 'U';
        h->item = kind == 'U' ? 4 * (size_t)size : size;
        return MR_OK;
    }
    h->dtype = numeric_type(kind, size);
    if (kind == 'V' && size == 2) h->dtype = MR_BF16;
    if (kind == 'V' && size == 1) {
        bool narrow = mr_dtype_size(expected) == 1 && !mr_dtype_in(expected, MR_INTS | MR_BIT(MR_BOOL));
        if (!narrow)
            return mr_fail(e, MR_E_INPUT_FORMAT,
                           "elements of type %s%s: one byte each, of a type that the file does not name", descr,
                           expected ? mr_dtype_size(expected) == 1 ? "" : " where larger ones are expected" : "");
        h->dtype = expected;
    }
    if (h->dtype == MR_UNDEFINED)
        return mr_fail(e, MR_E_INPUT_FORMAT, "elements of type '%s' have no ONNX type", descr);
    return MR_OK;
}

static mr_status read_shape(header *h, const char *dict, const char *shape, mr_error *e)
{
    if (*shape++ != '(') return bad_header(dict, e);
    for (;;) {
        while (*shape == ' ' || *shape == ',') shape++;
        if (*shape == ')') return MR_OK;
        char *end;
        if (!isdigit((unsigned char)*shape)) return bad_header(dict, e);
        if (h->rank == MR_MAX_RANK) return mr_fail(e, MR_E_INPUT_FORMAT, "more than %d axes", MR_MAX_RANK);
        errno = 0;
        h->dims[h->rank++] = strtoll(shape, &end, 10);
        if (errno) return bad_header(dict, e);
        if (*end == 'L') end++; /* Python 2 wrote long integers so */
        shape = end;
    }
}

static mr_status read_dict(header *h, const char *dict, mr_dtype expected, mr_error *e)
{
    const char *descr = find_key(dict, "descr"), *order = find_key(dict, "fortran_order"),
               *shape = find_key(dict, "shape");
    char type[32];
    if (!descr || !order || !shape) return bad_header(dict, e);
    if (*descr == '[') return mr_fail(e, MR_E_INPUT_FORMAT, "a structured array: ONNX has no such tensors");
    const char *end = *descr == '\'' || *descr == '"' ? strchr(descr + 1, *descr) : NULL;
    if (!end || (size_t)(end - descr) > sizeof type) return bad_header(dict, e);
    snprintf(type, sizeof type, "%.*s", (int)(end - descr - 1), descr + 1);
    h->fortran = strncmp(order, "True", 4) == 0;
    return read_shape(h, dict, shape, e) || read_descr(h, type, expected, e) ? e->status : MR_OK;
}

static mr_status read_header(header *h, const uint8_t *bytes, size_t size, mr_dtype expected, mr_error *e)
{
    if (!mr_bytes_are_npy(bytes, size))
        return mr_fail(e, MR_E_INPUT_FORMAT, "not an npy file: it looks like %s", mr_bytes_look(bytes, size));
    unsigned version = size > 6 ? bytes[6] : 1;
    size_t begin = version == 1 ? 10 : 12;
    if (version < 1 || version > 3) return mr_fail(e, MR_E_INPUT_FORMAT, "npy version %u: 1 to 3 are read", version);
    size_t length = size < begin ? 0 : bytes[8] | (size_t)bytes[9] << 8;
    if (size >= begin && version > 1) length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (size < begin || length > size - begin)
        return mr_fail(e, MR_E_INPUT_FORMAT, "truncated: the file ends inside the npy header");
    char *dict = strndup((const char *)bytes + begin, length);
    if (!dict) return mr_fail(e, MR_E_MEMORY, "out of memory");
    h->data = bytes + begin + length;
    h->left = size - begin - length;
    mr_status s = read_dict(h, dict, expected, e);
    free(dict);
    return s;
}

static void swap_bytes(uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        uint8_t b = p[i];
        p[i] = p[n - 1 - i];
        p[n - 1 - i] = b;
    }
}

/* A string ends before the zeros that fill its place up. */
static bool copy_string(const header *h, mr_value *v, int64_t i, const uint8_t *from)
{
    size_t n = h->wide_chars ? h->item / 4 : h->item;
    if (!h->wide_chars) {
        while (n && !from[n - 1]) n--;
        return mr_value_set_string(v, i, (const char *)from, n);
    }
    char *text = malloc(4 * n + 1);
    size_t len = 0, last = 0;
    if (!text) return false;
    for (size_t c = 0; c < n; c++) {
        uint8_t b[4];
        memcpy(b, from + 4 * c, 4);
        if (h->swap) swap_bytes(b, 4);
        uint32_t point = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
        len += mr_utf8_encode(point, text + len);
        if (point) last = len;
    }
    bool ok = mr_value_set_string(v, i, text, last);
    free(text);
    return ok;
}

static bool copy_element(const header *h, mr_value *v, int64_t i, const uint8_t *from)
{
    if (h->dtype == MR_STRING) return copy_string(h, v, i, from);
    uint8_t *to = (uint8_t *)v->t.data + (size_t)i * h->item;
    memcpy(to, from, h->item);
    if (!h->swap) return true;
    if (mr_dtype_in(h->dtype, MR_COMPLEX)) {
        swap_bytes(to, h->item / 2);
        swap_bytes(to + h->item / 2, h->item / 2);
    } else {
        swap_bytes(to, h->item);
    }
    return true;
}

/* Element i, counted with the last axis fastest, stands there in a file with the first axis fastest. */
static int64_t fortran_place(const header *h, int64_t i)
{
    int64_t at[MR_MAX_RANK], place = 0;
    for (int a = h->rank - 1; a >= 0; i /= h->dims[a--]) at[a] = i % h->dims[a];
    for (int a = h->rank - 1; a >= 0; a--) place = place * h->dims[a] + at[a];
    return place;
}

/* Elements of less than a byte: only the low bits count in the file. */
static void spread(mr_tensor *t)
{
    int bits = mr_dtype_wire_bits(t->dtype);
    uint8_t *p = t->data, sign = (uint8_t)(1u << (bits - 1)), mask = (uint8_t)(2 * sign - 1);
    bool is_signed = t->dtype == MR_I4 || t->dtype == MR_I2;
    for (int64_t i = 0, n = mr_tensor_count(t); i < n; i++) {
        p[i] &= mask;
        if (is_signed && p[i] & sign) p[i] |= (uint8_t)~mask;
    }
}

static bool copy_all(const header *h, mr_value *v, int64_t count)
{
    if (h->dtype != MR_STRING && !h->swap && !h->fortran) {
        if (count) memcpy(v->t.data, h->data, (size_t)count * h->item);
        return true;
    }
    for (int64_t i = 0; i < count; i++)
        if (!copy_element(h, v, i, h->data + (size_t)(h->fortran ? fortran_place(h, i) : i) * h->item)) return false;
    return true;
}

mr_status mr_npy_parse(const void *bytes, size_t size, mr_dtype expected, mr_value **out, mr_error *e)
{
    header h = {0};
    *out = NULL;
    if (read_header(&h, bytes, size, expected, e)) return e->status;
    int64_t count = mr_dims_product(h.dims, 0, h.rank);
    size_t need;
    if (count < 0 || __builtin_mul_overflow((size_t)count, h.item, &need))
        return mr_fail(e, MR_E_INPUT_FORMAT, "the shape in the npy header is too large");
    if (need > h.left) {
        char shape[256];
        mr_shape s = {.rank = h.rank};
        memcpy(s.d, h.dims, sizeof h.dims);
        return mr_fail(e, MR_E_INPUT_FORMAT, "truncated: %s%s needs %zu bytes, the file has %zu",
                       mr_dtype_name(h.dtype), mr_shape_string(&s, NULL, shape, sizeof shape), need, h.left);
    }
    *out = mr_value_tensor(h.dtype, h.rank, h.dims);
    if (*out && copy_all(&h, *out, count)) {
        if (h.dtype != MR_STRING && mr_dtype_wire_bits(h.dtype) < 8) spread(&(*out)->t);
        return MR_OK;
    }
    mr_value_release(*out);
    *out = NULL;
    return mr_fail(e, MR_E_MEMORY, "out of memory for %zu bytes", need);
}

mr_status mr_npy_read(const char *path, mr_dtype expected, mr_value **out, mr_error *e)
{
    mr_map *file;
    mr_error why = {0};
    *out = NULL;
    if (mr_file_open(path, &file, e)) return e->status;
    if (mr_npy_parse(file->data, file->size, expected, out, &why)) mr_error_in_file(e, &why, path);
    mr_map_close(file);
    return e->status;
}

/* npy_write.c: writes NumPy's file of one array. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "npy.h"
#include "utf8.h"

/* Code points of the longest string; -1: one of them is no UTF-8, n gets the bytes of the longest. */
static bool longest_string(const mr_tensor *t, size_t *n)
{
    size_t points = 0, bytes = 0;
    bool text = true;
    for (int64_t i = 0, count = mr_tensor_count(t); i < count; i++) {
        mr_string s = ((const mr_string *)t->data)[i];
        size_t here = 0;
        uint32_t point;
        if (s.len > bytes) bytes = s.len;
        for (size_t at = 0, step; text && at < s.len; at += step, here++)
            if (!(step = mr_utf8_decode(s.data + at, s.len - at, &point))) text = false;
        if (here > points) points = here;
    }
    *n = text ? points : bytes;
    if (*n == 0) *n = 1;
    return text;
}

static void type_text(mr_dtype d, char *buf, size_t size)
{
    static const char *const names[MR_N_DTYPES] = {
        [MR_F32] = "<f4",    [MR_F64] = "<f8",  [MR_F16] = "<f2", [MR_BF16] = "<V2",
        [MR_F8E5M2] = "<f1", [MR_I8] = "|i1",   [MR_I16] = "<i2", [MR_I32] = "<i4",
        [MR_I64] = "<i8",    [MR_U8] = "|u1",   [MR_U16] = "<u2", [MR_U32] = "<u4",
        [MR_U64] = "<u8",    [MR_BOOL] = "|b1", [MR_C64] = "<c8", [MR_C128] = "<c16",
    };
    snprintf(buf, size, "%s", names[d] ? names[d] : "<V1");
}

static void write_header(FILE *f, const char *type, const mr_tensor *t)
{
    char dict[640];
    int n = snprintf(dict, sizeof dict, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
    for (int i = 0; i < t->rank; i++)
        n += snprintf(dict + n, sizeof dict - (size_t)n, "%s%lld%s", i ? ", " : "", (long long)t->dims[i],
                      t->rank == 1 ? "," : "");
    n += snprintf(dict + n, sizeof dict - (size_t)n, "), }");
    while ((n + 11) % 64) dict[n++] = ' '; /* magic, version and length are 10 bytes; a newline ends it */
    dict[n++] = '\n';
    unsigned char start[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(n & 0xff), (unsigned char)(n >> 8)};
    fwrite(start, 1, sizeof start, f);
    fwrite(dict, 1, (size_t)n, f);
}

static void write_wide(FILE *f, mr_string s, size_t points)
{
    for (size_t i = 0, at = 0; i < points; i++) {
        uint32_t point = 0;
        if (at < s.len) at += mr_utf8_decode(s.data + at, s.len - at, &point);
        unsigned char b[4] = {(unsigned char)point, (unsigned char)(point >> 8), (unsigned char)(point >> 16), 0};
        fwrite(b, 1, 4, f);
    }
}

static void write_strings(FILE *f, const mr_tensor *t)
{
    char type[32];
    size_t longest;
    bool text = longest_string(t, &longest);
    snprintf(type, sizeof type, text ? "<U%zu" : "|S%zu", longest);
    write_header(f, type, t);
    for (int64_t i = 0, count = mr_tensor_count(t); i < count; i++) {
        mr_string s = ((const mr_string *)t->data)[i];
        if (text) {
            write_wide(f, s, longest);
            continue;
        }
        fwrite(s.data, 1, s.len, f);
        for (size_t fill = s.len; fill < longest; fill++) fputc(0, f);
    }
}

/* Elements of less than a byte have zeros above their bits in the file, also negative ones. */
static void write_low_bits(FILE *f, const mr_tensor *t)
{
    unsigned mask = (1u << mr_dtype_wire_bits(t->dtype)) - 1;
    for (int64_t i = 0, n = mr_tensor_count(t); i < n; i++) fputc((int)(((const uint8_t *)t->data)[i] & mask), f);
}

mr_status mr_npy_write(FILE *f, const mr_tensor *t, mr_error *e)
{
    char type[32];
    if (t->dtype == MR_STRING) {
        write_strings(f, t);
    } else {
        type_text(t->dtype, type, sizeof type);
        write_header(f, type, t);
        if (mr_dtype_wire_bits(t->dtype) < 8)
            write_low_bits(f, t);
        else
            fwrite(t->data, 1, mr_tensor_bytes(t), f);
    }
    return ferror(f) ? mr_fail(e, MR_E_IO, "cannot write: %s", strerror(errno)) : MR_OK;
}

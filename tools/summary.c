/* summary.c: a value in a line. */
#include "summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "sha256.h"
#include "tools/io/element.h"

enum { N_FIRST = 6, N_ROWS = 16 };

mr_stats mr_stats_of(const mr_tensor *t)
{
    mr_stats s = {.count = mr_tensor_count(t), .min = NAN, .max = NAN, .mean = NAN};
    bool complexes = mr_dtype_in(t->dtype, MR_COMPLEX);
    int64_t finite = 0;
    double sum = 0;
    if (!complexes && !mr_dtype_in(t->dtype, MR_REALS)) return s;
    for (int64_t i = 0; i < s.count; i++) {
        double complex z = complexes ? mr_element_complex(t, i) : 0;
        double x = complexes ? creal(z) : mr_element_real(t, i), y = complexes ? cimag(z) : 0;
        if (isnan(x) || isnan(y)) {
            s.nan++;
        } else if (isinf(x) || isinf(y)) {
            s.inf++;
        } else if (!complexes) {
            if (finite++ == 0) s.min = s.max = x;
            if (x < s.min) s.min = x;
            if (x > s.max) s.max = x;
            sum += x;
        }
    }
    if (finite) s.mean = sum / (double)finite;
    return s;
}

/* ---- fingerprints ---- */

static bool is_nan(const mr_tensor *t, int64_t i)
{
    return mr_dtype_in(t->dtype, MR_ALL_FLOATS) && isnan(mr_element_real(t, i));
}

/* Elements with their own bytes, NaNs as one byte of all ones each. */
static void add_elements(mr_sha256 *s, const mr_tensor *t)
{
    static const uint8_t nan[16] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    size_t size = mr_dtype_size(t->dtype);
    int64_t n = mr_tensor_count(t);
    if (t->dtype == MR_C64 || t->dtype == MR_C128) { /* two floats an element */
        mr_tensor parts = {.dtype = t->dtype == MR_C64 ? MR_F32 : MR_F64, .rank = 1, .dims = {2 * n}, .data = t->data};
        add_elements(s, &parts);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        const mr_string *text = t->dtype == MR_STRING ? &((const mr_string *)t->data)[i] : NULL;
        if (text) {
            uint64_t len = text->len;
            mr_sha256_add(s, &len, sizeof len);
            mr_sha256_add(s, text->data, text->len);
        } else {
            mr_sha256_add(s, is_nan(t, i) ? (const void *)nan : (const char *)t->data + (size_t)i * size, size);
        }
    }
}

void mr_digest(const mr_value *v, char hex[65])
{
    char text[512];
    mr_sha256 s;
    mr_sha256_start(&s);
    mr_value_type_text(v, text, sizeof text);
    mr_sha256_add(&s, text, strlen(text) + 1);
    if (v->type.kind == MR_TENSOR) add_elements(&s, &v->t);
    for (int64_t i = 0; i < v->n; i++) {
        char inner[65];
        mr_digest(v->items[i], inner);
        mr_sha256_add(&s, inner, 64);
    }
    mr_sha256_hex(&s, hex);
}

/* ---- lines ---- */

const char *mr_value_type_text(const mr_value *v, char *buf, size_t size)
{
    char type[64], shape[300];
    mr_shape s = mr_tensor_shape(&v->t);
    if (v->type.kind == MR_TENSOR)
        snprintf(buf, size, "%s%s", mr_dtype_name(v->t.dtype), mr_shape_string(&s, NULL, shape, sizeof shape));
    else if (v->type.kind == MR_SPARSE)
        snprintf(buf, size, "%s%s", mr_type_string(v->type, type, sizeof type),
                 mr_shape_string(&s, NULL, shape, sizeof shape));
    else if (v->type.kind == MR_MAP)
        snprintf(buf, size, "%s of %lld", mr_type_string(v->type, type, sizeof type),
                 (long long)mr_tensor_count(&v->items[0]->t));
    else
        snprintf(buf, size, "%s of %lld", mr_type_string(v->type, type, sizeof type), (long long)v->n);
    return buf;
}

static void print_number(FILE *f, const char *what, double x)
{
    if (!isnan(x)) fprintf(f, "  %s %.6g", what, x);
}

static void print_tensor(FILE *f, const mr_tensor *t)
{
    mr_stats s = mr_stats_of(t);
    print_number(f, "min", s.min);
    print_number(f, "max", s.max);
    print_number(f, "mean", s.mean);
    if (mr_dtype_in(t->dtype, MR_ALL_FLOATS | MR_COMPLEX))
        fprintf(f, "  nan %lld  inf %lld", (long long)s.nan, (long long)s.inf);
}

static void print_first(FILE *f, const mr_tensor *t)
{
    int64_t n = mr_tensor_count(t);
    fputs("  [", f);
    for (int64_t i = 0; i < n && i < N_FIRST; i++) {
        if (i) fputc(' ', f);
        mr_element_print(f, t, i);
    }
    fputs(n > N_FIRST ? " …]" : "]", f);
}

/* {"no": 0.25, "yes": 0.75} */
static void print_map(FILE *f, const mr_value *map)
{
    const mr_tensor *keys = &map->items[0]->t, *values = &map->items[1]->t;
    int64_t n = mr_tensor_count(keys);
    fputs("  {", f);
    for (int64_t i = 0; i < n && i < N_FIRST; i++) {
        if (i) fputs(", ", f);
        mr_element_print(f, keys, i);
        fputs(": ", f);
        mr_element_print(f, values, i);
    }
    fputs(n > N_FIRST ? ", …}" : "}", f);
}

void mr_summary_print(FILE *f, const char *name, int width, const mr_value *v, bool digest)
{
    char text[512], hex[65];
    fprintf(f, "%-*s  %s", width, name, mr_value_type_text(v, text, sizeof text));
    if (v->type.kind == MR_TENSOR) {
        print_tensor(f, &v->t);
        if (!digest) print_first(f, &v->t);
    }
    if (digest) {
        mr_digest(v, hex);
        fprintf(f, "  sha256 %s", hex);
    }
    if (v->type.kind == MR_MAP && !digest) print_map(f, v);
    fputc('\n', f);
    for (int64_t i = 0; i < v->n && v->type.kind != MR_MAP; i++) {
        if (v->type.kind == MR_SEQ_MAP && i == N_ROWS) {
            fprintf(f, "%-*s  … %lld maps more\n", width, name, (long long)(v->n - N_ROWS));
            break;
        }
        snprintf(text, sizeof text, "%s[%lld]", name, (long long)i);
        mr_summary_print(f, text, width, v->items[i], digest);
    }
}

/* Strings and complex numbers, and integers that a double would round, as text. */
static json_t *element_json(const mr_tensor *t, int64_t i)
{
    if (t->dtype == MR_STRING) {
        mr_string s = ((const mr_string *)t->data)[i];
        json_t *text = json_stringn(s.data, s.len);
        return text ? text : json_null(); /* bytes that are no UTF-8 */
    }
    if (mr_dtype_in(t->dtype, MR_COMPLEX)) {
        double complex z = mr_element_complex(t, i);
        return json_pack("[o, o]", mr_json_number(creal(z)), mr_json_number(cimag(z)));
    }
    if (t->dtype == MR_BOOL) return json_boolean(mr_tensor_int(t, i));
    if (mr_dtype_in(t->dtype, MR_ALL_FLOATS)) return mr_json_number(mr_element_real(t, i));
    return t->dtype == MR_U64 ? mr_json_number(mr_element_real(t, i)) : json_integer(mr_tensor_int(t, i));
}

static void tensor_json(json_t *j, const mr_tensor *t, bool digest)
{
    json_t *shape = json_array(), *first = json_array();
    mr_stats s = mr_stats_of(t);
    for (int a = 0; a < t->rank; a++) json_array_append_new(shape, json_integer(t->dims[a]));
    json_object_set_new(j, "dtype", json_string(mr_dtype_name(t->dtype)));
    json_object_set_new(j, "shape", shape);
    if (!isnan(s.min)) {
        json_object_set_new(j, "min", mr_json_number(s.min));
        json_object_set_new(j, "max", mr_json_number(s.max));
        json_object_set_new(j, "mean", mr_json_number(s.mean));
    }
    json_object_set_new(j, "nan", json_integer(s.nan));
    json_object_set_new(j, "inf", json_integer(s.inf));
    for (int64_t i = 0; !digest && i < s.count && i < N_FIRST; i++) json_array_append_new(first, element_json(t, i));
    json_object_set_new(j, "first", first);
}

/* The first entries, as pairs. */
static void map_json(json_t *j, const mr_value *map, bool digest)
{
    const mr_tensor *keys = &map->items[0]->t, *values = &map->items[1]->t;
    json_t *first = json_array();
    for (int64_t i = 0, n = mr_tensor_count(keys); !digest && i < n && i < N_FIRST; i++)
        json_array_append_new(first, json_pack("[o, o]", element_json(keys, i), element_json(values, i)));
    json_object_set_new(j, "count", json_integer(mr_tensor_count(keys)));
    json_object_set_new(j, "first", first);
}

json_t *mr_summary_json(const char *name, const mr_value *v, bool digest)
{
    char text[512], hex[65];
    json_t *j = json_pack("{s:o, s:s}", "name", mr_json_text(name), "type", mr_type_string(v->type, text, sizeof text));
    if (v->type.kind == MR_TENSOR) tensor_json(j, &v->t, digest);
    if (digest) {
        mr_digest(v, hex);
        json_object_set_new(j, "sha256", json_string(hex));
    }
    if (v->type.kind == MR_MAP) map_json(j, v, digest);
    if (v->type.kind == MR_TENSOR || v->type.kind == MR_MAP) return j;
    json_t *items = json_array();
    for (int64_t i = 0; i < v->n; i++) {
        snprintf(text, sizeof text, "%s[%lld]", name, (long long)i);
        json_array_append_new(items, mr_summary_json(text, v->items[i], digest));
    }
    json_object_set_new(j, "elements", items);
    return j;
}

/* ---- the largest elements ---- */

typedef struct row {
    int64_t index[64];
    int n;
} row;

/* Stable: of equal elements the first. NaN is never among the largest. */
static row largest(const mr_tensor *t, int64_t begin, int64_t count, int n)
{
    row r = {.n = 0};
    if (n > 64) n = 64;
    for (int64_t i = begin; i < begin + count; i++) {
        double x = mr_element_real(t, i);
        int at = r.n;
        while (at > 0 && mr_element_real(t, r.index[at - 1]) < x) at--;
        if (at >= n || isnan(x)) continue;
        if (r.n < n) r.n++;
        memmove(r.index + at + 1, r.index + at, sizeof *r.index * (size_t)(r.n - 1 - at));
        r.index[at] = i;
    }
    return r;
}

static bool rows_of(const mr_tensor *t, int64_t *rows, int64_t *length)
{
    if (!mr_dtype_in(t->dtype, MR_REALS)) return false;
    *length = t->rank ? t->dims[t->rank - 1] : 1;
    *rows = *length ? mr_tensor_count(t) / *length : 0;
    return *rows > 0;
}

void mr_top_print(FILE *f, const mr_tensor *t, int n)
{
    int64_t rows, length;
    if (!rows_of(t, &rows, &length)) return;
    for (int64_t k = 0; k < rows && k < N_ROWS; k++) {
        row r = largest(t, k * length, length, n);
        if (rows > 1) fprintf(f, "  row %lld\n", (long long)k);
        for (int i = 0; i < r.n; i++) {
            fprintf(f, "  %6lld  ", (long long)(r.index[i] - k * length));
            mr_element_print(f, t, r.index[i]);
            fputc('\n', f);
        }
    }
    if (rows > N_ROWS) fprintf(f, "  … %lld rows more\n", (long long)(rows - N_ROWS));
}

json_t *mr_top_json(const mr_tensor *t, int n)
{
    int64_t rows, length;
    json_t *list = json_array();
    if (!rows_of(t, &rows, &length)) return list;
    for (int64_t k = 0; k < rows; k++) {
        row r = largest(t, k * length, length, n);
        json_t *one = json_array();
        for (int i = 0; i < r.n; i++)
            json_array_append_new(one, json_pack("{s:I, s:o}", "index", (json_int_t)(r.index[i] - k * length), "value",
                                                 element_json(t, r.index[i])));
        json_array_append_new(list, one);
    }
    return list;
}

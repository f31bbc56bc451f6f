/* compare.c: how two values differ, by the rules of the official runner. */
#include "compare.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../../runtime/narrow.h"
#include "element.h"

/* The runner's rule in one arithmetic. An infinity agrees with the same infinity only, NaN with any NaN. */
static bool close_f32(float got, float want, double rtol, double atol)
{
    if (isnan(got) || isnan(want)) return isnan(got) && isnan(want);
    float limit = (float)rtol * fabsf(want);
    limit = (float)atol + limit;
    return got == want || (isfinite(want) && fabsf(got - want) <= limit);
}

static bool close_f64(double got, double want, double rtol, double atol)
{
    if (isnan(got) || isnan(want)) return isnan(got) && isnan(want);
    double limit = rtol * fabs(want);
    limit = atol + limit;
    return got == want || (isfinite(want) && fabs(got - want) <= limit);
}

static float half(float x)
{
    return mr_f16_to_f32(mr_f16_from_f32(x));
}

/* NumPy computes on halves in float and rounds every result. */
static bool close_f16(float got, float want, double rtol, double atol)
{
    if (isnan(got) || isnan(want)) return isnan(got) && isnan(want);
    float limit = half(half((float)atol) + half(half((float)rtol) * fabsf(want)));
    return got == want || (isfinite(want) && fabsf(half(got - want)) <= limit);
}

static bool complex_nan(double complex z)
{
    return isnan(creal(z)) || isnan(cimag(z));
}

static bool close_complex(mr_dtype d, double complex got, double complex want, double rtol, double atol)
{
    if (complex_nan(got) || complex_nan(want)) return complex_nan(got) && complex_nan(want);
    if (got == want) return true;
    if (!isfinite(creal(want)) || !isfinite(cimag(want))) return false;
    if (d == MR_C128) return cabs(got - want) <= atol + rtol * cabs(want);
    float limit = (float)rtol * cabsf((float complex)want);
    limit = (float)atol + limit;
    return cabsf((float complex)got - (float complex)want) <= limit;
}

static bool strings_equal(mr_string a, mr_string b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

static bool agree(const mr_tensor *got, const mr_tensor *want, int64_t i, mr_tolerance tol)
{
    mr_dtype d = want->dtype;
    if (d == MR_STRING) return strings_equal(((mr_string *)got->data)[i], ((mr_string *)want->data)[i]);
    if (mr_dtype_in(d, MR_COMPLEX))
        return close_complex(d, mr_element_complex(got, i), mr_element_complex(want, i), tol.rtol, tol.atol);
    double a = mr_element_real(got, i), b = mr_element_real(want, i);
    if (mr_dtype_in(d, MR_ALL_FLOATS) && tol.ulp >= 0 && mr_element_ulp(got, want, i) <= (uint64_t)tol.ulp) return true;
    if (d == MR_F16) return close_f16((float)a, (float)b, tol.rtol, tol.atol);
    if (d == MR_BF16) return close_f32((float)a, (float)b, fmax(tol.rtol, 0x1p-6), tol.atol);
    if (d == MR_F32) return close_f32((float)a, (float)b, tol.rtol, tol.atol);
    return close_f64(a, b, tol.rtol, tol.atol);
}

typedef struct sums {
    double abs, got_want, got_got, want_want;
} sums;

static void measure(const mr_tensor *got, const mr_tensor *want, int64_t i, mr_diff *d, sums *s)
{
    if (mr_dtype_in(want->dtype, MR_ALL_FLOATS)) {
        uint64_t ulp = mr_element_ulp(got, want, i);
        if (ulp > d->max_ulp) d->max_ulp = ulp;
    }
    double abs_diff, abs_want;
    if (mr_dtype_in(want->dtype, MR_COMPLEX)) {
        double complex a = mr_element_complex(got, i), b = mr_element_complex(want, i);
        abs_diff = a == b ? 0 : cabs(a - b);
        abs_want = cabs(b);
    } else {
        double a = mr_element_real(got, i), b = mr_element_real(want, i);
        abs_diff = a == b ? 0 : fabs(a - b);
        abs_want = fabs(b);
        if (isfinite(a) && isfinite(b)) s->got_want += a * b, s->got_got += a * a, s->want_want += b * b;
    }
    if (isnan(abs_diff)) return; /* no distance: the ulp and the count of differing elements say so */
    if (isfinite(abs_diff)) s->abs += abs_diff;
    if (d->worst < 0 || abs_diff > d->max_abs) {
        d->max_abs = abs_diff;
        d->worst = i;
    }
    double rel = abs_diff == 0 ? 0 : abs_diff / abs_want;
    if (rel > d->max_rel) d->max_rel = rel;
}

static char *first_text(const mr_tensor *got, const mr_tensor *want, int64_t i)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f) return NULL;
    mr_index_print(f, want, i);
    fputs(": got ", f);
    mr_element_print(f, got, i);
    fputs(", want ", f);
    mr_element_print(f, want, i);
    fclose(f);
    return text;
}

static void diff_elements(const mr_tensor *got, const mr_tensor *want, mr_tolerance tol, mr_diff *d)
{
    sums s = {0};
    bool strings = want->dtype == MR_STRING;
    d->count = mr_tensor_count(want);
    for (int64_t i = 0; i < d->count; i++) {
        if (!strings) measure(got, want, i, d, &s);
        if (agree(got, want, i, tol)) continue;
        if (d->differing++ == 0) d->first = i;
    }
    d->agree = d->differing == 0;
    if (!d->agree) d->first_text = first_text(got, want, d->first);
    d->mean_abs = d->count ? s.abs / (double)d->count : 0;
    double norms = sqrt(s.got_got) * sqrt(s.want_want);
    d->cosine = norms > 0 ? s.got_want / norms : NAN;
}

static mr_diff diff_new(void)
{
    return (mr_diff){.first = -1, .worst = -1, .cosine = NAN};
}

__attribute__((format(printf, 2, 3))) static void differ(mr_diff *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (vasprintf(&d->reason, fmt, ap) < 0) d->reason = NULL;
    va_end(ap);
    d->agree = false;
}

static void diff_tensors(const mr_tensor *got, const mr_tensor *want, mr_tolerance tol, mr_diff *d)
{
    char a[256], b[256];
    mr_shape got_shape = mr_tensor_shape(got), want_shape = mr_tensor_shape(want);
    if (got->dtype != want->dtype)
        differ(d, "type: got %s, want %s", mr_dtype_name(got->dtype), mr_dtype_name(want->dtype));
    else if (!mr_shape_equal(&got_shape, &want_shape))
        differ(d, "shape: got %s, want %s", mr_shape_string(&got_shape, NULL, a, sizeof a),
               mr_shape_string(&want_shape, NULL, b, sizeof b));
    else
        diff_elements(got, want, tol, d);
}

/* Keeps in d what matters of the parts: the first that differs, else the worst. Takes part over. */
static void diff_merge(mr_diff *d, mr_diff *part)
{
    bool better = d->agree && (!part->agree || !d->path || part->max_abs > d->max_abs);
    mr_diff *drop = better ? d : part, keep = better ? *part : *d;
    mr_diff_free(drop);
    *d = keep;
}

static void diff_part(const mr_value *got, const mr_value *want, mr_tolerance tol, mr_diff *d, const char *what,
                      int64_t i)
{
    mr_diff part;
    char *path = NULL;
    mr_diff_values(got, want, tol, &part);
    int n = part.path ? asprintf(&path, "%s %lld, %s", what, (long long)i, part.path)
                      : asprintf(&path, "%s %lld", what, (long long)i);
    free(part.path);
    part.path = n < 0 ? NULL : path;
    diff_merge(d, &part);
}

static int64_t find_key(const mr_tensor *keys, const mr_tensor *in, int64_t i)
{
    for (int64_t k = 0, n = mr_tensor_count(keys); k < n; k++)
        if (in->dtype == MR_STRING ? strings_equal(((mr_string *)keys->data)[k], ((mr_string *)in->data)[i])
                                   : mr_tensor_int(keys, k) == mr_tensor_int(in, i))
            return k;
    return -1;
}

/* Maps have no order: got's values are brought into the order of want's keys. */
static void diff_maps(const mr_value *got, const mr_value *want, mr_tolerance tol, mr_diff *d)
{
    const mr_tensor *got_keys = &got->items[0]->t, *want_keys = &want->items[0]->t, *from = &got->items[1]->t;
    if (mr_tensor_count(got_keys) != mr_tensor_count(want_keys)) {
        differ(d, "keys: got %lld, want %lld", (long long)mr_tensor_count(got_keys),
               (long long)mr_tensor_count(want_keys));
        return;
    }
    mr_value *sorted = mr_value_tensor(from->dtype, from->rank, from->dims);
    if (!sorted) {
        differ(d, "out of memory");
        return;
    }
    size_t size = mr_dtype_size(from->dtype);
    for (int64_t i = 0; i < mr_tensor_count(want_keys); i++) {
        int64_t k = find_key(got_keys, want_keys, i);
        if (k < 0) {
            differ(d, "key %lld of the wanted map is missing", (long long)i);
            break;
        }
        memcpy((char *)sorted->t.data + (size_t)i * size, (const char *)from->data + (size_t)k * size, size);
    }
    if (!d->reason) diff_tensors(&sorted->t, &want->items[1]->t, tol, d);
    mr_value_release(sorted);
}

static void diff_lists(const mr_value *got, const mr_value *want, mr_tolerance tol, mr_diff *d)
{
    const char *what = want->type.kind == MR_SPARSE ? "part" : "element";
    if (got->n != want->n) {
        differ(d, "length: got %lld, want %lld", (long long)got->n, (long long)want->n);
        return;
    }
    d->agree = true;
    for (int64_t i = 0; i < want->n; i++) diff_part(got->items[i], want->items[i], tol, d, what, i);
}

static bool is_optional(const mr_value *v)
{
    return v->type.kind == MR_OPTIONAL || v->type.kind == MR_OPTIONAL_SEQ;
}

void mr_diff_values(const mr_value *got, const mr_value *want, mr_tolerance tol, mr_diff *d)
{
    *d = diff_new();
    bool got_empty = is_optional(got) && got->n == 0, want_empty = is_optional(want) && want->n == 0;
    if (got_empty || want_empty) {
        d->agree = got_empty && want_empty;
        if (!d->agree) differ(d, "got %s, want %s", got_empty ? "nothing" : "a value", want_empty ? "nothing" : "one");
        return;
    }
    if (is_optional(got)) got = got->items[0];
    if (is_optional(want)) want = want->items[0];
    if (got->type.kind != want->type.kind) {
        char a[64], b[64];
        differ(d, "type: got %s, want %s", mr_type_string(got->type, a, sizeof a),
               mr_type_string(want->type, b, sizeof b));
        return;
    }
    mr_shape got_shape = mr_tensor_shape(&got->t), want_shape = mr_tensor_shape(&want->t);
    if (want->type.kind == MR_TENSOR)
        diff_tensors(&got->t, &want->t, tol, d);
    else if (want->type.kind == MR_MAP)
        diff_maps(got, want, tol, d);
    else if (want->type.kind == MR_SPARSE && !mr_shape_equal(&got_shape, &want_shape))
        differ(d, "the dense shapes differ");
    else
        diff_lists(got, want, tol, d);
}

void mr_diff_free(mr_diff *d)
{
    free(d->reason);
    free(d->path);
    free(d->first_text);
    *d = diff_new();
}

void mr_diff_print(FILE *f, const mr_diff *d)
{
    if (d->path) fprintf(f, "%s: ", d->path);
    if (d->reason) {
        fputs(d->reason, f);
        return;
    }
    if (!d->agree)
        fprintf(f, "%lld of %lld elements differ, first at %s; ", (long long)d->differing, (long long)d->count,
                d->first_text ? d->first_text : "?");
    fprintf(f, "worst abs %.3g, rel %.3g", d->max_abs, d->max_rel);
    if (d->max_ulp == UINT64_MAX)
        fputs(", ulp inf", f);
    else
        fprintf(f, ", ulp %llu", (unsigned long long)d->max_ulp);
}

/* element.c: single elements of tensors, of any type, as numbers and as text. */
#include "element.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../../runtime/narrow.h"
#include "utf8.h"

double mr_element_real(const mr_tensor *t, int64_t i)
{
    if (!mr_dtype_in(t->dtype, MR_NARROW_FLOATS)) return mr_tensor_real(t, i);
    uint8_t bits = ((const uint8_t *)t->data)[i];
    switch (t->dtype) {
    case MR_F8E4M3FN:
        return mr_f8e4m3fn_to_f32((mr_f8e4m3fn){bits});
    case MR_F8E4M3FNUZ:
        return mr_f8e4m3fnuz_to_f32((mr_f8e4m3fnuz){bits});
    case MR_F8E5M2:
        return mr_f8e5m2_to_f32((mr_f8e5m2){bits});
    case MR_F8E5M2FNUZ:
        return mr_f8e5m2fnuz_to_f32((mr_f8e5m2fnuz){bits});
    case MR_F8E8M0:
        return mr_f8e8m0_to_f32((mr_f8e8m0){bits});
    case MR_F6E2M3:
        return mr_f6e2m3_to_f32((mr_f6e2m3){bits});
    case MR_F6E3M2:
        return mr_f6e3m2_to_f32((mr_f6e3m2){bits});
    default:
        return mr_f4e2m1_to_f32((mr_f4e2m1){bits});
    }
}

double complex mr_element_complex(const mr_tensor *t, int64_t i)
{
    return t->dtype == MR_C64 ? ((const float complex *)t->data)[i] : ((const double complex *)t->data)[i];
}

uint64_t mr_element_code(const mr_tensor *t, int64_t i)
{
    switch (mr_dtype_size(t->dtype)) {
    case 1:
        return ((const uint8_t *)t->data)[i];
    case 2:
        return ((const uint16_t *)t->data)[i];
    case 4:
        return ((const uint32_t *)t->data)[i];
    default:
        return ((const uint64_t *)t->data)[i];
    }
}

/* Where the code stands in the order of values; both zeros stand at 0. */
static int64_t order(const mr_tensor *t, int64_t i)
{
    uint64_t code = mr_element_code(t, i);
    if (t->dtype == MR_F8E8M0) return (int64_t)code;
    uint64_t sign = UINT64_C(1) << (mr_dtype_wire_bits(t->dtype) - 1);
    return code & sign ? -(int64_t)(code & (sign - 1)) : (int64_t)code;
}

uint64_t mr_element_ulp(const mr_tensor *a, const mr_tensor *b, int64_t i)
{
    bool nan_a = isnan(mr_element_real(a, i)), nan_b = isnan(mr_element_real(b, i));
    if (nan_a || nan_b) return nan_a && nan_b ? 0 : UINT64_MAX;
    int64_t x = order(a, i), y = order(b, i);
    return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

void mr_integer_limits(mr_dtype d, int64_t *low, uint64_t *high)
{
    int bits = d == MR_BOOL ? 1 : mr_dtype_wire_bits(d);
    bool is_signed = mr_dtype_in(d, MR_SIGNED | MR_BIT(MR_I4) | MR_BIT(MR_I2));
    *high = UINT64_MAX >> (64 - bits + is_signed);
    *low = is_signed ? -(int64_t)*high - 1 : 0;
}

static void store_integer(mr_tensor *t, int64_t i, uint64_t bits)
{
    switch (mr_dtype_size(t->dtype)) {
    case 1:
        ((uint8_t *)t->data)[i] = (uint8_t)bits;
        break;
    case 2:
        ((uint16_t *)t->data)[i] = (uint16_t)bits;
        break;
    case 4:
        ((uint32_t *)t->data)[i] = (uint32_t)bits;
        break;
    default:
        ((uint64_t *)t->data)[i] = bits;
    }
}

static void store_narrow(mr_tensor *t, int64_t i, double x)
{
    uint8_t *p = (uint8_t *)t->data + i;
    switch (t->dtype) {
    case MR_F8E4M3FN:
        *p = mr_f8e4m3fn_from_f64(x, true).bits;
        break;
    case MR_F8E4M3FNUZ:
        *p = mr_f8e4m3fnuz_from_f64(x, true).bits;
        break;
    case MR_F8E5M2:
        *p = mr_f8e5m2_from_f64(x, true).bits;
        break;
    case MR_F8E5M2FNUZ:
        *p = mr_f8e5m2fnuz_from_f64(x, true).bits;
        break;
    case MR_F8E8M0:
        *p = mr_f8e8m0_from_f64(x, true, MR_E8M0_NEAREST).bits;
        break;
    case MR_F6E2M3:
        *p = mr_f6e2m3_from_f64(x).bits;
        break;
    case MR_F6E3M2:
        *p = mr_f6e3m2_from_f64(x).bits;
        break;
    default:
        *p = mr_f4e2m1_from_f64(x).bits;
    }
}

bool mr_element_store(mr_tensor *t, int64_t i, double x)
{
    switch (t->dtype) {
    case MR_F32:
        ((float *)t->data)[i] = (float)x;
        return true;
    case MR_F64:
        ((double *)t->data)[i] = x;
        return true;
    case MR_F16:
        ((mr_f16 *)t->data)[i] = mr_f16_from_f64(x);
        return true;
    case MR_BF16:
        ((mr_bf16 *)t->data)[i] = mr_bf16_from_f64(x);
        return true;
    case MR_C64:
        ((float complex *)t->data)[i] = (float)x;
        return true;
    case MR_C128:
        ((double complex *)t->data)[i] = x;
        return true;
    default:
        break;
    }
    if (mr_dtype_in(t->dtype, MR_NARROW_FLOATS)) {
        store_narrow(t, i, x);
        return true;
    }
    int64_t low;
    uint64_t high;
    mr_integer_limits(t->dtype, &low, &high);
    /* high + 1 and low are powers of two (or 0): exact as doubles. */
    if (!(x >= (double)low && x < ldexp((double)(high / 2 + 1), 1)) || x != trunc(x)) return false;
    store_integer(t, i, x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x);
    return true;
}

static bool parse_number(const char *text, double *x)
{
    char *end;
    *x = strtod(text, &end);
    return end != text && !*end;
}

static bool parse_integer(mr_tensor *t, int64_t i, const char *text)
{
    bool yes = strcasecmp(text, "true") == 0, no = strcasecmp(text, "false") == 0;
    if (yes || no) {
        store_integer(t, i, yes);
        return t->dtype == MR_BOOL;
    }
    bool negative = *text == '-';
    const char *digits = text + (negative || *text == '+');
    char *end;
    errno = 0;
    uint64_t magnitude = strtoull(digits, &end, strncasecmp(digits, "0x", 2) == 0 ? 16 : 10);
    if (!isdigit((unsigned char)*digits) || *end) { /* "1e3" is an integer too */
        double x;
        return parse_number(text, &x) && mr_element_store(t, i, x);
    }
    int64_t low;
    uint64_t high;
    mr_integer_limits(t->dtype, &low, &high);
    if (errno || magnitude > (negative ? -(uint64_t)low : high)) return false;
    store_integer(t, i, negative ? -magnitude : magnitude);
    return true;
}

/* "1", "2j", "1-2j" */
static bool parse_complex(const char *text, double complex *z)
{
    char *end, *end_im;
    double re = strtod(text, &end), im = 0;
    if (end == text) return false;
    if (*end == '+' || *end == '-') {
        im = strtod(end, &end_im);
        if (end_im == end || *end_im != 'j') return false;
        end = end_im + 1;
    } else if (*end == 'j') {
        im = re;
        re = 0;
        end++;
    }
    ((double *)z)[0] = re; /* not re + im * I, which makes NaN of infinities */
    ((double *)z)[1] = im;
    return !*end;
}

bool mr_element_parse(mr_tensor *t, int64_t i, const char *text)
{
    double x;
    double complex z;
    if (mr_dtype_in(t->dtype, MR_COMPLEX)) {
        if (!parse_complex(text, &z)) return false;
        if (t->dtype == MR_C64)
            ((float complex *)t->data)[i] = (float complex)z;
        else
            ((double complex *)t->data)[i] = z;
        return true;
    }
    if (mr_dtype_in(t->dtype, MR_ALL_FLOATS)) return parse_number(text, &x) && mr_element_store(t, i, x);
    return parse_integer(t, i, text);
}

/* As few digits as give back x where it is stored: t's element 0 is the place to try. */
static void print_shortest(FILE *f, double x, mr_tensor *t)
{
    if (isnan(x)) {
        fputs("nan", f);
        return;
    }
    char text[40];
    mr_element_store(t, 0, x);
    double stored = mr_element_real(t, 0);
    bool plain = fabs(x) >= 1e-4 && fabs(x) < 1e16; /* "10", not "1e+01" */
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        mr_element_store(t, 0, strtod(text, NULL));
        if (mr_element_real(t, 0) == stored && !(plain && strchr(text, 'e'))) break;
    }
    fputs(text, f);
}

void mr_number_print(FILE *f, double x)
{
    double place;
    print_shortest(f, x, &(mr_tensor){.dtype = MR_F64, .data = &place});
}

/* What is no text is shown byte by byte, so that a terminal always gets UTF-8. */
static void print_string(FILE *f, mr_string s)
{
    fputc('"', f);
    for (size_t i = 0, n; i < s.len; i += n) {
        uint32_t point;
        n = mr_utf8_decode(s.data + i, s.len - i, &point);
        if (n == 0 || point < ' ' || point == 0x7f) {
            fprintf(f, "\\x%02x", (unsigned char)s.data[i]);
            n = 1;
        } else {
            if (point == '"' || point == '\\') fputc('\\', f);
            fwrite(s.data + i, 1, n, f);
        }
    }
    fputc('"', f);
}

static void print_complex(FILE *f, mr_dtype d, double complex z)
{
    double place;
    mr_tensor part = {.dtype = d == MR_C64 ? MR_F32 : MR_F64, .data = &place};
    print_shortest(f, creal(z), &part);
    if (!signbit(cimag(z))) fputc('+', f);
    print_shortest(f, cimag(z), &part);
    fputc('j', f);
}

void mr_element_print(FILE *f, const mr_tensor *t, int64_t i)
{
    double place;
    if (t->dtype == MR_STRING)
        print_string(f, ((const mr_string *)t->data)[i]);
    else if (mr_dtype_in(t->dtype, MR_COMPLEX))
        print_complex(f, t->dtype, mr_element_complex(t, i));
    else if (mr_dtype_in(t->dtype, MR_ALL_FLOATS))
        print_shortest(f, mr_element_real(t, i), &(mr_tensor){.dtype = t->dtype, .data = &place});
    else if (t->dtype == MR_BOOL)
        fputs(mr_tensor_int(t, i) ? "true" : "false", f);
    else if (t->dtype == MR_U64)
        fprintf(f, "%llu", (unsigned long long)mr_tensor_int(t, i));
    else
        fprintf(f, "%lld", (long long)mr_tensor_int(t, i));
}

void mr_index_print(FILE *f, const mr_tensor *t, int64_t i)
{
    int64_t at[MR_MAX_RANK];
    for (int a = t->rank - 1; a >= 0; i /= t->dims[a--]) at[a] = i % t->dims[a];
    fputc('[', f);
    for (int a = 0; a < t->rank; a++) fprintf(f, "%s%lld", a ? "," : "", (long long)at[a]);
    fputc(']', f);
}

/* text.c: numbers as text and back. The C library does the rounding, on text without a decimal point, which is the one
 * thing that it takes from the locale. */
#include "kernels/cpu/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* More digits than decide how any double is rounded; what follows counts as one that isn't zero. */
enum { DIGITS = 800 };

typedef struct {
    const char *at, *end;
} cursor;

static bool digit(const cursor *c)
{
    return c->at < c->end && *c->at >= '0' && *c->at <= '9';
}

static bool take(cursor *c, char lower)
{
    if (c->at == c->end || (*c->at | 0x20) != lower) return false;
    c->at++;
    return true;
}

static bool word(cursor *c, const char *lower)
{
    cursor start = *c;
    for (; *lower; lower++)
        if (!take(c, *lower)) {
            *c = start;
            return false;
        }
    return true;
}

static bool sign(cursor *c)
{
    bool minus = c->at < c->end && *c->at == '-';
    if (minus || (c->at < c->end && *c->at == '+')) c->at++;
    return minus;
}

static void space(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || (*c->at >= '\t' && *c->at <= '\r'))) c->at++;
}

/* Digits behind one another, and how many of them the point or cutting them short leaves out. */
typedef struct {
    char text[DIGITS + 32];
    int n;
    bool any, plain; /* plain: no point */
    int64_t exponent;
    uint64_t integer;
} number;

static void add_digit(number *d, char c)
{
    d->any = true;
    d->integer = d->integer * 10 + (uint64_t)(c - '0');
    if (d->n == 0 && c == '0') return;
    if (d->n < DIGITS) {
        d->text[d->n++] = c;
        return;
    }
    if (c != '0') d->text[DIGITS - 1] = '1';
    d->exponent++;
}

static bool read_number(cursor *c, number *d)
{
    for (; digit(c); c->at++) add_digit(d, *c->at);
    d->plain = !(c->at < c->end && *c->at == '.');
    if (!d->plain)
        for (c->at++; digit(c); c->at++, d->exponent--) add_digit(d, *c->at);
    if (!d->any) return false;
    cursor before = *c;
    if (!take(c, 'e')) return true;
    bool minus = sign(c);
    if (!digit(c)) {
        *c = before;
        return true;
    }
    int64_t e = 0;
    for (; digit(c); c->at++) e = e < 100000 ? e * 10 + (*c->at - '0') : e;
    d->exponent += minus ? -e : e;
    d->plain = false;
    return true;
}

static double round_number(number *d, bool single)
{
    if (d->n == 0) return 0;
    int64_t e = d->exponent < -100000 ? -100000 : d->exponent > 100000 ? 100000 : d->exponent;
    snprintf(d->text + d->n, sizeof d->text - (size_t)d->n, "e%d", (int)e);
    return single ? (double)strtof(d->text, NULL) : strtod(d->text, NULL);
}

bool mr_text_parse(mr_string s, bool single, double *value, int64_t *integer, bool *exact)
{
    cursor c = {s.data, s.data + s.len};
    number d = {.n = 0};
    space(&c);
    bool minus = sign(&c);
    if (word(&c, "infinity") || word(&c, "inf"))
        *value = (double)__builtin_inff();
    else if (word(&c, "nan"))
        *value = (double)__builtin_nanf("");
    else if (read_number(&c, &d))
        *value = round_number(&d, single);
    else
        return false;
    if (minus && *value == *value) *value = -*value;
    *exact = d.plain && d.any;
    *integer = (int64_t)(minus ? 0 - d.integer : d.integer);
    space(&c);
    return c.at == c.end;
}

bool mr_text_is_true(mr_string s)
{
    cursor c = {s.data, s.data + s.len};
    return word(&c, "true") && c.at == c.end;
}

bool mr_text_is_false(mr_string s)
{
    cursor c = {s.data, s.data + s.len};
    return word(&c, "false") && c.at == c.end;
}

/* The digits and the decimal exponent of v, which is finite and positive, rounded to n digits. */
static int digits_of(double v, int n, char *digits)
{
    char text[48];
    snprintf(text, sizeof text, "%.*e", n - 1, v);
    char *e = text;
    for (; *e != 'e'; e++)
        if (*e >= '0' && *e <= '9') *digits++ = *e;
    *digits = 0;
    return atoi(e + 1);
}

static bool gives_back(mr_dtype d, const void *x, const char *digits, int n, int exponent)
{
    char text[64], back[8];
    mr_wide w;
    snprintf(text, sizeof text, "%se%d", digits, exponent - n + 1);
    w.f[0] = d == MR_F32 ? (double)strtof(text, NULL) : strtod(text, NULL);
    mr_wide_store(MR_WIDE_F64, &w, 1, d, back, (mr_wide_rule){.saturate = false});
    double was, is;
    mr_wide_load_f64(d, x, 1, &was);
    mr_wide_load_f64(d, back, 1, &is);
    return is == (was < 0 ? -was : was);
}

static int format_float(mr_dtype d, const void *x, char *text)
{
    double v;
    char digits[32] = "0";
    int n = 1, exponent = 0;
    mr_wide_load_f64(d, x, 1, &v);
    if (v != v) return snprintf(text, MR_TEXT, "nan");
    const char *minus = __builtin_signbit(v) ? "-" : "";
    v = __builtin_fabs(v);
    if (__builtin_isinf(v)) return snprintf(text, MR_TEXT, "%sinf", minus);
    if (v > 0)
        for (n = 1; n <= 17; n++) {
            exponent = digits_of(v, n, digits);
            if (gives_back(d, x, digits, n, exponent)) break;
        }
    if (n > 17) n = 17;
    if (v != 0 && (v < 1e-4 || v >= 1e16))
        return snprintf(text, MR_TEXT, "%s%c%s%se%c%02d", minus, digits[0], n > 1 ? "." : "", digits + 1,
                        exponent < 0 ? '-' : '+', abs(exponent));
    if (exponent < 0) return snprintf(text, MR_TEXT, "%s0.%.*s%s", minus, -exponent - 1, "0000", digits);
    if (n <= exponent + 1)
        return snprintf(text, MR_TEXT, "%s%s%.*s.0", minus, digits, exponent + 1 - n, "0000000000000000");
    return snprintf(text, MR_TEXT, "%s%.*s.%s", minus, exponent + 1, digits, digits + exponent + 1);
}

int mr_text_format(mr_dtype d, const void *x, char text[MR_TEXT])
{
    mr_wide w;
    mr_wide_kind kind = mr_wide_kind_of(d);
    if (kind == MR_WIDE_F64) return format_float(d, x, text);
    mr_wide_load(d, x, 1, &w);
    if (d == MR_BOOL) return snprintf(text, MR_TEXT, "%s", w.i[0] ? "True" : "False");
    if (kind == MR_WIDE_U64) return snprintf(text, MR_TEXT, "%" PRIu64, w.u[0]);
    return snprintf(text, MR_TEXT, "%" PRId64, w.i[0]);
}

/* Numbers as text. The C library does the rounding; it is given digits and an exponent but never a decimal point, since
 * that depends on the locale. */
#include "kernels/cpu/decimal.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/cpu/convert.h"

/* A double, or the middle of two, has at most 767 significant digits: of what follows, only "is there more" matters. */
enum { DIGITS = 770, EXPONENT_BOUND = 100000000 };

typedef struct {
    char text[DIGITS + 16]; /* sign, digits, e, exponent: for strtod */
    bool whole;             /* neither point nor exponent: digits alone */
} decimal;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_word(const char *text, size_t len, const char *lower)
{
    size_t i = 0;
    for (; i < len && lower[i]; i++)
        if ((text[i] | 0x20) != lower[i]) return false;
    return i == len && !lower[i];
}

/* Takes the exponent at *text, "e-12", into *exponent; one too large to matter is bounded. */
static bool scan_exponent(const char **text, const char *end, int64_t *exponent)
{
    const char *p = *text + 1;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '+' || *p == '-')) p++;
    if (p == end || !is_digit(*p)) return false;
    int64_t value = 0;
    for (; p < end && is_digit(*p); p++)
        if (value < EXPONENT_BOUND) value = value * 10 + (*p - '0');
    *exponent += negative ? -value : value;
    *text = p;
    return true;
}

/* Digits with at most one point, and an exponent. out is written behind its sign. */
static bool scan_number(const char *p, const char *end, decimal *out, size_t used)
{
    int64_t exponent = 0;
    bool digits = false, point = false, more = false;
    size_t first = used;
    for (; p < end && (is_digit(*p) || (*p == '.' && !point)); p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        digits = true;
        exponent -= point;
        if (used == first && *p == '0') continue;
        if (used < DIGITS)
            out->text[used++] = *p;
        else {
            more = more || *p != '0';
            exponent++;
        }
    }
    if (!digits) return false;
    out->whole = !point && p == end;
    if (p < end && (*p | 0x20) == 'e' && !scan_exponent(&p, end, &exponent)) return false;
    if (p != end) return false;
    if (used == first) out->text[used++] = '0';
    if (more) {
        out->text[used++] = '1';
        exponent--;
    }
    if (exponent > EXPONENT_BOUND) exponent = EXPONENT_BOUND;
    if (exponent < -EXPONENT_BOUND) exponent = -EXPONENT_BOUND;
    snprintf(out->text + used, sizeof out->text - used, "e%d", (int)exponent);
    return true;
}

static void trim(const char **text, const char **end)
{
    while (*text < *end && is_space(**text)) ++*text;
    while (*text < *end && is_space((*end)[-1])) --*end;
}

static bool scan(const char *text, size_t len, decimal *out)
{
    const char *end = text + len;
    trim(&text, &end);
    size_t used = 0;
    if (text < end && (*text == '+' || *text == '-')) {
        if (*text == '-') out->text[used++] = '-';
        text++;
    }
    len = (size_t)(end - text);
    out->whole = false;
    if (is_word(text, len, "nan")) return memcpy(out->text, "nan", 4);
    if (is_word(text, len, "inf") || is_word(text, len, "infinity")) return memcpy(out->text + used, "inf", 4);
    return scan_number(text, end, out, used);
}

bool mr_parse_f64(const char *text, size_t len, double *x)
{
    decimal d;
    if (!scan(text, len, &d)) return false;
    *x = strtod(d.text, NULL);
    return true;
}

bool mr_parse_f32(const char *text, size_t len, float *x)
{
    decimal d;
    if (!scan(text, len, &d)) return false;
    *x = strtof(d.text, NULL);
    return true;
}

bool mr_parse_int(const char *text, size_t len, uint64_t *x)
{
    decimal d;
    if (!scan(text, len, &d)) return false;
    if (!d.whole) {
        *x = mr_int_from_f64(strtod(d.text, NULL));
        return true;
    }
    const char *end = text + len;
    trim(&text, &end);
    bool negative = *text == '-';
    uint64_t value = 0;
    for (; text < end; text++)
        if (is_digit(*text)) value = value * 10 + (uint64_t)(*text - '0');
    *x = negative ? -value : value;
    return true;
}

/* 0.d1d2d3… 10^exponent */
typedef struct {
    char digits[18];
    int count, exponent;
} shortest;

static double read_f64(const char *text)
{
    return strtod(text, NULL);
}

static double read_f32(const char *text)
{
    return strtof(text, NULL);
}

static double read_f16(const char *text)
{
    return mr_f16_to_f32(mr_f16_from_f64(strtod(text, NULL)));
}

static double read_bf16(const char *text)
{
    return mr_bf16_to_f32(mr_bf16_from_f64(strtod(text, NULL)));
}

static bool reads_as(const shortest *s, double x, double (*read)(const char *))
{
    char text[40];
    snprintf(text, sizeof text, "%.*se%d", s->count, s->digits, s->exponent - s->count);
    return read(text) == x;
}

/* One more in the last digit. */
static void step_up(shortest *s)
{
    int i = s->count - 1;
    while (i >= 0 && s->digits[i] == '9') s->digits[i--] = '0';
    if (i >= 0) {
        s->digits[i]++;
    } else {
        s->digits[0] = '1';
        s->exponent++;
    }
}

/* Asks the C library for more and more digits until the type reads them as x; 17 always do. They are the nearest ones,
 * but above a power of two numbers are twice as far apart as below: there the next digits up may do as well. */
static shortest find_shortest(double x, double (*read)(const char *))
{
    shortest s = {.count = 0};
    for (int wanted = 1; wanted <= 17; wanted++) {
        char text[40], *p = text;
        snprintf(text, sizeof text, "%.*e", wanted - 1, x);
        for (s.count = 0; *p != 'e'; p++)
            if (is_digit(*p)) s.digits[s.count++] = *p;
        s.exponent = atoi(p + 1) + 1;
        if (reads_as(&s, x, read)) break;
        shortest up = s;
        step_up(&up);
        if (reads_as(&up, x, read)) return up;
    }
    return s;
}

static size_t write_scientific(shortest s, char *out)
{
    if (s.count == 1) return (size_t)snprintf(out, MR_DECIMAL_SIZE, "%ce%+03d", s.digits[0], s.exponent - 1);
    return (size_t)snprintf(out, MR_DECIMAL_SIZE, "%c.%.*se%+03d", s.digits[0], s.count - 1, s.digits + 1,
                            s.exponent - 1);
}

/* At most 16 digits before the point, or three zeros behind it. */
static size_t write_plain(shortest s, char *out)
{
    size_t n = 0;
    if (s.exponent <= 0) out[n++] = '0';
    for (int i = 0; i < s.exponent; i++) out[n++] = i < s.count ? s.digits[i] : '0';
    out[n++] = '.';
    for (int i = s.exponent; i < 0; i++) out[n++] = '0';
    for (int i = s.exponent > 0 ? s.exponent : 0; i < s.count; i++) out[n++] = s.digits[i];
    if (s.count <= s.exponent) out[n++] = '0';
    out[n] = 0;
    return n;
}

static size_t format(double x, double (*read)(const char *), char *out)
{
    size_t n = 0;
    if (x != x) return (size_t)snprintf(out, MR_DECIMAL_SIZE, "nan");
    if (mr_bits_f64(x) >> 63) {
        out[n++] = '-';
        x = -x;
    }
    if (x == 0 || x > DBL_MAX) return n + (size_t)snprintf(out + n, MR_DECIMAL_SIZE - n, x == 0 ? "0.0" : "inf");
    shortest s = find_shortest(x, read);
    return n + (x >= 1e-4 && x < 1e16 ? write_plain(s, out + n) : write_scientific(s, out + n));
}

size_t mr_format_f64(double x, char out[MR_DECIMAL_SIZE])
{
    return format(x, read_f64, out);
}

size_t mr_format_f32(float x, char out[MR_DECIMAL_SIZE])
{
    return format(x, read_f32, out);
}

size_t mr_format_f16(mr_f16 x, char out[MR_DECIMAL_SIZE])
{
    return format(mr_f16_to_f32(x), read_f16, out);
}

size_t mr_format_bf16(mr_bf16 x, char out[MR_DECIMAL_SIZE])
{
    return format(mr_bf16_to_f32(x), read_bf16, out);
}

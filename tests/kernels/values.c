/* values.c: what goes into kernels, and how what comes out is compared. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/cpu/wide.h"
#include "tests/kernels/checker.h"

const mr_dtype ck_floats[4] = {MR_F32, MR_F16, MR_BF16, MR_F64};

/* xorshift64* */
uint64_t ck_random(ck *c)
{
    c->random ^= c->random >> 12;
    c->random ^= c->random << 25;
    c->random ^= c->random >> 27;
    return c->random * UINT64_C(0x2545f4914f6cdd1d);
}

double ck_uniform(ck *c)
{
    return (double)(ck_random(c) >> 11) * 0x1p-53;
}

typedef struct format {
    int digits, lowest; /* of the significand; exponent of the smallest normal */
    double largest;
} format;

static format format_of(mr_dtype d)
{
    switch (d) {
    case MR_F16:
        return (format){11, -14, 65504};
    case MR_BF16:
        return (format){8, -126, 0x1.fep127};
    case MR_F64:
        return (format){53, -1022, 0x1.fffffffffffffp1023};
    default:
        return (format){24, -126, 0x1.fffffep127};
    }
}

double ck_unit(mr_dtype d)
{
    return ldexp(1, -format_of(d).digits);
}

static double ulp(mr_dtype d, double x)
{
    format f = format_of(d);
    int e = x == 0 ? f.lowest : ilogb(x);
    return ldexp(1, (e < f.lowest ? f.lowest : e) - f.digits + 1);
}

/* ---- making ---- */

static double special(ck *c, mr_dtype d)
{
    const format f = format_of(d);
    const double least = ldexp(1, f.lowest - f.digits + 1);
    const double list[] = {0,
                           NAN,
                           INFINITY,
                           f.largest,
                           ldexp(1, f.lowest),
                           least,
                           3 * least,
                           1,
                           0.5,
                           1.5,
                           2.5,
                           2,
                           10,
                           87,
                           88.8,
                           104,
                           0.1,
                           1 - ck_unit(d),
                           1e-3,
                           20,
                           255.5,
                           128.5,
                           127.5,
                           65519,
                           2147483648.0};
    double x = list[ck_random(c) % (sizeof list / sizeof *list)];
    return ck_random(c) & 1 ? -x : x;
}

static double number(ck *c, mr_dtype d, ck_values v)
{
    switch (v) {
    case CK_UNIT:
        return 2 * ck_uniform(c) - 1;
    case CK_POSITIVE:
        return 2 - 2 * ck_uniform(c);
    case CK_FINITE: {
        int low = format_of(d).lowest - 3, high = d == MR_F16 ? 12 : 20;
        return ldexp(2 * ck_uniform(c) - 1, low / (int)(1 + ck_random(c) % 8) + (int)(ck_random(c) % (unsigned)high));
    }
    case CK_HUGE:
        return format_of(d).largest * (2 * ck_uniform(c) - 1);
    case CK_SCALE:
        return (double)(float)(2 - 2 * ck_uniform(c));
    case CK_WHOLE:
        return (double)(ck_random(c) % 128);
    case CK_EXPONENT: {
        static const double list[] = {2, 3, 0.5, -1, -0.5, 0, 1, 1.75};
        return list[ck_random(c) % 8];
    }
    default:
        return ck_random(c) % 3 ? 32 * ck_uniform(c) - 16 : special(c, d);
    }
}

static bool is_float(mr_dtype d)
{
    return mr_dtype_in(d, MR_FLOATS);
}

static void make_floats(ck *c, mr_dtype d, void *p, int64_t n, ck_values v)
{
    const size_t size = mr_dtype_size(d);
    for (int64_t i = 0; i < n; i++) {
        mr_wide w;
        char *to = (char *)p + (size_t)i * size;
        w.f[0] = number(c, d, v);
        mr_wide_store(MR_WIDE_F64, &w, 1, d, to, (mr_wide_rule){0});
        if (v == CK_ANY && ck_random(c) % 4 == 0) { /* any bits */
            uint64_t bits = ck_random(c);
            memcpy(to, &bits, size);
        }
    }
}

static void make_bytes(ck *c, mr_dtype d, void *p, int64_t n, ck_values v)
{
    static const uint64_t ends[] = {0, 1, UINT64_MAX, UINT64_C(0x7fffffffffffffff), UINT64_C(0x8080808080808080)};
    const size_t size = mr_dtype_size(d);
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits = ck_random(c) % 8 ? ck_random(c) : ends[ck_random(c) % 5], high = ck_random(c);
        if (v == CK_UNIT) bits = bits % 17 - (mr_dtype_in(d, MR_SIGNED) ? 8 : 0);
        if (v == CK_POSITIVE) bits = 1 + bits % 9;
        if (v == CK_EXPONENT) bits = ck_random(c) % 4;
        if (d == MR_BOOL) bits &= 1;
        char *to = (char *)p + (size_t)i * size;
        memcpy(to, &bits, size < 8 ? size : 8);
        if (size == 16) memcpy(to + 8, &high, 8);
    }
}

void *ck_values_in(ck *c, mr_dtype d, int64_t n, ck_values v)
{
    void *p = ck_in(c, n, mr_dtype_size(d));
    if (mr_wide_kind_of(d) == MR_WIDE_F64)
        make_floats(c, d, p, n, v);
    else
        make_bytes(c, d, p, n, v);
    return p;
}

void ck_sprinkle(ck *c, mr_dtype d, void *x, int64_t n)
{
    static const double list[] = {NAN, INFINITY, -INFINITY, -0.0};
    for (int i = 0; n && i < 4; i++) {
        mr_wide w = {.f = {list[i]}};
        const size_t at = ck_random(c) % (uint64_t)n;
        mr_wide_store(MR_WIDE_F64, &w, 1, d, (char *)x + at * mr_dtype_size(d), (mr_wide_rule){0});
    }
}

double *ck_magnitudes(ck *c, mr_dtype d, const void *x, int64_t n)
{
    double *m = ck_in(c, n, sizeof *m);
    for (int64_t i = 0; i < n; i++) {
        mr_wide_load_f64(d, (const char *)x + (size_t)i * mr_dtype_size(d), 1, m + i);
        m[i] = fabs(m[i]);
    }
    return m;
}

double *ck_slack(ck *c, int64_t n, const double *magnitude, double factor)
{
    double *s = ck_in(c, n, sizeof *s);
    for (int64_t i = 0; i < n; i++) s[i] = factor * magnitude[i];
    return s;
}

/* ---- comparing ---- */

static double element(mr_dtype d, const void *p, int64_t i)
{
    double x;
    mr_wide_load_f64(d, (const char *)p + (size_t)i * mr_dtype_size(d), 1, &x);
    return x;
}

static bool same(const ck_output *o, const void *want, const void *got, int64_t i)
{
    size_t size = mr_dtype_size(o->type);
    if (!memcmp((const char *)want + (size_t)i * size, (const char *)got + (size_t)i * size, size)) return true;
    if (o->rule == CK_BITS || !is_float(o->type)) return false;
    double w = element(o->type, want, i), g = element(o->type, got, i);
    return isnan(w) && isnan(g);
}

/* An overflow stands one ULP behind the largest number. */
static double bounded(mr_dtype d, double x)
{
    double largest = format_of(d).largest;
    return isinf(x) ? copysign(d == MR_F64 ? largest : largest + ulp(d, largest), x) : x;
}

static bool near(const ck_output *o, double want, double got, int64_t i, double *error)
{
    *error = NAN;
    if (isnan(want) || isnan(got)) return isnan(want) && isnan(got);
    double w = bounded(o->type, want), bound = o->ulps * ulp(o->type, w) + o->floor;
    double slack = o->slack ? o->slack[i] : 0;
    if (w != 0) slack += o->tail * fabs(w * log(fabs(w)));
    *error = fabs(bounded(o->type, got) - w);
    return *error <= bound || *error <= bound + slack;
}

void ck_compare(ck *c, const ck_output *o, const void *want, const void *got, const char *which)
{
    const bool numbers = mr_wide_kind_of(o->type) != MR_WIDE_NONE;
    for (int64_t i = 0; i < o->n; i++) {
        double error = NAN;
        if (same(o, want, got, i)) continue;
        double w = numbers ? element(o->type, want, i) : 0, g = numbers ? element(o->type, got, i) : 0;
        if (o->rule == CK_NEAR && near(o, w, g, i, &error)) continue;
        ck_fail(c, "%selement %lld of %lld: %.9g (%a), scalar %.9g (%a), %.3g ULP apart", which, (long long)i,
                (long long)o->n, g, g, w, w, error / ulp(o->type, bounded(o->type, w)));
        return;
    }
}

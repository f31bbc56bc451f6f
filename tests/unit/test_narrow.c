/* Narrow floats against their definition: every code is decoded, and every value, every middle of two neighbours and
 * the doubles on both sides of it are encoded. Integers from floats and back. */
#include <math.h>
#include <stdio.h>

#include "kernels/cpu/convert.h"
#include "runtime/narrow.h"

static int passed, failed;

static void check(bool ok, const char *name, const char *what, double x, unsigned code)
{
    if (ok) {
        passed++;
    } else {
        failed++;
        printf("FAIL %s: %s: %a, code 0x%x\n", name, what, x, code);
    }
}

/* What lies beyond the finite codes. */
typedef enum { IEEE, ONE_NAN, ONE_ZERO, FINITE } kind;

typedef enum { F16, BF16, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F6E2M3, F6E3M2, F4E2M1 } type;

typedef struct {
    type type;
    const char *name;
    int width, fraction, bias;
    kind kind;
} format;

static const format formats[] = {
    {F16, "f16", 16, 10, 15, IEEE},           {BF16, "bf16", 16, 7, 127, IEEE},
    {F8E4M3FN, "f8e4m3fn", 8, 3, 7, ONE_NAN}, {F8E4M3FNUZ, "f8e4m3fnuz", 8, 3, 8, ONE_ZERO},
    {F8E5M2, "f8e5m2", 8, 2, 15, IEEE},       {F8E5M2FNUZ, "f8e5m2fnuz", 8, 2, 16, ONE_ZERO},
    {F6E2M3, "f6e2m3", 6, 3, 1, FINITE},      {F6E3M2, "f6e3m2", 6, 2, 3, FINITE},
    {F4E2M1, "f4e2m1", 4, 1, 1, FINITE},
};

static float decode(const format *f, unsigned code)
{
    switch (f->type) {
    case F16:
        return mr_f16_to_f32((mr_f16){(uint16_t)code});
    case BF16:
        return mr_bf16_to_f32((mr_bf16){(uint16_t)code});
    case F8E4M3FN:
        return mr_f8e4m3fn_to_f32((mr_f8e4m3fn){(uint8_t)code});
    case F8E4M3FNUZ:
        return mr_f8e4m3fnuz_to_f32((mr_f8e4m3fnuz){(uint8_t)code});
    case F8E5M2:
        return mr_f8e5m2_to_f32((mr_f8e5m2){(uint8_t)code});
    case F8E5M2FNUZ:
        return mr_f8e5m2fnuz_to_f32((mr_f8e5m2fnuz){(uint8_t)code});
    case F6E2M3:
        return mr_f6e2m3_to_f32((mr_f6e2m3){(uint8_t)code});
    case F6E3M2:
        return mr_f6e3m2_to_f32((mr_f6e3m2){(uint8_t)code});
    case F4E2M1:
        return mr_f4e2m1_to_f32((mr_f4e2m1){(uint8_t)code});
    }
    return NAN;
}

static unsigned encode(const format *f, double x, bool saturate)
{
    switch (f->type) {
    case F16:
        return mr_f16_from_f64(x).bits;
    case BF16:
        return mr_bf16_from_f64(x).bits;
    case F8E4M3FN:
        return mr_f8e4m3fn_from_f64(x, saturate).bits;
    case F8E4M3FNUZ:
        return mr_f8e4m3fnuz_from_f64(x, saturate).bits;
    case F8E5M2:
        return mr_f8e5m2_from_f64(x, saturate).bits;
    case F8E5M2FNUZ:
        return mr_f8e5m2fnuz_from_f64(x, saturate).bits;
    case F6E2M3:
        return mr_f6e2m3_from_f64(x).bits;
    case F6E3M2:
        return mr_f6e3m2_from_f64(x).bits;
    case F4E2M1:
        return mr_f4e2m1_from_f64(x).bits;
    }
    return 0;
}

static unsigned encode_f32(const format *f, float x, bool saturate)
{
    switch (f->type) {
    case F16:
        return mr_f16_from_f32(x).bits;
    case BF16:
        return mr_bf16_from_f32(x).bits;
    case F8E4M3FN:
        return mr_f8e4m3fn_from_f32(x, saturate).bits;
    case F8E4M3FNUZ:
        return mr_f8e4m3fnuz_from_f32(x, saturate).bits;
    case F8E5M2:
        return mr_f8e5m2_from_f32(x, saturate).bits;
    case F8E5M2FNUZ:
        return mr_f8e5m2fnuz_from_f32(x, saturate).bits;
    case F6E2M3:
        return mr_f6e2m3_from_f32(x).bits;
    case F6E3M2:
        return mr_f6e3m2_from_f32(x).bits;
    case F4E2M1:
        return mr_f4e2m1_from_f32(x).bits;
    }
    return 0;
}

/* The largest finite code, without sign. */
static unsigned largest(const format *f)
{
    unsigned all = (1u << (f->width - 1)) - 1;
    if (f->kind == IEEE) return all - (1u << f->fraction);
    return f->kind == ONE_NAN ? all - 1 : all;
}

static double value(const format *f, unsigned code)
{
    unsigned exponent = code >> f->fraction, fraction = code & ((1u << f->fraction) - 1);
    if (exponent == 0) return ldexp(fraction, 1 - f->bias - f->fraction);
    return ldexp(fraction + (1u << f->fraction), (int)exponent - f->bias - f->fraction);
}

static void check_encode(const format *f, double x, unsigned code, bool saturate)
{
    unsigned sign = f->kind == ONE_ZERO && code == 0 ? 0 : 1u << (f->width - 1);
    check(encode(f, x, saturate) == code, f->name, "from f64", x, encode(f, x, saturate));
    check(encode(f, -x, saturate) == (code | sign), f->name, "from -f64", x, encode(f, -x, saturate));
    if ((float)x == x) check(encode_f32(f, (float)x, saturate) == code, f->name, "from f32", x, code);
}

static void check_finite(const format *f)
{
    for (unsigned code = 0; code <= largest(f); code++) {
        double low = value(f, code), high = value(f, code + 1), middle = (low + high) / 2;
        check(decode(f, code) == low, f->name, "to f32", low, code);
        unsigned last = code == largest(f), even = code + (code & 1);
        if (!(f->kind == ONE_ZERO && code == 0)) {
            unsigned sign = 1u << (f->width - 1);
            check(decode(f, code | sign) == -low && signbit(decode(f, code | sign)), f->name, "to -f32", low,
                  code | sign);
        }
        check_encode(f, low, code, true);
        check_encode(f, nextafter(middle, 0), code, true);
        if (last) break;
        check_encode(f, middle, even, true);
        check_encode(f, nextafter(middle, INFINITY), code + 1, true);
    }
}

/* ONNX Cast's tables, and for f6 and f4, which saturate always, the choice in narrow.h. */
static void check_beyond(const format *f)
{
    unsigned most = largest(f), nan = f->kind == FINITE || f->kind == ONE_ZERO ? 1u << (f->width - 1) : most + 1;
    unsigned over = f->kind == FINITE ? most : nan;
    double edge = (value(f, most) + value(f, most + 1)) / 2, beyond[] = {nextafter(edge, INFINITY), 1e300, INFINITY};
    for (int i = 0; i < 3; i++) {
        bool signless = f->kind == ONE_ZERO;
        unsigned sign = 1u << (f->width - 1), got = encode(f, beyond[i], false), minus = encode(f, -beyond[i], false);
        check(got == over, f->name, "beyond", beyond[i], got);
        check(minus == (signless ? over : over | sign), f->name, "beyond", -beyond[i], minus);
        if (f->width == 8) check_encode(f, beyond[i], most, true);
    }
    unsigned got = encode(f, NAN, true), infinity = encode(f, INFINITY, false);
    if (f->kind == FINITE) {
        check(got == nan, f->name, "NaN", NAN, got);
        return;
    }
    check(isnan(decode(f, got)) && isnan(decode(f, encode(f, -NAN, false))), f->name, "NaN", NAN, got);
    check(f->kind == IEEE ? isinf(decode(f, infinity)) : isnan(decode(f, infinity)), f->name, "infinity", INFINITY,
          infinity);
    for (unsigned code = most + 2; f->kind == IEEE && code < 1u << (f->width - 1); code++)
        check(isnan(decode(f, code)) && isnan(decode(f, encode(f, decode(f, code), false))), f->name, "NaN", NAN, code);
}

static void check_e8m0(void)
{
    static const struct {
        double x;
        bool saturate;
        mr_e8m0_round round;
        unsigned code;
    } cases[] = {
        {1, true, MR_E8M0_UP, 127},        {1.1, true, MR_E8M0_UP, 128},        {1.9, true, MR_E8M0_DOWN, 127},
        {1.5, true, MR_E8M0_NEAREST, 128}, {1.4, true, MR_E8M0_NEAREST, 127},   {0.124, true, MR_E8M0_UP, 124},
        {0, true, MR_E8M0_UP, 0},          {0, false, MR_E8M0_NEAREST, 255},    {0x1p-127, true, MR_E8M0_UP, 0},
        {0x1p-130, true, MR_E8M0_UP, 0},   {0x1p-130, false, MR_E8M0_UP, 255},  {0x1.8p-127, true, MR_E8M0_UP, 1},
        {0x1p127, false, MR_E8M0_UP, 254}, {0x1.1p127, false, MR_E8M0_UP, 255}, {0x1.1p127, true, MR_E8M0_UP, 254},
        {INFINITY, true, MR_E8M0_UP, 254}, {INFINITY, false, MR_E8M0_UP, 255},  {NAN, true, MR_E8M0_UP, 255},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned got = mr_f8e8m0_from_f64(cases[i].x, cases[i].saturate, cases[i].round).bits;
        check(got == cases[i].code, "f8e8m0", "from f64", cases[i].x, got);
    }
    for (unsigned code = 0; code < 255; code++) {
        double x = mr_f8e8m0_to_f32((mr_f8e8m0){(uint8_t)code});
        check(x == ldexp(1, (int)code - 127), "f8e8m0", "to f32", x, code);
        for (mr_e8m0_round r = MR_E8M0_UP; r <= MR_E8M0_NEAREST; r++)
            check(mr_f8e8m0_from_f64(x, false, r).bits == code, "f8e8m0", "from f64", x, code);
    }
    check(isnan(mr_f8e8m0_to_f32((mr_f8e8m0){255})), "f8e8m0", "to f32", NAN, 255);
}

static void check_integers(void)
{
    static const struct {
        double x;
        uint64_t whole;
    } cases[] = {
        {1.9, 1},
        {-1.9, (uint64_t)-1},
        {-0.5, 0},
        {300, 300},
        {-0x1p63, (uint64_t)1 << 63},
        {0x1p63, (uint64_t)1 << 63},
        {0x1.8p64, (uint64_t)1 << 63},
        {-0x1.0000000000001p64, -((uint64_t)1 << 12)},
        {0x1.0000000000001p115, (uint64_t)1 << 63},
        {0x1p116, 0},
        {INFINITY, 0},
        {NAN, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(mr_int_from_f64(cases[i].x) == cases[i].whole, "int", "from f64", cases[i].x, 0);
    for (int i = -20; i < 20; i++) {
        check(mr_i4_from_int((uint64_t)i) == ((i & 15) ^ 8) - 8, "int4", "from int", i, 0);
        check(mr_i2_from_int((uint64_t)i) == ((i & 3) ^ 2) - 2, "int2", "from int", i, 0);
    }
    /* 2^60 + 2^36 is the middle of two floats, and one more is above it. */
    int64_t middle = ((int64_t)1 << 60) + ((int64_t)1 << 36);
    for (int more = -1; more <= 1; more++) {
        int64_t x = middle + more;
        check((float)mr_sticky_from_i64(x) == (float)x, "sticky", "to f32", (double)x, 0);
        check((float)mr_sticky_from_i64(-x) == (float)-x, "sticky", "to f32", (double)-x, 0);
    }
    check(mr_sticky_from_u64(((uint64_t)1 << 53) - 1) == 0x1p53 - 1, "sticky", "exact", 0x1p53, 0);
    check(mr_sticky_from_i64(INT64_MIN) == -0x1p63, "sticky", "exact", -0x1p63, 0);
}

int main(void)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        check_finite(&formats[i]);
        check_beyond(&formats[i]);
    }
    check_e8m0();
    check_integers();
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}

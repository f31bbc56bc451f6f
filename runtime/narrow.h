/* Narrow floating point: storage types and their conversion to and from float and double.
 *
 * Each type is a struct of its code, so that arithmetic on storage does not compile. Types under 8 bits are stored
 * unpacked, one element a byte, the code in the low bits. Every encoder rounds once, to nearest even; float arguments
 * go through double, which is exact. Decoding to float is exact for every code of every type.
 *
 * Sources: IEEE 754-2019 (f16); the OCP 8-bit floating point (e4m3fn, e5m2) and Microscaling (e8m0, f6, f4)
 * specifications; the tables in ONNX Cast for what lies out of range.
 */
#ifndef MR_NARROW_H
#define MR_NARROW_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    uint16_t bits;
} mr_f16;
typedef struct {
    uint16_t bits;
} mr_bf16;
typedef struct {
    uint8_t bits;
} mr_f8e4m3fn;
typedef struct {
    uint8_t bits;
} mr_f8e4m3fnuz;
typedef struct {
    uint8_t bits;
} mr_f8e5m2;
typedef struct {
    uint8_t bits;
} mr_f8e5m2fnuz;
typedef struct {
    uint8_t bits;
} mr_f8e8m0;
typedef struct {
    uint8_t bits;
} mr_f6e2m3;
typedef struct {
    uint8_t bits;
} mr_f6e3m2;
typedef struct {
    uint8_t bits;
} mr_f4e2m1;

/* ONNX Cast, attribute round_mode: only conversions to f8e8m0 have it. */
typedef enum { MR_E8M0_UP, MR_E8M0_DOWN, MR_E8M0_NEAREST } mr_e8m0_round;

/* A format with a sign, an exponent and a fraction. Codes are without the sign, except nan where plain_nan. */
typedef struct {
    int fraction;      /* bits of the fraction */
    int bias;          /* of the exponent */
    int sign;          /* position of the sign bit */
    uint32_t largest;  /* code of the largest finite value */
    uint32_t overflow; /* code for what is larger, unless saturated */
    uint32_t nan;      /* the NaN that has no payload */
    bool payload;      /* codes above overflow are NaNs with a payload, as in IEEE 754 */
    bool one_zero;     /* no -0: its code is taken (or means NaN) */
    bool plain_nan;    /* nan is a whole code: the sign of the argument is dropped */
} mr_narrow;

static const mr_narrow mr_narrow_f16 = {10, 15, 15, 0x7bff, 0x7c00, 0x7e00, true, false, false};
static const mr_narrow mr_narrow_bf16 = {7, 127, 15, 0x7f7f, 0x7f80, 0x7fc0, true, false, false};
static const mr_narrow mr_narrow_f8e4m3fn = {3, 7, 7, 0x7e, 0x7f, 0x7f, false, false, false};
static const mr_narrow mr_narrow_f8e4m3fnuz = {3, 8, 7, 0x7f, 0x80, 0x80, false, true, true};
static const mr_narrow mr_narrow_f8e5m2 = {2, 15, 7, 0x7b, 0x7c, 0x7e, true, false, false};
static const mr_narrow mr_narrow_f8e5m2fnuz = {2, 16, 7, 0x7f, 0x80, 0x80, false, true, true};
/* f6 and f4 have neither infinity nor NaN: what is larger saturates, NaN becomes -0 (the choice of ml_dtypes). */
static const mr_narrow mr_narrow_f6e2m3 = {3, 1, 5, 0x1f, 0x1f, 0x20, false, false, true};
static const mr_narrow mr_narrow_f6e3m2 = {2, 3, 5, 0x1f, 0x1f, 0x20, false, false, true};
static const mr_narrow mr_narrow_f4e2m1 = {1, 1, 3, 0x07, 0x07, 0x08, false, false, true};

static inline uint64_t mr_bits_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double mr_f64_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t mr_bits_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float mr_f32_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Without branches, so that loops over it vectorize; formats are constants, so that what a format lacks folds away. */
static inline uint32_t mr_narrow_encode(double x, mr_narrow f, bool saturate)
{
    const int shift = 52 - f.fraction;
    uint64_t bits = mr_bits_f64(x), magnitude = bits & INT64_MAX, infinity = (uint64_t)0x7ff << 52;
    uint32_t sign = (uint32_t)(bits >> 63) << f.sign;

    /* Normal: drop the low bits, ties to even; a carry out of the fraction is the next exponent. */
    uint64_t even = magnitude + ((uint64_t)1 << (shift - 1)) - 1 + (magnitude >> shift & 1);
    uint64_t normal = (even >> shift) - ((uint64_t)(1023 - f.bias) << f.fraction);
    /* Subnormal: adding a number whose ulp is the smallest subnormal lets the addition round. */
    uint64_t anchor = (uint64_t)(1023 + 1 - f.bias - f.fraction + 52) << 52;
    uint64_t subnormal = mr_bits_f64(mr_f64_bits(magnitude) + mr_f64_bits(anchor)) - anchor;
    uint64_t code = magnitude < (uint64_t)(1023 + 1 - f.bias) << 52 ? subnormal : normal;

    if (code > f.largest || magnitude == infinity) code = saturate ? f.largest : f.overflow;
    if (magnitude > infinity)
        code = f.payload ? f.nan | (magnitude >> shift & (((uint64_t)1 << f.fraction) - 1)) : f.nan;
    bool whole = f.plain_nan && magnitude > infinity;
    bool unsigned_code = whole || (f.one_zero && (code == 0 || code == f.nan));
    return (uint32_t)code | (unsigned_code ? 0 : sign);
}

static inline float mr_narrow_decode(uint32_t bits, mr_narrow f)
{
    const uint32_t exponent = (uint32_t)(127 - f.bias) << 23, smallest = exponent + ((uint32_t)1 << 23);
    uint32_t sign = bits >> f.sign << 31, code = bits & (((uint32_t)1 << f.sign) - 1);
    uint32_t magnitude = code << (23 - f.fraction);

    /* Subnormal: put the fraction under the leading one of the smallest normal, and take that away. */
    uint32_t subnormal = mr_bits_f32(mr_f32_bits(magnitude + smallest) - mr_f32_bits(smallest));
    uint32_t value = code >> f.fraction == 0 ? subnormal : magnitude + exponent;
    if (f.payload && code >= f.overflow) value = magnitude | 0x7f800000u | (code > f.overflow ? 0x00400000u : 0);
    if (f.payload) return mr_f32_bits(value | sign);
    if (f.one_zero && bits == f.nan) return mr_f32_bits(0x7fc00000u);
    if (f.overflow == f.nan && code == f.nan) value = 0x7fc00000u;
    return mr_f32_bits(value | sign);
}

static inline float mr_f16_to_f32(mr_f16 x)
{
    return mr_narrow_decode(x.bits, mr_narrow_f16);
}

static inline mr_f16 mr_f16_from_f64(double x)
{
    return (mr_f16){(uint16_t)mr_narrow_encode(x, mr_narrow_f16, false)};
}

static inline mr_f16 mr_f16_from_f32(float x)
{
    return mr_f16_from_f64(x);
}

/* bf16 is the upper half of a float, and shares its range: no table of special cases is needed. */
static inline float mr_bf16_to_f32(mr_bf16 x)
{
    return mr_f32_bits((uint32_t)x.bits << 16);
}

static inline mr_bf16 mr_bf16_from_f64(double x)
{
    return (mr_bf16){(uint16_t)mr_narrow_encode(x, mr_narrow_bf16, false)};
}

static inline mr_bf16 mr_bf16_from_f32(float x)
{
    uint32_t bits = mr_bits_f32(x), nan = bits >> 16 | 0x0040u;
    uint32_t even = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
    return (mr_bf16){(uint16_t)((bits & INT32_MAX) > 0x7f800000u ? nan : even)};
}

/* saturate as in ONNX Cast: out of range becomes the largest finite value (also infinity), not NaN or infinity. */
static inline float mr_f8e4m3fn_to_f32(mr_f8e4m3fn x)
{
    return mr_narrow_decode(x.bits, mr_narrow_f8e4m3fn);
}

static inline mr_f8e4m3fn mr_f8e4m3fn_from_f64(double x, bool saturate)
{
    return (mr_f8e4m3fn){(uint8_t)mr_narrow_encode(x, mr_narrow_f8e4m3fn, saturate)};
}

static inline mr_f8e4m3fn mr_f8e4m3fn_from_f32(float x, bool saturate)
{
    return mr_f8e4m3fn_from_f64(x, saturate);
}

static inline float mr_f8e4m3fnuz_to_f32(mr_f8e4m3fnuz x)
{
    return mr_narrow_decode(x.bits, mr_narrow_f8e4m3fnuz);
}

static inline mr_f8e4m3fnuz mr_f8e4m3fnuz_from_f64(double x, bool saturate)
{
    return (mr_f8e4m3fnuz){(uint8_t)mr_narrow_encode(x, mr_narrow_f8e4m3fnuz, saturate)};
}

static inline mr_f8e4m3fnuz mr_f8e4m3fnuz_from_f32(float x, bool saturate)
{
    return mr_f8e4m3fnuz_from_f64(x, saturate);
}

static inline float mr_f8e5m2_to_f32(mr_f8e5m2 x)
{
    return mr_narrow_decode(x.bits, mr_narrow_f8e5m2);
}

static inline mr_f8e5m2 mr_f8e5m2_from_f64(double x, bool saturate)
{
    return (mr_f8e5m2){(uint8_t)mr_narrow_encode(x, mr_narrow_f8e5m2, saturate)};
}

static inline mr_f8e5m2 mr_f8e5m2_from_f32(float x, bool saturate)
{
    return mr_f8e5m2_from_f64(x, saturate);
}

static inline float mr_f8e5m2fnuz_to_f32(mr_f8e5m2fnuz x)
{
    return mr_narrow_decode(x.bits, mr_narrow_f8e5m2fnuz);
}

static inline mr_f8e5m2fnuz mr_f8e5m2fnuz_from_f64(double x, bool saturate)
{
    return (mr_f8e5m2fnuz){(uint8_t)mr_narrow_encode(x, mr_narrow_f8e5m2fnuz, saturate)};
}

static inline mr_f8e5m2fnuz mr_f8e5m2fnuz_from_f32(float x, bool saturate)
{
    return mr_f8e5m2fnuz_from_f64(x, saturate);
}

static inline float mr_f6e2m3_to_f32(mr_f6e2m3 x)
{
    return mr_narrow_decode(x.bits & 0x3f, mr_narrow_f6e2m3);
}

static inline mr_f6e2m3 mr_f6e2m3_from_f64(double x)
{
    return (mr_f6e2m3){(uint8_t)mr_narrow_encode(x, mr_narrow_f6e2m3, true)};
}

static inline mr_f6e2m3 mr_f6e2m3_from_f32(float x)
{
    return mr_f6e2m3_from_f64(x);
}

static inline float mr_f6e3m2_to_f32(mr_f6e3m2 x)
{
    return mr_narrow_decode(x.bits & 0x3f, mr_narrow_f6e3m2);
}

static inline mr_f6e3m2 mr_f6e3m2_from_f64(double x)
{
    return (mr_f6e3m2){(uint8_t)mr_narrow_encode(x, mr_narrow_f6e3m2, true)};
}

static inline mr_f6e3m2 mr_f6e3m2_from_f32(float x)
{
    return mr_f6e3m2_from_f64(x);
}

static inline float mr_f4e2m1_to_f32(mr_f4e2m1 x)
{
    return mr_narrow_decode(x.bits & 0x0f, mr_narrow_f4e2m1);
}

static inline mr_f4e2m1 mr_f4e2m1_from_f64(double x)
{
    return (mr_f4e2m1){(uint8_t)mr_narrow_encode(x, mr_narrow_f4e2m1, true)};
}

static inline mr_f4e2m1 mr_f4e2m1_from_f32(float x)
{
    return mr_f4e2m1_from_f64(x);
}

/* f8e8m0 is a power of two, 2^(code-127), without sign or zero; code 255 is NaN. */
static inline float mr_f8e8m0_to_f32(mr_f8e8m0 x)
{
    if (x.bits == 0xff) return mr_f32_bits(0x7fc00000u);
    return mr_f32_bits(x.bits == 0 ? 0x00400000u : (uint32_t)x.bits << 23);
}

/* The sign is dropped (ONNX leaves negative arguments open; onnx.reference does the same). Zero is below the smallest
 * value: it saturates to that, or becomes NaN. */
static inline mr_f8e8m0 mr_f8e8m0_from_f64(double x, bool saturate, mr_e8m0_round round)
{
    const uint64_t half = (uint64_t)1 << 51, infinity = (uint64_t)0x7ff << 52;
    uint64_t magnitude = mr_bits_f64(x) & INT64_MAX, fraction = magnitude & (2 * half - 1);
    int exponent = (int)(magnitude >> 52) - 1023 + 127;
    bool up = round == MR_E8M0_UP ? fraction != 0 : round == MR_E8M0_NEAREST && fraction >= half;

    if (magnitude > infinity) return (mr_f8e8m0){0xff};
    exponent += up;
    if (exponent < 0) return (mr_f8e8m0){(uint8_t)(saturate ? 0 : 0xff)};
    if (exponent > 0xfe) return (mr_f8e8m0){(uint8_t)(saturate ? 0xfe : 0xff)};
    return (mr_f8e8m0){(uint8_t)exponent};
}

static inline mr_f8e8m0 mr_f8e8m0_from_f32(float x, bool saturate, mr_e8m0_round round)
{
    return mr_f8e8m0_from_f64(x, saturate, round);
}

#endif

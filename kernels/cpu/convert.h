/* Conversions between integers and floats where C leaves the result open or rounds twice.
 *
 * ONNX Cast: what is out of range of an integer type "discards higher bits", and from a float it is undefined. Here one
 * rule covers both: the integer part, modulo 2^n; NaN and infinities are 0. A float to bool is x != 0, so NaN is true.
 */
#ifndef MR_KERNELS_CPU_CONVERT_H
#define MR_KERNELS_CPU_CONVERT_H

#include <stdint.h>

#include "runtime/narrow.h"

/* The integer part of x modulo 2^64: narrow it with a C cast to an integer type of any size, or with the next two. */
static inline uint64_t mr_int_from_f64(double x)
{
    if (x > -0x1p63 && x < 0x1p63) return (uint64_t)(int64_t)x;
    uint64_t bits = mr_bits_f64(x);
    int shift = (int)(bits >> 52 & 0x7ff) - 1075;
    if (shift >= 64) return 0; /* a multiple of 2^64, infinity or NaN */
    uint64_t size = ((bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52) << shift;
    return bits >> 63 ? -size : size;
}

static inline int8_t mr_i4_from_int(uint64_t x)
{
    return (int8_t)((int8_t)(x << 4 & 0xf0) >> 4);
}

static inline int8_t mr_i2_from_int(uint64_t x)
{
    return (int8_t)((int8_t)(x << 6 & 0xc0) >> 6);
}

/* An integer on its way to a float narrower than double: what does not fit in double leaves a sticky bit behind, so
 * that the second rounding is right (rounding to odd). */
static inline double mr_sticky_from_u64(uint64_t x)
{
    const uint64_t lost = 0x7ff;
    if (x >> 53 && x & lost) x |= lost + 1;
    return (double)(x >> 53 ? x & ~lost : x);
}

static inline double mr_sticky_from_i64(int64_t x)
{
    return x < 0 ? -mr_sticky_from_u64(-(uint64_t)x) : mr_sticky_from_u64((uint64_t)x);
}

#endif

/* to_int.h: a double as an integer, where C leaves most of it open. */
#ifndef MR_KERNELS_CPU_TO_INT_H
#define MR_KERNELS_CPU_TO_INT_H

#include <stdint.h>

#include "kernels/cpu/narrow.h"

/* Cut off toward zero, then modulo 2^64, as ONNX has it between integers: a smaller integer keeps the low bits. NaN and
 * infinities give 0. */
static inline int64_t mr_f64_to_int(double x)
{
    if (x > -0x1p63 && x < 0x1p63) return (int64_t)x;
    uint64_t bits = mr_bits_f64(x), fraction = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
    int shift = (int)(bits >> 52 & 0x7ff) - 1023 - 52; /* 11 or more */
    uint64_t magnitude = shift < 64 ? fraction << shift : 0;
    return (int64_t)(bits >> 63 ? 0 - magnitude : magnitude);
}

#endif

/* Numbers as text, for Cast from and to strings. The locale has no influence.
 *
 * Read: a sign, then "inf", "infinity" or "nan" in any case, or digits with at most one point and an exponent; spaces
 * around are skipped. Anything else is refused (false), and *x is left alone. Floats are rounded once.
 * Written: the fewest digits that are read back as the same number of the type, the nearest of those; plain from 1e-4
 * to below 1e16, as "314.15926" and "100.0", else scientific, as "1e-05"; "nan", "inf" and "-inf".
 */
#ifndef MR_KERNELS_CPU_DECIMAL_H
#define MR_KERNELS_CPU_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/narrow.h"

#define MR_DECIMAL_SIZE 32 /* room for every number that is written, and a 0 */

bool mr_parse_f64(const char *text, size_t len, double *x);
bool mr_parse_f32(const char *text, size_t len, float *x);
/* The integer part of the number, modulo 2^64; digits alone are read exactly, other floats through double. */
bool mr_parse_int(const char *text, size_t len, uint64_t *x);

/* The number of characters. */
size_t mr_format_f64(double x, char out[MR_DECIMAL_SIZE]);
size_t mr_format_f32(float x, char out[MR_DECIMAL_SIZE]);
size_t mr_format_f16(mr_f16 x, char out[MR_DECIMAL_SIZE]);
size_t mr_format_bf16(mr_bf16 x, char out[MR_DECIMAL_SIZE]);

#endif

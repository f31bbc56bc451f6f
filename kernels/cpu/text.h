/* text.h: numbers as text and back, whatever the locale. */
#ifndef MR_KERNELS_CPU_TEXT_H
#define MR_KERNELS_CPU_TEXT_H

#include "kernels/cpu/wide.h"

/* The longest text of a number. */
enum { MR_TEXT = 32 };

/* Plain ("314.15926", "1000"), scientific ("1e-5", "1E8"), "inf", "infinity" and "nan" in any case, signs, white space
 * around; false: nothing of these. Of a number without point and exponent *integer is the value modulo 2^64 and
 * *exact is true. The double is the nearest one, or the nearest float when `single`. */
bool mr_text_parse(mr_string s, bool single, double *value, int64_t *integer, bool *exact);

bool mr_text_is_true(mr_string s);  /* "true" in any case */
bool mr_text_is_false(mr_string s); /* likewise */

/* Element x of type d: an integer's digits, "True" or "False", or the fewest digits that give the float back: plain
 * from 1e-4 to below 1e16, else scientific. Returns the length. */
int mr_text_format(mr_dtype d, const void *x, char text[MR_TEXT]);

#endif

/* element.h: one element of any number type, from a number. */
#ifndef MR_OPS_ELEMENT_H
#define MR_OPS_ELEMENT_H

#include "runtime/tensor.h"

#define MR_ELEMENT_BYTES 16

/* v as an element of type d: a float of 16 bits or more, rounded to nearest even, an integer that holds v, or bool. */
void mr_element_set(mr_dtype d, double v, void *out);

#endif

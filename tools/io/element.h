/* element.h: single elements of tensors, of any type, as numbers and as text. */
#ifndef MR_TOOLS_IO_ELEMENT_H
#define MR_TOOLS_IO_ELEMENT_H

#include <complex.h>
#include <stdio.h>

#include "../../runtime/tensor.h"

#define MR_NARROW_FLOATS                                                                                               \
    (MR_BIT(MR_F8E4M3FN) | MR_BIT(MR_F8E4M3FNUZ) | MR_BIT(MR_F8E5M2) | MR_BIT(MR_F8E5M2FNUZ) | MR_BIT(MR_F8E8M0) |     \
     MR_BIT(MR_F6E2M3) | MR_BIT(MR_F6E3M2) | MR_BIT(MR_F4E2M1))
#define MR_ALL_FLOATS (MR_FLOATS | MR_NARROW_FLOATS)
#define MR_COMPLEX    (MR_BIT(MR_C64) | MR_BIT(MR_C128))
/* Everything that one double orders: floats, integers, bool. */
#define MR_REALS                                                                                                       \
    (MR_ALL_FLOATS | MR_INTS | MR_BIT(MR_BOOL) | MR_BIT(MR_I4) | MR_BIT(MR_U4) | MR_BIT(MR_I2) | MR_BIT(MR_U2))

double mr_element_real(const mr_tensor *t, int64_t i);            /* MR_REALS; 64-bit integers round */
double complex mr_element_complex(const mr_tensor *t, int64_t i); /* MR_COMPLEX */
/* The element's bits; the distance between the codes of two floats, as steps between neighbouring values. */
uint64_t mr_element_code(const mr_tensor *t, int64_t i);
uint64_t mr_element_ulp(const mr_tensor *a, const mr_tensor *b, int64_t i); /* UINT64_MAX where one of them is NaN */

/* Stores x: floats round to nearest even, integers must hold it exactly. False: they can't. */
bool mr_element_store(mr_tensor *t, int64_t i, double x);
/* Stores what the text says ("-1", "0x10", "1e-3", "nan", "true", "1+2j"). False: it's no such element. */
bool mr_element_parse(mr_tensor *t, int64_t i, const char *text);
/* The shortest text that reads back as the same element; strings in quotes. */
void mr_element_print(FILE *f, const mr_tensor *t, int64_t i);
/* x with as many digits as it needs to be read back. */
void mr_number_print(FILE *f, double x);

/* "[0,2,1]", the index of the element at i. */
void mr_index_print(FILE *f, const mr_tensor *t, int64_t i);

/* The lowest and the highest value of an integer type. */
void mr_integer_limits(mr_dtype d, int64_t *low, uint64_t *high);

#endif

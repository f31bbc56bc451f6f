/* cast.h: elements as elements of another type: by value, or by their bits. */
#ifndef MR_KERNELS_CPU_CAST_H
#define MR_KERNELS_CPU_CAST_H

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/wide.h"

typedef struct mr_cast_params {
    mr_dtype from, to;
    mr_wide_rule rule;
    char *text; /* to strings: MR_DECIMAL_SIZE bytes for each element */
} mr_cast_params;

typedef struct mr_cast_fns {
    /* from × to. Of one type the bits stay, but float8e5m2 may saturate. Strings parse. */
    mr_elementwise_fn cast[MR_N_DTYPES][MR_N_DTYPES];
    /* from × to, of as many bits in a file. */
    mr_elementwise_fn bits[MR_N_DTYPES][MR_N_DTYPES];
} mr_cast_fns;

/* The string is a number as decimal.h reads it, or, for bool, "true" or "false" in any case. */
bool mr_cast_parses(mr_string s, mr_dtype to);

void mr_cast_fill_scalar(mr_cast_fns *f);
void mr_cast_fill_avx2(mr_cast_fns *f);

#endif

/* dropout.h: elements left out by chance, the others scaled up. */
#ifndef MR_KERNELS_CPU_DROPOUT_H
#define MR_KERNELS_CPU_DROPOUT_H

#include "kernels/cpu/random.h"
#include "runtime/dtype.h"

/* y = x · m / (1 - ratio), m 1 for each of the next numbers of random that is not below ratio, else 0; random NULL: y =
 * x, m 1. mask gets m; NULL: not wanted. y may be x. */
typedef struct mr_dropout_args {
    const void *x;
    void *y, *mask;
    mr_dtype type, mask_type;
    int64_t n;
    double ratio;
    mr_random *random;
} mr_dropout_args;

typedef struct mr_dropout_fns {
    void (*dropout[MR_N_DTYPES])(const mr_dropout_args *);
} mr_dropout_fns;

#endif

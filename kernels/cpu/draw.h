/* draw.h: tensors of random numbers, one number after the other. */
#ifndef MR_KERNELS_CPU_DRAW_H
#define MR_KERNELS_CPU_DRAW_H

#include "kernels/cpu/random.h"
#include "runtime/dtype.h"

/* y = number · scale + offset, each rounded to y's type: the number, scale, offset, product and sum. */
typedef struct mr_draw_args {
    void *y;
    int64_t n;
    double scale, offset;
    mr_random *random;
} mr_draw_args;

/* y = 1 with probability x, 0 ≤ x ≤ 1, else 0. */
typedef struct mr_draw_bernoulli_args {
    const void *x;
    void *y;
    mr_dtype type, to;
    int64_t n;
    mr_random *random;
} mr_draw_bernoulli_args;

/* y[batch][samples]: classes, drawn by inverting the running sum of exp(x - highest) over x[batch][classes]. A row's
 * highest value is finite, and none is NaN; classes ≥ 1. sums: room for classes numbers. */
typedef struct mr_draw_multinomial_args {
    const void *x;
    void *y;
    mr_dtype type, to; /* to: int32 or int64 */
    int64_t batch, classes, samples;
    double *sums;
    mr_random *random;
} mr_draw_multinomial_args;

typedef struct mr_draw_fns {
    void (*normal[MR_N_DTYPES])(const mr_draw_args *);
    void (*uniform[MR_N_DTYPES])(const mr_draw_args *);
    void (*bernoulli[MR_N_DTYPES])(const mr_draw_bernoulli_args *);
    void (*multinomial[MR_N_DTYPES])(const mr_draw_multinomial_args *);
} mr_draw_fns;

#endif

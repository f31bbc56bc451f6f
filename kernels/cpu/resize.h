/* resize.h: interpolation over any number of axes, from tables of taps. */
#ifndef MR_KERNELS_CPU_RESIZE_H
#define MR_KERNELS_CPU_RESIZE_H

#include "kernels/cpu/sizes.h"
#include "runtime/tensor.h"
#include "runtime/threads.h"

/* Output element i of the axis is Σ weight[i · taps + k] · x[at[i · taps + k]], k < taps; at NULL: it's x[i · stride].
 */
typedef struct mr_resize_axis {
    int64_t in, out, taps, stride; /* stride: of x, in elements */
    const int64_t *at;             /* times stride */
    const double *weight;
} mr_resize_axis;

/* x is [axis[0].in, …, axis[rank - 1].in, inner]. A line is all of the last axis and inner; the other axes come first.
 * Parts of the lines are independent tasks, each with room of its own for a line of x and one of y. Integers are
 * rounded to nearest even, and kept within their range; bool likewise, as 0 and 1. */
typedef struct mr_resize_args {
    const void *x;
    void *y;
    mr_dtype type;
    int rank; /* >= 1; the last axis has a table */
    mr_resize_axis axis[MR_MAX_RANK];
    int64_t inner;
    int parts;
    double *room; /* for each part mr_resize_line() doubles */
    mr_pool *pool;
} mr_resize_args;

/* y[i0, i1, …, :inner] = x[at[0][i0] + at[1][i1] + …], and the inner - 1 elements behind it. at[d] NULL: i_d ·
 * stride[d]; the last axis has one. */
typedef struct mr_nearest_args {
    const void *x;
    void *y;
    int rank; /* >= 1 */
    int64_t dims[MR_MAX_RANK], inner;
    int64_t stride[MR_MAX_RANK];
    const int64_t *at[MR_MAX_RANK];
    mr_pool *pool;
} mr_nearest_args;

/* y[i0, i1, …, :inner] = value where outside[d][i_d] for any d; outside[d] NULL: nowhere along d. */
typedef struct mr_fill_args {
    void *y;
    int rank; /* >= 1 */
    int64_t dims[MR_MAX_RANK], inner;
    const uint8_t *outside[MR_MAX_RANK];
    const void *value;
} mr_fill_args;

typedef struct mr_resize_fns {
    void (*resize[MR_N_DTYPES])(const mr_resize_args *);
    void (*nearest[MR_N_SIZES])(const mr_nearest_args *);
    void (*fill[MR_N_SIZES])(const mr_fill_args *);
    void (*round[MR_N_DTYPES])(const double *v, int64_t n, mr_dtype d, void *y); /* as results are */
} mr_resize_fns;

enum { MR_RESIZE_PARTS = 16 };

/* Doubles that a part needs: a line of x and one of y, or of floats sixteen lines of x, rounded up to eight elements.
 */
static inline int64_t mr_resize_line(const mr_resize_axis *last, int64_t inner)
{
    return ((last->in + last->out) * inner + 7) / 8 * 8 + (last->in + 7) / 8 * 64;
}

#endif

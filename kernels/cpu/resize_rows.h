/* resize_rows.h: the rows of a nearest resize, for every level. */
#ifndef MR_KERNELS_CPU_RESIZE_ROWS_H
#define MR_KERNELS_CPU_RESIZE_ROWS_H

#include "kernels/cpu/resize.h"

static inline int64_t nearest_rows(const mr_nearest_args *a)
{
    return mr_dims_product(a->dims, 0, a->rank - 1);
}

/* Runs through rows of y; at is where a row lies in x. */
typedef struct nearest_walk {
    const mr_nearest_args *a;
    int64_t row, at, outer, i, n; /* i of n along the axis before the last, which begins at outer */
} nearest_walk;

static inline int64_t nearest_offset(const mr_nearest_args *a, int d, int64_t i)
{
    return a->at[d] ? a->at[d][i] : i * a->stride[d];
}

static inline nearest_walk nearest_from(const mr_nearest_args *a, int64_t row)
{
    const int d = a->rank - 2;
    nearest_walk w = {.a = a, .row = row, .n = d < 0 ? 1 : a->dims[d]};
    int64_t rest = row / w.n;
    w.i = row % w.n;
    for (int k = d - 1; k >= 0; rest /= a->dims[k], k--) w.outer += nearest_offset(a, k, rest % a->dims[k]);
    w.at = w.outer + (d < 0 ? 0 : nearest_offset(a, d, w.i));
    return w;
}

static inline void nearest_next(nearest_walk *w)
{
    w->row++;
    if (++w->i == w->n)
        *w = nearest_from(w->a, w->row);
    else
        w->at = w->outer + nearest_offset(w->a, w->a->rank - 2, w->i);
}

#endif

/* search.h: kernels that look for values: the largest, those that aren't zero, the different ones. By dtype. */
#ifndef MR_KERNELS_CPU_SEARCH_H
#define MR_KERNELS_CPU_SEARCH_H

#include "runtime/dtype.h"
#include "runtime/threads.h"

/* x is [outer, n, inner], values and indices are [outer, k, inner]: the first k of each line in descending (or, not
 * largest, ascending) order. Equal ones come by their index; a NaN is larger than any number, as in NumPy. */
typedef struct mr_topk_args {
    const void *x;
    void *values;
    int64_t *indices;
    int64_t outer, n, inner, k;
    bool largest;
    mr_pool *pool;
} mr_topk_args;

/* y[d, j]: coordinate d of the j-th element of x that isn't zero; count of them. A string is zero when it's empty. */
typedef struct mr_nonzero_args {
    const void *x;
    int64_t *y;
    int64_t count;
    int rank;
    const int64_t *dims;
} mr_nonzero_args;

/* x is [outer, n, inner]; item i is x[:, i, :]. order becomes the items' indices, sorted: by value, lexicographically,
 * NaN last and equal to NaN, then by index. fresh[j]: item order[j] differs from the one before. spare: n elements. */
typedef struct mr_unique_args {
    const void *x;
    int64_t outer, n, inner;
    int64_t *order, *spare;
    bool *fresh;
} mr_unique_args;

typedef struct mr_search_fns {
    void (*topk[MR_N_DTYPES])(const mr_topk_args *);
    int64_t (*nonzero_count[MR_N_DTYPES])(const void *x, int64_t n);
    void (*nonzero[MR_N_DTYPES])(const mr_nonzero_args *);
    void (*unique[MR_N_DTYPES])(const mr_unique_args *);
} mr_search_fns;

#endif

/* move.h: kernels that only move elements, by the size of one. Slots are indexed by mr_size_index. */
#ifndef MR_KERNELS_CPU_MOVE_H
#define MR_KERNELS_CPU_MOVE_H

#include "kernels/cpu/index.h"
#include "kernels/cpu/sizes.h"
#include "runtime/threads.h"

/* y = x over a box of two strided views. y's strides are positive and fall from dimension to dimension; x's may be
 * anything: 0 repeats an element, negative ones go backwards. x and y don't overlap. */
typedef struct mr_copy_args {
    const void *x;
    void *y;
    const mr_box *box;
    mr_pool *pool;
} mr_copy_args;

/* y[o, i, :] = x[o, index[i], :]: x is [outer, dim, inner], y is [outer, n, inner]. */
typedef struct mr_gather_args {
    const void *x;
    void *y;
    mr_index index;
    int64_t outer, dim, n, inner;
    mr_pool *pool;
} mr_gather_args;

/* y[…, a, …] = x[…, index[…, a, …], …] along the lines of the axis; y has the shape of the index tensor. */
typedef struct mr_gather_elements_args {
    const void *x;
    void *y;
    const mr_lines *lines;
    mr_pool *pool;
} mr_gather_elements_args;

/* y[i, :] = x[batch of i, tuple i, :]. */
typedef struct mr_gather_nd_args {
    const void *x;
    void *y;
    const mr_tuples *tuples;
    int64_t inner;
    mr_pool *pool;
} mr_gather_nd_args;

/* y[i0, i1, …] = x[at[0][i0] + at[1][i1] + …], y row-major; in the last dimension the elements [run, run + run_length)
 * stand one behind the other in x. */
typedef struct mr_take_args {
    const void *x;
    void *y;
    int rank; /* >= 1 */
    const int64_t *dims;
    const int64_t *const *at;
    int64_t run, run_length;
    mr_pool *pool;
} mr_take_args;

/* y is [outer, depth, inner], full of the off value; y[o, hot[o, i], i] = on where hot is not negative. */
typedef struct mr_one_hot_args {
    const void *on;
    void *y;
    const int64_t *hot;
    int64_t outer, depth, inner;
    mr_pool *pool;
} mr_one_hot_args;

/* n matrices of rows × cols; what does not stay becomes zero: (upper ? col - row >= k : col - row <= k) stays. */
typedef struct mr_trilu_args {
    const void *x;
    void *y;
    int64_t n, rows, cols, k;
    bool upper;
    mr_pool *pool;
} mr_trilu_args;

typedef struct mr_move_fns {
    void (*copy[MR_N_SIZES])(const mr_copy_args *);
    void (*gather[MR_N_SIZES])(const mr_gather_args *);
    void (*gather_elements[MR_N_SIZES])(const mr_gather_elements_args *);
    void (*gather_nd[MR_N_SIZES])(const mr_gather_nd_args *);
    void (*take[MR_N_SIZES])(const mr_take_args *);
    void (*one_hot[MR_N_SIZES])(const mr_one_hot_args *);
    void (*trilu[MR_N_SIZES])(const mr_trilu_args *);
} mr_move_fns;

#endif

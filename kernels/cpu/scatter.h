/* scatter.h: updates put into a copy of the data, or combined with what is there, in the order of the updates. */
#ifndef MR_KERNELS_CPU_SCATTER_H
#define MR_KERNELS_CPU_SCATTER_H

#include "kernels/cpu/index.h"
#include "kernels/cpu/sizes.h"
#include "runtime/threads.h"

typedef enum mr_scatter_how {
    MR_SCATTER_ADD,
    MR_SCATTER_MUL,
    MR_SCATTER_MAX,
    MR_SCATTER_MIN,
    MR_N_SCATTERS
} mr_scatter_how;

/* y[…, index[…, a, …], …] = updates[…, a, …] along the lines of the axis; y holds the data. */
typedef struct mr_scatter_elements_args {
    const void *updates;
    void *y;
    const mr_lines *lines;
    mr_pool *pool;
} mr_scatter_elements_args;

/* y[tuple i, :] = updates[i, :]; y holds the data. */
typedef struct mr_scatter_nd_args {
    const void *updates;
    void *y;
    const mr_tuples *tuples;
    int64_t inner;
    mr_pool *pool;
} mr_scatter_nd_args;

/* `set` replaces, by mr_size_index; `reduce` combines, by how and dtype. */
typedef struct mr_scatter_fns {
    void (*set[MR_N_SIZES])(const mr_scatter_elements_args *);
    void (*set_nd[MR_N_SIZES])(const mr_scatter_nd_args *);
    void (*reduce[MR_N_SCATTERS][MR_N_DTYPES])(const mr_scatter_elements_args *);
    void (*reduce_nd[MR_N_SCATTERS][MR_N_DTYPES])(const mr_scatter_nd_args *);
} mr_scatter_fns;

#endif

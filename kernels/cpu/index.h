/* index.h: index tensors, whose values were checked: each in [-dim, dim - 1] of the axis that it points into. */
#ifndef MR_KERNELS_CPU_INDEX_H
#define MR_KERNELS_CPU_INDEX_H

#include "kernels/cpu/box.h"
#include "kernels/cpu/sizes.h"

typedef struct mr_index {
    const void *data;
    bool wide; /* int64, else int32 */
} mr_index;

static inline int64_t mr_index_at(mr_index x, int64_t i, int64_t dim)
{
    int64_t k = x.wide ? ((const int64_t *)x.data)[i] : ((const int32_t *)x.data)[i];
    return k < 0 ? k + dim : k;
}

/* Are all of n elements in [-dim, dim - 1]? */
bool mr_index_inside(mr_index x, int64_t n, int64_t dim);

/* An index tensor of the rank of the data, each element of which says where it is along one axis. */
typedef struct mr_lines {
    mr_index index;
    mr_box rest;    /* every dimension but the axis, row-major: xs are strides of the data, ys of the index tensor */
    int64_t n, dim; /* extents of the axis: in the index tensor, in the data */
    int64_t xs, ys; /* strides of the axis, likewise */
} mr_lines;

/* Lines that a thread takes at a time: neighbours together, whose elements share cache lines. */
#define MR_FEWEST_LINES 256
static inline int64_t mr_lines_grain(const mr_lines *l, int64_t size)
{
    int64_t grain = mr_grain(l->n * size);
    return l->ys != 1 && grain < MR_FEWEST_LINES ? MR_FEWEST_LINES : grain;
}

/* n index tuples of k elements each, of which a batch of `each` tuples points into one part of the data. */
typedef struct mr_tuples {
    mr_index index;
    int64_t n, k, each, batch;     /* batch: elements of the data that one batch has */
    const int64_t *dims, *strides; /* of the axes that the tuples point into */
} mr_tuples;

static inline int64_t mr_tuple_offset(const mr_tuples *t, int64_t i)
{
    int64_t offset = t->each < t->n ? i / t->each * t->batch : 0;
    for (int64_t j = 0; j < t->k; j++) offset += mr_index_at(t->index, i * t->k + j, t->dims[j]) * t->strides[j];
    return offset;
}

#endif

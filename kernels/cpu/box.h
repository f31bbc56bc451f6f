/* box.h: boxes of elements seen through two strided views, and an index that runs through them. */
#ifndef MR_KERNELS_CPU_BOX_H
#define MR_KERNELS_CPU_BOX_H

#include "runtime/tensor.h"

/* A tiled tensor has two dimensions for each of its own. */
#define MR_BOX_RANK (2 * MR_MAX_RANK)

typedef struct mr_box {
    int rank;
    int64_t dims[MR_BOX_RANK];
    int64_t xs[MR_BOX_RANK], ys[MR_BOX_RANK]; /* strides in elements */
} mr_box;

/* The box without dimensions of extent 1, and with neighbours merged that both views see as one. Rank 0 becomes rank 1.
 * Row-major order stays. */
void mr_box_simplify(mr_box *b);

/* Product of the first `rank` dimensions. */
int64_t mr_box_count(const mr_box *b, int rank);

/* Runs through the first `rank` dimensions of a box in row-major order; x and y are the offsets in the two views. */
typedef struct mr_walk {
    const mr_box *box;
    int rank;
    int64_t at[MR_BOX_RANK];
    int64_t x, y;
} mr_walk;

static inline mr_walk mr_walk_from(const mr_box *b, int rank, int64_t index)
{
    mr_walk w = {.box = b, .rank = rank};
    for (int i = rank - 1; i >= 0; i--) {
        w.at[i] = index % b->dims[i];
        index /= b->dims[i];
        w.x += w.at[i] * b->xs[i];
        w.y += w.at[i] * b->ys[i];
    }
    return w;
}

static inline void mr_walk_next(mr_walk *w)
{
    const mr_box *b = w->box;
    for (int i = w->rank - 1; i >= 0; i--) {
        w->x += b->xs[i];
        w->y += b->ys[i];
        if (++w->at[i] < b->dims[i]) return;
        w->at[i] = 0;
        w->x -= b->xs[i] * b->dims[i];
        w->y -= b->ys[i] * b->dims[i];
    }
}

#endif

/* reduce_block.h: how a reduction is cut into blocks of outputs that are computed side by side, for every level. */
#ifndef MR_KERNELS_CPU_REDUCE_BLOCK_H
#define MR_KERNELS_CPU_REDUCE_BLOCK_H

#include "kernels/cpu/reduce.h"
#include "kernels/cpu/sizes.h"

enum {
    REDUCE_WIDE = 256, /* outputs of a block whose elements stand side by side in x */
    REDUCE_ROWS = 8    /* else: enough independent sums to keep the adders busy */
};

typedef struct reduce_job {
    const void *x;
    void *y, *y2;
    mr_box kept, reduced;
    int64_t count;         /* elements of one reduction */
    int64_t n, xs, blocks; /* the last kept dimension: extent, stride, blocks that it is cut into */
    int64_t width;         /* outputs of a block */
    int64_t run, rs, runs; /* the last reduced dimension: extent, stride; how many of it */
} reduce_job;

typedef struct reduce_block {
    int64_t x, y, n;
} reduce_block;

static inline reduce_job reduce_cut(const mr_box *kept, const mr_box *reduced)
{
    reduce_job j = {.kept = *kept, .reduced = *reduced};
    mr_box_simplify(&j.kept);
    mr_box_simplify(&j.reduced);
    int k = j.kept.rank - 1, r = j.reduced.rank - 1;
    j.count = mr_box_count(&j.reduced, r + 1);
    j.n = j.kept.dims[k], j.xs = j.kept.xs[k];
    j.run = j.reduced.dims[r], j.rs = j.reduced.xs[r], j.runs = j.count ? mr_box_count(&j.reduced, r) : 0;
    j.width = j.xs == 1 && j.n > 1 ? REDUCE_WIDE : REDUCE_ROWS;
    j.blocks = (j.n + j.width - 1) / j.width;
    return j;
}

/* Calls fn for ranges of blocks. */
static inline void reduce_each(reduce_job *j, mr_pool *pool, size_t size, void (*fn)(void *, int64_t, int64_t))
{
    int64_t width = j->n < j->width ? j->n : j->width;
    mr_parallel_for(pool, mr_box_count(&j->kept, j->kept.rank - 1) * j->blocks,
                    mr_grain(width * (j->count + 1) * (int64_t)size), fn, j);
}

static inline reduce_block reduce_block_at(const reduce_job *j, int64_t i)
{
    mr_walk w = mr_walk_from(&j->kept, j->kept.rank - 1, i / j->blocks);
    int64_t first = i % j->blocks * j->width, left = j->n - first;
    return (reduce_block){w.x + first * j->xs, i / j->blocks * j->n + first, left < j->width ? left : j->width};
}

#endif

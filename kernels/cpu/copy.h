/* copy.h: how a copy between two strided views is cut into pieces, for every level of the `copy` slots. The level
 * defines EDGE(size) and micro_1 … micro_16 before it includes this. */
#include "kernels/cpu/move.h"

#include <string.h>

enum {
    STRIP_BYTES = 256, /* height of a strip of a transposition, in bytes of its source */
    STRIP_COLS = 64    /* how many columns of it at a time */
};

typedef struct copy_job {
    const void *x;
    void *y;
    mr_box box;
    int64_t part, parts;        /* what is cut: the last dimension, or rows */
    int64_t rows, cols, xs, ys; /* strips: xs the stride of x from column to column, ys that of y from row to row */
} copy_job;

static void copy(const mr_copy_args *a, size_t size);

#define MR_BODY "kernels/cpu/copy.inc"
#include "kernels/cpu/each_size.h"

static void (*const copy_runs[])(void *, int64_t, int64_t) = {copy_runs_1, copy_runs_2, copy_runs_4, copy_runs_8,
                                                              copy_runs_16};
static void (*const copy_parts[])(void *, int64_t, int64_t) = {copy_parts_1, copy_parts_2, copy_parts_4, copy_parts_8,
                                                               copy_parts_16};
static void (*const copy_strips[])(void *, int64_t, int64_t) = {copy_strips_1, copy_strips_2, copy_strips_4,
                                                                copy_strips_8, copy_strips_16};

/* Runs of 2 … 16 bytes are elements of that size, where everything is aligned for it. */
static size_t widened(mr_box *b, const mr_copy_args *a, size_t size)
{
    int last = b->rank - 1;
    int64_t n = b->dims[last];
    size_t wide = (size_t)n * size;
    if (last == 0 || b->xs[last] != 1 || b->ys[last] != 1 || n > 16 || wide > 16 || (wide & (wide - 1))) return size;
    size_t align = wide < sizeof(uint64_t) ? wide : sizeof(uint64_t);
    if (((uintptr_t)a->x | (uintptr_t)a->y) & (align - 1)) return size;
    for (int i = 0; i < last; i++)
        if (b->xs[i] % n || b->ys[i] % n) return size;
    for (int i = 0; i < last; i++) b->xs[i] /= n, b->ys[i] /= n;
    b->dims[last] = 1;
    mr_box_simplify(b);
    return wide;
}

/* The dimension that x has contiguous, when it isn't y's; -1: none. */
static int crossing(const mr_box *b)
{
    int last = b->rank - 1;
    if (b->ys[last] != 1 || b->xs[last] == 1 || b->xs[last] == 0) return -1;
    for (int i = 0; i < last; i++)
        if (b->xs[i] == 1) return i;
    return -1;
}

static void cut_strips(copy_job *j, int d, size_t size)
{
    mr_box *b = &j->box;
    int last = b->rank - 1;
    j->rows = b->dims[d], j->ys = b->ys[d];
    j->cols = b->dims[last], j->xs = b->xs[last];
    for (int i = d; i < last - 1; i++) b->dims[i] = b->dims[i + 1], b->xs[i] = b->xs[i + 1], b->ys[i] = b->ys[i + 1];
    b->rank -= 2;
    j->part = STRIP_BYTES / (int64_t)size;
    j->parts = (j->rows + j->part - 1) / j->part;
}

/* Cuts the last dimension into parts, when it's longer than what a thread takes. */
static void cut_runs(copy_job *j, size_t size)
{
    mr_box *b = &j->box;
    int last = b->rank - 1;
    int64_t most = MR_PART_BYTES / (int64_t)size;
    j->part = b->dims[last] < most ? b->dims[last] : most;
    j->parts = (b->dims[last] + j->part - 1) / j->part;
}

static void copy(const mr_copy_args *a, size_t size)
{
    copy_job j = {.x = a->x, .y = a->y, .box = *a->box};
    mr_box *b = &j.box;
    if (mr_box_count(b, b->rank) == 0) return;
    mr_box_simplify(b);
    size = widened(b, a, size);
    int64_t bytes = mr_box_count(b, b->rank) * (int64_t)size, units;

    int d = crossing(b), which = mr_size_index(size);
    if (d >= 0)
        cut_strips(&j, d, size);
    else
        cut_runs(&j, size);
    units = mr_box_count(b, d >= 0 ? b->rank : b->rank - 1) * j.parts;
    int64_t grain = mr_grain(bytes / units);
    if (d >= 0)
        mr_parallel_for(a->pool, units, grain, copy_strips[which], &j);
    else if (j.parts > 1 || b->rank == 1)
        mr_parallel_for(a->pool, units, grain, copy_parts[which], &j);
    else
        mr_parallel_for(a->pool, units, grain, copy_runs[which], &j);
}

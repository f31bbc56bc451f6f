/* tree.c: see tree.h. Rows go through a tree a few at a time, so that their memory accesses overlap, and a block of
 * rows through one tree after the other, so that a tree is read from memory once a block. Rows that are left over go
 * through a few trees at a time. Either way a row's votes are counted in the order of the trees. */
#include "kernels/cpu/tree.h"

#include <math.h>

#include "runtime/narrow.h"

enum { LANES = 8, LEAST_ROWS = 64, BLOCK_BYTES = 1 << 17 };

static bool is_member(const mr_trees *t, int64_t set, double v)
{
    int64_t low = t->sets[set], end = t->sets[set + 1], high = end;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (t->members[middle] < v)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && t->members[low] == v;
}

static bool holds(const mr_trees *t, const mr_tree_node *n, double v)
{
    if (n->what & MR_TREE_MEMBER) return is_member(t, (int64_t)n->value, v);
    return n->what & MR_TREE_EQ ? v == n->value : v <= n->value;
}

static void start_scores(const mr_tree_args *a, int64_t begin, int64_t end)
{
    const int64_t k = a->trees->n_targets;
    for (int64_t i = begin * k; i < end * k; i++) a->scores[i] = a->aggregate == MR_TREE_SUM ? 0 : (double)NAN;
}

static inline void count(const mr_tree_args *a, double *score, double weight)
{
    if (a->aggregate == MR_TREE_SUM)
        *score += weight;
    else if (isnan(*score) || (a->aggregate == MR_TREE_MIN ? weight < *score : weight > *score))
        *score = weight;
}

/* What a row gets from the leaf it reached. */
static inline void vote(const mr_tree_args *a, int64_t row, int32_t leaf)
{
    const mr_trees *t = a->trees;
    const mr_tree_node *n = &t->nodes[leaf];
    if (t->single) {
        count(a, a->scores + row, n->weight);
        return;
    }
    double *scores = a->scores + row * t->n_targets;
    for (int32_t i = n->votes.first; i < n->votes.first + n->votes.n; i++)
        count(a, &scores[t->target[i]], t->weight[i]);
}

/* Rows that a thread takes at a time: what stays in its cache with a tree beside it, but something for every thread. No
 * row's result hangs on it. */
static int64_t block_rows(const mr_tree_args *a, size_t size)
{
    int64_t rows = BLOCK_BYTES / (a->features * (int64_t)size + 1), share = a->rows / mr_pool_threads(a->pool) / 2;
    if (rows > share && mr_pool_threads(a->pool) > 1) rows = share;
    return rows < LEAST_ROWS ? LEAST_ROWS : rows;
}

#define S      float
#define LD(x)  ((double)(x))
#define SUFFIX f32
#include "kernels/cpu/tree.inc"

#define S      double
#define LD(x)  (x)
#define SUFFIX f64
#include "kernels/cpu/tree.inc"

#define S      mr_f16
#define LD(x)  ((double)mr_f16_to_f32(x))
#define SUFFIX f16
#include "kernels/cpu/tree.inc"

#define S      int32_t
#define LD(x)  ((double)(x))
#define SUFFIX i32
#include "kernels/cpu/tree.inc"

#define S      int64_t
#define LD(x)  ((double)(x))
#define SUFFIX i64
#include "kernels/cpu/tree.inc"

void mr_tree_fill_scalar(mr_tree_fns *f)
{
    *f = (mr_tree_fns){.score = {[MR_F16] = score_f16,
                                 [MR_F32] = score_f32,
                                 [MR_F64] = score_f64,
                                 [MR_I32] = score_i32,
                                 [MR_I64] = score_i64}};
}

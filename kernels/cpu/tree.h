/* tree.h: ensembles of decision trees: what the leaves that a row of features reaches say of each target. */
#ifndef MR_KERNELS_CPU_TREE_H
#define MR_KERNELS_CPU_TREE_H

#include "runtime/dtype.h"
#include "runtime/threads.h"

typedef struct mr_tree_votes {
    int32_t first, n;
} mr_tree_votes;

/* The trees' nodes lie one tree behind the other; the children of a node stand side by side. A row x goes on from node
 * n to n.child when n's test holds, else to n.child + 1. A leaf's child is itself, and whatever its test says a row
 * stays there, which keeps rows of unequal paths in step.
 *
 * A NaN holds where MR_TREE_MISSING is set. Other values v are compared as double, which every type of x fits in but
 * for int64 beyond 2^53, which is rounded. */
typedef struct mr_tree_node {
    union {
        double value;        /* v <= value, or v == value; MR_TREE_MEMBER: the number of the set that v must be in */
        double weight;       /* of a leaf, when all leaves have one vote, and there is one target */
        mr_tree_votes votes; /* of a leaf otherwise */
    };
    int32_t child;
    uint32_t what; /* the feature that is tested, and the flags below */
} mr_tree_node;

#define MR_TREE_LEAF (UINT32_C(1) << 31)
enum {
    MR_TREE_MISSING = 1 << 30,
    MR_TREE_EQ = 1 << 29,
    MR_TREE_MEMBER = 1 << 28,
    MR_TREE_FEATURE = MR_TREE_MEMBER - 1
};

typedef enum mr_tree_aggregate { MR_TREE_SUM, MR_TREE_MIN, MR_TREE_MAX } mr_tree_aggregate;

typedef struct mr_trees {
    const mr_tree_node *nodes;
    const int32_t *roots; /* n_trees */
    int64_t n_trees, n_targets;
    const int32_t *target; /* of each vote */
    const double *weight;
    const double *members; /* of all sets, each ascending; set s is [sets[s], sets[s + 1]) */
    const int64_t *sets;
    bool plain;  /* every inner node tests v <= value */
    bool single; /* leaves have their weight themselves */
} mr_trees;

typedef struct mr_tree_args {
    const mr_trees *trees;
    const void *x; /* [rows, features] */
    int64_t rows, features;
    mr_tree_aggregate aggregate;
    double *scores; /* [rows, n_targets]: sums, in the order of the trees; of a minimum or maximum NaN without a vote */
    mr_pool *pool;
} mr_tree_args;

typedef void mr_tree_fn(const mr_tree_args *a);

typedef struct mr_tree_fns {
    mr_tree_fn *score[MR_N_DTYPES];
} mr_tree_fns;

void mr_tree_fill_scalar(mr_tree_fns *f);

#endif

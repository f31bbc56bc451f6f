/* ml_forest.h: from attributes to trees as the kernel walks them.
 *
 * Two forms of attributes come to one: numbered nodes, leaves among them, that name their children by number, and votes
 * that belong to leaves. */
#ifndef MR_OPS_ML_FOREST_H
#define MR_OPS_ML_FOREST_H

#include "kernels/cpu/tree.h"
#include "ops/ml.h"

/* In the order of TreeEnsemble's nodes_modes. */
typedef enum mr_branch {
    MR_BRANCH_LEQ,
    MR_BRANCH_LT,
    MR_BRANCH_GTE,
    MR_BRANCH_GT,
    MR_BRANCH_EQ,
    MR_BRANCH_NEQ,
    MR_BRANCH_MEMBER,
    MR_LEAF
} mr_branch;

typedef struct mr_branching {
    mr_branch mode;
    bool missing_true; /* NaN goes on as if the test held */
    int64_t feature;
    double value;     /* MR_BRANCH_MEMBER: the number of its set */
    int64_t yes, no;  /* nodes */
    const char *name; /* of what stands at this number, for messages: "node", "leaf" */
    int64_t number;   /* of it, there */
} mr_branching;

typedef struct mr_forest {
    mr_branching *nodes;
    int64_t n_nodes;
    int64_t *roots;
    int64_t n_trees, n_targets;
    int64_t *votes; /* those of node i: [votes[i], votes[i + 1]) */
    int32_t *target;
    double *weight;
    double *members; /* as in mr_trees */
    int64_t *sets;
} mr_forest;

/* Lays the trees out. *n_features: one more than the largest feature that is tested. False: refused; what two nodes go
 * on to, and so every cycle, is. */
bool mr_forest_plant(mr_reader *r, const mr_forest *f, mr_trees *t, int64_t *n_features);

/* Memory of the model for n elements; NULL: the node is refused. */
void *mr_forest_alloc(mr_reader *r, int64_t n, size_t size);

/* The attributes of TreeEnsembleClassifier ("class") and TreeEnsembleRegressor ("target"). */
bool mr_forest_read_ids(mr_reader *r, const char *votes, int64_t n_targets, mr_forest *f);
/* Those of TreeEnsemble. */
bool mr_forest_read_positions(mr_reader *r, int64_t n_targets, mr_forest *f);

#endif

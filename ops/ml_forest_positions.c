/* ml_forest_positions.c: the attributes of TreeEnsemble, whose nodes and leaves are named by their positions. */
#include "ops/ml_forest.h"

#include <math.h>
#include <stdlib.h>

/* The leaves' numbers in the forest follow those of the branches. */
typedef struct positions {
    const int64_t *feature, *yes, *no, *yes_is_leaf, *no_is_leaf, *missing;
    const mr_tensor *mode;
    const double *split;
    int64_t n, n_leaves, n_missing;
} positions;

static bool read_lists(mr_reader *r, positions *p)
{
    const char *like = "nodes_featureids";
    int64_t n_splits;
    p->n = mr_read_ints(r, like, &p->feature);
    p->n_missing = mr_read_ints(r, "nodes_missing_value_tracks_true", &p->missing);
    p->mode = mr_read_tensor(r, "nodes_modes");
    p->split = mr_read_doubles(r, NULL, "nodes_splits", &n_splits);
    int64_t n_yes = mr_read_ints(r, "nodes_truenodeids", &p->yes), n_no = mr_read_ints(r, "nodes_falsenodeids", &p->no),
            n_yes_leafs = mr_read_ints(r, "nodes_trueleafs", &p->yes_is_leaf),
            n_no_leafs = mr_read_ints(r, "nodes_falseleafs", &p->no_is_leaf);
    if (p->mode && p->mode->dtype != MR_U8) {
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute nodes_modes has elements of type %s, expected uint8",
                     mr_dtype_name(p->mode->dtype));
        return false;
    }
    return mr_want_length(r, "nodes_splits", n_splits, p->n, like) &&
           mr_want_length(r, "nodes_modes", p->mode ? mr_tensor_count(p->mode) : 0, p->n, like) &&
           mr_want_length(r, "nodes_truenodeids", n_yes, p->n, like) &&
           mr_want_length(r, "nodes_falsenodeids", n_no, p->n, like) &&
           mr_want_length(r, "nodes_trueleafs", n_yes_leafs, p->n, like) &&
           mr_want_length(r, "nodes_falseleafs", n_no_leafs, p->n, like) &&
           (p->n_missing <= 0 || mr_want_length(r, "nodes_missing_value_tracks_true", p->n_missing, p->n, like));
}

/* ---- leaves ---- */

static bool read_leaves(mr_reader *r, positions *p, mr_forest *f)
{
    const int64_t *target;
    int64_t n_weights;
    const double *weight = mr_read_doubles(r, NULL, "leaf_weights", &n_weights);
    p->n_leaves = mr_read_ints(r, "leaf_targetids", &target);
    if (!mr_want_length(r, "leaf_weights", n_weights, p->n_leaves, "leaf_targetids")) return false;
    f->n_nodes = p->n + p->n_leaves;
    f->nodes = mr_forest_alloc(r, f->n_nodes, sizeof *f->nodes);
    f->votes = mr_forest_alloc(r, f->n_nodes, sizeof *f->votes);
    f->target = mr_forest_alloc(r, p->n_leaves, sizeof *f->target);
    f->weight = mr_forest_alloc(r, p->n_leaves, sizeof *f->weight);
    if (!f->nodes || !f->votes || !f->target || !f->weight) return false;
    for (int64_t i = 0; i < p->n_leaves; i++) {
        if (target[i] < 0 || target[i] >= f->n_targets) {
            mr_read_fail(r, MR_E_ATTRIBUTE, "attribute leaf_targetids[%lld] = %lld out of range [0,%lld]", (long long)i,
                         (long long)target[i], (long long)f->n_targets - 1);
            return false;
        }
        f->nodes[p->n + i] = (mr_branching){.mode = MR_LEAF, .name = "leaf", .number = i};
        f->votes[p->n + i + 1] = i + 1;
        f->target[i] = (int32_t)target[i];
        f->weight[i] = weight[i];
    }
    return true;
}

/* ---- sets ---- */

static int order_reals(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sets are delimited by NaN; the last one may do without. */
static bool read_sets(mr_reader *r, int64_t n_sets, mr_forest *f)
{
    int64_t n, found = 0, begin = 0, kept = 0;
    const double *members = mr_read_doubles(r, NULL, "membership_values", &n);
    if (n < 0) n = 0;
    f->members = mr_forest_alloc(r, n, sizeof *f->members);
    f->sets = mr_forest_alloc(r, n + 2, sizeof *f->sets);
    if (!f->members || !f->sets) return false;
    for (int64_t i = 0; i <= n; i++) {
        if (i < n && !isnan(members[i])) {
            f->members[kept++] = members[i];
        } else if (i < n || kept > begin) {
            qsort(f->members + begin, (size_t)(kept - begin), sizeof *f->members, order_reals);
            f->sets[++found] = begin = kept;
        }
    }
    if (found == n_sets) return true;
    mr_read_fail(r, MR_E_ATTRIBUTE, "attribute membership_values has %lld sets for %lld nodes of mode BRANCH_MEMBER",
                 (long long)found, (long long)n_sets);
    return false;
}

/* ---- branches ---- */

static bool read_child(mr_reader *r, const positions *p, int64_t i, bool yes, int64_t *child)
{
    int64_t at = (yes ? p->yes : p->no)[i], leaf = (yes ? p->yes_is_leaf : p->no_is_leaf)[i];
    int64_t n = leaf ? p->n_leaves : p->n;
    if (at >= 0 && at < n) {
        *child = leaf ? p->n + at : at;
        return true;
    }
    mr_read_fail(r, MR_E_ATTRIBUTE, "attribute %s[%lld] = %lld: there are %lld %s",
                 yes ? "nodes_truenodeids" : "nodes_falsenodeids", (long long)i, (long long)at, (long long)n,
                 leaf ? "leaves" : "nodes");
    return false;
}

static bool read_branches(mr_reader *r, const positions *p, mr_forest *f)
{
    int64_t n_sets = 0;
    for (int64_t i = 0; i < p->n; i++) {
        mr_branching *b = &f->nodes[i];
        uint8_t mode = ((const uint8_t *)p->mode->data)[i];
        if (mode > MR_BRANCH_MEMBER) {
            mr_read_fail(r, MR_E_ATTRIBUTE, "attribute nodes_modes[%lld] = %d out of range [0,6]", (long long)i, mode);
            return false;
        }
        *b = (mr_branching){.mode = (mr_branch)mode,
                            .feature = p->feature[i],
                            .value = p->split[i],
                            .missing_true = p->n_missing > 0 && p->missing[i] != 0,
                            .name = "node",
                            .number = i};
        if (mode == MR_BRANCH_MEMBER) b->value = (double)n_sets++;
        if (!read_child(r, p, i, true, &b->yes) || !read_child(r, p, i, false, &b->no)) return false;
    }
    return read_sets(r, n_sets, f);
}

static bool read_roots(mr_reader *r, const positions *p, mr_forest *f)
{
    const int64_t *roots;
    f->n_trees = mr_read_ints(r, "tree_roots", &roots);
    if (f->n_trees <= 0) return mr_read_fail(r, MR_E_ATTRIBUTE, "attribute tree_roots: there is no tree"), false;
    if (!(f->roots = mr_forest_alloc(r, f->n_trees, sizeof *f->roots))) return false;
    for (int64_t i = 0; i < f->n_trees; i++) {
        if (roots[i] < 0 || roots[i] >= p->n) {
            mr_read_fail(r, MR_E_ATTRIBUTE, "attribute tree_roots[%lld] = %lld: there are %lld nodes", (long long)i,
                         (long long)roots[i], (long long)p->n);
            return false;
        }
        f->roots[i] = roots[i];
    }
    return true;
}

bool mr_forest_read_positions(mr_reader *r, int64_t n_targets, mr_forest *f)
{
    positions p = {0};
    *f = (mr_forest){.n_targets = n_targets};
    mr_read_ignore(r, "nodes_hitrates");
    return read_lists(r, &p) && read_leaves(r, &p, f) && read_branches(r, &p, f) && read_roots(r, &p, f);
}

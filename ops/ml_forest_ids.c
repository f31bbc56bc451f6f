/* ml_forest_ids.c: the attributes of TreeEnsembleClassifier and TreeEnsembleRegressor, whose nodes are named by pairs:
 * a tree id and a node id. */
#include "ops/ml_forest.h"

#include <stdio.h>
#include <stdlib.h>

/* Parallel lists of ids, and the order in which they ascend. */
typedef struct pairs {
    const int64_t *tree, *node;
    int64_t n;
    int64_t *order;
} pairs;

static int order_pairs(const pairs *p, int64_t i, int64_t tree, int64_t node)
{
    int order = (p->tree[i] > tree) - (p->tree[i] < tree);
    return order ? order : (p->node[i] > node) - (p->node[i] < node);
}

static int order_by_pair(const void *a, const void *b, void *ids)
{
    const pairs *p = ids;
    const int64_t j = *(const int64_t *)b;
    return order_pairs(p, *(const int64_t *)a, p->tree[j], p->node[j]);
}

/* -1: there is no such node. near: a node of the tree, from which most files count on to the one that is sought. */
static int64_t find_pair(const pairs *p, int64_t tree, int64_t node, int64_t near)
{
    int64_t guess, low = 0, high = p->n;
    bool sum = !__builtin_sub_overflow(node, p->node[near], &guess) && !__builtin_add_overflow(guess, near, &guess);
    if (sum && guess >= 0 && guess < p->n && order_pairs(p, guess, tree, node) == 0) return guess;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (order_pairs(p, p->order[middle], tree, node) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->n && order_pairs(p, p->order[low], tree, node) == 0 ? p->order[low] : -1;
}

static bool sort_pairs(mr_reader *r, pairs *p)
{
    bool sorted = true;
    if (!(p->order = mr_forest_alloc(r, p->n, sizeof *p->order))) return false;
    for (int64_t i = 0; i < p->n; i++) {
        p->order[i] = i;
        if (i > 0) sorted &= order_pairs(p, i - 1, p->tree[i], p->node[i]) < 0;
    }
    if (!sorted) qsort_r(p->order, (size_t)p->n, sizeof *p->order, order_by_pair, p);
    for (int64_t i = 1; i < p->n; i++) {
        int64_t k = p->order[i];
        if (order_pairs(p, p->order[i - 1], p->tree[k], p->node[k]) == 0) {
            mr_read_fail(r, MR_E_ATTRIBUTE, "tree %lld has two nodes %lld", (long long)p->tree[k],
                         (long long)p->node[k]);
            return false;
        }
    }
    return true;
}

/* ---- lists of equal length ---- */

static bool read_list(mr_reader *r, const char *name, int64_t want, const char *like, const int64_t **list)
{
    return mr_want_length(r, name, mr_read_ints(r, name, list), want, like);
}

/* ---- nodes ---- */

static bool read_mode(mr_reader *r, mr_string s, int64_t i, mr_branch *mode)
{
    static const char *const names[] = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE", "BRANCH_GT",
                                        "BRANCH_EQ",  "BRANCH_NEQ", "LEAF"};
    for (int k = 0; k < 7; k++)
        if (mr_string_order(s, (mr_string){names[k], __builtin_strlen(names[k])}) == 0) {
            *mode = k == 6 ? MR_LEAF : (mr_branch)k;
            return true;
        }
    mr_read_fail(r, MR_E_ATTRIBUTE,
                 "attribute nodes_modes[%lld] \"%.*s\" unknown: one of BRANCH_LEQ, BRANCH_LT, "
                 "BRANCH_GTE, BRANCH_GT, BRANCH_EQ, BRANCH_NEQ, LEAF",
                 (long long)i, (int)(s.len < 40 ? s.len : 40), s.data);
    return false;
}

static bool read_child(mr_reader *r, const pairs *ids, int64_t i, int64_t id, const char *name, int64_t *child)
{
    *child = find_pair(ids, ids->tree[i], id, i);
    if (*child < 0)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute %s[%lld] = %lld: tree %lld has no such node", name, (long long)i,
                     (long long)id, (long long)ids->tree[i]);
    return *child >= 0;
}

static bool read_nodes(mr_reader *r, const pairs *ids, mr_forest *f)
{
    const char *like = "nodes_treeids";
    const int64_t *feature, *yes, *no, *missing;
    const mr_string *modes;
    int64_t n_values, n_missing = mr_read_ints(r, "nodes_missing_value_tracks_true", &missing);
    const double *value =
        mr_read_doubles(r, "nodes_values", mr_read_version(r) >= 3 ? "nodes_values_as_tensor" : NULL, &n_values);
    int n_modes = mr_read_strings(r, "nodes_modes", &modes);
    if (!read_list(r, "nodes_featureids", f->n_nodes, like, &feature) ||
        !read_list(r, "nodes_truenodeids", f->n_nodes, like, &yes) ||
        !read_list(r, "nodes_falsenodeids", f->n_nodes, like, &no) ||
        !mr_want_length(r, "nodes_values", n_values, f->n_nodes, like) ||
        !mr_want_length(r, "nodes_modes", n_modes, f->n_nodes, like) ||
        (n_missing > 0 && !mr_want_length(r, "nodes_missing_value_tracks_true", n_missing, f->n_nodes, like)))
        return false;
    for (int64_t i = 0; i < f->n_nodes; i++) {
        mr_branching *b = &f->nodes[i];
        *b = (mr_branching){.feature = feature[i],
                            .value = value[i],
                            .missing_true = n_missing > 0 && missing[i] != 0,
                            .name = "node",
                            .number = ids->node[i]};
        if (!read_mode(r, modes[i], i, &b->mode)) return false;
        if (b->mode != MR_LEAF && (!read_child(r, ids, i, yes[i], "nodes_truenodeids", &b->yes) ||
                                   !read_child(r, ids, i, no[i], "nodes_falsenodeids", &b->no)))
            return false;
    }
    return true;
}

/* A tree's root is the node that no other goes on to; of several the first that is listed. */
static bool read_roots(mr_reader *r, const pairs *ids, mr_forest *f)
{
    bool *child = mr_forest_alloc(r, f->n_nodes, sizeof *child);
    int64_t *root = mr_forest_alloc(r, f->n_nodes, sizeof *root); /* by where the tree begins in the order */
    if (!child || !root || !(f->roots = mr_forest_alloc(r, f->n_nodes, sizeof *f->roots))) return false;
    for (int64_t i = 0; i < f->n_nodes; i++)
        if (f->nodes[i].mode != MR_LEAF) child[f->nodes[i].yes] = child[f->nodes[i].no] = true;
    for (int64_t i = 0, end; i < f->n_nodes; i = end) {
        int64_t tree = ids->tree[ids->order[i]], first = -1;
        for (end = i; end < f->n_nodes && ids->tree[ids->order[end]] == tree; end++) {
            int64_t k = ids->order[end];
            if (!child[k] && (first < 0 || k < first)) first = k;
        }
        if (first < 0)
            return mr_read_fail(r, MR_E_ATTRIBUTE, "tree %lld has no root: its nodes go on in a cycle",
                                (long long)tree),
                   false;
        f->roots[f->n_trees++] = first;
    }
    return true;
}

/* ---- votes ---- */

typedef struct ballots {
    const int64_t *tree, *node, *target;
    const double *weight;
    int64_t n;
    int64_t *of; /* nodes */
} ballots;

static const char *attribute(char *buf, size_t size, const char *prefix, const char *name)
{
    snprintf(buf, size, "%s_%s", prefix, name);
    return buf;
}

static bool read_ballots(mr_reader *r, const char *votes, ballots *b)
{
    char trees[32], name[32], tensor[40];
    attribute(trees, sizeof trees, votes, "treeids");
    b->n = mr_read_ints(r, trees, &b->tree);
    if (b->n < 0) b->n = 0;
    if (!read_list(r, attribute(name, sizeof name, votes, "nodeids"), b->n, trees, &b->node) ||
        !read_list(r, attribute(name, sizeof name, votes, "ids"), b->n, trees, &b->target))
        return false;
    int64_t n_weights;
    attribute(tensor, sizeof tensor, votes, "weights_as_tensor");
    attribute(name, sizeof name, votes, "weights");
    b->weight = mr_read_doubles(r, name, mr_read_version(r) >= 3 ? tensor : NULL, &n_weights);
    return mr_want_length(r, name, n_weights, b->n, trees);
}

/* Those of a node as they are listed. A vote of a node that is no leaf is never counted, as in ONNX Runtime. */
static bool read_votes(mr_reader *r, const char *votes, const pairs *ids, mr_forest *f)
{
    ballots b;
    if (!read_ballots(r, votes, &b) || !(b.of = mr_forest_alloc(r, b.n, sizeof *b.of)) ||
        !(f->votes = mr_forest_alloc(r, f->n_nodes + 1, sizeof *f->votes)) ||
        !(f->target = mr_forest_alloc(r, b.n, sizeof *f->target)) ||
        !(f->weight = mr_forest_alloc(r, b.n, sizeof *f->weight)))
        return false;
    for (int64_t i = 0; i < b.n; i++) {
        b.of[i] = find_pair(ids, b.tree[i], b.node[i], i && b.tree[i] == b.tree[i - 1] ? b.of[i - 1] : 0);
        if (b.of[i] < 0) {
            mr_read_fail(r, MR_E_ATTRIBUTE, "attribute %s_nodeids[%lld] = %lld: tree %lld has no such node", votes,
                         (long long)i, (long long)b.node[i], (long long)b.tree[i]);
            return false;
        }
        if (b.target[i] < 0 || b.target[i] >= f->n_targets) {
            mr_read_fail(r, MR_E_ATTRIBUTE, "attribute %s_ids[%lld] = %lld out of range [0,%lld]", votes, (long long)i,
                         (long long)b.target[i], (long long)f->n_targets - 1);
            return false;
        }
        f->votes[b.of[i] + 1]++;
    }
    for (int64_t i = 0; i < f->n_nodes; i++) f->votes[i + 1] += f->votes[i];
    int64_t *next = mr_forest_alloc(r, f->n_nodes, sizeof *next);
    if (!next) return false;
    for (int64_t i = 0; i < b.n; i++) {
        int64_t at = f->votes[b.of[i]] + next[b.of[i]]++;
        f->target[at] = (int32_t)b.target[i];
        f->weight[at] = b.weight[i];
    }
    return true;
}

bool mr_forest_read_ids(mr_reader *r, const char *votes, int64_t n_targets, mr_forest *f)
{
    pairs ids;
    *f = (mr_forest){.n_targets = n_targets};
    mr_read_ignore(r, "nodes_hitrates");
    if (mr_read_version(r) >= 3) mr_read_ignore(r, "nodes_hitrates_as_tensor");
    ids.n = mr_read_ints(r, "nodes_treeids", &ids.tree);
    if (ids.n <= 0)
        return mr_read_fail(r, MR_E_ATTRIBUTE, "attribute nodes_treeids is missing: there is no tree"), false;
    f->n_nodes = ids.n;
    return read_list(r, "nodes_nodeids", ids.n, "nodes_treeids", &ids.node) && sort_pairs(r, &ids) &&
           (f->nodes = mr_forest_alloc(r, f->n_nodes, sizeof *f->nodes)) && read_nodes(r, &ids, f) &&
           read_roots(r, &ids, f) && read_votes(r, votes, &ids, f);
}

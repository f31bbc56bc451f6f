/* ml_forest.c: lays trees out for the kernel, siblings side by side. */
#include "ops/ml_forest.h"

#include <math.h>

void *mr_forest_alloc(mr_reader *r, int64_t n, size_t size)
{
    void *p = mr_read_alloc(r, size * ((size_t)n + 1));
    if (!p) mr_read_fail(r, MR_E_MEMORY, "no memory for the trees");
    return p;
}

/* Where a node that was reached stands, and what it is. */
typedef struct planting {
    mr_reader *r;
    const mr_forest *f;
    mr_tree_node *nodes;
    int64_t *source;       /* by place: the node of the forest */
    int64_t *waiting;      /* places whose node is not written yet */
    int64_t *reached_in;   /* by node of the forest: 1 + the tree */
    int64_t n, n_features; /* so far */
    bool plain, single;
} planting;

/* Every test as v <= value or v == value; with the children, and where NaN goes, exchanged for their opposites. */
static mr_tree_node normal(const mr_branching *b, bool *exchanged)
{
    mr_tree_node n = {.value = b->value, .what = (uint32_t)b->feature};
    bool never = isnan(b->value) && b->mode != MR_BRANCH_NEQ; /* nothing compares with NaN */
    *exchanged = !never && (b->mode == MR_BRANCH_GTE || b->mode == MR_BRANCH_GT || b->mode == MR_BRANCH_NEQ);
    if (!never && (b->mode == MR_BRANCH_LT || b->mode == MR_BRANCH_GTE)) /* v < t is v <= the double before t */
        n.value = b->value == -(double)INFINITY ? (double)NAN : nextafter(b->value, -(double)INFINITY);
    if (b->mode == MR_BRANCH_EQ || b->mode == MR_BRANCH_NEQ) n.what |= MR_TREE_EQ;
    if (b->mode == MR_BRANCH_MEMBER) n.what |= MR_TREE_MEMBER;
    if (b->missing_true != *exchanged) n.what |= MR_TREE_MISSING;
    return n;
}

static void plant_leaf(planting *p, int64_t at, int64_t source)
{
    const mr_forest *f = p->f;
    const int64_t first = f->votes[source], n = f->votes[source + 1] - first;
    mr_tree_node *leaf = &p->nodes[at];
    *leaf = (mr_tree_node){.child = (int32_t)at, .what = MR_TREE_LEAF};
    if (p->single)
        leaf->weight = f->weight[first];
    else
        leaf->votes = (mr_tree_votes){(int32_t)first, (int32_t)n};
}

static bool plant_branch(planting *p, int64_t at, int64_t source, int64_t tree)
{
    const mr_branching *b = &p->f->nodes[source];
    bool exchanged;
    if (p->reached_in[source]) {
        mr_read_fail(p->r, MR_E_ATTRIBUTE,
                     "%s %lld is reached twice, in tree %lld and in tree %lld: trees have no cycles, "
                     "and their nodes one parent",
                     b->name, (long long)b->number, (long long)p->reached_in[source] - 1, (long long)tree);
        return false;
    }
    if (b->feature < 0 || b->feature > MR_TREE_FEATURE) {
        mr_read_fail(p->r, MR_E_ATTRIBUTE, "%s %lld tests feature %lld, expected one in [0,%d]", b->name,
                     (long long)b->number, (long long)b->feature, MR_TREE_FEATURE);
        return false;
    }
    p->reached_in[source] = tree + 1;
    p->nodes[at] = normal(b, &exchanged);
    p->nodes[at].child = (int32_t)p->n;
    p->plain &= !(p->nodes[at].what & (MR_TREE_EQ | MR_TREE_MEMBER));
    if (b->feature >= p->n_features) p->n_features = b->feature + 1;
    p->source[p->n++] = exchanged ? b->no : b->yes;
    p->source[p->n++] = exchanged ? b->yes : b->no;
    return true;
}

/* Depth first: a node's first child, and what follows from it, stands close behind it. */
static bool plant_tree(planting *p, int64_t tree)
{
    int64_t n = 0;
    p->source[p->n] = p->f->roots[tree];
    for (p->waiting[n++] = p->n++; n > 0;) {
        int64_t at = p->waiting[--n], source = p->source[at];
        if (p->f->nodes[source].mode == MR_LEAF) {
            plant_leaf(p, at, source);
            continue;
        }
        if (!plant_branch(p, at, source, tree)) return false;
        p->waiting[n++] = p->nodes[at].child + 1;
        p->waiting[n++] = p->nodes[at].child;
    }
    return true;
}

static bool is_single(const mr_forest *f)
{
    bool single = f->n_targets == 1;
    for (int64_t i = 0; i < f->n_nodes; i++)
        if (f->nodes[i].mode == MR_LEAF) single &= f->votes[i + 1] - f->votes[i] == 1;
    return single;
}

bool mr_forest_plant(mr_reader *r, const mr_forest *f, mr_trees *t, int64_t *n_features)
{
    int64_t most = 2 * f->n_nodes + f->n_trees; /* each branch is reached once, and has two children */
    if (most >= INT32_MAX || f->n_targets >= INT32_MAX || f->votes[f->n_nodes] >= INT32_MAX)
        return mr_read_fail(r, MR_E_SIZE, "%lld nodes are too many", (long long)f->n_nodes), false;
    planting p = {.r = r, .f = f, .plain = true, .single = is_single(f)};
    int32_t *roots = mr_forest_alloc(r, f->n_trees, sizeof *roots);
    p.nodes = mr_forest_alloc(r, most, sizeof *p.nodes);
    p.source = mr_forest_alloc(r, most, sizeof *p.source);
    p.waiting = mr_forest_alloc(r, most, sizeof *p.waiting);
    p.reached_in = mr_forest_alloc(r, f->n_nodes, sizeof *p.reached_in);
    if (!roots || !p.nodes || !p.source || !p.waiting || !p.reached_in) return false;
    for (int64_t k = 0; k < f->n_trees; k++) {
        roots[k] = (int32_t)p.n;
        if (!plant_tree(&p, k)) return false;
    }
    *n_features = p.n_features;
    *t = (mr_trees){.nodes = p.nodes,
                    .roots = roots,
                    .n_trees = f->n_trees,
                    .n_targets = f->n_targets,
                    .target = f->target,
                    .weight = f->weight,
                    .members = f->members,
                    .sets = f->sets,
                    .plain = p.plain,
                    .single = p.single};
    return true;
}

/* ml_tree.c: TreeEnsembleClassifier, TreeEnsembleRegressor, TreeEnsemble. */
#include "kernels/cpu/cpu.h"
#include "ops/ml_forest.h"

#include <math.h>

typedef struct tree_params {
    mr_trees trees;
    int64_t n_features; /* that x has at least */
    mr_tree_aggregate aggregate;
    bool average;
    const double *base; /* one a target; NULL: 0 */
    mr_transform transform;
    mr_labels labels;
    bool binary;   /* two classes, of which only the second has scores */
    bool mirrored; /* its score s stands beside -s, else beside 1 - s */
} tree_params;

/* ---- attributes ---- */

static void want_base(mr_reader *r, tree_params *p, int64_t n, int64_t want)
{
    if (n <= 0)
        p->base = NULL;
    else if (n != want && !(p->binary && n == 1))
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute base_values has %lld numbers for %lld %s", (long long)n,
                     (long long)want, p->labels.n ? "classes" : "targets");
}

static const double *read_base(mr_reader *r, int64_t *n)
{
    return mr_read_doubles(r, "base_values", mr_read_version(r) >= 3 ? "base_values_as_tensor" : NULL, n);
}

/* In the order of TreeEnsemble's attribute. */
static const char *const aggregates[] = {"AVERAGE", "SUM", "MIN", "MAX", NULL};

static void set_aggregate(tree_params *p, int64_t aggregate)
{
    p->average = aggregate == 0;
    p->aggregate = aggregate == 2 ? MR_TREE_MIN : aggregate == 3 ? MR_TREE_MAX : MR_TREE_SUM;
}

static bool read_targets(mr_reader *r, int64_t *n)
{
    *n = mr_read_int(r, "n_targets", 0);
    if (*n < 1) mr_read_fail(r, MR_E_ATTRIBUTE, "attribute n_targets = %lld, must be positive", (long long)*n);
    return *n >= 1;
}

static void regressor_read(mr_reader *r, void *params)
{
    tree_params *p = params;
    mr_forest f;
    int64_t n_base, n_targets;
    p->base = read_base(r, &n_base);
    p->transform = mr_read_transform(r);
    set_aggregate(p, mr_read_enum(r, "aggregate_function", aggregates, 1));
    if (!read_targets(r, &n_targets) || !mr_forest_read_ids(r, "target", n_targets, &f)) return;
    want_base(r, p, n_base, n_targets);
    mr_forest_plant(r, &f, &p->trees, &p->n_features);
}

static void ensemble_read(mr_reader *r, void *params)
{
    tree_params *p = params;
    mr_forest f;
    int64_t n_targets, aggregate = mr_read_int(r, "aggregate_function", 1),
                       transform = mr_read_int(r, "post_transform", 0);
    if (aggregate < 0 || aggregate > 3)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute aggregate_function = %lld out of range [0,3]", (long long)aggregate);
    if (transform < 0 || transform > 4)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute post_transform = %lld out of range [0,4]", (long long)transform);
    p->transform = (mr_transform)transform;
    set_aggregate(p, aggregate);
    if (read_targets(r, &n_targets) && mr_forest_read_positions(r, n_targets, &f))
        mr_forest_plant(r, &f, &p->trees, &p->n_features);
}

/* ONNX has no word on two classes of which only the first has votes, the way in which boosted trees are exported. As in
 * onnx.reference and ONNX Runtime, their sum s is then the score of the second class. The first one's is what
 * onnx.reference gives, 1 - s without a transform or under PROBIT, else -s; but -s, with ONNX Runtime, for a negative
 * weight without a transform: then s is no probability, and the libraries decide by its sign. The label follows from
 * these two, where ONNX Runtime may have another than the scores say. */
static void find_binary(tree_params *p, mr_forest *f)
{
    bool negative = false;
    const int64_t n = f->votes[f->n_nodes];
    p->binary = p->labels.n == 2 && n > 0;
    for (int64_t i = 0; i < n; i++) {
        p->binary &= f->target[i] == 0;
        negative |= f->weight[i] < 0;
    }
    p->mirrored = p->transform == MR_NO_TRANSFORM ? negative : p->transform != MR_PROBIT;
    if (p->binary) f->n_targets = 1;
}

static void classifier_read(mr_reader *r, void *params)
{
    tree_params *p = params;
    mr_forest f;
    int64_t n_base;
    p->base = read_base(r, &n_base);
    p->transform = mr_read_transform(r);
    if (!mr_read_labels(r, "classlabels_int64s", "classlabels_strings", &p->labels) ||
        !mr_forest_read_ids(r, "class", p->labels.n, &f))
        return;
    find_binary(p, &f);
    want_base(r, p, n_base, p->labels.n);
    mr_forest_plant(r, &f, &p->trees, &p->n_features);
}

/* ---- types and shapes ---- */

static mr_status infer_features(mr_call *c, mr_dim *rows)
{
    const tree_params *p = c->params;
    mr_dim features;
    mr_status st = mr_infer_rows(c, rows, &features);
    if (!st && features >= 0 && features < p->n_features)
        st = mr_call_fail_in(c, MR_E_SHAPES, 0, "has %lld features, a tree tests feature %lld", (long long)features,
                             (long long)p->n_features - 1);
    return st;
}

static mr_status regressor_infer(mr_call *c)
{
    mr_dim rows;
    mr_status st = infer_features(c, &rows);
    return st ? st : mr_out_rows(c, 0, mr_score_dtype(c), rows, ((const tree_params *)c->params)->trees.n_targets);
}

static mr_status ensemble_infer(mr_call *c)
{
    mr_dim rows;
    mr_status st = infer_features(c, &rows);
    return st ? st : mr_out_rows(c, 0, mr_in_dtype(c, 0), rows, ((const tree_params *)c->params)->trees.n_targets);
}

static mr_status classifier_infer(mr_call *c)
{
    const tree_params *p = c->params;
    mr_dim rows;
    mr_status st = infer_features(c, &rows);
    return st ? st : mr_out_classes(c, &p->labels, rows, p->labels.n);
}

/* ---- running ---- */

static mr_fn have(const mr_call *c)
{
    return MR_SLOT(c->cpu->tree.score, mr_in_dtype(c, 0));
}

static size_t scratch(const mr_call *c)
{
    const tree_params *p = c->params;
    int64_t n = p->labels.n > p->trees.n_targets ? p->labels.n : p->trees.n_targets;
    return (size_t)(mr_row_count(c) * n) * sizeof(double);
}

/* Scores [rows, n_targets]. A target that no vote was for has 0, as in ONNX Runtime, also of a minimum or maximum,
 * where onnx.reference leaves what it started from, the largest float. Base values come after the aggregation. */
static void tree_scores(mr_call *c, double *scores)
{
    const tree_params *p = c->params;
    mr_tree_args a = {.trees = &p->trees,
                      .x = c->in[0].t->data,
                      .rows = mr_row_count(c),
                      .features = mr_row_length(c),
                      .aggregate = p->aggregate,
                      .scores = scores,
                      .pool = c->pool};
    ((mr_tree_fn *)c->fn)(&a);
    for (int64_t i = 0; i < a.rows * p->trees.n_targets; i++) {
        if (p->aggregate != MR_TREE_SUM && isnan(scores[i])) scores[i] = 0;
        if (p->average) scores[i] /= (double)p->trees.n_trees;
        if (p->base) scores[i] += p->base[i % p->trees.n_targets];
    }
}

static mr_status ensemble_run(mr_call *c)
{
    const tree_params *p = c->params;
    tree_scores(c, c->scratch);
    mr_put_scores(c, 0, p->transform, c->scratch, mr_row_count(c), p->trees.n_targets);
    return MR_OK;
}

static mr_status classifier_run(mr_call *c)
{
    const tree_params *p = c->params;
    const int64_t rows = mr_row_count(c);
    double *scores = c->scratch;
    tree_scores(c, scores);
    for (int64_t i = rows - 1; p->binary && i >= 0; i--) {
        scores[2 * i + 1] = scores[i];
        scores[2 * i] = p->mirrored ? -scores[2 * i + 1] : 1 - scores[2 * i + 1];
    }
    mr_put_top_labels(&p->labels, scores, rows, c->out[0].t);
    mr_put_scores(c, 1, p->transform, scores, rows, p->labels.n);
    return MR_OK;
}

static const mr_impl classifier_impls[] = {
    {.name = "tree_ensemble_classifier_cpu", .have = have, .run = classifier_run, .scratch = scratch}, {0}};
static const mr_impl ensemble_impls[] = {
    {.name = "tree_ensemble_cpu", .have = have, .run = ensemble_run, .scratch = scratch}, {0}};

const mr_op mr_ops_ml_tree[] = {
    {.domain = MR_ML,
     .name = "TreeEnsembleClassifier",
     .since = 1,
     .params_size = sizeof(tree_params),
     .read = classifier_read,
     .infer = classifier_infer,
     .impls = classifier_impls},
    {.domain = MR_ML,
     .name = "TreeEnsembleRegressor",
     .since = 1,
     .params_size = sizeof(tree_params),
     .read = regressor_read,
     .infer = regressor_infer,
     .impls = ensemble_impls},
    {.domain = MR_ML,
     .name = "TreeEnsemble",
     .since = 5,
     .params_size = sizeof(tree_params),
     .read = ensemble_read,
     .infer = ensemble_infer,
     .impls = ensemble_impls},
    {0},
};

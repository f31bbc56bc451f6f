/* ml_linear.c: LinearClassifier, LinearRegressor. */
#include "kernels/cpu/cpu.h"
#include "ops/ml.h"

typedef struct linear_params {
    const double *coefficients, *intercepts; /* intercepts NULL: 0 */
    int64_t n_coefficients;
    int64_t n; /* sets of coefficients; 0: one or two, as the features say */
    int64_t n_intercepts;
    mr_transform transform;
    mr_labels labels;
} linear_params;

static void read_weights(mr_reader *r, linear_params *p)
{
    p->coefficients = mr_read_doubles(r, "coefficients", NULL, &p->n_coefficients);
    p->intercepts = mr_read_doubles(r, "intercepts", NULL, &p->n_intercepts);
    if (p->n_intercepts <= 0) p->intercepts = NULL;
    p->transform = mr_read_transform(r);
}

static void want_sets(mr_reader *r, const linear_params *p)
{
    if (p->intercepts && p->n_intercepts != p->n)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute intercepts has %lld numbers for %lld sets of coefficients",
                     (long long)p->n_intercepts, (long long)p->n);
    else if (p->n_coefficients < 0)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute coefficients is missing");
    else if (p->n && p->n_coefficients % p->n)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute coefficients: %lld numbers cannot be cut into %lld sets",
                     (long long)p->n_coefficients, (long long)p->n);
}

static int64_t sets(const linear_params *p, int64_t features)
{
    return p->n ? p->n : p->n_coefficients == features ? 1 : 2;
}

/* The coefficients of each set and the features of a row are as many. */
static mr_status want_features(mr_call *c, mr_dim features)
{
    const linear_params *p = c->params;
    if (features < 0 || features * sets(p, features) == p->n_coefficients) return MR_OK;
    return mr_call_fail_in(c, MR_E_SHAPES, 0, "has %lld features, attribute coefficients has %lld numbers in %lld sets",
                           (long long)features, (long long)p->n_coefficients, (long long)sets(p, features));
}

static mr_fn have(const mr_call *c)
{
    return MR_SLOT(c->cpu->linear.product, mr_in_dtype(c, 0));
}

/* Scores [rows, n]; returns n. */
static int64_t linear_scores(mr_call *c, double *scores)
{
    const linear_params *p = c->params;
    const int64_t rows = mr_row_count(c), n = sets(p, mr_row_length(c));
    mr_linear_args a = {.x = c->in[0].t->data,
                        .vectors = p->coefficients,
                        .y = scores,
                        .rows = rows,
                        .features = mr_row_length(c),
                        .n = n,
                        .pool = c->pool};
    ((mr_linear_fn *)c->fn)(&a);
    for (int64_t i = 0; p->intercepts && i < rows * n; i++) scores[i] += p->intercepts[i % n];
    return n;
}

/* ---- LinearRegressor ---- */

static void regressor_read(mr_reader *r, void *params)
{
    linear_params *p = params;
    read_weights(r, p);
    p->n = mr_read_int(r, "targets", 1);
    if (p->n < 1)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute targets = %lld, must be positive", (long long)p->n);
    else
        want_sets(r, p);
}

static mr_status regressor_infer(mr_call *c)
{
    const linear_params *p = c->params;
    mr_dim rows, features;
    mr_status st = mr_infer_rows(c, &rows, &features);
    if (!st) st = want_features(c, features);
    return st ? st : mr_out_rows(c, 0, mr_score_dtype(c), rows, p->n);
}

static size_t scratch(const mr_call *c)
{
    const linear_params *p = c->params;
    int64_t n = p->labels.n > p->n ? p->labels.n : p->n;
    return (size_t)(mr_row_count(c) * n) * sizeof(double);
}

static mr_status regressor_run(mr_call *c)
{
    const linear_params *p = c->params;
    linear_scores(c, c->scratch);
    mr_put_scores(c, 0, p->transform, c->scratch, mr_row_count(c), p->n);
    return MR_OK;
}

/* ---- LinearClassifier ---- */

/* ONNX says nothing of one set of coefficients for two classes. As in onnx.reference its score s is that of the second
 * class, and -s that of the first; ONNX Runtime has 1 - s there unless the transform is LOGISTIC, and the same labels.
 * How many sets there are follows from the number of intercepts, without any from that of the features. */
static void classifier_read(mr_reader *r, void *params)
{
    linear_params *p = params;
    mr_read_ignore(r, "multi_class"); /* how the model was fitted */
    read_weights(r, p);
    if (!mr_read_labels(r, "classlabels_ints", "classlabels_strings", &p->labels)) return;
    p->n = p->labels.n == 2 && p->n_intercepts <= 1 ? p->intercepts != NULL : p->labels.n;
    want_sets(r, p);
}

static mr_status classifier_infer(mr_call *c)
{
    const linear_params *p = c->params;
    mr_dim rows, features;
    mr_status st = mr_infer_rows(c, &rows, &features);
    if (!st) st = want_features(c, features);
    return st ? st : mr_out_classes(c, &p->labels, rows, p->labels.n);
}

static mr_status classifier_run(mr_call *c)
{
    const linear_params *p = c->params;
    const int64_t rows = mr_row_count(c), n = p->labels.n;
    double *scores = c->scratch;
    const bool single = linear_scores(c, scores) < n;
    for (int64_t i = rows - 1; single && i >= 0; i--) {
        scores[2 * i + 1] = scores[i];
        scores[2 * i] = -scores[2 * i + 1];
    }
    mr_put_top_labels(&p->labels, scores, rows, c->out[0].t);
    mr_put_scores(c, 1, p->transform, scores, rows, n);
    return MR_OK;
}

static const mr_impl regressor_impls[] = {
    {.name = "linear_regressor_cpu", .have = have, .run = regressor_run, .scratch = scratch}, {0}};
static const mr_impl classifier_impls[] = {
    {.name = "linear_classifier_cpu", .have = have, .run = classifier_run, .scratch = scratch}, {0}};

const mr_op mr_ops_ml_linear[] = {
    {MR_ML, "LinearRegressor", 1, 0, sizeof(linear_params), regressor_read, regressor_infer, regressor_impls, 0, NULL,
     NULL},
    {.domain = MR_ML,
     .name = "LinearClassifier",
     .since = 1,
     .params_size = sizeof(linear_params),
     .read = classifier_read,
     .infer = classifier_infer,
     .impls = classifier_impls},
    {0},
};

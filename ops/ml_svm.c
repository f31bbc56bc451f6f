/* ml_svm.c: SVMClassifier, SVMRegressor. ONNX has no word on how they compute: this is libsvm's and liblinear's way, as
 * onnx.reference and ONNX Runtime have it. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/math.h"
#include "ops/ml.h"

typedef struct svm_params {
    const double *coefficients, *rho, *vectors;
    int64_t n_coefficients, n_rho, n_numbers; /* numbers of the vectors */
    mr_svm_kernel kernel;
    double gamma, coef0, degree;
    int64_t n_vectors; /* 0: a linear model, whose coefficients are those of the features */
    int64_t n_features;
    mr_transform transform;
    bool one_class; /* regressor */
    mr_labels labels;
    const int64_t *per_class;      /* vectors, of each class */
    const double *prob_a, *prob_b; /* one a pair of classes, or NULL */
} svm_params;

/* ---- attributes ---- */

static void read_kernel(mr_reader *r, svm_params *p)
{
    static const char *const kernels[] = {"LINEAR", "POLY", "RBF", "SIGMOID", NULL};
    int64_t n;
    const double *k = mr_read_doubles(r, "kernel_params", NULL, &n);
    p->kernel = (mr_svm_kernel)mr_read_enum(r, "kernel_type", kernels, MR_SVM_LINEAR);
    if (k && n == 3)
        p->gamma = k[0], p->coef0 = k[1], p->degree = k[2];
    else if (n > 0)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute kernel_params has %lld numbers, expected gamma, coef0 and degree",
                     (long long)n);
}

static bool read_common(mr_reader *r, svm_params *p)
{
    p->coefficients = mr_read_doubles(r, "coefficients", NULL, &p->n_coefficients);
    p->rho = mr_read_doubles(r, "rho", NULL, &p->n_rho);
    p->vectors = mr_read_doubles(r, "support_vectors", NULL, &p->n_numbers);
    p->transform = mr_read_transform(r);
    read_kernel(r, p);
    if (p->n_coefficients < 1)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute coefficients is missing");
    else if (p->n_rho < 1)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute rho is missing");
    return p->n_coefficients >= 1 && p->n_rho >= 1;
}

static bool want_vectors(mr_reader *r, svm_params *p)
{
    p->n_features = p->n_numbers > 0 ? p->n_numbers / p->n_vectors : 0;
    if (p->n_features > 0 && p->n_numbers % p->n_vectors == 0) return true;
    mr_read_fail(r, MR_E_ATTRIBUTE, "attribute support_vectors: %lld numbers cannot be cut into %lld vectors",
                 (long long)(p->n_numbers > 0 ? p->n_numbers : 0), (long long)p->n_vectors);
    return false;
}

static void regressor_read(mr_reader *r, void *params)
{
    svm_params *p = params;
    p->n_vectors = mr_read_int(r, "n_supports", 0);
    p->one_class = mr_read_int(r, "one_class", 0) != 0;
    if (!read_common(r, p)) return;
    p->n_features = p->n_coefficients;
    if (p->n_vectors < 0)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute n_supports = %lld is negative", (long long)p->n_vectors);
    else if (p->n_vectors > 0 && want_vectors(r, p))
        mr_want_length(r, "coefficients", p->n_coefficients, p->n_vectors, "n_supports (vectors)");
}

static bool read_per_class(mr_reader *r, svm_params *p)
{
    int n = mr_read_ints(r, "vectors_per_class", &p->per_class);
    if (n <= 0) return true;
    if (!mr_want_length(r, "vectors_per_class", n, p->labels.n, "the list of labels")) return false;
    for (int i = 0; i < n; i++) {
        if (p->per_class[i] < 0 || p->per_class[i] > p->n_numbers) {
            mr_read_fail(r, MR_E_ATTRIBUTE, "attribute vectors_per_class[%d] = %lld out of range", i,
                         (long long)p->per_class[i]);
            return false;
        }
        p->n_vectors += p->per_class[i];
    }
    return true;
}

static int64_t pairs(const svm_params *p)
{
    return p->labels.n * (p->labels.n - 1) / 2;
}

static void classifier_read(mr_reader *r, void *params)
{
    svm_params *p = params;
    int64_t n_a, n_b;
    p->prob_a = mr_read_doubles(r, "prob_a", NULL, &n_a);
    p->prob_b = mr_read_doubles(r, "prob_b", NULL, &n_b);
    if (!read_common(r, p) || !mr_read_labels(r, "classlabels_ints", "classlabels_strings", &p->labels) ||
        !read_per_class(r, p))
        return;
    if (n_a <= 0 && n_b <= 0) p->prob_a = NULL;
    if (p->n_vectors == 0) {
        p->prob_a = NULL;
        p->n_features = p->n_coefficients / p->labels.n;
        if (p->n_coefficients % p->labels.n)
            mr_read_fail(r, MR_E_ATTRIBUTE, "attribute coefficients: %lld numbers for %lld classes",
                         (long long)p->n_coefficients, (long long)p->labels.n);
        return;
    }
    const char *like = "the list of pairs of labels";
    if (!want_vectors(r, p) || !mr_want_length(r, "rho", p->n_rho, pairs(p), like) ||
        (p->prob_a &&
         (!mr_want_length(r, "prob_a", n_a, pairs(p), like) || !mr_want_length(r, "prob_b", n_b, pairs(p), like))))
        return;
    mr_want_length(r, "coefficients", p->n_coefficients, (p->labels.n - 1) * p->n_vectors,
                   "each vector for each other class");
}

/* ---- types and shapes ---- */

static mr_status infer_features(mr_call *c, mr_dim *rows)
{
    const int64_t want = ((const svm_params *)c->params)->n_features;
    mr_dim features;
    mr_status st = mr_infer_rows(c, rows, &features);
    if (!st && features >= 0 && features != want)
        st = mr_call_fail_in(c, MR_E_SHAPES, 0, "has %lld features, the model has %lld", (long long)features,
                             (long long)want);
    return st;
}

static mr_status regressor_infer(mr_call *c)
{
    mr_dim rows;
    mr_status st = infer_features(c, &rows);
    return st ? st : mr_out_rows(c, 0, mr_score_dtype(c), rows, 1);
}

/* Scores before a single one becomes two, its opposite and itself. */
static int64_t raw_scores(const svm_params *p)
{
    return p->n_vectors && !p->prob_a ? pairs(p) : p->labels.n;
}

static int64_t scores_of(const svm_params *p)
{
    return raw_scores(p) == 1 && p->labels.n == 2 ? 2 : raw_scores(p);
}

static mr_status classifier_infer(mr_call *c)
{
    const svm_params *p = c->params;
    mr_dim rows;
    mr_status st = infer_features(c, &rows);
    return st ? st : mr_out_classes(c, &p->labels, rows, scores_of(p));
}

/* ---- kernels: k(x, v) of rows and support vectors ---- */

enum { ROWS = 256 }; /* that are computed together */

static mr_fn have(const mr_call *c)
{
    const svm_params *p = c->params;
    const mr_linear_fns *f = &c->cpu->linear;
    return MR_SLOT(p->kernel == MR_SVM_RBF && p->n_vectors ? f->distance : f->product, mr_in_dtype(c, 0));
}

/* y [rows, n] of rows from `row` on: kernel values, or of a linear model products. */
static void products(mr_call *c, int64_t row, int64_t rows, const double *vectors, int64_t n, double *y)
{
    const svm_params *p = c->params;
    const int64_t features = mr_row_length(c);
    mr_linear_args a = {.x = (const char *)c->in[0].t->data +
                             (size_t)(row * features) * mr_dtype_size(c->in[0].t->dtype),
                        .vectors = vectors,
                        .y = y,
                        .rows = rows,
                        .features = features,
                        .n = n,
                        .pool = c->pool};
    ((mr_linear_fn *)c->fn)(&a);
    mr_svm_args k = {.kernel = p->kernel,
                     .gamma = p->gamma,
                     .coef0 = p->coef0,
                     .degree = p->degree,
                     .k = y,
                     .n = rows * n,
                     .pool = c->pool};
    if (p->n_vectors) c->cpu->linear.svm(&k);
}

/* Doubles of scratch: all final scores, then the kernel values and raw scores of ROWS rows, and what the probabilities
 * of one row need. */
static size_t scratch(const mr_call *c)
{
    const svm_params *p = c->params;
    int64_t classes = p->labels.n ? p->labels.n : 1, n = p->n_vectors ? p->n_vectors : classes;
    int64_t scores = p->labels.n ? scores_of(p) : 1;
    return sizeof(double) * (size_t)(mr_row_count(c) * scores + ROWS * n + pairs(p) + 2 * classes * classes + classes);
}

/* ---- SVMRegressor ---- */

static mr_status regressor_run(mr_call *c)
{
    const svm_params *p = c->params;
    const int64_t rows = mr_row_count(c), n = p->n_vectors ? p->n_vectors : 1;
    double *scores = c->scratch, *k = scores + rows;
    for (int64_t row = 0; row < rows; row += ROWS) {
        int64_t some = rows - row < ROWS ? rows - row : ROWS;
        products(c, row, some, p->n_vectors ? p->vectors : p->coefficients, n, k);
        for (int64_t i = 0; i < some; i++) {
            double s = p->n_vectors ? 0 : k[i];
            for (int64_t v = 0; v < p->n_vectors; v++) s += p->coefficients[v] * k[i * n + v];
            s += p->rho[0];
            scores[row + i] = !p->one_class ? s : s > 0 ? 1 : -1;
        }
    }
    mr_put_scores(c, 0, p->transform, scores, rows, 1);
    return MR_OK;
}

/* ---- SVMClassifier ---- */

/* The score of each pair of classes i < j, from the kernel values of a row; the class with most votes, which s > 0
 * gives to i, else to j. */
static int64_t decide(const svm_params *p, const double *k, double *scores, double *votes)
{
    int64_t pair = 0, start_i = 0;
    for (int64_t i = 0; i < p->labels.n; i++) votes[i] = 0;
    for (int64_t i = 0; i < p->labels.n; start_i += p->per_class[i++]) {
        int64_t start_j = start_i + p->per_class[i];
        for (int64_t j = i + 1; j < p->labels.n; start_j += p->per_class[j++]) {
            const double *of_i = p->coefficients + (j - 1) * p->n_vectors, *of_j = p->coefficients + i * p->n_vectors;
            double s = 0;
            for (int64_t v = start_i; v < start_i + p->per_class[i]; v++) s += of_i[v] * k[v];
            for (int64_t v = start_j; v < start_j + p->per_class[j]; v++) s += of_j[v] * k[v];
            scores[pair] = s + p->rho[pair];
            votes[scores[pair++] > 0 ? i : j]++;
        }
    }
    return mr_top_score(votes, p->labels.n);
}

/* r[i][j]: how probable class i is against j, from the scores of the pairs (Platt). */
static void pair_probabilities(const svm_params *p, const double *scores, double *r)
{
    const double least = 1e-7;
    const int64_t n = p->labels.n;
    for (int64_t i = 0, pair = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++, pair++) {
            double v = mr_sigmoid(-(scores[pair] * p->prob_a[pair] + p->prob_b[pair]));
            v = v < least ? least : v > 1 - least ? 1 - least : v;
            r[i * n + j] = v;
            r[j * n + i] = 1 - v;
        }
}

/* Probabilities of n classes from those of the pairs: the second method of Wu, Lin and Weng, "Probability estimates for
 * multi-class classification by pairwise coupling" (2004), with libsvm's bounds. q, qp: n · n and n doubles. */
static void couple(const double *r, int64_t n, double *q, double *qp, double *prob)
{
    const int64_t most = n > 100 ? n : 100;
    for (int64_t t = 0; t < n; t++) {
        prob[t] = 1 / (double)n;
        q[t * n + t] = 0;
        for (int64_t j = 0; j < n; j++) {
            if (j == t) continue;
            q[t * n + t] += r[j * n + t] * r[j * n + t];
            q[t * n + j] = j < t ? q[j * n + t] : -r[j * n + t] * r[t * n + j];
        }
    }
    for (int64_t round = 0; round < most; round++) {
        double pqp = 0, worst = 0;
        for (int64_t t = 0; t < n; t++) {
            qp[t] = 0;
            for (int64_t j = 0; j < n; j++) qp[t] += q[t * n + j] * prob[j];
            pqp += prob[t] * qp[t];
        }
        for (int64_t t = 0; t < n; t++) {
            double error = mr_abs(qp[t] - pqp);
            worst = error > worst ? error : worst;
        }
        if (worst < 0.005 / (double)n) break;
        for (int64_t t = 0; t < n; t++) {
            double diff = (pqp - qp[t]) / q[t * n + t];
            prob[t] += diff;
            pqp = (pqp + diff * (diff * q[t * n + t] + 2 * qp[t])) / (1 + diff) / (1 + diff);
            for (int64_t j = 0; j < n; j++) {
                qp[j] = (qp[j] + diff * q[t * n + j]) / (1 + diff);
                prob[j] /= 1 + diff;
            }
        }
    }
}

/* Scores and label of one row, from its kernel values. work: pairs, n · n, n · n and n doubles. */
static int64_t classify(const svm_params *p, const double *k, double *scores, double *work)
{
    const int64_t n = p->labels.n;
    double *r = work + pairs(p), *q = r + n * n, *votes = q + n * n;
    double *raw = p->prob_a || scores_of(p) > raw_scores(p) ? work : scores;
    int64_t label = decide(p, k, raw, votes);
    if (p->prob_a) {
        pair_probabilities(p, raw, r);
        couple(r, n, q, votes, scores);
    } else if (raw == work) {
        scores[0] = -raw[0];
        scores[1] = raw[0];
    }
    return label;
}

static void classify_linear(mr_call *c, double *scores)
{
    const svm_params *p = c->params;
    const int64_t rows = mr_row_count(c), n = p->labels.n;
    products(c, 0, rows, p->coefficients, n, scores);
    for (int64_t i = 0; i < rows * n; i++) scores[i] += p->rho[0];
    mr_put_top_labels(&p->labels, scores, rows, c->out[0].t);
}

static mr_status classifier_run(mr_call *c)
{
    const svm_params *p = c->params;
    const int64_t rows = mr_row_count(c), n = scores_of(p);
    double *scores = c->scratch, *k = scores + rows * n;
    if (p->n_vectors == 0) classify_linear(c, scores);
    for (int64_t row = 0; p->n_vectors && row < rows; row += ROWS) {
        int64_t some = rows - row < ROWS ? rows - row : ROWS;
        products(c, row, some, p->vectors, p->n_vectors, k);
        for (int64_t i = 0; i < some; i++) {
            int64_t label = classify(p, k + i * p->n_vectors, scores + (row + i) * n, k + ROWS * p->n_vectors);
            if (c->out[0].t) mr_put_label(&p->labels, label, c->out[0].t, row + i);
        }
    }
    mr_put_scores(c, 1, p->transform, scores, rows, n);
    return MR_OK;
}

static const mr_impl regressor_impls[] = {
    {.name = "svm_regressor_cpu", .have = have, .run = regressor_run, .scratch = scratch}, {0}};
static const mr_impl classifier_impls[] = {
    {.name = "svm_classifier_cpu", .have = have, .run = classifier_run, .scratch = scratch}, {0}};

const mr_op mr_ops_ml_svm[] = {
    {.domain = MR_ML,
     .name = "SVMRegressor",
     .since = 1,
     .params_size = sizeof(svm_params),
     .read = regressor_read,
     .infer = regressor_infer,
     .impls = regressor_impls},
    {.domain = MR_ML,
     .name = "SVMClassifier",
     .since = 1,
     .params_size = sizeof(svm_params),
     .read = classifier_read,
     .infer = classifier_infer,
     .impls = classifier_impls},
    {0},
};

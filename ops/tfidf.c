/* tfidf.c: TfIdfVectorizer: how often n-grams of a pool occur, with gaps between their items. */
#include "ops/plain.h"
#include "ops/rules.h"

#include <stdlib.h>
#include <string.h>

typedef enum weighting { WEIGHT_TF, WEIGHT_IDF, WEIGHT_TFIDF } weighting;

/* The n-grams of one length, in the order of their items. */
typedef struct gram_set {
    int64_t first; /* in the pool, of the items */
    int64_t first_gram, n;
    const int64_t *order; /* the n-grams from 0 on, sorted */
} gram_set;

typedef struct tfidf_params {
    weighting mode;
    int64_t shortest, longest, most_skipped, width;
    const int64_t *ints; /* the pool: one of these */
    const mr_string *strings;
    bool of_strings;
    const int64_t *coordinate; /* by n-gram, as is weight, which may be NULL */
    const float *weight;
    gram_set *sets; /* by length - 1 */
    int n_sets;
} tfidf_params;

/* ---- items ---- */

/* A sequence of items: every step-th of x (a tensor), or of the pool (x NULL), from first on. */
typedef struct items {
    const mr_tensor *x;
    int64_t first, step;
} items;

static int compare_items(const tfidf_params *p, items a, items b, int64_t n)
{
    int order = 0;
    for (int64_t i = 0; i < n && !order; i++) {
        int64_t ka = a.first + i * a.step, kb = b.first + i * b.step;
        if (p->of_strings) {
            order = mr_string_order(a.x ? ((const mr_string *)a.x->data)[ka] : p->strings[ka], p->strings[kb]);
        } else {
            int64_t va = a.x ? mr_tensor_int(a.x, ka) : p->ints[ka], vb = p->ints[kb];
            order = (va > vb) - (va < vb);
        }
    }
    return order;
}

static items gram_items(const gram_set *s, int64_t gram, int64_t length)
{
    return (items){NULL, s->first + gram * length, 1};
}

/* ---- attributes ---- */

static bool want(mr_reader *r, bool holds, const char *text)
{
    if (!holds) mr_read_fail(r, MR_E_ATTRIBUTE, "%s", text);
    return holds;
}

typedef struct sorting {
    const tfidf_params *p;
    const gram_set *set;
    int64_t length;
} sorting;

static int compare_grams(const void *a, const void *b, void *arg)
{
    const sorting *s = arg;
    return compare_items(s->p, gram_items(s->set, *(const int64_t *)a, s->length),
                         gram_items(s->set, *(const int64_t *)b, s->length), s->length);
}

static bool read_set(mr_reader *r, tfidf_params *p, int k, int64_t first, int64_t end, int64_t items, int64_t *grams)
{
    const int64_t length = k + 1;
    gram_set *s = &p->sets[k];
    *s = (gram_set){.first = first, .first_gram = *grams};
    if (!want(r, first >= 0 && first <= end && end <= items, "attribute ngram_counts does not ascend within the pool"))
        return false;
    if (!want(r, (end - first) % length == 0, "attribute ngram_counts cuts an n-gram of the pool in two")) return false;
    s->n = (end - first) / length;
    *grams += s->n;
    int64_t *order = mr_read_alloc(r, sizeof *order * (size_t)(s->n + 1));
    if (!order) return mr_read_fail(r, MR_E_MEMORY, "no memory for the n-grams"), false;
    for (int64_t i = 0; i < s->n; i++) order[i] = i;
    qsort_r(order, (size_t)s->n, sizeof *order, compare_grams, &(sorting){p, s, length});
    s->order = order;
    return true;
}

static bool read_pool(mr_reader *r, tfidf_params *p)
{
    const int64_t *starts;
    int n_ints = mr_read_ints(r, "pool_int64s", &p->ints), n_strings = mr_read_strings(r, "pool_strings", &p->strings);
    p->of_strings = n_strings >= 0;
    int64_t items = n_ints >= 0 ? n_ints : n_strings, grams = 0;
    int n_weights = mr_read_floats(r, "weights", &p->weight),
        n_coordinates = mr_read_ints(r, "ngram_indexes", &p->coordinate);
    p->n_sets = mr_read_ints(r, "ngram_counts", &starts);
    if (!want(r, (n_ints >= 0) != (n_strings >= 0), "expected one of the attributes pool_int64s and pool_strings"))
        return false;
    if (!want(r, p->n_sets > 0, "attribute ngram_counts is empty")) return false;
    p->sets = mr_read_alloc(r, sizeof *p->sets * (size_t)p->n_sets);
    for (int k = 0; k < p->n_sets; k++)
        if (!read_set(r, p, k, starts[k], k + 1 < p->n_sets ? starts[k + 1] : items, items, &grams)) return false;
    return want(r, n_coordinates == grams, "attribute ngram_indexes needs one number for each n-gram of the pool") &&
           want(r, n_weights <= 0 || n_weights == grams,
                "attribute weights needs one number for each n-gram of the pool");
}

static void read(mr_reader *r, void *params)
{
    static const char *const modes[] = {"TF", "IDF", "TFIDF", NULL};
    tfidf_params *p = params;
    p->mode = (weighting)mr_read_enum(r, "mode", modes, WEIGHT_TF);
    p->shortest = mr_read_int(r, "min_gram_length", 1);
    p->longest = mr_read_int(r, "max_gram_length", 1);
    p->most_skipped = mr_read_int(r, "max_skip_count", 0);
    if (!read_pool(r, p) || !want(r, p->most_skipped >= 0, "attribute max_skip_count is negative") ||
        !want(r, p->shortest >= 1, "attribute min_gram_length is less than 1") ||
        !want(r, p->longest >= p->shortest, "attribute max_gram_length is less than min_gram_length"))
        return;
    gram_set *last = &p->sets[p->n_sets - 1];
    for (int64_t i = 0; i < last->first_gram + last->n; i++) {
        if (!want(r, p->coordinate[i] >= 0, "attribute ngram_indexes has a negative number")) return;
        if (!want(r, p->coordinate[i] < INT32_MAX, "attribute ngram_indexes has a number beyond 2^31")) return;
        if (p->coordinate[i] >= p->width) p->width = p->coordinate[i] + 1;
    }
    if (p->mode == WEIGHT_TF) p->weight = NULL;
}

/* ---- counting ---- */

static mr_status infer(mr_call *c)
{
    const tfidf_params *p = c->params;
    const mr_shape *x = &c->in[0].shape;
    mr_status st = mr_want_rank(c, 0, 1, 2);
    if (st) return st;
    if ((mr_in_dtype(c, 0) == MR_STRING) != p->of_strings)
        return mr_call_fail_in(c, MR_E_TYPE_INVALID, 0, "attribute %s needs %s",
                               p->of_strings ? "pool_strings" : "pool_int64s", p->of_strings ? "strings" : "integers");
    mr_shape y = x->rank < 0 ? mr_shape_unknown() : mr_shape_of_rank(x->rank);
    if (y.rank == 2) y.d[0] = x->d[0];
    if (y.rank > 0) y.d[y.rank - 1] = p->width;
    return mr_out_tensor(c, 0, MR_F32, &y);
}

/* Counts what lies at these items: every n-gram of the pool that is equal to it. */
static void look_up(const tfidf_params *p, items at, int64_t length, double *counts)
{
    const gram_set *s = &p->sets[length - 1];
    int64_t low = 0, high = s->n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (compare_items(p, at, gram_items(s, s->order[middle], length), length) > 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < s->n && compare_items(p, at, gram_items(s, s->order[low], length), length) == 0; low++)
        counts[s->first_gram + s->order[low]]++;
}

/* Single items have nothing to skip between them: they count once. */
static void count_row(const tfidf_params *p, const mr_tensor *x, int64_t first, int64_t n, double *counts)
{
    int64_t longest = p->longest < p->n_sets ? p->longest : p->n_sets;
    for (int64_t step = 1; step - 1 <= p->most_skipped && (step == 1 || step < n); step++)
        for (int64_t length = p->shortest; length <= longest; length++)
            for (int64_t i = 0; (length > 1 || step == 1) && i + step * (length - 1) < n; i++)
                look_up(p, (items){x, first + i, step}, length, counts);
}

/* ONNX: "the i-th element in weights is the weight of the i-th n-gram in pool", and ngram_indexes[i] is its place. */
static void weigh_row(const tfidf_params *p, const double *counts, int64_t grams, double *sums, float *y)
{
    memset(sums, 0, sizeof *sums * (size_t)p->width);
    for (int64_t i = 0; i < grams; i++) {
        double n = p->mode == WEIGHT_IDF && counts[i] > 1 ? 1 : counts[i];
        if (n != 0) sums[p->coordinate[i]] += p->weight ? n * (double)p->weight[i] : n;
    }
    for (int64_t i = 0; i < p->width; i++) y[i] = (float)sums[i];
}

static int64_t gram_count(const tfidf_params *p)
{
    return p->sets[p->n_sets - 1].first_gram + p->sets[p->n_sets - 1].n;
}

static size_t scratch(const mr_call *c)
{
    const tfidf_params *p = c->params;
    return (size_t)(gram_count(p) + p->width) * sizeof(double);
}

static mr_status run(mr_call *c)
{
    const tfidf_params *p = c->params;
    const mr_tensor *x = c->in[0].t;
    const int64_t n = x->dims[x->rank - 1], rows = x->rank == 2 ? x->dims[0] : 1, grams = gram_count(p);
    double *counts = c->scratch;
    float *y = c->out[0].t->data;
    for (int64_t row = 0; row < rows; row++) {
        memset(counts, 0, sizeof *counts * (size_t)grams);
        count_row(p, x, row * n, n, counts);
        weigh_row(p, counts, grams, counts + grams, y + row * p->width);
    }
    return MR_OK;
}

static const mr_impl impls[] = {{.name = "tfidf_vectorizer_cpu", .have = mr_have_plain, .run = run, .scratch = scratch},
                                {0}};

const mr_op mr_ops_tfidf[] = {
    {"", "TfIdfVectorizer", 9, 0, sizeof(tfidf_params), read, infer, impls, 0, NULL, NULL},
    {0},
};

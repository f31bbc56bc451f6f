/* ml_features.c: ArrayFeatureExtractor, FeatureVectorizer: features picked out, and put side by side. */
#include "kernels/cpu/cpu.h"
#include "ops/ml.h"
#include "ops/sizes.h"

#include <string.h>

/* ---- ArrayFeatureExtractor ---- */

/* ONNX: "based on 0 as the first index of any dimension": nothing counts from the end. */
static mr_status want_features(mr_call *c)
{
    const mr_tensor *index = c->in[1].t;
    const int64_t dim = c->in[0].shape.d[c->in[0].shape.rank - 1];
    for (int64_t i = 0, n = mr_tensor_count(index); i < n; i++) {
        int64_t k = ((const int64_t *)index->data)[i];
        if (k < 0 || k >= dim)
            return mr_call_fail_in(c, MR_E_NODE_VALUE, 1, "index %lld at position %lld out of range [0,%lld]",
                                   (long long)k, (long long)i, (long long)dim - 1);
    }
    return MR_OK;
}

/* All indices together, in order, are the last dimension; a vector of data is a row. */
static mr_status extractor_infer(mr_call *c)
{
    const mr_shape *x = &c->in[0].shape, *index = &c->in[1].shape;
    mr_shape s = x->rank == 1 ? (mr_shape){.rank = 2, .d = {1}} : *x;
    mr_status st = mr_want_rank(c, 0, 1, MR_MAX_RANK);
    if (st) return st;
    if (x->rank > 0 && x->d[x->rank - 1] == 0 && mr_shape_some(index))
        return mr_call_fail_in(c, MR_E_SHAPES, 0, "has no features to pick");
    if (s.rank > 0) {
        s.d[s.rank - 1] = index->rank < 0 ? MR_DIM_UNKNOWN : 1;
        for (int i = 0; i < index->rank; i++) s.d[s.rank - 1] = mr_dim_mul(s.d[s.rank - 1], index->d[i]);
    }
    if (c->in[1].t && x->rank > 0 && x->d[x->rank - 1] >= 0 && (st = want_features(c))) return st;
    return mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
}

static mr_fn extractor_have(const mr_call *c)
{
    return MR_SLOT_BY_SIZE(c->cpu->move.gather, mr_in_dtype(c, 0));
}

static mr_status extractor_run(mr_call *c)
{
    const mr_tensor *x = c->in[0].t, *index = c->in[1].t;
    const int64_t dim = x->dims[x->rank - 1], n = mr_tensor_count(index);
    mr_status st = want_features(c);
    if (st) return st;
    mr_gather_args a = {.x = x->data,
                        .y = c->out[0].t->data,
                        .index = {index->data, true},
                        .outer = mr_dims_product(x->dims, 0, x->rank - 1),
                        .dim = dim,
                        .n = n,
                        .inner = 1,
                        .pool = c->pool};
    ((void (*)(const mr_gather_args *))c->fn)(&a);
    return MR_OK;
}

/* ---- FeatureVectorizer ---- */

typedef struct vectorizer_params {
    const int64_t *sizes;
    int n; /* -1: as the inputs have them */
} vectorizer_params;

static void vectorizer_read(mr_reader *r, void *params)
{
    vectorizer_params *p = params;
    p->n = mr_read_ints(r, "inputdimensions", &p->sizes);
    for (int i = 0; i < p->n; i++)
        if (p->sizes[i] < 0)
            mr_read_fail(r, MR_E_ATTRIBUTE, "attribute inputdimensions[%d] = %lld is negative", i,
                         (long long)p->sizes[i]);
}

static mr_status vectorizer_infer(mr_call *c)
{
    const vectorizer_params *p = c->params;
    mr_dim rows = MR_DIM_UNKNOWN, width = 0;
    if (p->n >= 0 && p->n != c->n_in)
        return mr_call_fail(c, MR_E_ATTRIBUTE, "attribute inputdimensions has %d numbers for %d inputs", p->n, c->n_in);
    for (int i = 0; i < c->n_in; i++) {
        const mr_shape *x = &c->in[i].shape;
        mr_status st = mr_want_rank(c, i, 1, 2);
        if (!st) st = mr_want_dim(c, rows, x->rank == 2 ? x->d[0] : x->rank == 1 ? 1 : MR_DIM_UNKNOWN, "rows", &rows);
        if (st) return st;
        width = mr_dim_add(width, p->n >= 0 ? p->sizes[i] : x->rank > 0 ? x->d[x->rank - 1] : MR_DIM_UNKNOWN);
    }
    return mr_out_rows(c, 0, mr_score_dtype(c), rows, width);
}

static mr_fn vectorizer_have(const mr_call *c)
{
    return MR_SLOT(c->cpu->feature.copy, mr_in_dtype(c, 0));
}

/* The first columns of x, as they fit, to y from column `at` on. */
static void copy_columns(mr_call *c, const mr_tensor *x, int64_t at, int64_t size)
{
    const mr_tensor *y = c->out[0].t;
    const int64_t width = x->dims[x->rank - 1];
    mr_feature_args a = {.x = x->data,
                         .y = (char *)y->data + (size_t)at * mr_dtype_size(y->dtype),
                         .rows = y->dims[0],
                         .n = width < size ? width : size,
                         .x_stride = width,
                         .y_stride = y->dims[1],
                         .to = y->dtype,
                         .pool = c->pool};
    ((mr_feature_fn *)c->fn)(&a);
}

/* What inputdimensions says beyond an input's columns is 0, and what it leaves out is cut off, as in onnx.reference and
 * ONNX Runtime. */
static mr_status vectorizer_run(mr_call *c)
{
    const vectorizer_params *p = c->params;
    memset(c->out[0].t->data, 0, mr_tensor_bytes(c->out[0].t));
    for (int64_t i = 0, at = 0; i < c->n_in; i++) {
        const mr_tensor *x = c->in[i].t;
        int64_t size = p->n >= 0 ? p->sizes[i] : x->dims[x->rank - 1];
        copy_columns(c, x, at, size);
        at += size;
    }
    return MR_OK;
}

static const mr_impl extractor_impls[] = {
    {.name = "array_feature_extractor_cpu", .have = extractor_have, .run = extractor_run}, {0}};
static const mr_impl vectorizer_impls[] = {
    {.name = "feature_vectorizer_cpu", .have = vectorizer_have, .run = vectorizer_run}, {0}};

const mr_op mr_ops_ml_features[] = {
    {MR_ML, "ArrayFeatureExtractor", 1, 0, 0, NULL, extractor_infer, extractor_impls, 0, NULL, NULL},
    {.domain = MR_ML,
     .name = "FeatureVectorizer",
     .since = 1,
     .params_size = sizeof(vectorizer_params),
     .read = vectorizer_read,
     .infer = vectorizer_infer,
     .impls = vectorizer_impls},
    {0},
};

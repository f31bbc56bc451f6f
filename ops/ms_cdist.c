/* ms_cdist.c: CDist: distances between each row of A and each row of B. ONNX Runtime has this operator, exports of
 * neighbours use it. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/scores.h"
#include "kernels/cpu/wide.h"
#include "ops/rules.h"

#include <math.h>

typedef enum metric { SQEUCLIDEAN, EUCLIDEAN } metric;

typedef struct cdist_params {
    metric metric;
} cdist_params;

static void read(mr_reader *r, void *params)
{
    static const char *const metrics[] = {"sqeuclidean", "euclidean", NULL};
    ((cdist_params *)params)->metric = (metric)mr_read_enum(r, "metric", metrics, SQEUCLIDEAN);
}

static mr_status infer(mr_call *c)
{
    const mr_shape *a = &c->in[0].shape, *b = &c->in[1].shape;
    mr_status st = mr_want_rank(c, 0, 2, 2);
    if (!st) st = mr_want_rank(c, 1, 2, 2);
    if (!st && a->rank == 2 && b->rank == 2) st = mr_want_dim(c, a->d[1], b->d[1], "columns of A and B", NULL);
    mr_shape s = {
        .rank = 2,
        .d = {a->rank == 2 ? a->d[0] : MR_DIM_UNKNOWN, b->rank == 2 ? b->d[0] : MR_DIM_UNKNOWN},
    };
    return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
}

static mr_fn have(const mr_call *c)
{
    return MR_SLOT(c->cpu->linear.distance, mr_in_dtype(c, 0));
}

/* B and the squared distances, in double. */
static size_t scratch(const mr_call *c)
{
    const mr_dim *a = c->in[0].shape.d, *b = c->in[1].shape.d;
    return (size_t)(b[0] * b[1] + a[0] * b[0]) * sizeof(double);
}

static void widen(const mr_tensor *t, double *to)
{
    const size_t size = mr_dtype_size(t->dtype);
    for (int64_t i = 0, n = mr_tensor_count(t); i < n; i += MR_TILE)
        mr_wide_load_f64(t->dtype, (const char *)t->data + (size_t)i * size, n - i < MR_TILE ? n - i : MR_TILE, to + i);
}

static mr_status run(mr_call *c)
{
    const mr_tensor *a = c->in[0].t, *b = c->in[1].t, *y = c->out[0].t;
    const bool root = ((const cdist_params *)c->params)->metric == EUCLIDEAN;
    double *vectors = c->scratch, *d = vectors + mr_tensor_count(b);
    widen(b, vectors);
    mr_linear_args k = {.x = a->data,
                        .vectors = vectors,
                        .y = d,
                        .rows = a->dims[0],
                        .features = a->dims[1],
                        .n = b->dims[0],
                        .pool = c->pool};
    ((mr_linear_fn *)c->fn)(&k);
    for (int64_t i = 0; root && i < mr_tensor_count(y); i++) d[i] = sqrt(d[i]);
    mr_store_scores(d, mr_tensor_count(y), y->dtype, y->data);
    return MR_OK;
}

static const mr_impl impls[] = {{.name = "cdist_cpu", .have = have, .run = run, .scratch = scratch}, {0}};

const mr_op mr_ops_ms_cdist[] = {
    {.domain = "com.microsoft",
     .name = "CDist",
     .since = 1,
     .params_size = sizeof(cdist_params),
     .read = read,
     .infer = infer,
     .impls = impls},
    {0},
};

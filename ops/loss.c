/* loss.c: NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss. */
#include "kernels/cpu/cpu.h"
#include "ops/indices.h"
#include "ops/rules.h"
#include "ops/widen.h"

typedef enum reduction { NONE, SUM, MEAN } reduction;

typedef struct loss_params {
    reduction reduction;
    bool ignores;
    int64_t ignored;
} loss_params;

static void read(mr_reader *r, void *params)
{
    static const char *const reductions[] = {"none", "sum", "mean", NULL};
    loss_params *p = params;
    p->reduction = (reduction)mr_read_enum(r, "reduction", reductions, MEAN);
    p->ignores = mr_read_has(r, "ignore_index");
    p->ignored = mr_read_int(r, "ignore_index", 0);
}

/* The target's shape is that of x without its axis 1. */
static mr_status want_target(mr_call *c, mr_shape *s)
{
    const mr_shape *x = &c->in[0].shape, *t = &c->in[1].shape;
    mr_status st = mr_want_rank(c, 0, 2, MR_MAX_RANK);
    if (st || x->rank < 0) return st;
    *s = *x;
    s->rank--;
    for (int d = 1; d < s->rank; d++) s->d[d] = x->d[d + 1];
    if ((st = mr_want_rank(c, 1, s->rank, s->rank))) return st;
    for (int d = 0; d < s->rank && t->rank >= 0; d++)
        if (t->d[d] >= 0 && s->d[d] >= 0 && t->d[d] != s->d[d])
            return mr_call_fail_in(c, MR_E_SHAPES, 1, "expected %lld elements along axis %d, as input 0 has, got %lld",
                                   (long long)s->d[d], d, (long long)t->d[d]);
    return MR_OK;
}

static mr_status want_weight(mr_call *c)
{
    if (!mr_in_has(c, 2)) return MR_OK;
    const mr_shape *x = &c->in[0].shape, *w = &c->in[2].shape;
    mr_status st = mr_want_rank(c, 2, 1, 1);
    if (st || x->rank < 0 || w->rank < 0 || x->d[1] < 0 || w->d[0] < 0 || x->d[1] == w->d[0]) return st;
    return mr_call_fail_in(c, MR_E_SHAPES, 2, "expected a weight for each of %lld classes, got %lld",
                           (long long)x->d[1], (long long)w->d[0]);
}

static mr_status want_classes(mr_call *c, int64_t classes)
{
    const loss_params *p = c->params;
    const mr_index target = mr_index_of(c, 1);
    for (int64_t i = 0, n = mr_tensor_count(c->in[1].t); i < n; i++) {
        int64_t k = mr_index_at(target, i, 0);
        if ((k >= 0 && k < classes) || (p->ignores && k == p->ignored)) continue;
        k = mr_tensor_int(c->in[1].t, i);
        return mr_call_fail_in(c, MR_E_NODE_VALUE, 1, "class %lld at element %lld is outside [0,%lld]", (long long)k,
                               (long long)i, (long long)classes - 1);
    }
    return MR_OK;
}

static mr_status infer(mr_call *c)
{
    const loss_params *p = c->params;
    mr_shape s = c->in[1].shape, scalar = mr_shape_scalar();
    mr_status st = want_target(c, &s);
    if (!st) st = want_weight(c);
    if (!st && c->in[0].shape.rank >= 0 && c->in[0].shape.d[1] == 0 && mr_shape_some(&s) && !p->ignores)
        st = mr_call_fail_in(c, MR_E_SHAPES, 0, "has no classes");
    if (!st && c->in[1].t && c->in[0].shape.rank >= 0 && c->in[0].shape.d[1] >= 0)
        st = want_classes(c, c->in[0].shape.d[1]);
    if (st) return st;
    mr_out_tensor(c, 0, mr_in_dtype(c, 0), p->reduction == NONE ? &s : &scalar);
    return mr_out_like(c, 1, 0);
}

static bool weighable(const mr_call *c)
{
    return !mr_in_has(c, 2) || mr_wide_kind_of(mr_in_dtype(c, 2)) == MR_WIDE_F64;
}

static mr_fn have_likelihood(const mr_call *c)
{
    return weighable(c) ? MR_SLOT(c->cpu->loss.likelihood, mr_in_dtype(c, 0)) : NULL;
}

static mr_fn have_cross_entropy(const mr_call *c)
{
    return weighable(c) ? MR_SLOT(c->cpu->loss.cross_entropy, mr_in_dtype(c, 0)) : NULL;
}

/* A double for each sample, and the weights. */
static size_t scratch(const mr_call *c)
{
    const mr_shape *t = &c->in[1].shape;
    int64_t n = mr_dims_product(t->d, 0, t->rank);
    return (size_t)(n + (mr_in_has(c, 2) ? c->in[2].shape.d[0] : 0)) * sizeof(double);
}

/* Samples times weights; then their sum, divided by the sum of the weights that were applied. */
static void finish(mr_call *c, double *sample, int64_t n, const double *weight, mr_index target)
{
    const loss_params *p = c->params;
    double sum = 0, weights = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t k = mr_index_at(target, i, 0);
        double w = p->ignores && k == p->ignored ? 0 : weight ? weight[k] : 1;
        if (w != 1) sample[i] *= w;
        sum += sample[i];
        weights += w;
    }
    if (p->reduction == MEAN) sum /= weights;
    mr_unwiden(p->reduction == NONE ? sample : &sum, c->out[0].t);
}

static mr_status run(mr_call *c)
{
    const loss_params *p = c->params;
    const mr_tensor *x = c->in[0].t;
    const int64_t n = mr_tensor_count(c->in[1].t);
    mr_index target = mr_index_of(c, 1);
    mr_status st = want_classes(c, x->dims[1]);
    if (st) return st;
    double *sample = c->scratch, *weight = mr_in_has(c, 2) ? sample + n : NULL;
    if (weight) mr_widen(c->in[2].t, weight);
    mr_loss_args a = {.x = x->data,
                      .target = target,
                      .sample = sample,
                      .log_prob = mr_out_wanted(c, 1) ? c->out[1].t->data : NULL,
                      .batch = x->dims[0],
                      .classes = x->dims[1],
                      .inner = mr_dims_product(x->dims, 2, x->rank),
                      .ignores = p->ignores,
                      .ignored = p->ignored,
                      .pool = c->pool};
    ((void (*)(const mr_loss_args *))c->fn)(&a);
    if (mr_out_wanted(c, 0)) finish(c, sample, n, weight, target);
    return MR_OK;
}

static const mr_impl likelihood[] = {
    {.name = "likelihood_cpu", .have = have_likelihood, .run = run, .scratch = scratch}, {0}};
static const mr_impl cross_entropy[] = {
    {.name = "cross_entropy_cpu", .have = have_cross_entropy, .run = run, .scratch = scratch}, {0}};

const mr_op mr_ops_loss[] = {
    {"", "NegativeLogLikelihoodLoss", 12, 0, sizeof(loss_params), read, infer, likelihood, 0, NULL, NULL},
    {"", "SoftmaxCrossEntropyLoss", 12, 0, sizeof(loss_params), read, infer, cross_entropy, 0, NULL, NULL},
    {0},
};

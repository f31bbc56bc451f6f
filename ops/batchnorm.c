/* batchnorm.c: what is standardized with moments taken across the batch: BatchNormalization, MeanVarianceNormalization.
 */
#include "kernels/cpu/cpu.h"
#include "ops/boxes.h"
#include "ops/flops.h"
#include "ops/rules.h"
#include "ops/widen.h"

#include <math.h>

typedef struct batchnorm_params {
    double epsilon, momentum;
    bool per_activation; /* spatial = 0: moments for every element of an instance, not for every channel */
    bool training;       /* by attribute */
    bool by_outputs;     /* training if the node has more outputs than Y */
} batchnorm_params;

static void read_common(mr_reader *r, batchnorm_params *p)
{
    p->epsilon = mr_read_float(r, "epsilon", 1e-5f);
    p->momentum = mr_read_float(r, "momentum", 0.9f);
}

static void read_1(mr_reader *r, void *params)
{
    batchnorm_params *p = params;
    read_common(r, p);
    p->per_activation = !mr_read_int(r, "spatial", 1);
    p->training = !mr_read_int(r, "is_test", 0);
    mr_read_ignore(r, "consumed_inputs");
}

static void read_7(mr_reader *r, void *params)
{
    batchnorm_params *p = params;
    read_common(r, p);
    p->per_activation = !mr_read_int(r, "spatial", 1);
    p->by_outputs = true;
}

static void read_14(mr_reader *r, void *params)
{
    batchnorm_params *p = params;
    read_common(r, p);
    p->training = mr_read_int(r, "training_mode", 0);
}

static bool more_outputs(const mr_call *c)
{
    for (int o = 1; o < c->n_out; o++)
        if (c->node->out[o] >= 0) return true;
    return false;
}

static bool trains(const mr_call *c)
{
    const batchnorm_params *p = c->params;
    return p->training || (p->by_outputs && more_outputs(c));
}

/* The shape of scale, B, mean and variance. A vector X is one channel. */
static mr_shape group_shape(const mr_call *c)
{
    const batchnorm_params *p = c->params;
    const mr_shape *x = &c->in[0].shape;
    if (x->rank < 0) return p->per_activation ? mr_shape_unknown() : mr_shape_of_rank(1);
    mr_shape s = mr_shape_1d(x->rank < 2 ? 1 : x->d[1]);
    for (int d = 2; d < x->rank && p->per_activation; d++) s.d[s.rank++] = x->d[d];
    return s;
}

static mr_status infer(mr_call *c)
{
    mr_shape groups = group_shape(c);
    mr_status st = mr_want_rank(c, 0, 1, MR_MAX_RANK);
    for (int i = 1; i < 5 && !st; i++) {
        const mr_shape *s = &c->in[i].shape;
        if (groups.rank < 0 || s->rank < 0) continue;
        st = mr_want_rank(c, i, groups.rank, groups.rank);
        for (int d = 0; d < groups.rank && !st; d++)
            if (s->d[d] >= 0 && groups.d[d] >= 0 && s->d[d] != groups.d[d])
                st = mr_call_fail_in(c, MR_E_SHAPES, i, "expected %lld elements along axis %d, as X has, got %lld",
                                     (long long)groups.d[d], d, (long long)s->d[d]);
    }
    if (st) return st;
    if (!trains(c) && more_outputs(c))
        return mr_call_fail(c, MR_E_ARITY, "outputs besides Y exist only in training mode");
    mr_out_like(c, 0, 0);
    for (int o = 1; o < c->n_out; o++) mr_out_tensor(c, o, mr_in_dtype(c, 3), &groups);
    return MR_OK;
}

static mr_fn have(const mr_call *c)
{
    mr_dtype x = mr_in_dtype(c, 0);
    for (int i = 1; i < 5; i++)
        if (mr_wide_kind_of(mr_in_dtype(c, i)) != MR_WIDE_F64) return NULL;
    return MR_SLOT(c->cpu->reduce.moments, x) ? MR_SLOT(c->cpu->norm.affine, x) : NULL;
}

static int64_t groups_of(const mr_call *c)
{
    mr_shape s = group_shape(c);
    return mr_dims_product(s.d, 0, s.rank);
}

enum { SCALE, BIAS, MEAN, VAR, NEW_MEAN, NEW_VAR, N_ARRAYS };

static size_t scratch(const mr_call *c)
{
    return (size_t)groups_of(c) * N_ARRAYS * sizeof(double);
}

/* Each element's group: ys are strides in the arrays of groups. */
static void group_box(const mr_tensor *x, const bool *gone, mr_box *b)
{
    int64_t stride = 1, group = 1;
    b->rank = x->rank;
    for (int d = x->rank - 1; d >= 0; d--) {
        b->dims[d] = x->dims[d];
        b->xs[d] = stride;
        b->ys[d] = gone[d] ? 0 : group;
        stride *= x->dims[d];
        group *= gone[d] ? 1 : x->dims[d];
    }
}

static void batch_moments(mr_call *c, const bool *gone, double *mean, double *var)
{
    mr_box kept, reduced;
    mr_reduce_boxes(c->in[0].t, gone, &kept, &reduced);
    mr_moments_args a = {c->in[0].t->data, mean, var, &kept, &reduced, c->pool};
    c->cpu->reduce.moments[c->in[0].t->dtype](&a);
}

/* The running moments move towards those of this batch. */
static void train(mr_call *c, const bool *gone, double *const *v, int64_t n)
{
    const double momentum = ((const batchnorm_params *)c->params)->momentum;
    batch_moments(c, gone, v[NEW_MEAN], v[NEW_VAR]);
    for (int64_t g = 0; g < n; g++) {
        v[MEAN][g] = v[MEAN][g] * momentum + v[NEW_MEAN][g] * (1 - momentum);
        v[VAR][g] = v[VAR][g] * momentum + v[NEW_VAR][g] * (1 - momentum);
    }
    for (int o = 1; o < c->n_out; o++)
        if (mr_out_wanted(c, o)) mr_unwiden(v[MEAN + o - 1], c->out[o].t);
}

static mr_status run(mr_call *c)
{
    const batchnorm_params *p = c->params;
    const mr_tensor *x = c->in[0].t;
    const int64_t n = groups_of(c);
    double *v[N_ARRAYS];
    for (int i = 0; i < N_ARRAYS; i++) v[i] = (double *)c->scratch + i * n;
    for (int i = 0; i < 4; i++) mr_widen(c->in[i + 1].t, v[i]);
    bool gone[MR_MAX_RANK], training = trains(c);
    for (int d = 0; d < x->rank; d++) gone[d] = d == 0 || (d > 1 && !p->per_activation);
    if (training) train(c, gone, v, n);
    const double *mean = v[training ? NEW_MEAN : MEAN], *var = v[training ? NEW_VAR : VAR];
    for (int64_t g = 0; g < n; g++) v[SCALE][g] /= sqrt(var[g] + p->epsilon);
    mr_box box;
    group_box(x, gone, &box);
    mr_affine_args a = {x->data, c->out[0].t->data, x->dtype, &box, mean, v[SCALE], v[BIAS], c->pool};
    ((void (*)(const mr_affine_args *))c->fn)(&a);
    return MR_OK;
}

/* ---- MeanVarianceNormalization ---- */

typedef struct mvn_params {
    const int64_t *axes;
    int n;
} mvn_params;

static void read_mvn(mr_reader *r, void *params)
{
    static const int64_t channels_stay[] = {0, 2, 3};
    mvn_params *p = params;
    p->n = mr_read_ints(r, "axes", &p->axes);
    if (p->n < 0) p->n = 3, p->axes = channels_stay;
}

static mr_status infer_mvn(mr_call *c)
{
    const mvn_params *p = c->params;
    bool gone[MR_MAX_RANK];
    int rank = c->in[0].shape.rank;
    mr_status st = rank < 0 ? MR_OK : mr_want_axes(c, p->axes, p->n, rank, "attribute axes", gone);
    return st ? st : mr_infer_like(c);
}

static mr_fn have_mvn(const mr_call *c)
{
    mr_dtype x = mr_in_dtype(c, 0);
    return MR_SLOT(c->cpu->reduce.moments, x) ? MR_SLOT(c->cpu->norm.affine, x) : NULL;
}

static int64_t mvn_groups(const mr_call *c, bool *gone)
{
    const mvn_params *p = c->params;
    const mr_shape *x = &c->in[0].shape;
    int64_t n = 1;
    for (int d = 0; d < x->rank; d++) gone[d] = p->n == 0; /* no axes: all of them, as ReduceMean has it */
    for (int i = 0; i < p->n; i++) gone[p->axes[i] < 0 ? p->axes[i] + x->rank : p->axes[i]] = true;
    for (int d = 0; d < x->rank; d++) n *= gone[d] ? 1 : x->d[d];
    return n;
}

static size_t mvn_scratch(const mr_call *c)
{
    bool gone[MR_MAX_RANK];
    return (size_t)mvn_groups(c, gone) * 3 * sizeof(double);
}

/* The function body divides by sqrt(variance) + 1e-9. */
static mr_status run_mvn(mr_call *c)
{
    const mr_tensor *x = c->in[0].t;
    bool gone[MR_MAX_RANK];
    const int64_t n = mvn_groups(c, gone);
    double *mean = c->scratch, *scale = mean + n, *bias = scale + n;
    batch_moments(c, gone, mean, scale);
    for (int64_t g = 0; g < n; g++) scale[g] = 1 / (sqrt(scale[g]) + 1e-9), bias[g] = 0;
    mr_box box;
    group_box(x, gone, &box);
    mr_affine_args a = {x->data, c->out[0].t->data, x->dtype, &box, mean, scale, bias, c->pool};
    ((void (*)(const mr_affine_args *))c->fn)(&a);
    return MR_OK;
}

static const mr_impl impls[] = {{.name = "batchnorm_cpu", .have = have, .run = run, .scratch = scratch, .inplace = 1},
                                {0}};
static const mr_impl mvn_impls[] = {
    {.name = "mvn_cpu", .have = have_mvn, .run = run_mvn, .scratch = mvn_scratch, .inplace = 1}, {0}};

/* A scale and an offset an element; in training mode also mean and variance. */
static double batchnorm_flops(const mr_call *c)
{
    return trains(c) ? mr_flops_standardize(c) : mr_flops_two_each(c);
}

#define BATCHNORM(since, until, read)                                                                                  \
    {                                                                                                                  \
        "", "BatchNormalization", since, until, sizeof(batchnorm_params), read, infer, impls, 0, NULL, batchnorm_flops \
    }

const mr_op mr_ops_batchnorm[] = {
    BATCHNORM(1, 6, read_1),
    BATCHNORM(7, 13, read_7),
    BATCHNORM(14, 0, read_14),
    {"", "MeanVarianceNormalization", 9, 0, sizeof(mvn_params), read_mvn, infer_mvn, mvn_impls, 0, NULL,
     mr_flops_standardize},
    {0},
};

/* lrn.c: what is divided by a norm of its neighbours or of its line: LRN, LpNormalization. */
#include "kernels/cpu/cpu.h"
#include "ops/flops.h"
#include "ops/rules.h"

typedef struct lrn_params {
    double alpha, beta, bias;
    int64_t size;
} lrn_params;

static void read_lrn(mr_reader *r, void *params)
{
    lrn_params *p = params;
    p->alpha = mr_read_float(r, "alpha", 1e-4f);
    p->beta = mr_read_float(r, "beta", 0.75f);
    p->bias = mr_read_float(r, "bias", 1);
    p->size = mr_read_int(r, "size", 1);
    if (p->size < 1) mr_read_fail(r, MR_E_ATTRIBUTE, "attribute size = %lld is not positive", (long long)p->size);
}

static mr_status infer_lrn(mr_call *c)
{
    mr_status st = mr_want_rank(c, 0, 2, MR_MAX_RANK);
    return st ? st : mr_infer_like(c);
}

static mr_fn have_lrn(const mr_call *c)
{
    return MR_SLOT(c->cpu->norm.lrn, mr_in_dtype(c, 0));
}

static mr_status run_lrn(mr_call *c)
{
    const lrn_params *p = c->params;
    const mr_tensor *x = c->in[0].t;
    mr_lrn_args a = {x->data, c->out[0].t->data, x->dims[0], x->dims[1], mr_dims_product(x->dims, 2, x->rank),
                     p->size, p->alpha,          p->beta,    p->bias,    c->pool};
    ((void (*)(const mr_lrn_args *))c->fn)(&a);
    return MR_OK;
}

typedef struct lp_params {
    int64_t axis, p;
} lp_params;

static void read_lp(mr_reader *r, void *params)
{
    lp_params *p = params;
    p->axis = mr_read_int(r, "axis", -1);
    p->p = mr_read_int(r, "p", 2);
    if (p->p != 1 && p->p != 2)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute p = %lld: the operator defines 1 and 2", (long long)p->p);
}

static mr_status infer_lp(mr_call *c)
{
    const lp_params *p = c->params;
    int axis, rank = c->in[0].shape.rank;
    mr_status st = rank < 0 ? MR_OK : mr_want_axis(c, p->axis, rank, "attribute axis", &axis);
    return st ? st : mr_infer_like(c);
}

static mr_fn have_lp(const mr_call *c)
{
    return MR_SLOT(c->cpu->norm.lp_norm, mr_in_dtype(c, 0));
}

static mr_status run_lp(mr_call *c)
{
    const lp_params *p = c->params;
    const mr_tensor *x = c->in[0].t;
    int axis = (int)(p->axis < 0 ? p->axis + x->rank : p->axis);
    mr_lp_norm_args a = {x->data,
                         c->out[0].t->data,
                         mr_dims_product(x->dims, 0, axis),
                         x->dims[axis],
                         mr_dims_product(x->dims, axis + 1, x->rank),
                         (int)p->p,
                         c->pool};
    ((void (*)(const mr_lp_norm_args *))c->fn)(&a);
    return MR_OK;
}

static const mr_impl lrn_impls[] = {{.name = "lrn_cpu", .have = have_lrn, .run = run_lrn}, {0}};
static const mr_impl lp_impls[] = {{.name = "lp_norm_cpu", .have = have_lp, .run = run_lp, .inplace = 1}, {0}};

/* The powers, their sum, and the quotients. */
static double lp_flops(const mr_call *c)
{
    return 3 * mr_flops_each(c);
}

const mr_op mr_ops_lrn[] = {
    {"", "LRN", 1, 0, sizeof(lrn_params), read_lrn, infer_lrn, lrn_impls, 0, NULL, NULL},
    {"", "LpNormalization", 1, 0, sizeof(lp_params), read_lp, infer_lp, lp_impls, 0, NULL, lp_flops},
    {0},
};

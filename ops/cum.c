/* cum.c: CumSum, CumProd. */
#include "kernels/cpu/cpu.h"
#include "ops/flops.h"
#include "ops/rules.h"

typedef struct cum_params {
    bool exclusive, reverse;
} cum_params;

static void read(mr_reader *r, void *params)
{
    cum_params *p = params;
    p->exclusive = mr_read_int(r, "exclusive", 0);
    p->reverse = mr_read_int(r, "reverse", 0);
}

/* The text asks for a 0-D axis; a vector of one element is as clear, and exporters write it. */
static mr_status axis_of(mr_call *c, int rank, int *axis)
{
    const mr_tensor *t = c->in[1].t;
    return mr_want_axis(c, mr_tensor_int(t, 0), rank, "input axis", axis);
}

static mr_status infer(mr_call *c)
{
    int axis, rank = c->in[0].shape.rank;
    mr_status st = mr_want_rank(c, 0, 1, MR_MAX_RANK);
    if (!st) st = mr_want_rank(c, 1, 0, 1);
    if (!st) st = mr_want_one(c, 1);
    if (!st && rank >= 0 && c->in[1].t) st = axis_of(c, rank, &axis);
    return st ? st : mr_infer_like(c);
}

static mr_fn have_sum(const mr_call *c)
{
    return MR_SLOT(c->cpu->reduce.cum_sum, mr_in_dtype(c, 0));
}
static mr_fn have_prod(const mr_call *c)
{
    return MR_SLOT(c->cpu->reduce.cum_prod, mr_in_dtype(c, 0));
}

static mr_status run(mr_call *c)
{
    const cum_params *p = c->params;
    const mr_tensor *x = c->in[0].t;
    int axis;
    mr_status st = axis_of(c, x->rank, &axis);
    if (st) return st;
    mr_cum_args a = {x->data,
                     c->out[0].t->data,
                     mr_dims_product(x->dims, 0, axis),
                     x->dims[axis],
                     mr_dims_product(x->dims, axis + 1, x->rank),
                     p->exclusive,
                     p->reverse,
                     c->pool};
    ((void (*)(const mr_cum_args *))c->fn)(&a);
    return MR_OK;
}

static const mr_impl sum_impls[] = {{.name = "cum_sum_cpu", .have = have_sum, .run = run, .inplace = 1}, {0}};
static const mr_impl prod_impls[] = {{.name = "cum_prod_cpu", .have = have_prod, .run = run, .inplace = 1}, {0}};

const mr_op mr_ops_cum[] = {
    {"", "CumSum", 11, 0, sizeof(cum_params), read, infer, sum_impls, 0, NULL, mr_flops_each},
    {"", "CumProd", 26, 0, sizeof(cum_params), read, infer, prod_impls, 0, NULL, mr_flops_each},
    {0},
};

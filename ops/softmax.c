/* softmax.c: Softmax, LogSoftmax, Hardmax. Up to version 12 the input is seen as a matrix, cut at the axis; from 13 on
 * the axis is one dimension. */
#include "kernels/cpu/cpu.h"
#include "ops/rules.h"

typedef struct softmax_params {
    int64_t axis;
    bool matrix;
} softmax_params;

static void read_matrix(mr_reader *r, void *params)
{
    softmax_params *p = params;
    p->axis = mr_read_int(r, "axis", 1);
    p->matrix = true;
}

static void read_axis(mr_reader *r, void *params)
{
    softmax_params *p = params;
    p->axis = mr_read_int(r, "axis", -1);
}

static mr_status infer(mr_call *c)
{
    const softmax_params *p = c->params;
    int axis, rank = c->in[0].shape.rank;
    mr_status st = rank < 0 ? MR_OK : mr_want_axis(c, p->axis, rank, "attribute axis", &axis);
    return st ? st : mr_infer_like(c);
}

static mr_fn have_softmax(const mr_call *c)
{
    return MR_SLOT(c->cpu->softmax.softmax, mr_in_dtype(c, 0));
}
static mr_fn have_log_softmax(const mr_call *c)
{
    return MR_SLOT(c->cpu->softmax.log_softmax, mr_in_dtype(c, 0));
}
static mr_fn have_hardmax(const mr_call *c)
{
    return MR_SLOT(c->cpu->softmax.hardmax, mr_in_dtype(c, 0));
}

static mr_status run(mr_call *c)
{
    const softmax_params *p = c->params;
    const mr_tensor *x = c->in[0].t;
    int axis = (int)(p->axis < 0 ? p->axis + x->rank : p->axis), last = p->matrix ? x->rank : axis + 1;
    mr_softmax_args a = {x->data,
                         c->out[0].t->data,
                         mr_dims_product(x->dims, 0, axis),
                         mr_dims_product(x->dims, axis, last),
                         mr_dims_product(x->dims, last, x->rank),
                         c->pool};
    ((mr_softmax_fn *)c->fn)(&a);
    return MR_OK;
}

static const mr_impl softmax[] = {{.name = "softmax_cpu", .have = have_softmax, .run = run, .inplace = 1}, {0}};
static const mr_impl log_softmax[] = {{.name = "log_softmax_cpu", .have = have_log_softmax, .run = run, .inplace = 1},
                                      {0}};
static const mr_impl hardmax[] = {{.name = "hardmax_cpu", .have = have_hardmax, .run = run}, {0}};

#define SOFTMAX(op, since, until, read, impls)                                                                         \
    {                                                                                                                  \
        "", op, since, until, sizeof(softmax_params), read, infer, impls, 0, NULL                                      \
    }

const mr_op mr_ops_softmax[] = {
    SOFTMAX("Softmax", 1, 12, read_matrix, softmax),
    SOFTMAX("Softmax", 13, 0, read_axis, softmax),
    SOFTMAX("LogSoftmax", 1, 12, read_matrix, log_softmax),
    SOFTMAX("LogSoftmax", 13, 0, read_axis, log_softmax),
    SOFTMAX("Hardmax", 1, 12, read_matrix, hardmax),
    SOFTMAX("Hardmax", 13, 0, read_axis, hardmax),
    {0},
};

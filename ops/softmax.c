/* softmax.c: Softmax, LogSoftmax, Hardmax. Up to version 12 the input is seen as a matrix, cut at the axis; from 13 on
 * the axis is one dimension. */
#include "kernels/cpu/cpu.h"
#include "ops/cuda.h"
#include "ops/flops.h"

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

static mr_softmax_args args_of(const mr_call *c)
{
    const softmax_params *p = c->params;
    const mr_tensor *x = c->in[0].t;
    int axis = (int)(p->axis < 0 ? p->axis + x->rank : p->axis), last = p->matrix ? x->rank : axis + 1;
    return (mr_softmax_args){x->data,
                             c->out[0].t->data,
                             mr_dims_product(x->dims, 0, axis),
                             mr_dims_product(x->dims, axis, last),
                             mr_dims_product(x->dims, last, x->rank),
                             c->pool};
}

static mr_status run(mr_call *c)
{
    mr_softmax_args a = args_of(c);
    ((mr_softmax_fn *)c->fn)(&a);
    return MR_OK;
}

static mr_status launch(mr_call *c)
{
    mr_softmax_args a = args_of(c);
    return mr_launched(c, ((mr_cuda_softmax_fn)c->fn)(c->stream, &a));
}

#define HAVE(op)                                                                                                       \
    static mr_fn have_##op(const mr_call *c)                                                                           \
    {                                                                                                                  \
        return MR_SLOT(c->cpu->softmax.op, mr_in_dtype(c, 0));                                                         \
    }                                                                                                                  \
    static mr_fn have_##op##_cuda(const mr_call *c)                                                                    \
    {                                                                                                                  \
        return MR_CUDA_SLOT(c, op, mr_in_dtype(c, 0));                                                                 \
    }
HAVE(softmax)
HAVE(log_softmax)
HAVE(hardmax)

static const mr_impl softmax[] = {
    {.name = "softmax_cuda", .dev = MR_CUDA, .have = have_softmax_cuda, .run = launch, .inplace = 1},
    {.name = "softmax_cpu", .have = have_softmax, .run = run, .inplace = 1},
    {0}};
static const mr_impl log_softmax[] = {
    {.name = "log_softmax_cuda", .dev = MR_CUDA, .have = have_log_softmax_cuda, .run = launch, .inplace = 1},
    {.name = "log_softmax_cpu", .have = have_log_softmax, .run = run, .inplace = 1},
    {0}};
static const mr_impl hardmax[] = {{.name = "hardmax_cuda", .dev = MR_CUDA, .have = have_hardmax_cuda, .run = launch},
                                  {.name = "hardmax_cpu", .have = have_hardmax, .run = run},
                                  {0}};

#define SOFTMAX(op, since, until, read, impls, flops)                                                                  \
    {                                                                                                                  \
        "", op, since, until, sizeof(softmax_params), read, infer, impls, 0, NULL, flops                               \
    }

const mr_op mr_ops_softmax[] = {
    SOFTMAX("Softmax", 1, 12, read_matrix, softmax, mr_flops_softmax),
    SOFTMAX("Softmax", 13, 0, read_axis, softmax, mr_flops_softmax),
    SOFTMAX("LogSoftmax", 1, 12, read_matrix, log_softmax, mr_flops_softmax),
    SOFTMAX("LogSoftmax", 13, 0, read_axis, log_softmax, mr_flops_softmax),
    SOFTMAX("Hardmax", 1, 12, read_matrix, hardmax, mr_flops_over_input),
    SOFTMAX("Hardmax", 13, 0, read_axis, hardmax, mr_flops_over_input),
    {0},
};

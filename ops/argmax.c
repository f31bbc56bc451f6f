/* argmax.c: ArgMax, ArgMin. */
#include "kernels/cpu/cpu.h"
#include "ops/cuda.h"
#include "ops/flops.h"

typedef struct arg_params {
    int64_t axis;
    bool keepdims, last, min;
} arg_params;

static void read_max(mr_reader *r, void *params)
{
    arg_params *p = params;
    p->axis = mr_read_int(r, "axis", 0);
    p->keepdims = mr_read_int(r, "keepdims", 1);
    p->last = mr_read_int(r, "select_last_index", 0);
}

static void read_min(mr_reader *r, void *params)
{
    read_max(r, params);
    ((arg_params *)params)->min = true;
}

static mr_status infer(mr_call *c)
{
    const arg_params *p = c->params;
    mr_shape s = c->in[0].shape;
    int axis;
    if (s.rank < 0) return mr_out_tensor(c, 0, MR_I64, &s);
    mr_status st = mr_want_axis(c, p->axis, s.rank, "attribute axis", &axis);
    if (st) return st;
    bool empty = s.d[axis] == 0;
    s.d[axis] = 1;
    if (empty && mr_shape_some(&s))
        return mr_call_fail_in(c, MR_E_SHAPES, 0, "axis %d has no elements to choose from", axis);
    if (!p->keepdims) {
        s.rank--;
        for (int d = axis; d < s.rank; d++) s.d[d] = s.d[d + 1];
    }
    return mr_out_tensor(c, 0, MR_I64, &s);
}

static mr_fn have(const mr_call *c)
{
    return MR_SLOT(c->cpu->reduce.arg, mr_in_dtype(c, 0));
}

static mr_fn have_cuda(const mr_call *c)
{
    return MR_CUDA_SLOT(c, arg, mr_in_dtype(c, 0));
}

static mr_arg_args args_of(const mr_call *c)
{
    const arg_params *p = c->params;
    const mr_tensor *x = c->in[0].t;
    int axis = (int)(p->axis < 0 ? p->axis + x->rank : p->axis);
    return (mr_arg_args){x->data,
                         c->out[0].t->data,
                         mr_dims_product(x->dims, 0, axis),
                         x->dims[axis],
                         mr_dims_product(x->dims, axis + 1, x->rank),
                         p->min,
                         p->last,
                         c->pool};
}

static mr_status run(mr_call *c)
{
    mr_arg_args a = args_of(c);
    ((void (*)(const mr_arg_args *))c->fn)(&a);
    return MR_OK;
}

static mr_status launch(mr_call *c)
{
    mr_arg_args a = args_of(c);
    return mr_launched(c, ((mr_cuda_arg_fn)c->fn)(c->stream, &a));
}

static const mr_impl impls[] = {{.name = "arg_cuda", .dev = MR_CUDA, .have = have_cuda, .run = launch},
                                {.name = "arg_cpu", .have = have, .run = run},
                                {0}};

const mr_op mr_ops_argmax[] = {
    {"", "ArgMax", 1, 0, sizeof(arg_params), read_max, infer, impls, 0, NULL, mr_flops_over_input},
    {"", "ArgMin", 1, 0, sizeof(arg_params), read_min, infer, impls, 0, NULL, mr_flops_over_input},
    {0},
};

/* variadic.c: Sum, Mean, Max, Min of one or more operands. */
#include "kernels/cpu/cpu.h"
#include "ops/elementwise.h"
#include "ops/flops.h"

#include <string.h>

/* Before opset 8 the shapes are equal. */
static mr_status infer_equal(mr_call *c)
{
    mr_shape s = c->in[0].shape;
    for (int i = 1; i < c->n_in; i++) {
        const mr_shape *x = &c->in[i].shape;
        if (s.rank < 0 || x->rank < 0) continue;
        if (x->rank != s.rank)
            return mr_call_fail_in(c, MR_E_SHAPES, i, "before opset 8 the shapes must be equal; input 0 has rank %d",
                                   s.rank);
        for (int d = 0; d < s.rank; d++) {
            if (s.d[d] >= 0 && x->d[d] >= 0 && s.d[d] != x->d[d])
                return mr_call_fail_in(c, MR_E_SHAPES, i,
                                       "before opset 8 the shapes must be equal; axis %d of input 0 has %lld", d,
                                       (long long)s.d[d]);
            if (s.d[d] < 0) s.d[d] = x->d[d];
        }
    }
    return mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
}

static mr_status variadic_infer(mr_call *c)
{
    return mr_call_version(c) < 8 ? infer_equal(c) : mr_infer_broadcast(c);
}

static void variadic_read(mr_reader *r, void *params)
{
    (void)params;
    mr_read_ignore(r, "consumed_inputs"); /* an old hint for memory */
}

static size_t variadic_scratch(const mr_call *c)
{
    return sizeof(mr_operand) * (size_t)c->n_in;
}

static mr_status variadic_run(mr_call *c)
{
    mr_operand *in = c->scratch;
    for (int i = 0; i < c->n_in; i++) in[i] = mr_operand_broadcast(c->in[i].t, c->out[0].t);
    mr_elementwise j = mr_elementwise_to(c->out[0].t, in, c->n_in, NULL);
    mr_run_job(c, &j);
    return MR_OK;
}

static mr_fn sum_have(const mr_call *c)
{
    return MR_SLOT(c->cpu->variadic.sum, mr_in_dtype(c, 0));
}
static mr_fn mean_have(const mr_call *c)
{
    return MR_SLOT(c->cpu->variadic.mean, mr_in_dtype(c, 0));
}
static mr_fn max_have(const mr_call *c)
{
    return MR_SLOT(c->cpu->variadic.max, mr_in_dtype(c, 0));
}
static mr_fn min_have(const mr_call *c)
{
    return MR_SLOT(c->cpu->variadic.min, mr_in_dtype(c, 0));
}

/* A tile of the output is written when all operands have been read. */
#define IMPLS(NAME)                                                                                                    \
    {                                                                                                                  \
        {.name = #NAME "_cpu",                                                                                         \
         .have = NAME##_have,                                                                                          \
         .run = variadic_run,                                                                                          \
         .scratch = variadic_scratch,                                                                                  \
         .inplace = UINT32_MAX},                                                                                       \
        {                                                                                                              \
            0                                                                                                          \
        }                                                                                                              \
    }

static const mr_impl sum_impls[] = IMPLS(sum), mean_impls[] = IMPLS(mean), max_impls[] = IMPLS(max),
                     min_impls[] = IMPLS(min);

static double mean_flops(const mr_call *c)
{
    return mr_flops_variadic(c) + mr_flops_each(c); /* and the quotient */
}

const mr_op mr_ops_variadic[] = {
    {.domain = "",
     .name = "Sum",
     .since = 1,
     .read = variadic_read,
     .infer = variadic_infer,
     .impls = sum_impls,
     .flops = mr_flops_variadic},
    {.domain = "",
     .name = "Mean",
     .since = 1,
     .read = variadic_read,
     .infer = variadic_infer,
     .impls = mean_impls,
     .flops = mean_flops},
    {.domain = "",
     .name = "Max",
     .since = 1,
     .read = variadic_read,
     .infer = variadic_infer,
     .impls = max_impls,
     .flops = mr_flops_variadic},
    {.domain = "",
     .name = "Min",
     .since = 1,
     .read = variadic_read,
     .infer = variadic_infer,
     .impls = min_impls,
     .flops = mr_flops_variadic},
    {0},
};

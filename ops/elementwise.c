/* elementwise.c: elementwise kernels over whole tensors. */
#include "ops/elementwise.h"

#include "ops/cuda.h"

#include <string.h>

mr_operand mr_operand_broadcast(const mr_tensor *t, const mr_tensor *out)
{
    mr_operand o = {.data = t->data, .size = mr_dtype_size(t->dtype)};
    mr_broadcast_strides(t, out->dims, out->rank, o.strides);
    return o;
}

mr_operand mr_operand_at_axis(const mr_tensor *t, const mr_tensor *out, int axis)
{
    mr_tensor padded = *t; /* with 1s behind, so that its dimensions are the last */
    for (int d = axis + t->rank; d < out->rank; d++) padded.dims[padded.rank++] = 1;
    return mr_operand_broadcast(&padded, out);
}

mr_elementwise mr_elementwise_to(const mr_tensor *out, mr_operand *in, int n, const void *params)
{
    mr_elementwise j = {.rank = out->rank, .n_in = n, .in = in, .params = params};
    memcpy(j.dims, out->dims, sizeof *out->dims * (size_t)out->rank);
    j.out = mr_operand_broadcast(out, out);
    return j;
}

void mr_run_job(mr_call *c, mr_elementwise *j)
{
    mr_elementwise_run(j, (mr_elementwise_fn)c->fn, c->pool);
}

mr_status mr_launch_job(mr_call *c, const mr_elementwise *j)
{
    return mr_launched(c, ((mr_cuda_elementwise_fn)c->fn)(c->stream, j));
}

static mr_elementwise job_of(const mr_call *c, mr_operand *in, int n, const void *params)
{
    const mr_tensor *out = c->out[0].t;
    for (int i = 0; i < n; i++) in[i] = mr_operand_broadcast(c->in[i].t, out);
    return mr_elementwise_to(out, in, n, params);
}

void mr_run_elementwise(mr_call *c, int n, const void *params)
{
    mr_operand in[MR_FEW_OPERANDS];
    mr_elementwise j = job_of(c, in, n, params);
    mr_run_job(c, &j);
}

mr_status mr_launch_elementwise(mr_call *c, int n, const void *params)
{
    mr_operand in[MR_FEW_OPERANDS];
    mr_elementwise j = job_of(c, in, n, params);
    return mr_launch_job(c, &j);
}

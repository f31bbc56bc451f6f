/* dynamic.c: DynamicQuantizeLinear's rule. */
#include "ops/dynamic.h"

bool mr_dynamic_have(const mr_cpu_fns *cpu, mr_dtype d)
{
    return d < MR_N_DTYPES && cpu->quantize.bounds[d] && cpu->quantize.quantize[d][MR_U8];
}

/* ONNX defines it by a body of float operators: every step is rounded to float. */
static double step(mr_dtype d, double v)
{
    return d == MR_F64 ? v : (double)(float)v;
}

mr_dynamic mr_dynamic_of(const mr_cpu_fns *cpu, mr_dtype d, const void *x, int64_t n)
{
    double min, max;
    cpu->quantize.bounds[d](&(mr_bounds_args){x, n, &min, &max});
    /* All zeros leave the scale open: 0 / 0. onnx's reference takes a range of 1. */
    double range = min == max ? 1 : step(d, max - min), scale = step(d, range / 255);
    double zero = step(d, 0 - step(d, min / scale));
    zero = __builtin_rint(zero < 0 ? 0 : zero > 255 ? 255 : zero);
    if (zero != zero) zero = 0; /* NaN in x */
    return (mr_dynamic){d, n, scale, zero};
}

void mr_dynamic_quantize(const mr_cpu_fns *cpu, mr_pool *pool, const mr_dynamic *q, const void *x, uint8_t *y)
{
    mr_quantize_params k = {.from = q->dtype, .to = MR_U8, .precision = q->dtype};
    mr_operand in[] = {{.data = x, .size = mr_dtype_size(q->dtype), .strides = {1}},
                       {.data = &q->scale, .size = sizeof q->scale},
                       {.data = &q->zero, .size = sizeof q->zero}};
    mr_elementwise j = {.rank = 1, .dims = {q->n}, .n_in = 3, .in = in, .params = &k};
    j.out = (mr_operand){.data = y, .size = 1, .strides = {1}};
    mr_elementwise_run(&j, cpu->quantize.quantize[q->dtype][MR_U8], pool);
}

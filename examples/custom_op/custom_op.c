/* custom_op.c: MyDomain::CustomOp, a smooth clipping: Y = X / (1 + alpha · |X|), element by element. */
#include <math.h>

#include "minirt_op.h"

/* Y is like X, whatever is known of X. */
static mr_status infer(mr_custom_call *c)
{
    mr_custom_tensor x;
    c->api->input(c, 0, &x);
    return c->api->set_output(c, 0, x.dtype, x.rank, x.dims);
}

static mr_status read_alpha(mr_custom_call *c, float *alpha)
{
    c->api->attr_float(c, "alpha", alpha);
    return *alpha >= 0 ? MR_OK : c->api->fail(c, "alpha is %g, must not be negative", *alpha);
}

static int64_t count(const mr_custom_tensor *t)
{
    int64_t n = 1;
    for (int d = 0; d < t->rank; d++) n *= t->dims[d];
    return n;
}

static mr_status run_f32(mr_custom_call *c)
{
    mr_custom_tensor x, y;
    float alpha = 0;
    mr_status st = read_alpha(c, &alpha);
    if (st) return st;
    c->api->input(c, 0, &x);
    c->api->output(c, 0, &y);
    const float *from = x.data;
    float *to = y.data;
    for (int64_t i = 0, n = count(&x); i < n; i++) to[i] = from[i] / (1 + alpha * fabsf(from[i]));
    return MR_OK;
}

static mr_status run_f64(mr_custom_call *c)
{
    mr_custom_tensor x, y;
    float alpha = 0;
    mr_status st = read_alpha(c, &alpha);
    if (st) return st;
    c->api->input(c, 0, &x);
    c->api->output(c, 0, &y);
    const double *from = x.data;
    double *to = y.data;
    for (int64_t i = 0, n = count(&x); i < n; i++) to[i] = from[i] / (1 + (double)alpha * fabs(from[i]));
    return MR_OK;
}

static const mr_custom_param inputs[] = {{.name = "X", .type = "T"}, {0}};
static const mr_custom_param outputs[] = {{.name = "Y", .type = "T"}, {0}};
static const char *const floats[] = {"tensor(float)", "tensor(double)", NULL};
static const mr_custom_constraint constraints[] = {{"T", floats}, {0}};
static const mr_custom_attr attrs[] = {{.name = "alpha", .kind = MR_CUSTOM_FLOAT, .has_default = 1, .f = 1}, {0}};
static const mr_custom_kernel kernels[] = {{run_f32, {MR_F32}}, {run_f64, {MR_F64}}, {0}};

static const mr_custom_op op = {.domain = "MyDomain",
                                .name = "CustomOp",
                                .since_version = 1,
                                .inputs = inputs,
                                .outputs = outputs,
                                .constraints = constraints,
                                .attrs = attrs,
                                .infer = infer,
                                .kernels = kernels};

const mr_custom_ops mr_custom_ops_v1 = {MR_ABI_VERSION, (const mr_custom_op *const[]){&op, NULL}};

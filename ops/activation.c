/* activation.c: activation functions of one element. */
#include "kernels/cpu/cpu.h"
#include "ops/cuda.h"
#include "ops/elementwise.h"
#include "ops/flops.h"

#include <string.h>

typedef struct activation_params {
    mr_unary_op op;
    mr_unary_params k;
} activation_params;

/* Which attributes an operator has, under which names, and their defaults (ONNX's; the schema's come first). */
static const struct {
    const char *name;
    mr_unary_op op;
    const char *alpha, *beta;
    float alpha_default, beta_default;
} activations[] = {
    {"Celu", MR_CELU, "alpha", NULL, 1, 0},
    {"Elu", MR_ELU, "alpha", NULL, 1, 0},
    {"Gelu", MR_GELU, NULL, NULL, 0, 0},
    {"HardSigmoid", MR_HARD_SIGMOID, "alpha", "beta", 0.2f, 0.5f},
    {"HardSwish", MR_HARD_SWISH, NULL, NULL, 0, 0},
    {"LeakyRelu", MR_LEAKY_RELU, "alpha", NULL, 0.01f, 0},
    {"Mish", MR_MISH, NULL, NULL, 0, 0},
    {"QuickGelu", MR_SWISH, "alpha", NULL, 1.702f, 0},
    {"Relu", MR_RELU, NULL, NULL, 0, 0},
    {"Selu", MR_SELU, "alpha", "gamma", 1.67326319f, 1.05070102f},
    {"Shrink", MR_SHRINK, "lambd", "bias", 0.5f, 0},
    {"Softplus", MR_SOFTPLUS, NULL, NULL, 0, 0},
    {"Softsign", MR_SOFTSIGN, NULL, NULL, 0, 0},
    {"Swish", MR_SWISH, "alpha", NULL, 1, 0},
    {"ThresholdedRelu", MR_THRESHOLDED_RELU, "alpha", NULL, 1, 0},
};

static void activation_read(mr_reader *r, void *params)
{
    static const char *const approximations[] = {"none", "tanh", NULL};
    activation_params *p = params;
    size_t i = 0;
    while (strcmp(activations[i].name, mr_read_node(r)->op_type) != 0) i++;
    p->op = activations[i].op;
    if (activations[i].alpha) p->k.alpha = mr_read_float(r, activations[i].alpha, activations[i].alpha_default);
    if (activations[i].beta) p->k.beta = mr_read_float(r, activations[i].beta, activations[i].beta_default);
    if (p->op == MR_GELU && mr_read_enum(r, "approximate", approximations, 0)) p->op = MR_GELU_TANH;
    mr_read_ignore(r, "consumed_inputs"); /* an old hint for memory */
}

static mr_fn activation_have(const mr_call *c)
{
    const activation_params *p = c->params;
    return MR_SLOT(c->cpu->unary.fn[p->op], mr_in_dtype(c, 0));
}

static mr_status activation_run(mr_call *c)
{
    const activation_params *p = c->params;
    mr_run_elementwise(c, 1, &p->k);
    return MR_OK;
}

static const void *activation_each(mr_call *c, int *n)
{
    const activation_params *p = c->params;
    *n = 1;
    return &p->k;
}

static mr_fn activation_have_cuda(const mr_call *c)
{
    const activation_params *p = c->params;
    return MR_CUDA_SLOT(c, unary[p->op], mr_in_dtype(c, 0));
}

static mr_status activation_launch(mr_call *c)
{
    const activation_params *p = c->params;
    return mr_launch_elementwise(c, 1, &p->k);
}

static const mr_impl activation_impls[] = {
    {.name = "activation_cuda", .dev = MR_CUDA, .have = activation_have_cuda, .run = activation_launch, .inplace = 1},
    {.name = "activation_cpu", .have = activation_have, .run = activation_run, .inplace = 1, .each = activation_each},
    {0}};

#define ACTIVATION(NAME, SINCE) ACTIVATION_OF("", NAME, SINCE)
#define ACTIVATION_OF(DOMAIN, NAME, SINCE)                                                                             \
    {                                                                                                                  \
        .domain = DOMAIN, .name = NAME, .since = SINCE, .params_size = sizeof(activation_params),                      \
        .read = activation_read, .infer = mr_infer_like, .impls = activation_impls, .flops = mr_flops_each             \
    }

const mr_op mr_ops_activation[] = {
    ACTIVATION("Celu", 12),
    ACTIVATION("Elu", 1),
    ACTIVATION("Gelu", 20),
    ACTIVATION("HardSigmoid", 1),
    ACTIVATION("HardSwish", 14),
    ACTIVATION("LeakyRelu", 1),
    ACTIVATION("Mish", 18),
    ACTIVATION("Relu", 1),
    ACTIVATION("Selu", 1),
    ACTIVATION("Shrink", 9),
    ACTIVATION("Softplus", 1),
    ACTIVATION("Softsign", 1),
    ACTIVATION("Swish", 24),
    ACTIVATION("ThresholdedRelu", 10),
    ACTIVATION_OF("com.microsoft", "Gelu", 1),
    ACTIVATION_OF("com.microsoft", "QuickGelu", 1),
    {0},
};

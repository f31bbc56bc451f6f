/* ms_activated.c: com.microsoft's FusedConv, NhwcFusedConv and FusedGemm: Conv (and Z) or Gemm, then an activation of
 * the rounded result. */
#include <float.h>
#include <string.h>

#include "kernels/cpu/cpu.h"
#include "ops/channels_last.h"
#include "ops/convolution.h"
#include "ops/element.h"
#include "ops/elementwise.h"
#include "ops/flops.h"
#include "ops/matmul.h"

typedef struct activation {
    bool any;
    mr_unary_op op; /* CLIP: to [alpha, beta] */
    mr_unary_params k;
} activation;

enum { CLIP = MR_N_UNARY };

static const struct {
    const char *name;
    mr_unary_op op;
    float alpha, beta;
} activations[] = {
    {"Relu", MR_RELU, 0, 0},
    {"Tanh", MR_TANH, 0, 0},
    {"Clip", (mr_unary_op)CLIP, -FLT_MAX, FLT_MAX},
    {"Sigmoid", MR_SIGMOID, 0, 0},
    {"LeakyRelu", MR_LEAKY_RELU, 0.01f, 0},
    {"HardSigmoid", MR_HARD_SIGMOID, 0.2f, 0.5f},
    {"Elu", MR_ELU, 1, 0},
    {"Selu", MR_SELU, 1.67326319f, 1.05070102f},
    {"Softplus", MR_SOFTPLUS, 0, 0},
    {"Softsign", MR_SOFTSIGN, 0, 0},
    {"ThresholdedRelu", MR_THRESHOLDED_RELU, 1, 0},
};

/* The activation that the attribute names, with the defaults of the operator of that name. */
static activation read_activation(mr_reader *r)
{
    const mr_string name = mr_read_string(r, "activation", "");
    if (name.len == 0) return (activation){.any = false};
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++)
        if (strlen(activations[i].name) == name.len && memcmp(activations[i].name, name.data, name.len) == 0)
            return (activation){true, activations[i].op, {.alpha = activations[i].alpha, .beta = activations[i].beta}};
    mr_read_fail(r, MR_E_ATTRIBUTES, "attribute activation = \"%.*s\" is not implemented", (int)name.len, name.data);
    return (activation){.any = false};
}

static mr_elementwise_fn slot_of(const mr_call *c, const activation *a)
{
    const mr_dtype d = mr_in_dtype(c, 0);
    return (int)a->op == CLIP ? c->cpu->select.clip[d] : c->cpu->unary.fn[a->op][d];
}

static bool have_activation(const mr_call *c, const activation *a)
{
    return !a->any || slot_of(c, a);
}

static void activate(mr_call *c, const activation *a)
{
    const mr_tensor *y = c->out[0].t;
    mr_operand in = mr_operand_broadcast(y, y);
    char low[MR_ELEMENT_BYTES], high[MR_ELEMENT_BYTES];
    const mr_clip_params bounds = {low, high};
    if (!a->any) return;
    mr_element_set(y->dtype, a->k.alpha, low);
    mr_element_set(y->dtype, a->k.beta, high);
    mr_elementwise j = mr_elementwise_to(y, &in, 1, (int)a->op == CLIP ? (const void *)&bounds : &a->k);
    mr_elementwise_run(&j, slot_of(c, a), c->pool);
}

/* ---- FusedConv: X, W, B, Z ---- */

typedef struct conv_params {
    mr_conv_params conv; /* first: Conv's own functions read it */
    activation act;
} conv_params;

enum { Z = 3 };

static void conv_read(mr_reader *r, void *params)
{
    conv_params *p = params;
    const float *given;
    mr_conv_read(r, params);
    p->act = read_activation(r);
    const int n = mr_read_floats(r, "activation_params", &given);
    if (n > 2) mr_read_fail(r, MR_E_ATTRIBUTE, "attribute activation_params has %d values", n);
    if (n > 0) p->act.k.alpha = given[0];
    if (n > 1) p->act.k.beta = given[1];
}

static mr_status conv_infer(mr_call *c)
{
    mr_status st = mr_conv_infer(c);
    if (st || !mr_in_has(c, Z) || c->in[Z].shape.rank < 0 || c->out[0].shape.rank < 0) return st;
    st = mr_want_rank(c, Z, c->out[0].shape.rank, c->out[0].shape.rank);
    for (int d = 0; !st && d < c->out[0].shape.rank; d++)
        st = mr_want_dim(c, c->in[Z].shape.d[d], c->out[0].shape.d[d], "that of Y", NULL);
    return st;
}

static mr_status conv_run(mr_call *c)
{
    mr_status st = mr_conv_run(c);
    if (!st && mr_in_has(c, Z)) {
        const mr_tensor *y = c->out[0].t;
        const mr_binary_params k = {0};
        mr_operand in[] = {mr_operand_broadcast(y, y), mr_operand_broadcast(c->in[Z].t, y)};
        mr_elementwise j = mr_elementwise_to(y, in, 2, &k);
        mr_elementwise_run(&j, c->cpu->binary.fn[MR_ADD][y->dtype], c->pool);
    }
    if (!st) activate(c, &((const conv_params *)c->params)->act);
    return st;
}

static mr_fn conv_have(const mr_call *c)
{
    const conv_params *p = c->params;
    const mr_dtype d = mr_in_dtype(c, 0);
    return have_activation(c, &p->act) && c->cpu->binary.fn[MR_ADD][d] ? mr_conv_have(c) : NULL;
}

static const mr_impl conv_rows[] = {{.name = "fused_conv",
                                     .have = conv_have,
                                     .run = conv_run,
                                     .scratch = mr_conv_scratch,
                                     .pack_in = 1 << 1,
                                     .pack_size = mr_conv_pack_size,
                                     .pack = mr_conv_pack},
                                    {0}};

/* ---- NhwcFusedConv ---- */

enum { IMAGES = 1 | 1 << Z };

static mr_status nhwc_infer(mr_call *c)
{
    return mr_channels_last_infer(c, IMAGES, conv_infer);
}
static size_t nhwc_scratch(const mr_call *c)
{
    return mr_channels_last_scratch(c, IMAGES, mr_conv_scratch);
}
static mr_status nhwc_run(mr_call *c)
{
    return mr_channels_last_run(c, IMAGES, conv_run);
}

static const mr_impl nhwc_rows[] = {{.name = "nhwc_fused_conv",
                                     .have = conv_have,
                                     .run = nhwc_run,
                                     .scratch = nhwc_scratch,
                                     .pack_in = 1 << 1,
                                     .pack_size = mr_conv_pack_size,
                                     .pack = mr_conv_pack},
                                    {0}};

/* ---- FusedGemm ---- */

typedef struct gemm_params {
    mr_gemm_params gemm; /* first: Gemm's own functions read it */
    activation act;
} gemm_params;

static void read_gemm_activation(mr_reader *r, activation *a)
{
    *a = read_activation(r);
    a->k.alpha = mr_read_float(r, "activation_alpha", (float)a->k.alpha);
    a->k.beta = mr_read_float(r, "activation_beta", (float)a->k.beta);
    if (a->op == MR_SELU) a->k.beta = mr_read_float(r, "activation_gamma", (float)a->k.beta);
}

static void gemm_read(mr_reader *r, void *params)
{
    gemm_params *p = params;
    mr_gemm_read(r, params);
    p->gemm.broadcast = true;
    read_gemm_activation(r, &p->act);
}

static mr_status gemm_run(mr_call *c)
{
    mr_status st = mr_gemm_run(c);
    if (!st) activate(c, &((const gemm_params *)c->params)->act);
    return st;
}

static mr_fn gemm_have(const mr_call *c)
{
    const gemm_params *p = c->params;
    return have_activation(c, &p->act) ? MR_SLOT(c->cpu->gemm.gemm, mr_in_dtype(c, 0)) : NULL;
}

static const mr_impl gemm_rows[] = {{.name = "fused_gemm",
                                     .have = gemm_have,
                                     .run = gemm_run,
                                     .scratch = mr_gemm_scratch,
                                     .pack_in = 1 << 1,
                                     .pack_size = mr_gemm_pack_size,
                                     .pack = mr_gemm_pack},
                                    {0}};

/* ---- FusedMatMulActivation ---- */

static void matmul_read(mr_reader *r, void *params)
{
    mr_fused_matmul_read(r, params);
    read_gemm_activation(r, &((gemm_params *)params)->act);
}

static mr_status matmul_run(mr_call *c)
{
    mr_status st = mr_fused_matmul_run(c);
    if (!st) activate(c, &((const gemm_params *)c->params)->act);
    return st;
}

MR_COND(batch_stays, gemm_params, 0, !p->gemm.trans_batch);

static const mr_impl matmul_rows[] = {{.name = "fused_matmul_activation",
                                       .have = gemm_have,
                                       .conds = MR_WHEN(&batch_stays),
                                       .run = matmul_run,
                                       .scratch = mr_fused_matmul_scratch},
                                      {0}};

static double matmul_flops(const mr_call *c)
{
    const gemm_params *p = c->params;
    return mr_fused_matmul_flops(c) + p->act.any * mr_flops_each(c);
}

static double conv_flops(const mr_call *c)
{
    const conv_params *p = c->params;
    return mr_conv_flops(c) + (mr_in_has(c, Z) + p->act.any) * mr_flops_each(c);
}
static double gemm_flops(const mr_call *c)
{
    const gemm_params *p = c->params;
    return mr_gemm_flops(c) + p->act.any * mr_flops_each(c);
}

const mr_op mr_ops_ms_activated[] = {
    {"com.microsoft", "FusedConv", 1, 0, sizeof(conv_params), conv_read, conv_infer, conv_rows, 0, NULL, conv_flops},
    {"com.microsoft", "NhwcFusedConv", 1, 0, sizeof(conv_params), conv_read, nhwc_infer, nhwc_rows, 0, NULL,
     conv_flops},
    {"com.microsoft", "FusedGemm", 1, 0, sizeof(gemm_params), gemm_read, mr_gemm_infer, gemm_rows, 0, NULL, gemm_flops},
    {"com.microsoft", "FusedMatMulActivation", 1, 0, sizeof(gemm_params), matmul_read, mr_fused_matmul_infer,
     matmul_rows, 0, NULL, matmul_flops},
    {0},
};

/* unary.c: functions of one element: mathematics, signs, rounding, bits, kinds of numbers. */
#include "kernels/cpu/cpu.h"
#include "ops/cuda.h"
#include "ops/elementwise.h"
#include "ops/flops.h"

#include <string.h>

typedef struct unary_params {
    mr_unary_op op;
    mr_unary_params k;
} unary_params;

static const struct {
    const char *name;
    mr_unary_op op;
} names[] = {
    {"Abs", MR_ABS},     {"Acos", MR_ACOS},       {"Acosh", MR_ACOSH}, {"Asin", MR_ASIN},
    {"Asinh", MR_ASINH}, {"Atan", MR_ATAN},       {"Atanh", MR_ATANH}, {"Ceil", MR_CEIL},
    {"Cos", MR_COS},     {"Cosh", MR_COSH},       {"Erf", MR_ERF},     {"Exp", MR_EXP},
    {"Floor", MR_FLOOR}, {"Log", MR_LOG},         {"Neg", MR_NEG},     {"Reciprocal", MR_RECIPROCAL},
    {"Round", MR_ROUND}, {"Sigmoid", MR_SIGMOID}, {"Sign", MR_SIGN},   {"Sin", MR_SIN},
    {"Sinh", MR_SINH},   {"Sqrt", MR_SQRT},       {"Tan", MR_TAN},     {"Tanh", MR_TANH},
};

static void unary_read(mr_reader *r, void *params)
{
    unary_params *p = params;
    const char *name = mr_read_node(r)->op_type;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i].name, name)) p->op = names[i].op;
    mr_read_ignore(r, "consumed_inputs"); /* an old hint for memory */
}

static mr_fn unary_have(const mr_call *c)
{
    const unary_params *p = c->params;
    return MR_SLOT(c->cpu->unary.fn[p->op], mr_in_dtype(c, 0));
}

static mr_status unary_run(mr_call *c)
{
    const unary_params *p = c->params;
    mr_run_elementwise(c, 1, &p->k);
    return MR_OK;
}

static const void *unary_each(mr_call *c, int *n)
{
    const unary_params *p = c->params;
    *n = 1;
    return &p->k;
}

static mr_fn unary_have_cuda(const mr_call *c)
{
    const unary_params *p = c->params;
    return MR_CUDA_SLOT(c, unary[p->op], mr_in_dtype(c, 0));
}

static mr_status unary_launch(mr_call *c)
{
    const unary_params *p = c->params;
    return mr_launch_elementwise(c, 1, &p->k);
}

static const mr_impl unary_impls[] = {
    {.name = "unary_cuda", .dev = MR_CUDA, .have = unary_have_cuda, .run = unary_launch, .inplace = 1},
    {.name = "unary_cpu", .have = unary_have, .run = unary_run, .inplace = 1, .each = unary_each},
    {0}};

/* ---- BitwiseNot, Not ---- */

static mr_fn not_have(const mr_call *c)
{
    return MR_SLOT(c->cpu->unary.bit_not, mr_in_dtype(c, 0));
}

static mr_status not_run(mr_call *c)
{
    mr_run_elementwise(c, 1, NULL);
    return MR_OK;
}

static const mr_impl not_impls[] = {{.name = "not_cpu", .have = not_have, .run = not_run, .inplace = 1}, {0}};

/* ---- IsInf, IsNaN ---- */

static void is_inf_read(mr_reader *r, void *params)
{
    unary_params *p = params;
    p->k.negative = mr_read_int(r, "detect_negative", 1);
    p->k.positive = mr_read_int(r, "detect_positive", 1);
}

static mr_status infer_bool(mr_call *c)
{
    return mr_out_tensor(c, 0, MR_BOOL, &c->in[0].shape);
}

static mr_fn is_inf_have(const mr_call *c)
{
    return MR_SLOT(c->cpu->unary.is_inf, mr_in_dtype(c, 0));
}
static mr_fn is_nan_have(const mr_call *c)
{
    return MR_SLOT(c->cpu->unary.is_nan, mr_in_dtype(c, 0));
}

static const mr_impl is_inf_impls[] = {{.name = "is_inf_cpu", .have = is_inf_have, .run = unary_run, .inplace = 1},
                                       {0}};
static const mr_impl is_nan_impls[] = {{.name = "is_nan_cpu", .have = is_nan_have, .run = not_run, .inplace = 1}, {0}};

#define UNARY(NAME, SINCE)                                                                                             \
    {                                                                                                                  \
        .domain = "", .name = NAME, .since = SINCE, .params_size = sizeof(unary_params), .read = unary_read,           \
        .infer = mr_infer_like, .impls = unary_impls, .flops = mr_flops_each                                           \
    }

const mr_op mr_ops_unary[] = {
    UNARY("Abs", 1),
    UNARY("Acos", 7),
    UNARY("Acosh", 9),
    UNARY("Asin", 7),
    UNARY("Asinh", 9),
    UNARY("Atan", 7),
    UNARY("Atanh", 9),
    UNARY("Ceil", 1),
    UNARY("Cos", 7),
    UNARY("Cosh", 9),
    UNARY("Erf", 9),
    UNARY("Exp", 1),
    UNARY("Floor", 1),
    UNARY("Log", 1),
    UNARY("Neg", 1),
    UNARY("Reciprocal", 1),
    UNARY("Round", 11),
    UNARY("Sigmoid", 1),
    UNARY("Sign", 9),
    UNARY("Sin", 7),
    UNARY("Sinh", 9),
    UNARY("Sqrt", 1),
    UNARY("Tan", 7),
    UNARY("Tanh", 1),
    {.domain = "", .name = "Not", .since = 1, .infer = mr_infer_like, .impls = not_impls, .flops = mr_flops_each},
    {.domain = "",
     .name = "BitwiseNot",
     .since = 18,
     .infer = mr_infer_like,
     .impls = not_impls,
     .flops = mr_flops_each},
    {.domain = "",
     .name = "IsInf",
     .since = 10,
     .params_size = sizeof(unary_params),
     .read = is_inf_read,
     .infer = infer_bool,
     .impls = is_inf_impls,
     .flops = mr_flops_each},
    {.domain = "", .name = "IsNaN", .since = 9, .infer = infer_bool, .impls = is_nan_impls, .flops = mr_flops_each},
    {0},
};

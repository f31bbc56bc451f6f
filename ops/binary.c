/* binary.c: functions of two elements: arithmetic, comparisons, bits and logic, PRelu, SwiGLU. */
#include "ops/binary.h"

#include "kernels/cpu/cpu.h"
#include "ops/cuda.h"
#include "ops/elementwise.h"
#include "ops/flops.h"

#include <string.h>

static const struct {
    const char *name;
    mr_binary_op op;
} names[] = {
    {"Add", MR_ADD},
    {"Sub", MR_SUB},
    {"Mul", MR_MUL},
    {"Div", MR_DIV},
    {"PRelu", MR_PRELU},
    {"SwiGLU", MR_SWIGLU},
    {"BitwiseAnd", MR_BIT_AND},
    {"BitwiseOr", MR_BIT_OR},
    {"BitwiseXor", MR_BIT_XOR},
    {"And", MR_BIT_AND}, /* on bool */
    {"Or", MR_BIT_OR},
    {"Xor", MR_BIT_XOR},
    {"Equal", MR_EQUAL},
    {"Greater", MR_GREATER},
    {"GreaterOrEqual", MR_GREATER_OR_EQUAL},
    {"Less", MR_LESS},
    {"LessOrEqual", MR_LESS_OR_EQUAL},
};

static void binary_read(mr_reader *r, void *params)
{
    binary_params *p = params;
    const char *name = mr_read_node(r)->op_type;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i].name, name)) p->op = names[i].op;
    p->legacy = mr_read_version(r) < 7;
    p->broadcast = mr_read_int(r, "broadcast", 0);
    p->has_axis = mr_read_has(r, "axis") && p->broadcast; /* equal shapes need none */
    p->axis = mr_read_int(r, "axis", 0);
    p->k.alpha = p->op == MR_SWIGLU ? mr_read_float(r, "alpha", 1) : 0;
    mr_read_ignore(r, "consumed_inputs"); /* an old hint for memory */
}

static mr_fn binary_have(const mr_call *c)
{
    const binary_params *p = c->params;
    return MR_SLOT(c->cpu->binary.fn[p->op], mr_in_dtype(c, 0));
}

/* Before opset 7, B stands at an axis of A; one element fits everywhere. */
static mr_operand operand_b(const mr_call *c, const binary_params *p)
{
    const mr_tensor *b = c->in[1].t, *out = c->out[0].t;
    if (!p->legacy || mr_tensor_count(b) == 1) return mr_operand_broadcast(b, out);
    int axis = p->op != MR_PRELU ? mr_binary_axis(p, out->rank, b->rank) : b->rank == out->rank ? 0 : 1;
    return mr_operand_at_axis(b, out, axis);
}

static mr_status binary_run(mr_call *c)
{
    const binary_params *p = c->params;
    mr_operand in[] = {mr_operand_broadcast(c->in[0].t, c->out[0].t), operand_b(c, p)};
    mr_elementwise j = mr_elementwise_to(c->out[0].t, in, 2, &p->k);
    mr_run_job(c, &j);
    return MR_OK;
}

/* Of floats: integers are looked at before they divide. */
static const void *binary_each(mr_call *c, int *n)
{
    const binary_params *p = c->params;
    *n = 2;
    return p->legacy || !mr_dtype_in(mr_in_dtype(c, 0), MR_FLOATS) ? NULL : &p->k;
}

static mr_fn binary_have_cuda(const mr_call *c)
{
    const binary_params *p = c->params;
    return MR_CUDA_SLOT(c, binary[p->op], mr_in_dtype(c, 0));
}

static mr_status binary_launch(mr_call *c)
{
    const binary_params *p = c->params;
    mr_operand in[] = {mr_operand_broadcast(c->in[0].t, c->out[0].t), operand_b(c, p)};
    mr_elementwise j = mr_elementwise_to(c->out[0].t, in, 2, &p->k);
    return mr_launch_job(c, &j);
}

static const mr_impl binary_impls[] = {
    {.name = "binary_cuda", .dev = MR_CUDA, .have = binary_have_cuda, .run = binary_launch, .inplace = 3},
    {.name = "binary_cpu", .have = binary_have, .run = binary_run, .inplace = 3, .each = binary_each},
    {0}};

/* ---- Div, Mod: integers have no quotient by 0 ---- */

static mr_status want_no_zero(mr_call *c)
{
    const mr_tensor *b = c->in[1].t;
    if (!b || !mr_dtype_in(b->dtype, MR_INTS) || !mr_shape_some(&c->out[0].shape)) return MR_OK;
    for (int64_t i = 0, n = mr_tensor_count(b); i < n; i++)
        if (mr_tensor_int(b, i) == 0)
            return mr_call_fail_in(c, MR_E_NODE_VALUE, 1, "integer division by zero at element %lld", (long long)i);
    return MR_OK;
}

static mr_status div_infer(mr_call *c)
{
    mr_status st = mr_infer_binary(c);
    return st ? st : want_no_zero(c);
}

static mr_status div_run(mr_call *c)
{
    mr_status st = want_no_zero(c);
    return st ? st : binary_run(c);
}

/* Nobody looks at divisors on the device. */
MR_COND(not_of_integers, binary_params, 0, !mr_dtype_in(mr_in_dtype(c, 0), MR_INTS));

static const mr_impl div_impls[] = {
    {.name = "div_cuda",
     .dev = MR_CUDA,
     .have = binary_have_cuda,
     .conds = MR_WHEN(&not_of_integers),
     .run = binary_launch,
     .inplace = 3},
    {.name = "div_cpu", .have = binary_have, .run = div_run, .inplace = 3, .each = binary_each},
    {0}};

static void mod_read(mr_reader *r, void *params)
{
    binary_params *p = params;
    p->op = mr_read_int(r, "fmod", 0) ? MR_FMOD : MR_MOD;
}

/* ONNX gives fmod=0 a meaning for floats since opset 28. fmod=1 on integers has one, though opsets 13 to 27 list floats
 * alone. */
static mr_status mod_infer(mr_call *c)
{
    const binary_params *p = c->params;
    if (p->op == MR_MOD && mr_dtype_in(mr_in_dtype(c, 0), MR_FLOATS) && mr_call_version(c) < 28)
        return mr_call_fail_in(c, MR_E_ATTRIBUTE, 0, "before opset 28, floats need the attribute fmod=1");
    return div_infer(c);
}

/* ---- Pow ---- */

static void pow_read(mr_reader *r, void *params)
{
    binary_params *p = params;
    binary_read(r, params);
    p->op = MR_N_BINARY; /* none of those on one type */
}

static mr_fn pow_have(const mr_call *c)
{
    mr_dtype base = mr_in_dtype(c, 0);
    return base < MR_N_DTYPES ? MR_SLOT(c->cpu->binary.pow[base], mr_in_dtype(c, 1)) : NULL;
}

static bool any(const mr_tensor *t, bool (*test)(int64_t))
{
    for (int64_t i = 0, n = mr_tensor_count(t); i < n; i++)
        if (test(mr_tensor_int(t, i))) return true;
    return false;
}

static bool is_zero(int64_t v)
{
    return v == 0;
}
static bool is_negative(int64_t v)
{
    return v < 0;
}

/* 0 to a negative power, among integers, is a division by 0. in: the operands, broadcast. */
static mr_status want_no_zero_power(mr_call *c, const mr_operand *in)
{
    const mr_tensor *x = c->in[0].t, *y = c->in[1].t, *out = c->out[0].t;
    if (!mr_dtype_in(x->dtype, MR_INTS) || !mr_dtype_in(y->dtype, MR_SIGNED)) return MR_OK;
    if (!any(x, is_zero) || !any(y, is_negative)) return MR_OK;
    for (int64_t i = 0, n = mr_tensor_count(out); i < n; i++) {
        int64_t rest = i, at[2] = {0, 0};
        for (int d = out->rank - 1; d >= 0; rest /= out->dims[d--])
            for (int k = 0; k < 2; k++) at[k] += rest % out->dims[d] * in[k].strides[d];
        if (mr_tensor_int(x, at[0]) == 0 && mr_tensor_int(y, at[1]) < 0)
            return mr_call_fail(c, MR_E_NODE_VALUE, "integer 0 to the power %lld at element %lld",
                                (long long)mr_tensor_int(y, at[1]), (long long)i);
    }
    return MR_OK;
}

static mr_status pow_run(mr_call *c)
{
    const binary_params *p = c->params;
    mr_binary_params k = {.type = c->in[1].t->dtype};
    mr_operand in[] = {mr_operand_broadcast(c->in[0].t, c->out[0].t), operand_b(c, p)};
    mr_status st = want_no_zero_power(c, in);
    if (st) return st;
    mr_elementwise j = mr_elementwise_to(c->out[0].t, in, 2, &k);
    mr_run_job(c, &j);
    return MR_OK;
}

static const mr_impl pow_impls[] = {{.name = "pow_cpu", .have = pow_have, .run = pow_run, .inplace = 1}, {0}};

/* ---- BitShift ---- */

static void shift_read(mr_reader *r, void *params)
{
    static const char *const directions[] = {"LEFT", "RIGHT", NULL};
    binary_params *p = params;
    p->op = mr_read_enum(r, "direction", directions, 0) ? MR_SHIFT_RIGHT : MR_SHIFT_LEFT;
}

#define BINARY(NAME, SINCE, READ, INFER, IMPLS)                                                                        \
    {                                                                                                                  \
        .domain = "", .name = NAME, .since = SINCE, .params_size = sizeof(binary_params), .read = READ,                \
        .infer = INFER, .impls = IMPLS, .flops = mr_flops_each                                                         \
    }

const mr_op mr_ops_binary[] = {
    BINARY("Add", 1, binary_read, mr_infer_binary, binary_impls),
    BINARY("Sub", 1, binary_read, mr_infer_binary, binary_impls),
    BINARY("Mul", 1, binary_read, mr_infer_binary, binary_impls),
    BINARY("Div", 1, binary_read, div_infer, div_impls),
    BINARY("Mod", 10, mod_read, mod_infer, div_impls),
    BINARY("Pow", 1, pow_read, mr_infer_binary, pow_impls),
    BINARY("PRelu", 1, binary_read, mr_infer_prelu, binary_impls),
    BINARY("SwiGLU", 28, binary_read, mr_infer_swiglu, binary_impls),
    BINARY("BitShift", 11, shift_read, mr_infer_binary, binary_impls),
    BINARY("BitwiseAnd", 18, binary_read, mr_infer_binary, binary_impls),
    BINARY("BitwiseOr", 18, binary_read, mr_infer_binary, binary_impls),
    BINARY("BitwiseXor", 18, binary_read, mr_infer_binary, binary_impls),
    BINARY("And", 1, binary_read, mr_infer_compare, binary_impls),
    BINARY("Or", 1, binary_read, mr_infer_compare, binary_impls),
    BINARY("Xor", 1, binary_read, mr_infer_compare, binary_impls),
    BINARY("Equal", 1, binary_read, mr_infer_compare, binary_impls),
    BINARY("Greater", 1, binary_read, mr_infer_compare, binary_impls),
    BINARY("GreaterOrEqual", 12, binary_read, mr_infer_compare, binary_impls),
    BINARY("Less", 1, binary_read, mr_infer_compare, binary_impls),
    BINARY("LessOrEqual", 12, binary_read, mr_infer_compare, binary_impls),
    {0},
};

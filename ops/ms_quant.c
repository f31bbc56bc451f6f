/* ms_quant.c: com.microsoft's elementwise operators on 8-bit codes: QLinearAdd, QLinearMul, QLinearSigmoid,
 * QLinearLeakyRelu, QLinearWhere, QLinearConcat; and QLinearSoftmax. What real arithmetic gives is rounded once. */
#include "ops/ms_quant.h"

#include <string.h>

#include "kernels/cpu/cpu.h"
#include "kernels/cpu/math.h"
#include "ops/elementwise.h"
#include "ops/flops.h"

void mr_code_table(mr_dtype from, double scale, int32_t zero, double (*f)(double v, const void *arg), const void *arg,
                   mr_dtype to, double to_scale, int32_t to_zero, uint8_t *table)
{
    for (int code = 0; code < 256; code++) {
        double v = (mr_code_value(from, code) - zero) * scale;
        table[code] = mr_code_of(to, (f ? f(v, arg) : v) / to_scale, to_zero);
    }
}

static mr_status want_ones(mr_call *c, uint32_t inputs)
{
    mr_status st = MR_OK;
    for (int i = 0; !st && i < c->n_in; i++)
        if (inputs >> i & 1) st = mr_want_one(c, i);
    return st;
}

/* ---- QLinearAdd, QLinearMul ---- */

enum { A, A_SCALE, A_ZERO, B, B_SCALE, B_ZERO, C_SCALE, C_ZERO };

static mr_status binary_infer(mr_call *c)
{
    mr_shape y = c->in[A].shape;
    mr_status st = want_ones(c, 1 << A_SCALE | 1 << A_ZERO | 1 << B_SCALE | 1 << B_ZERO | 1 << C_SCALE | 1 << C_ZERO);
    if (!st) st = mr_broadcast_into(c, &y, &c->in[B].shape, B);
    return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, A), &y);
}

static mr_status run_binary(mr_call *c, double a_scale, double b_scale)
{
    const mr_qlinear_params k = {mr_zero_of(c, A_ZERO), mr_zero_of(c, B_ZERO), mr_zero_of(c, C_ZERO), a_scale, b_scale};
    mr_operand in[] = {mr_operand_broadcast(c->in[A].t, c->out[0].t), mr_operand_broadcast(c->in[B].t, c->out[0].t)};
    mr_elementwise j = mr_elementwise_to(c->out[0].t, in, 2, &k);
    mr_run_job(c, &j);
    return MR_OK;
}

static mr_status add_run(mr_call *c)
{
    double y = mr_scale_of(c, C_SCALE);
    return run_binary(c, mr_scale_of(c, A_SCALE) / y, mr_scale_of(c, B_SCALE) / y);
}

static mr_status mul_run(mr_call *c)
{
    return run_binary(c, mr_scale_of(c, A_SCALE) * mr_scale_of(c, B_SCALE) / mr_scale_of(c, C_SCALE), 0);
}

static mr_fn have_add(const mr_call *c)
{
    return (mr_fn)c->cpu->qlinear.add[mr_sign_of(mr_in_dtype(c, A))];
}
static mr_fn have_mul(const mr_call *c)
{
    return (mr_fn)c->cpu->qlinear.mul[mr_sign_of(mr_in_dtype(c, A))];
}

static const mr_impl add_rows[] = {
    {.name = "qlinear_add", .have = have_add, .run = add_run, .inplace = 1 << A | 1 << B}, {0}};
static const mr_impl mul_rows[] = {
    {.name = "qlinear_mul", .have = have_mul, .run = mul_run, .inplace = 1 << A | 1 << B}, {0}};

/* ---- of one operand: X, X_scale, X_zero_point, Y_scale, Y_zero_point ---- */

enum { X, X_SCALE, X_ZERO, Y_SCALE, Y_ZERO };

static mr_status unary_infer(mr_call *c)
{
    mr_status st = want_ones(c, 1 << X_SCALE | 1 << X_ZERO | 1 << Y_SCALE | 1 << Y_ZERO);
    return st ? st : mr_infer_like(c);
}

static mr_status run_unary(mr_call *c, double (*f)(double v, const void *arg))
{
    const mr_dtype d = mr_in_dtype(c, X);
    mr_qlinear_tables t;
    mr_code_table(d, mr_scale_of(c, X_SCALE), mr_zero_of(c, X_ZERO), f, c->params, d, mr_scale_of(c, Y_SCALE),
                  mr_zero_of(c, Y_ZERO), t.table[0]);
    mr_run_elementwise(c, 1, &t);
    return MR_OK;
}

static double sigmoid(double v, const void *arg)
{
    (void)arg;
    return mr_sigmoid(v);
}

static double leaky_relu(double v, const void *alpha)
{
    return v < 0 ? v * *(const float *)alpha : v;
}

static void leaky_relu_read(mr_reader *r, void *alpha)
{
    *(float *)alpha = mr_read_float(r, "alpha", 0.01f);
}

static mr_status sigmoid_run(mr_call *c)
{
    return run_unary(c, sigmoid);
}
static mr_status leaky_relu_run(mr_call *c)
{
    return run_unary(c, leaky_relu);
}
static mr_fn have_lookup(const mr_call *c)
{
    return (mr_fn)c->cpu->qlinear.lookup;
}

static const mr_impl sigmoid_rows[] = {
    {.name = "qlinear_sigmoid", .have = have_lookup, .run = sigmoid_run, .inplace = 1}, {0}};
static const mr_impl leaky_relu_rows[] = {
    {.name = "qlinear_leaky_relu", .have = have_lookup, .run = leaky_relu_run, .inplace = 1}, {0}};

/* ---- QLinearSoftmax: as Softmax of the opset that the attribute names ---- */

typedef struct softmax_params {
    int64_t axis;
    bool matrix; /* all from the axis on is one row */
} softmax_params;

static void softmax_read(mr_reader *r, void *params)
{
    softmax_params *p = params;
    p->axis = mr_read_int(r, "axis", -1);
    p->matrix = mr_read_int(r, "opset", 13) < 13;
}

static mr_status softmax_infer(mr_call *c)
{
    const softmax_params *p = c->params;
    int axis, rank = c->in[X].shape.rank;
    mr_status st = rank < 0 ? MR_OK : mr_want_axis(c, p->axis, rank, "attribute axis", &axis);
    return st ? st : unary_infer(c);
}

static mr_status softmax_run(mr_call *c)
{
    const softmax_params *p = c->params;
    const mr_tensor *x = c->in[X].t;
    const double scale = mr_scale_of(c, X_SCALE);
    int axis = (int)(p->axis < 0 ? p->axis + x->rank : p->axis), last = p->matrix ? x->rank : axis + 1;
    double power[256];
    for (int d = 0; d < 256; d++) power[d] = mr_exp(-d * scale);
    mr_qlinear_softmax_args a = {.x = x->data,
                                 .y = c->out[0].t->data,
                                 .power = power,
                                 .y_scale = mr_scale_of(c, Y_SCALE),
                                 .y_zero = mr_zero_of(c, Y_ZERO),
                                 .outer = mr_dims_product(x->dims, 0, axis),
                                 .count = mr_dims_product(x->dims, axis, last),
                                 .inner = mr_dims_product(x->dims, last, x->rank),
                                 .pool = c->pool};
    ((void (*)(const mr_qlinear_softmax_args *))c->fn)(&a);
    return MR_OK;
}

static mr_fn have_softmax(const mr_call *c)
{
    return (mr_fn)c->cpu->qlinear.softmax[mr_sign_of(mr_in_dtype(c, X))];
}

static const mr_impl softmax_rows[] = {{.name = "qlinear_softmax", .have = have_softmax, .run = softmax_run}, {0}};

/* ---- QLinearWhere ---- */

enum { CONDITION, THEN, THEN_SCALE, THEN_ZERO, ELSE, ELSE_SCALE, ELSE_ZERO, Z_SCALE, Z_ZERO };

static mr_status where_infer(mr_call *c)
{
    mr_shape z = c->in[CONDITION].shape;
    mr_status st =
        want_ones(c, 1 << THEN_SCALE | 1 << THEN_ZERO | 1 << ELSE_SCALE | 1 << ELSE_ZERO | 1 << Z_SCALE | 1 << Z_ZERO);
    if (!st) st = mr_broadcast_into(c, &z, &c->in[THEN].shape, THEN);
    if (!st) st = mr_broadcast_into(c, &z, &c->in[ELSE].shape, ELSE);
    return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, THEN), &z);
}

static mr_status where_run(mr_call *c)
{
    const mr_dtype d = mr_in_dtype(c, THEN);
    const int at[] = {CONDITION, THEN, ELSE};
    mr_qlinear_tables t;
    mr_operand in[3];
    for (int i = 0; i < 3; i++) in[i] = mr_operand_broadcast(c->in[at[i]].t, c->out[0].t);
    for (int i = 0; i < 2; i++)
        mr_code_table(d, mr_scale_of(c, at[i + 1] + 1), mr_zero_of(c, at[i + 1] + 2), NULL, NULL, d,
                      mr_scale_of(c, Z_SCALE), mr_zero_of(c, Z_ZERO), t.table[i]);
    mr_elementwise j = mr_elementwise_to(c->out[0].t, in, 3, &t);
    mr_run_job(c, &j);
    return MR_OK;
}

static mr_fn have_choose(const mr_call *c)
{
    return (mr_fn)c->cpu->qlinear.choose;
}

static const mr_impl where_rows[] = {{.name = "qlinear_where", .have = have_choose, .run = where_run}, {0}};

/* ---- QLinearConcat: Y_scale, Y_zero_point, then each tensor, its scale and its zero point ---- */

static void concat_read(mr_reader *r, void *axis)
{
    *(int64_t *)axis = mr_read_int(r, "axis", 0);
}

static mr_status join(mr_call *c, mr_shape *y, int axis, int i)
{
    const mr_shape *x = &c->in[i].shape;
    mr_status st = mr_want_rank(c, i, y->rank, y->rank);
    for (int d = 0; !st && d < y->rank; d++) {
        if (d == axis)
            y->d[d] = mr_dim_add(y->d[d], x->rank < 0 ? MR_DIM_UNKNOWN : x->d[d]);
        else if (x->rank >= 0)
            st = mr_want_dim(c, y->d[d], x->d[d], "the same in all inputs", &y->d[d]);
    }
    return st;
}

static mr_status concat_infer(mr_call *c)
{
    const int64_t *at = c->params;
    mr_shape y = c->in[2].shape;
    int axis = 0;
    mr_status st = c->n_in % 3 == 2 ? want_ones(c, 3)
                                    : mr_call_fail(c, MR_E_SHAPES, "each tensor needs its scale and its zero point");
    for (int i = 2; !st && i < c->n_in; i += 3) {
        if (!mr_is_code(mr_in_dtype(c, i)) || mr_in_dtype(c, i) != mr_in_dtype(c, i + 2))
            st = mr_call_fail_in(c, MR_E_TYPE, i, "a tensor and its zero point must both be uint8 or int8");
        if (!st && !(st = mr_want_one(c, i + 1))) st = mr_want_one(c, i + 2);
        if (y.rank >= 0 && c->in[i].shape.rank < 0) y = mr_shape_of_rank(y.rank);
    }
    if (!st && y.rank >= 0) st = mr_want_axis(c, *at, y.rank, "attribute axis", &axis);
    for (int i = 5; !st && y.rank >= 0 && i < c->n_in; i += 3) st = join(c, &y, axis, i);
    return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, 1), &y);
}

static mr_status concat_run(mr_call *c)
{
    const mr_tensor *y = c->out[0].t;
    const int64_t at = *(const int64_t *)c->params;
    const int axis = (int)(at < 0 ? at + y->rank : at);
    uint8_t *to = y->data;
    for (int i = 2; i < c->n_in; i += 3) {
        const mr_tensor *x = c->in[i].t;
        mr_qlinear_tables t;
        mr_code_table(x->dtype, mr_scale_of(c, i + 1), mr_zero_of(c, i + 2), NULL, NULL, y->dtype, mr_scale_of(c, 0),
                      mr_zero_of(c, 1), t.table[0]);
        mr_operand in = mr_operand_broadcast(x, x);
        mr_elementwise j = mr_elementwise_to(x, &in, 1, &t);
        j.out = mr_operand_broadcast(y, y);
        j.out.data = to;
        mr_run_job(c, &j);
        to += x->dims[axis] * mr_dims_product(y->dims, axis + 1, y->rank);
    }
    return MR_OK;
}

static const mr_impl concat_rows[] = {{.name = "qlinear_concat", .have = have_lookup, .run = concat_run}, {0}};

const mr_op mr_ops_ms_quant[] = {
    {MR_MS, "QLinearAdd", 1, 0, 0, NULL, binary_infer, add_rows, 0, NULL, mr_flops_each},
    {MR_MS, "QLinearMul", 1, 0, 0, NULL, binary_infer, mul_rows, 0, NULL, mr_flops_each},
    {MR_MS, "QLinearSigmoid", 1, 0, 0, NULL, unary_infer, sigmoid_rows, 0, NULL, mr_flops_each},
    {MR_MS, "QLinearLeakyRelu", 1, 0, sizeof(float), leaky_relu_read, unary_infer, leaky_relu_rows, 0, NULL,
     mr_flops_each},
    {MR_MS, "QLinearSoftmax", 1, 0, sizeof(softmax_params), softmax_read, softmax_infer, softmax_rows, 0, NULL,
     mr_flops_softmax},
    {MR_MS, "QLinearWhere", 1, 0, 0, NULL, where_infer, where_rows, 0, NULL, NULL},
    {MR_MS, "QLinearConcat", 1, 0, sizeof(int64_t), concat_read, concat_infer, concat_rows, 0, NULL, NULL},
    {0},
};

/* gradient_math.c: gradients of functions of elements, and what all rules build with. */
#include "gradient.h"

#include <string.h>

#include "runtime/attr.h"

/* ---- building ---- */

int mr_gradient_op(mr_expansion *x, const char *op, int a, int b, int c)
{
    mr_node *n = mr_expansion_node(x, op, 3, (int[]){a, b, c}, 1);
    return n ? n->out[0] : -1;
}

static int constant(mr_expansion *x, mr_value *v)
{
    mr_node *n = mr_expansion_node(x, "Constant", 0, NULL, 1);
    if (n)
        mr_expansion_value(x, n, "value", v);
    else
        mr_value_release(v);
    return n ? n->out[0] : -1;
}

int mr_gradient_ints(mr_expansion *x, const int64_t *v, int n)
{
    mr_value *t = mr_value_tensor(MR_I64, 1, (int64_t[]){n});
    if (t && n) memcpy(t->t.data, v, sizeof *v * (size_t)n);
    return constant(x, t);
}

int mr_gradient_number(mr_expansion *x, double v, int like)
{
    mr_value *t = mr_value_tensor(MR_F64, 0, NULL);
    if (t) *(double *)t->t.data = v;
    return mr_gradient_op(x, "CastLike", constant(x, t), like, -1);
}

static int filled(mr_expansion *x, double v, int like)
{
    return mr_gradient_op(x, "Expand", mr_gradient_number(x, v, like), mr_gradient_op(x, "Shape", like, -1, -1), -1);
}

int mr_gradient_zeros(mr_expansion *x, int like)
{
    return filled(x, 0, like);
}

int mr_gradient_ones(mr_expansion *x, int like)
{
    return filled(x, 1, like);
}

int mr_gradient_reshape(mr_expansion *x, int g, int like)
{
    mr_node *n = mr_expansion_node(x, "Reshape", 2, (int[]){g, mr_gradient_op(x, "Shape", like, -1, -1)}, 1);
    mr_expansion_int(x, n, "allowzero", 1);
    return n ? n->out[0] : -1;
}

/* Ranks may not be known: the axes come from the shapes, aligned at their ends. */
int mr_gradient_sum_to(mr_expansion *x, int g, int like)
{
    int from = mr_gradient_op(x, "Shape", g, -1, -1), to = mr_gradient_op(x, "Shape", like, -1, -1);
    int more =
        mr_gradient_op(x, "Sub", mr_gradient_op(x, "Shape", from, -1, -1), mr_gradient_op(x, "Shape", to, -1, -1), -1);
    int one = mr_gradient_ints(x, (int64_t[]){1}, 1);
    mr_node *padded = mr_expansion_node(x, "Concat", 2, (int[]){mr_gradient_op(x, "Expand", one, more, -1), to}, 1);
    mr_expansion_int(x, padded, "axis", 0);
    int same = mr_gradient_op(x, "Equal", padded ? padded->out[0] : -1, from, -1);
    int axes = mr_gradient_op(x, "NonZero", mr_gradient_op(x, "Not", same, -1, -1), -1, -1);
    axes = mr_gradient_op(x, "Squeeze", axes, mr_gradient_ints(x, (int64_t[]){0}, 1), -1);
    mr_node *sum = mr_expansion_node(x, "ReduceSum", 2, (int[]){g, axes}, 1);
    mr_expansion_int(x, sum, "noop_with_empty_axes", 1);
    return mr_gradient_reshape(x, sum ? sum->out[0] : -1, like);
}

static const mr_attr *attr(const mr_node *n, const char *name, mr_attr_kind kind)
{
    const mr_attr *a = mr_node_attr(n, name);
    return a && a->kind == kind ? a : NULL;
}

int64_t mr_gradient_int(const mr_node *n, const char *name, int64_t fallback)
{
    const mr_attr *a = attr(n, name, MR_ATTR_INT);
    const mr_schema_attr *s = mr_schema_attr_find(n->schema, name);
    return a ? a->i : s && s->has_default ? s->i : fallback;
}

float mr_gradient_float(const mr_node *n, const char *name, float fallback)
{
    const mr_attr *a = attr(n, name, MR_ATTR_FLOAT);
    const mr_schema_attr *s = mr_schema_attr_find(n->schema, name);
    return a ? a->f : s && s->has_default ? s->f : fallback;
}

/* ---- two operands, broadcast ---- */

#define OP(NAME, A, B) mr_gradient_op(s->x, NAME, A, B, -1)
#define OP1(NAME, A)   mr_gradient_op(s->x, NAME, A, -1, -1)
#define NUM(V)         mr_gradient_number(s->x, V, s->in[0])

/* An operand's share, of the shape that was broadcast to. */
static void give(mr_step_back *s, int i, int g)
{
    s->dx[i] = mr_gradient_sum_to(s->x, g, s->in[i]);
}

static void add(mr_step_back *s)
{
    for (int i = 0; i < s->node->n_in; i++) give(s, i, s->dy[0]);
}

static void sub(mr_step_back *s)
{
    give(s, 0, s->dy[0]);
    give(s, 1, OP1("Neg", s->dy[0]));
}

static void mul(mr_step_back *s)
{
    give(s, 0, OP("Mul", s->dy[0], s->in[1]));
    give(s, 1, OP("Mul", s->dy[0], s->in[0]));
}

static void divide(mr_step_back *s)
{
    int g = OP("Div", s->dy[0], s->in[1]);
    give(s, 0, g);
    give(s, 1, OP1("Neg", OP("Mul", g, s->out[0])));
}

static void mean(mr_step_back *s)
{
    int g = OP("Div", s->dy[0], NUM(s->node->n_in));
    for (int i = 0; i < s->node->n_in; i++) give(s, i, g);
}

/* d(a^b)/da = b · a^(b-1), d/db = a^b · log a; the exponent may have another type. */
static void power(mr_step_back *s)
{
    int b = OP("CastLike", s->in[1], s->in[0]);
    int slope = OP("Mul", b, OP("Pow", s->in[0], OP("Sub", b, NUM(1))));
    give(s, 0, OP("Mul", s->dy[0], slope));
    int g = OP("Mul", OP("Mul", s->dy[0], s->out[0]), OP1("Log", s->in[0]));
    give(s, 1, OP("CastLike", g, s->in[1]));
}

/* The first of several that are equal gets all. */
static void extreme(mr_step_back *s)
{
    int left = s->dy[0], zero = NUM(0);
    for (int i = 0; i < s->node->n_in; i++) {
        int chosen = OP("Equal", s->in[i], s->out[0]);
        give(s, i, mr_gradient_op(s->x, "Where", chosen, left, zero));
        left = mr_gradient_op(s->x, "Where", chosen, zero, left);
    }
}

static void where(mr_step_back *s)
{
    int zero = mr_gradient_number(s->x, 0, s->in[1]);
    give(s, 1, mr_gradient_op(s->x, "Where", s->in[0], s->dy[0], zero));
    give(s, 2, mr_gradient_op(s->x, "Where", s->in[0], zero, s->dy[0]));
}

/* ---- one operand: dy times the slope ---- */

static void times(mr_step_back *s, int slope)
{
    s->dx[0] = OP("Mul", s->dy[0], slope);
}

static int squared(mr_step_back *s, int a)
{
    return OP("Mul", a, a);
}

static int one_minus(mr_step_back *s, int a)
{
    return OP("Sub", NUM(1), a);
}

static int one_plus(mr_step_back *s, int a)
{
    return OP("Add", NUM(1), a);
}

/* dy where X is above the threshold, else 0. */
static void above(mr_step_back *s, double threshold)
{
    s->dx[0] = mr_gradient_op(s->x, "Where", OP("Greater", s->in[0], NUM(threshold)), s->dy[0], NUM(0));
}

static void same(mr_step_back *s)
{
    s->dx[0] = s->dy[0];
}

static void cast(mr_step_back *s)
{
    s->dx[0] = OP("CastLike", s->dy[0], s->in[0]);
}

static void flat(mr_step_back *s)
{
    s->dx[0] = -1;
}

static void negative(mr_step_back *s)
{
    s->dx[0] = OP1("Neg", s->dy[0]);
}

static void absolute(mr_step_back *s)
{
    times(s, OP1("Sign", s->in[0]));
}

static void exponential(mr_step_back *s)
{
    times(s, s->out[0]);
}

static void logarithm(mr_step_back *s)
{
    s->dx[0] = OP("Div", s->dy[0], s->in[0]);
}

static void root(mr_step_back *s)
{
    s->dx[0] = OP("Div", s->dy[0], OP("Add", s->out[0], s->out[0]));
}

static void reciprocal(mr_step_back *s)
{
    times(s, OP1("Neg", squared(s, s->out[0])));
}

static void sine(mr_step_back *s)
{
    times(s, OP1("Cos", s->in[0]));
}

static void cosine(mr_step_back *s)
{
    times(s, OP1("Neg", OP1("Sin", s->in[0])));
}

static void tangent(mr_step_back *s)
{
    times(s, one_plus(s, squared(s, s->out[0])));
}

static void arcsine(mr_step_back *s)
{
    s->dx[0] = OP("Div", s->dy[0], OP1("Sqrt", one_minus(s, squared(s, s->in[0]))));
}

static void arccosine(mr_step_back *s)
{
    arcsine(s);
    s->dx[0] = OP1("Neg", s->dx[0]);
}

static void arctangent(mr_step_back *s)
{
    s->dx[0] = OP("Div", s->dy[0], one_plus(s, squared(s, s->in[0])));
}

static void hyperbolic_sine(mr_step_back *s)
{
    times(s, OP1("Cosh", s->in[0]));
}

static void hyperbolic_cosine(mr_step_back *s)
{
    times(s, OP1("Sinh", s->in[0]));
}

static void hyperbolic_tangent(mr_step_back *s)
{
    times(s, one_minus(s, squared(s, s->out[0])));
}

static void area_sine(mr_step_back *s)
{
    s->dx[0] = OP("Div", s->dy[0], OP1("Sqrt", one_plus(s, squared(s, s->in[0]))));
}

static void area_cosine(mr_step_back *s)
{
    s->dx[0] = OP("Div", s->dy[0], OP1("Sqrt", OP("Sub", squared(s, s->in[0]), NUM(1))));
}

static void area_tangent(mr_step_back *s)
{
    s->dx[0] = OP("Div", s->dy[0], one_minus(s, squared(s, s->in[0])));
}

/* 2/√π · exp(-x²) */
static void error_function(mr_step_back *s)
{
    times(s, OP("Mul", NUM(1.1283791670955126), OP1("Exp", OP1("Neg", squared(s, s->in[0])))));
}

static void sigmoid(mr_step_back *s)
{
    times(s, OP("Mul", s->out[0], one_minus(s, s->out[0])));
}

static void softplus(mr_step_back *s)
{
    times(s, OP1("Sigmoid", s->in[0]));
}

static void softsign(mr_step_back *s)
{
    s->dx[0] = OP("Div", s->dy[0], squared(s, one_plus(s, OP1("Abs", s->in[0]))));
}

static void relu(mr_step_back *s)
{
    above(s, 0);
}

static void leaky_relu(mr_step_back *s)
{
    int low = OP("Mul", s->dy[0], NUM(mr_gradient_float(s->node, "alpha", 0.01f)));
    s->dx[0] = mr_gradient_op(s->x, "Where", OP("Less", s->in[0], NUM(0)), low, s->dy[0]);
}

/* Below 0, alpha · exp(x) = y + alpha. */
static void elu(mr_step_back *s)
{
    int low = OP("Mul", s->dy[0], OP("Add", s->out[0], NUM(mr_gradient_float(s->node, "alpha", 1))));
    s->dx[0] = mr_gradient_op(s->x, "Where", OP("Less", s->in[0], NUM(0)), low, s->dy[0]);
}

static void thresholded_relu(mr_step_back *s)
{
    above(s, mr_gradient_float(s->node, "alpha", 1));
}

/* Where the bounds let X through. */
static void clip(mr_step_back *s)
{
    s->dx[0] = mr_gradient_op(s->x, "Where", OP("Equal", s->in[0], s->out[0]), s->dy[0], NUM(0));
}

const mr_gradient_entry mr_gradient_math[] = {
    {"Add", 7, add},
    {"Sub", 7, sub},
    {"Mul", 7, mul},
    {"Div", 7, divide},
    {"Pow", 7, power},
    {"Sum", 8, add},
    {"Mean", 8, mean},
    {"Max", 8, extreme},
    {"Min", 8, extreme},
    {"Where", 9, where},
    {"Identity", 1, same},
    {"Cast", 1, cast},
    {"CastLike", 15, cast},
    {"Floor", 1, flat},
    {"Ceil", 1, flat},
    {"Round", 11, flat},
    {"Sign", 9, flat},
    {"Neg", 1, negative},
    {"Abs", 1, absolute},
    {"Exp", 1, exponential},
    {"Log", 1, logarithm},
    {"Sqrt", 1, root},
    {"Reciprocal", 1, reciprocal},
    {"Sin", 7, sine},
    {"Cos", 7, cosine},
    {"Tan", 7, tangent},
    {"Asin", 7, arcsine},
    {"Acos", 7, arccosine},
    {"Atan", 7, arctangent},
    {"Sinh", 9, hyperbolic_sine},
    {"Cosh", 9, hyperbolic_cosine},
    {"Tanh", 1, hyperbolic_tangent},
    {"Asinh", 9, area_sine},
    {"Acosh", 9, area_cosine},
    {"Atanh", 9, area_tangent},
    {"Erf", 9, error_function},
    {"Sigmoid", 1, sigmoid},
    {"Softplus", 1, softplus},
    {"Softsign", 1, softsign},
    {"Relu", 1, relu},
    {"LeakyRelu", 1, leaky_relu},
    {"Elu", 1, elu},
    {"ThresholdedRelu", 10, thresholded_relu},
    {"Clip", 6, clip},
    {0},
};

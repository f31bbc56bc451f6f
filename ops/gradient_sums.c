/* gradient_sums.c: gradients of products of matrices, reductions and softmax; the table of all rules. */
#include "gradient.h"

#include <string.h>

#define OP(NAME, A, B) mr_gradient_op(s->x, NAME, A, B, -1)
#define OP1(NAME, A)   mr_gradient_op(s->x, NAME, A, -1, -1)

static int ints(mr_step_back *s, int64_t v)
{
    return mr_gradient_ints(s->x, &v, 1);
}

static int join(mr_step_back *s, int a, int b, int c)
{
    mr_node *n = mr_expansion_node(s->x, "Concat", c < 0 ? 2 : 3, (int[]){a, b, c}, 1);
    mr_expansion_int(s->x, n, "axis", 0);
    return n ? n->out[0] : -1;
}

/* ---- MatMul ---- */

/* As many ones as a shape lacks to 2. */
static int missing_ones(mr_step_back *s, int shape)
{
    int lack = OP("Max", OP("Sub", ints(s, 2), OP1("Shape", shape)), ints(s, 0));
    return OP("Expand", ints(s, 1), lack);
}

static int cut_shape(mr_step_back *s, int shape, int start, int end)
{
    mr_node *n = mr_expansion_node(s->x, "Slice", 3, (int[]){shape, start, end}, 1);
    return n ? n->out[0] : -1;
}

static int to_shape(mr_step_back *s, int a, int shape)
{
    mr_node *n = mr_expansion_node(s->x, "Reshape", 2, (int[]){a, shape}, 1);
    mr_expansion_int(s->x, n, "allowzero", 1);
    return n ? n->out[0] : -1;
}

static int product(mr_step_back *s, const char *equation, int a, int b)
{
    mr_node *n = mr_expansion_node(s->x, "Einsum", 2, (int[]){a, b}, 1);
    mr_expansion_string(s->x, n, "equation", equation);
    return n ? n->out[0] : -1;
}

/* Vectors become matrices first: a row on the left, a column on the right. Ranks may be known only while running. */
static void matmul(mr_step_back *s)
{
    int sa = OP1("Shape", s->in[0]), sb = OP1("Shape", s->in[1]), sy = OP1("Shape", s->dy[0]);
    int sa2 = join(s, missing_ones(s, sa), sa, -1), sb2 = join(s, sb, missing_ones(s, sb), -1);
    int kept = OP("Add", OP("Min", OP("Sub", OP1("Shape", sa), ints(s, 1)), ints(s, 1)),
                  OP("Min", OP("Sub", OP1("Shape", sb), ints(s, 1)), ints(s, 1)));
    int batch = cut_shape(s, sy, ints(s, 0), OP("Sub", OP1("Shape", sy), kept));
    int rows = cut_shape(s, sa2, ints(s, -2), ints(s, -1)),
        columns = cut_shape(s, sb2, ints(s, -1), ints(s, INT64_MAX));
    int a = to_shape(s, s->in[0], sa2), b = to_shape(s, s->in[1], sb2);
    int dy = to_shape(s, s->dy[0], join(s, batch, rows, columns));
    int da = mr_gradient_sum_to(s->x, product(s, "...ik,...jk->...ij", dy, b), a);
    int db = mr_gradient_sum_to(s->x, product(s, "...ij,...ik->...jk", a, dy), b);
    s->dx[0] = to_shape(s, da, sa);
    s->dx[1] = to_shape(s, db, sb);
}

static int gemm_of(mr_step_back *s, int a, bool trans_a, int b, bool trans_b)
{
    mr_node *n = mr_expansion_node(s->x, "Gemm", 2, (int[]){a, b}, 1);
    mr_expansion_float(s->x, n, "alpha", mr_gradient_float(s->node, "alpha", 1));
    mr_expansion_int(s->x, n, "transA", trans_a);
    mr_expansion_int(s->x, n, "transB", trans_b);
    return n ? n->out[0] : -1;
}

/* Y = alpha · A' · B' + beta · C */
static void gemm(mr_step_back *s)
{
    bool ta = mr_gradient_int(s->node, "transA", 0), tb = mr_gradient_int(s->node, "transB", 0);
    s->dx[0] = ta ? gemm_of(s, s->in[1], tb, s->dy[0], true) : gemm_of(s, s->dy[0], false, s->in[1], !tb);
    s->dx[1] = tb ? gemm_of(s, s->dy[0], true, s->in[0], ta) : gemm_of(s, s->in[0], !ta, s->dy[0], false);
    if (s->node->n_in < 3 || s->in[2] < 0) return;
    int beta = mr_gradient_number(s->x, mr_gradient_float(s->node, "beta", 1), s->in[2]);
    s->dx[2] = mr_gradient_sum_to(s->x, OP("Mul", s->dy[0], beta), s->in[2]);
}

/* ---- reductions ---- */

typedef struct reduced {
    int y, dy; /* with the reduced axes kept, as 1 */
} reduced;

static reduced keep_axes(mr_step_back *s)
{
    if (mr_gradient_int(s->node, "keepdims", 1)) return (reduced){s->out[0], s->dy[0]};
    mr_node *n = mr_expansion_copy(s->x, s->node, s->in, 1);
    mr_expansion_int(s->x, n, "keepdims", 1);
    int y = n ? n->out[0] : -1;
    return (reduced){y, mr_gradient_reshape(s->x, s->dy[0], y)};
}

static int spread(mr_step_back *s, int g)
{
    return OP("Expand", g, OP1("Shape", s->in[0]));
}

static void reduce_sum(mr_step_back *s)
{
    s->dx[0] = spread(s, keep_axes(s).dy);
}

static void reduce_mean(mr_step_back *s)
{
    int many = OP("CastLike", OP1("Size", s->in[0]), s->in[0]), few = OP("CastLike", OP1("Size", s->out[0]), s->in[0]);
    s->dx[0] = spread(s, OP("Div", keep_axes(s).dy, OP("Div", many, few)));
}

static void reduce_sum_square(mr_step_back *s)
{
    s->dx[0] = OP("Mul", OP("Add", s->in[0], s->in[0]), keep_axes(s).dy);
}

static void reduce_l1(mr_step_back *s)
{
    s->dx[0] = OP("Mul", OP1("Sign", s->in[0]), keep_axes(s).dy);
}

static void reduce_l2(mr_step_back *s)
{
    reduced r = keep_axes(s);
    s->dx[0] = OP("Mul", OP("Div", s->in[0], r.y), r.dy);
}

static void reduce_log_sum(mr_step_back *s)
{
    reduced r = keep_axes(s);
    s->dx[0] = spread(s, OP("Div", r.dy, OP1("Exp", r.y)));
}

static void reduce_log_sum_exp(mr_step_back *s)
{
    reduced r = keep_axes(s);
    s->dx[0] = OP("Mul", OP1("Exp", OP("Sub", s->in[0], r.y)), r.dy);
}

static void reduce_prod(mr_step_back *s)
{
    reduced r = keep_axes(s);
    s->dx[0] = OP("Div", OP("Mul", r.y, r.dy), s->in[0]);
}

/* ---- softmax ---- */

static int sum_over(mr_step_back *s, int a)
{
    int axis = ints(s, mr_gradient_int(s->node, "axis", -1));
    return OP("ReduceSum", a, axis);
}

static void softmax(mr_step_back *s)
{
    int inner = sum_over(s, OP("Mul", s->dy[0], s->out[0]));
    s->dx[0] = OP("Mul", OP("Sub", s->dy[0], inner), s->out[0]);
}

static void log_softmax(mr_step_back *s)
{
    s->dx[0] = OP("Sub", s->dy[0], OP("Mul", OP1("Exp", s->out[0]), sum_over(s, s->dy[0])));
}

const mr_gradient_entry mr_gradient_sums[] = {
    {"MatMul", 1, matmul},
    {"Gemm", 7, gemm},
    {"ReduceSum", 1, reduce_sum},
    {"ReduceMean", 1, reduce_mean},
    {"ReduceSumSquare", 1, reduce_sum_square},
    {"ReduceL1", 1, reduce_l1},
    {"ReduceL2", 1, reduce_l2},
    {"ReduceLogSum", 1, reduce_log_sum},
    {"ReduceLogSumExp", 1, reduce_log_sum_exp},
    {"ReduceProd", 1, reduce_prod},
    {"Softmax", 13, softmax},
    {"LogSoftmax", 13, log_softmax},
    {0},
};

/* ---- all rules ---- */

mr_gradient_rule mr_gradient_rule_of(const mr_node *n)
{
    const mr_gradient_entry *const all[] = {mr_gradient_math, mr_gradient_shapes, mr_gradient_sums};
    if (*n->domain || !n->schema) return NULL;
    for (size_t f = 0; f < sizeof all / sizeof *all; f++)
        for (const mr_gradient_entry *r = all[f]; r->op; r++)
            if (!strcmp(r->op, n->op_type) && n->schema->since >= r->since) return r->rule;
    return NULL;
}

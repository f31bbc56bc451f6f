/* rewrite_quantize.c: an operator between DequantizeLinear and QuantizeLinear becomes the operator on codes.
 *
 * Both say the same of real numbers. The sums of products are then exact, and are rounded once: the codes are those of
 * the nodes in the file, or, next to a tie, one quantum off. What dequantized stays where somebody else reads it. */
#include <math.h>
#include <string.h>

#include "ops/ms_quant.h"
#include "ops/rewrites.h"

/* Codes, and what they mean: ids. zero -1: none is given, which is 0. */
typedef struct quantized {
    int code, scale, zero;
} quantized;

static bool one_number(const mr_rewrite *r, int id)
{
    const mr_shape *s = mr_rewrite_shape(r, id);
    return s && (s->rank == 0 || (s->rank == 1 && s->d[0] == 1));
}

static bool has_attr(const mr_node *n, const char *name)
{
    const mr_attr *a = mr_node_attr(n, name);
    return a && a->i != 0;
}

/* The node quantizes or dequantizes with one scale for all or one for each index of an axis, between float and codes.
 */
static bool plain(const mr_rewrite *r, const mr_node *n, const char *op, int code)
{
    if (!n || *n->domain || strcmp(n->op_type, op) || has_attr(n, "block_size") || has_attr(n, "output_dtype") ||
        has_attr(n, "precision"))
        return false;
    mr_dtype d = mr_rewrite_dtype(r, code);
    return (d == MR_U8 || d == MR_I8 || d == MR_I32) && mr_rewrite_dtype(r, n->in[1]) == MR_F32;
}

static int zero_of(const mr_node *n)
{
    return n->n_in > 2 ? n->in[2] : -1;
}

/* What stands behind a float value: codes. axis: that a scale for each index runs along; -1: one scale for all. */
static bool take_codes(const mr_rewrite *r, int id, int64_t axis, quantized *q)
{
    const mr_node *n = id < 0 ? NULL : mr_rewrite_source(r, id);
    if (!n || !plain(r, n, "DequantizeLinear", n->in[0])) return false;
    *q = (quantized){n->in[0], n->in[1], zero_of(n)};
    if (one_number(r, q->scale)) return true;
    const mr_attr *given = mr_node_attr(n, "axis");
    const mr_shape *s = mr_rewrite_shape(r, q->code);
    int64_t own = given ? given->i : 1;
    return s && axis >= 0 && (own < 0 ? own + s->rank : own) == axis;
}

/* The operator at a position, whose one reader quantizes: t gets both, out what the codes mean, *made their id. Relu in
 * between does nothing where codes end at the zero point. */
static bool take_output(const mr_rewrite *r, int at, mr_taken *t, quantized *out)
{
    const mr_node *n = mr_rewrite_node(r, at);
    int next = mr_rewrite_user(r, n->out[0]);
    t->at[t->n++] = at;
    bool cut = mr_rewrite_is(r, next, "Relu");
    if (cut) {
        t->at[t->n++] = next;
        next = mr_rewrite_user(r, mr_rewrite_node(r, next)->out[0]);
    }
    const mr_node *q = mr_rewrite_node(r, next);
    if (!q || q->in[0] != mr_rewrite_node(r, t->at[t->n - 1])->out[0] || !plain(r, q, "QuantizeLinear", q->out[0]))
        return false;
    t->at[t->n++] = next;
    *out = (quantized){q->out[0], q->in[1], zero_of(q)};
    if (!one_number(r, out->scale)) return false;
    const mr_tensor *zero = out->zero < 0 ? NULL : mr_rewrite_known(r, out->zero);
    if (out->zero >= 0 && !zero) return false;
    const int64_t lowest = mr_rewrite_dtype(r, out->code) == MR_I8 ? INT8_MIN : 0;
    return !cut || (zero ? mr_tensor_int(zero, 0) : 0) == lowest;
}

/* The zero point as an input that the operators on codes want. -1: out of memory. */
static int zero_input(mr_rewrite *r, const quantized *q)
{
    if (q->zero >= 0) return q->zero;
    return mr_rewrite_constant(r, mr_value_tensor(mr_rewrite_dtype(r, q->code), 0, NULL), "zero point");
}

static bool set(mr_rewrite *r, mr_node *n, int i, const quantized *q)
{
    n->in[i] = q->code, n->in[i + 1] = q->scale, n->in[i + 2] = zero_input(r, q);
    return n->in[i + 2] >= 0;
}

/* The last two inputs of the new node say what its codes mean. */
static bool put(mr_rewrite *r, mr_node *n, int i, const quantized *out, const mr_taken *t)
{
    n->in[i] = out->scale, n->in[i + 1] = zero_input(r, out);
    return n->in[i + 1] >= 0 && mr_rewrite_replace(r, n, t->at, t->n);
}

/* A known bias as the integers that are added to the sums, whose scale is that of x times that of w. What rounding them
 * loses is far below a quantum of the output. -1: it is not known, or too large. */
static int bias_codes(mr_rewrite *r, int id, const quantized *x, const quantized *w)
{
    const mr_tensor *b = mr_rewrite_known(r, id), *sx = mr_rewrite_known(r, x->scale),
                    *sw = mr_rewrite_known(r, w->scale);
    if (!b || !sx || !sw || b->rank != 1) return -1;
    const int64_t n = b->dims[0], n_w = mr_tensor_count(sw);
    mr_value *v = mr_tensor_count(sx) == 1 && (n_w == 1 || n_w == n) ? mr_value_tensor(MR_I32, 1, &n) : NULL;
    if (!v) return -1;
    for (int64_t i = 0; i < n; i++) {
        double code = rint(mr_tensor_real(b, i) / (mr_tensor_real(sx, 0) * mr_tensor_real(sw, n_w == 1 ? 0 : i)));
        if (!(fabs(code) < 0x1p30)) return mr_value_release(v), -1;
        ((int32_t *)v->t.data)[i] = (int32_t)code;
    }
    return mr_rewrite_constant(r, v, "bias in codes");
}

/* ---- the operators ---- */

static bool match_conv(mr_rewrite *r, int at)
{
    mr_taken t = {.n = 0};
    quantized x, w, y;
    const mr_node *c = mr_rewrite_node(r, at);
    if (!mr_rewrite_is(r, at, "Conv") || !take_codes(r, c->in[0], -1, &x) || !take_codes(r, c->in[1], 0, &w))
        return false;
    const bool biased = c->n_in > 2 && c->in[2] >= 0;
    if (!take_output(r, at, &t, &y)) return false;
    mr_node *n = mr_rewrite_make(r, "", "QLinearConv", c->opset, 9);
    if (!n || (biased && (n->in[8] = bias_codes(r, c->in[2], &x, &w)) < 0)) return false;
    n->attrs = c->attrs, n->n_attrs = c->n_attrs;
    return set(r, n, 0, &x) && set(r, n, 3, &w) && put(r, n, 6, &y, &t);
}

static bool match_matmul(mr_rewrite *r, int at)
{
    mr_taken t = {.n = 0};
    quantized a, b, y;
    const mr_node *m = mr_rewrite_node(r, at);
    if (!mr_rewrite_is(r, at, "MatMul")) return false;
    const mr_shape *s = mr_rewrite_shape(r, m->in[1]);
    if (!s || !take_codes(r, m->in[0], -1, &a) || !take_codes(r, m->in[1], s->rank == 2 ? 1 : -1, &b) ||
        !take_output(r, at, &t, &y))
        return false;
    mr_node *n = mr_rewrite_make(r, "", "QLinearMatMul", m->opset, 8);
    return n && set(r, n, 0, &a) && set(r, n, 3, &b) && put(r, n, 6, &y, &t);
}

static bool is_one(const mr_node *n, const char *name)
{
    const mr_attr *a = mr_node_attr(n, name);
    return !a || a->f == 1;
}

static bool match_gemm(mr_rewrite *r, int at)
{
    mr_taken t = {.n = 0};
    quantized a, b, y;
    const mr_node *m = mr_rewrite_node(r, at);
    if (!mr_rewrite_is(r, at, "Gemm") || !is_one(m, "alpha") || !is_one(m, "beta")) return false;
    const bool biased = m->n_in > 2 && m->in[2] >= 0, across = has_attr(m, "transB");
    if (!take_codes(r, m->in[0], -1, &a) || !take_codes(r, m->in[1], across ? 0 : 1, &b)) return false;
    if (!take_output(r, at, &t, &y)) return false;
    mr_node *n = mr_rewrite_make(r, MR_MS, "QGemm", 1, 9);
    if (!n || (biased && (n->in[6] = bias_codes(r, m->in[2], &a, &b)) < 0)) return false;
    mr_rewrite_int(r, n, "transA", has_attr(m, "transA"));
    mr_rewrite_int(r, n, "transB", across);
    return set(r, n, 0, &a) && set(r, n, 3, &b) && put(r, n, 7, &y, &t);
}

static bool match_binary(mr_rewrite *r, int at)
{
    mr_taken t = {.n = 0};
    quantized a, b, y;
    const mr_node *m = mr_rewrite_node(r, at);
    const bool add = mr_rewrite_is(r, at, "Add"), mul = mr_rewrite_is(r, at, "Mul");
    if ((!add && !mul) || m->n_in != 2) return false;
    if (!take_codes(r, m->in[0], -1, &a) || !take_codes(r, m->in[1], -1, &b) || !take_output(r, at, &t, &y))
        return false;
    mr_node *n = mr_rewrite_make(r, MR_MS, add ? "QLinearAdd" : "QLinearMul", 1, 8);
    return n && set(r, n, 0, &a) && set(r, n, 3, &b) && put(r, n, 6, &y, &t);
}

static bool match_global(mr_rewrite *r, int at)
{
    mr_taken t = {.n = 0};
    quantized x, y;
    const mr_node *m = mr_rewrite_node(r, at);
    if (!mr_rewrite_is(r, at, "GlobalAveragePool") || !take_codes(r, m->in[0], -1, &x) || !take_output(r, at, &t, &y))
        return false;
    mr_node *n = mr_rewrite_make(r, MR_MS, "QLinearGlobalAveragePool", 1, 5);
    return n && set(r, n, 0, &x) && put(r, n, 3, &y, &t);
}

static bool same_numbers(const mr_rewrite *r, int a, int b)
{
    const mr_tensor *x = a < 0 ? NULL : mr_rewrite_known(r, a), *y = b < 0 ? NULL : mr_rewrite_known(r, b);
    if (a == b) return true;
    return x && y && mr_tensor_count(x) == 1 && mr_tensor_count(y) == 1 && mr_tensor_real(x, 0) == mr_tensor_real(y, 0);
}

/* The largest code means the largest number: MaxPool may look at codes, where they mean the same before and behind. */
static bool match_maximum(mr_rewrite *r, int at)
{
    mr_taken t = {.n = 0};
    quantized x, y;
    const mr_node *m = mr_rewrite_node(r, at);
    if (!mr_rewrite_is(r, at, "MaxPool") || m->n_out > 1 || m->opset < 12) return false;
    if (!take_codes(r, m->in[0], -1, &x) || !take_output(r, at, &t, &y) || t.n != 2) return false;
    if (!same_numbers(r, x.scale, y.scale) || !same_numbers(r, x.zero, y.zero)) return false;
    mr_node *n = mr_rewrite_make(r, "", "MaxPool", m->opset, 1);
    if (!n) return false;
    n->attrs = m->attrs, n->n_attrs = m->n_attrs, n->params = m->params;
    n->in[0] = x.code;
    return mr_rewrite_replace(r, n, t.at, t.n);
}

const mr_rule mr_rules_quantize[] = {
    {"qlinear_conv", "DequantizeLinear, Conv, (Relu,) QuantizeLinear: QLinearConv", 2, match_conv},
    {"qlinear_matmul", "DequantizeLinear, MatMul, QuantizeLinear: QLinearMatMul", 2, match_matmul},
    {"qlinear_gemm", "DequantizeLinear, Gemm, QuantizeLinear: QGemm of com.microsoft", 2, match_gemm},
    {"qlinear_binary", "DequantizeLinear, Add or Mul, QuantizeLinear: QLinearAdd, QLinearMul of com.microsoft", 2,
     match_binary},
    {"qlinear_global", "DequantizeLinear, GlobalAveragePool, QuantizeLinear: QLinearGlobalAveragePool", 2,
     match_global},
    {"codes_maximum", "MaxPool between codes that mean the same: MaxPool of the codes", 2, match_maximum},
    {0},
};

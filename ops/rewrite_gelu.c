/* rewrite_gelu.c: activations that are spelled out become the operator: Gelu in both forms, Swish and HardSwish. */
#include <math.h>

#include "ops/rewrites.h"

/* Factors of the product that ends at a position: Mul nodes that nobody else reads are taken apart. */
typedef struct factors {
    int id[4], n;
    double number; /* the product of those that are numbers */
} factors;

static bool add_factor(const mr_rewrite *r, mr_taken *t, factors *f, int id, int depth);

static bool take_apart(const mr_rewrite *r, mr_taken *t, factors *f, int at, int depth)
{
    const mr_node *n = mr_rewrite_node(r, at);
    return add_factor(r, t, f, n->in[0], depth) && add_factor(r, t, f, n->in[1], depth);
}

static bool add_factor(const mr_rewrite *r, mr_taken *t, factors *f, int id, int depth)
{
    double v;
    if (mr_rewrite_number(r, id, &v)) {
        f->number *= v;
        return true;
    }
    int inner = depth > 0 ? mr_take(r, t, id, "Mul") : -1;
    if (inner >= 0) return take_apart(r, t, f, inner, depth - 1);
    if (f->n == 4) return false;
    f->id[f->n++] = id;
    return true;
}

static factors factors_of(const mr_rewrite *r, mr_taken *t, int at, bool *ok)
{
    factors f = {.number = 1};
    *ok = mr_rewrite_is(r, at, "Mul") && take_apart(r, t, &f, at, 3);
    return f;
}

static bool put(mr_rewrite *r, const char *op, int version, int x, const mr_taken *t, const char *approximate,
                double alpha)
{
    mr_node *n = mr_rewrite_make(r, "", op, version, 1);
    if (!n) return false;
    n->in[0] = x;
    if (approximate) mr_rewrite_text(r, n, "approximate", approximate);
    if (alpha != 1) mr_rewrite_float(r, n, "alpha", (float)alpha);
    return mr_rewrite_replace(r, n, t->at, t->n);
}

/* ---- x (1 + erf(x / √2)) / 2 and x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2 ---- */

/* Of 1 + f(u), f the operator: u. */
static int one_plus(const mr_rewrite *r, mr_taken *t, int id, const char *f)
{
    double one;
    int at = mr_take(r, t, id, "Add"), inner = at < 0 ? -1 : mr_beside_number(r, at, &one);
    if (inner < 0 || one != 1 || (at = mr_take(r, t, inner, f)) < 0) return -1;
    return mr_rewrite_node(r, at)->in[0];
}

/* Is u x / √2? */
static bool by_root_2(const mr_rewrite *r, mr_taken *t, int u, int x)
{
    const mr_dtype d = mr_rewrite_dtype(r, x);
    double v;
    int at = mr_take(r, t, u, "Div");
    if (at >= 0) return mr_beside_number(r, at, &v) == x && mr_is_number(d, v, sqrt(2));
    at = mr_take(r, t, u, "Mul");
    return at >= 0 && mr_beside_number(r, at, &v) == x && mr_is_number(d, v, sqrt(0.5));
}

/* Is the value 0.044715 x^power? */
static bool bent(const mr_rewrite *r, mr_taken *t, int id, int x, int power)
{
    bool ok;
    double exponent;
    int at = mr_take(r, t, id, "Mul");
    if (at < 0) return false;
    factors f = factors_of(r, t, at, &ok);
    if (!ok || !mr_is_number(mr_rewrite_dtype(r, x), f.number, 0.044715)) return false;
    int pow = f.n == 1 ? mr_take(r, t, f.id[0], "Pow") : -1;
    if (pow >= 0) return mr_beside_number(r, pow, &exponent) == x && exponent == power;
    for (int i = 0; i < f.n; i++) ok &= f.id[i] == x;
    return ok && f.n == power;
}

/* Is u √(2/π) (x + 0.044715 x³), or √(2/π) x (1 + 0.044715 x²)? */
static bool is_bent_sum(const mr_rewrite *r, mr_taken *t, int u, int x)
{
    bool ok;
    double one;
    int at = mr_take(r, t, u, "Mul"), sum;
    if (at < 0) return false;
    factors f = factors_of(r, t, at, &ok);
    if (!ok || !mr_is_number(mr_rewrite_dtype(r, x), f.number, sqrt(2 / M_PI))) return false;
    if (f.n == 1) {
        sum = mr_take(r, t, f.id[0], "Add");
        int other = sum < 0 ? -1 : mr_beside(mr_rewrite_node(r, sum), x);
        return other >= 0 && bent(r, t, other, x, 3);
    }
    if (f.n != 2 || (f.id[0] != x && f.id[1] != x)) return false;
    sum = mr_take(r, t, f.id[f.id[0] == x], "Add");
    int other = sum < 0 ? -1 : mr_beside_number(r, sum, &one);
    return other >= 0 && one == 1 && bent(r, t, other, x, 2);
}

static bool match_gelu(mr_rewrite *r, int at)
{
    static const char *const functions[] = {"Erf", "Tanh"};
    for (int k = 0; k < 2; k++) {
        mr_taken t = {.at = {at}, .n = 1};
        bool ok;
        factors f = factors_of(r, &t, at, &ok);
        if (!ok || f.n != 2 || f.number != 0.5) return false;
        for (int i = 0; i < 2; i++) {
            mr_taken all = t;
            int x = f.id[!i], u = one_plus(r, &all, f.id[i], functions[k]);
            if (u < 0 || !(k ? is_bent_sum(r, &all, u, x) : by_root_2(r, &all, u, x))) continue;
            return put(r, "Gelu", 20, x, &all, k ? "tanh" : NULL, 1);
        }
    }
    return false;
}

/* ---- x sigmoid(alpha x), x hard_sigmoid(x) ---- */

static bool match_swish(mr_rewrite *r, int at)
{
    mr_taken t = {.at = {at}, .n = 1};
    int x, inner = mr_rewrite_is(r, at, "Mul") ? mr_take_operand(r, &t, at, "Sigmoid", &x) : -1;
    if (inner < 0) return false;
    int u = mr_rewrite_node(r, inner)->in[0];
    if (u == x) return put(r, "Swish", 24, x, &t, NULL, 1);
    double alpha;
    int scaled = mr_take(r, &t, u, "Mul");
    return scaled >= 0 && mr_beside_number(r, scaled, &alpha) == x && put(r, "Swish", 24, x, &t, NULL, alpha);
}

static bool is_hard_sigmoid(const mr_node *n, mr_dtype d)
{
    const mr_attr *alpha = mr_node_attr(n, "alpha"), *beta = mr_node_attr(n, "beta");
    return alpha && mr_is_number(d, alpha->f, 1 / 6.0) && (!beta || beta->f == 0.5f);
}

static bool match_hard_swish(mr_rewrite *r, int at)
{
    mr_taken t = {.at = {at}, .n = 1};
    int x, inner = mr_rewrite_is(r, at, "Mul") ? mr_take_operand(r, &t, at, "HardSigmoid", &x) : -1;
    if (inner < 0) return false;
    const mr_node *n = mr_rewrite_node(r, inner);
    return n->in[0] == x && is_hard_sigmoid(n, mr_rewrite_dtype(r, x)) && put(r, "HardSwish", 14, x, &t, NULL, 1);
}

/* min(max(x + 3, 0), 6) */
static bool is_relu6_of(const mr_rewrite *r, mr_taken *t, int id, int x)
{
    double low, high, three;
    int at = mr_take(r, t, id, "Clip");
    if (at < 0) return false;
    const mr_node *n = mr_rewrite_node(r, at);
    const mr_attr *min = mr_node_attr(n, "min"), *max = mr_node_attr(n, "max");
    if (n->n_in == 3 ? !mr_rewrite_number(r, n->in[1], &low) || !mr_rewrite_number(r, n->in[2], &high) : !min || !max)
        return false;
    if (n->n_in != 3) low = min->f, high = max->f;
    int sum = mr_take(r, t, n->in[0], "Add");
    return low == 0 && high == 6 && sum >= 0 && mr_beside_number(r, sum, &three) == x && three == 3;
}

/* x relu6(x + 3) / 6, in any order of the factors. */
static bool match_hard_swish_spelled(mr_rewrite *r, int at)
{
    mr_taken t = {.at = {at}, .n = 1};
    bool ok = true;
    factors f;
    double six = 1;
    if (mr_rewrite_is(r, at, "Div")) {
        int product = mr_beside_number(r, at, &six), mul = product < 0 ? -1 : mr_take(r, &t, product, "Mul");
        if (mul < 0) return false;
        f = factors_of(r, &t, mul, &ok);
    } else {
        f = factors_of(r, &t, at, &ok);
    }
    if (!ok || f.n != 2 || !mr_is_number(mr_rewrite_dtype(r, f.id[0]), f.number / six, 1 / 6.0)) return false;
    for (int i = 0; i < 2; i++) {
        mr_taken all = t;
        if (is_relu6_of(r, &all, f.id[i], f.id[!i])) return put(r, "HardSwish", 14, f.id[!i], &all, NULL, 1);
    }
    return false;
}

const mr_rule mr_rules_gelu[] = {
    {"gelu", "x (1 + Erf(x / √2)) / 2, and its form with Tanh: Gelu", 2, match_gelu},
    {"swish", "x Sigmoid(alpha x): Swish", 2, match_swish},
    {"hard_swish", "x HardSigmoid(x): HardSwish", 2, match_hard_swish},
    {"hard_swish_clip", "x Clip(x + 3, 0, 6) / 6: HardSwish", 2, match_hard_swish_spelled},
    {0},
};

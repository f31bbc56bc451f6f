/* rewrite_norm.c: norms of the last axis that are spelled out: LayerNormalization and RMSNormalization. */
#include "ops/rewrites.h"

/* A mean over the last axis that keeps it: of which value. */
static int take_mean(const mr_rewrite *r, mr_taken *t, int id)
{
    int at = mr_take(r, t, id, "ReduceMean");
    if (at < 0) return -1;
    const mr_node *n = mr_rewrite_node(r, at);
    const mr_shape *x = mr_rewrite_shape(r, n->in[0]);
    const mr_attr *axes = mr_node_attr(n, "axes"), *keep = mr_node_attr(n, "keepdims");
    const mr_tensor *given = n->n_in > 1 ? mr_rewrite_known(r, n->in[1]) : NULL;
    const bool one = given ? mr_tensor_count(given) == 1 : axes && axes->n == 1;
    if (!x || !one || (keep && !keep->i)) return -1;
    const int64_t axis = given ? mr_tensor_int(given, 0) : axes->ints[0];
    return axis == -1 || axis == x->rank - 1 ? n->in[0] : -1;
}

/* Is the value x²? */
static bool take_square(const mr_rewrite *r, mr_taken *t, int id, int x)
{
    double two;
    int at = mr_take(r, t, id, "Pow");
    if (at >= 0) return mr_beside_number(r, at, &two) == x && mr_rewrite_node(r, at)->in[0] == x && two == 2;
    at = mr_take(r, t, id, "Mul");
    return at >= 0 && mr_rewrite_node(r, at)->in[0] == x && mr_rewrite_node(r, at)->in[1] == x;
}

/* Is the value √(mean(x²) + epsilon)? */
static bool take_root(const mr_rewrite *r, mr_taken *t, int id, int x, double *epsilon)
{
    int at = mr_take(r, t, id, "Sqrt");
    int sum = at < 0 ? -1 : mr_take(r, t, mr_rewrite_node(r, at)->in[0], "Add");
    int mean = sum < 0 ? -1 : mr_beside_number(r, sum, epsilon);
    int square = mean < 0 ? -1 : take_mean(r, t, mean);
    return square >= 0 && take_square(r, t, square, x);
}

/* Of x / √… or x · (1 / √…), which ends at a position: x. */
static int standardized(const mr_rewrite *r, mr_taken *t, int at, double *epsilon)
{
    const mr_node *n = mr_rewrite_node(r, at);
    if (mr_rewrite_is(r, at, "Div")) return take_root(r, t, n->in[1], n->in[0], epsilon) ? n->in[0] : -1;
    if (!mr_rewrite_is(r, at, "Mul")) return -1;
    for (int i = 0; i < 2; i++) {
        mr_taken all = *t;
        double one;
        int inverse = mr_take(r, &all, n->in[i], "Reciprocal"), root = -1;
        if (inverse >= 0) root = mr_rewrite_node(r, inverse)->in[0];
        if (inverse < 0 && (inverse = mr_take(r, &all, n->in[i], "Div")) >= 0 &&
            mr_rewrite_number(r, mr_rewrite_node(r, inverse)->in[0], &one) && one == 1)
            root = mr_rewrite_node(r, inverse)->in[1];
        if (root < 0 || !take_root(r, &all, root, n->in[!i], epsilon)) continue;
        *t = all;
        return n->in[!i];
    }
    return -1;
}

/* The one that follows, of this operator, with a known vector of the last axis's size: its id. */
static int take_vector(const mr_rewrite *r, mr_taken *t, int *y, const char *op)
{
    const mr_shape *s = mr_rewrite_shape(r, *y);
    int at = mr_rewrite_user(r, *y);
    if (!s || !mr_rewrite_is(r, at, op) || t->n == 16) return -1;
    const mr_node *n = mr_rewrite_node(r, at);
    int id = mr_beside(n, *y);
    const mr_tensor *v = mr_rewrite_known(r, id);
    if (!v || v->rank != 1 || v->dims[0] != s->d[s->rank - 1] || v->dtype != mr_rewrite_dtype(r, *y)) return -1;
    t->at[t->n++] = at;
    *y = n->out[0];
    return id;
}

static int ones(mr_rewrite *r, mr_dtype d, int64_t n)
{
    mr_value *v = d == MR_F32 ? mr_value_uninit(d, 1, &n) : NULL;
    for (int64_t i = 0; v && i < n; i++) ((float *)v->t.data)[i] = 1;
    return v ? mr_rewrite_constant(r, v, "ones") : -1;
}

/* Of x - mean(x): x. */
static int centered(const mr_rewrite *r, mr_taken *t, int id)
{
    int at = mr_rewrite_maker(r, id);
    if (!mr_rewrite_is(r, at, "Sub") || t->n == 16) return -1;
    const mr_node *n = mr_rewrite_node(r, at);
    mr_taken all = *t;
    if (take_mean(r, &all, n->in[1]) != n->in[0]) return -1;
    *t = all;
    t->at[t->n++] = at;
    return n->in[0];
}

static bool match_norm(mr_rewrite *r, int at)
{
    mr_taken t = {.at = {at}, .n = 1};
    double epsilon;
    int d = standardized(r, &t, at, &epsilon), y = mr_rewrite_node(r, at)->out[0];
    const mr_shape *s = mr_rewrite_shape(r, d);
    if (d < 0 || !s || s->rank < 1) return false;
    const int64_t size = s->d[s->rank - 1];
    int x = mr_rewrite_reads(r, d, t.at, t.n) ? centered(r, &t, d) : -1;
    bool center = x >= 0;
    if (!center) x = d;
    int scale = take_vector(r, &t, &y, "Mul"), bias = center ? take_vector(r, &t, &y, "Add") : -1;
    if (scale < 0) scale = ones(r, mr_rewrite_dtype(r, x), size);
    mr_node *n =
        mr_rewrite_make(r, "", center ? "LayerNormalization" : "RMSNormalization", center ? 17 : 23, 2 + center);
    if (!n || scale < 0) return false;
    n->in[0] = x, n->in[1] = scale;
    if (center) n->in[2] = bias;
    mr_rewrite_float(r, n, "epsilon", (float)epsilon);
    return mr_rewrite_replace(r, n, t.at, t.n);
}

const mr_rule mr_rules_norm[] = {
    {"norm", "(x - mean) / √(mean of squares + epsilon), scale and bias: LayerNormalization, or RMSNormalization", 2,
     match_norm},
    {0},
};

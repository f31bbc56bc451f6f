/* rewrite_attention.c: softmax(Q Kᵀ · scale + mask) V becomes one node, which never holds the scores, and reads its
 * operands through the transposes before them. */
#include "ops/fused.h"
#include "ops/fused_attention.h"
#include "ops/rewrites.h"

/* perm of a Transpose whose input has a rank; false: none that is usable. */
static bool perm_of(const mr_rewrite *r, int at, int rank, int *perm)
{
    const mr_attr *a = mr_node_attr(mr_rewrite_node(r, at), "perm");
    (void)r;
    if (a && a->n != rank) return false;
    for (int i = 0; i < rank; i++) perm[i] = a ? (int)a->ints[i] : rank - 1 - i;
    return true;
}

/* Numbers that the value is multiplied with go into *scale; the id of what is left. */
static int take_scale(const mr_rewrite *r, mr_taken *t, int id, double *scale)
{
    double v;
    int at = mr_take(r, t, id, "Mul");
    if (at >= 0) {
        int other = mr_beside_number(r, at, &v);
        if (other >= 0) return *scale *= v, other;
        t->n--;
    }
    if ((at = mr_take(r, t, id, "Div")) >= 0) {
        int other = mr_beside_number(r, at, &v);
        if (other >= 0) return *scale /= v, other;
        t->n--;
    }
    return id;
}

/* An operand of [batch, head, row, size], or [batch, row, size]: what is read in its place, and where its axes are
 * there. turned: the last two are the other way round. */
static bool operand(const mr_rewrite *r, mr_taken *t, int *id, bool turned, double *scale, mr_attention_axes *x)
{
    int perm[MR_MAX_RANK] = {0, 1, 2, 3};
    if (scale) *id = take_scale(r, t, *id, scale);
    const mr_shape *s = mr_rewrite_shape(r, *id);
    if (!s || s->rank < 3 || s->rank > 4) return false;
    const int rank = s->rank;
    int at = mr_take(r, t, *id, "Transpose");
    if (at >= 0 && perm_of(r, at, rank, perm) && perm[rank - 1 - turned] == rank - 1) {
        *id = mr_rewrite_node(r, at)->in[0];
        if (scale) *id = take_scale(r, t, *id, scale);
    } else {
        if (at >= 0) t->n--;
        if (turned) return false;
        for (int i = 0; i < rank; i++) perm[i] = i;
    }
    *x = (mr_attention_axes){perm[0], rank == 4 ? perm[1] : -1, perm[rank - 1 - !turned]};
    return true;
}

/* Where(IsNaN(p), 0, p) of the softmax p: whose id, which both read. */
static int take_guard(const mr_rewrite *r, mr_taken *t, int id)
{
    double zero;
    int at = mr_take(r, t, id, "Where");
    if (at < 0) return -1;
    const mr_node *n = mr_rewrite_node(r, at);
    int nan = mr_take(r, t, n->in[0], "IsNaN");
    if (nan < 0 || !mr_rewrite_number(r, n->in[1], &zero) || zero != 0) return -1;
    return mr_rewrite_node(r, nan)->in[0] == n->in[2] ? n->in[2] : -1;
}

/* The softmax over the last axis that makes the value, which only the nodes taken so far read. */
static int take_softmax(const mr_rewrite *r, mr_taken *t, int id)
{
    int at = mr_rewrite_maker(r, id);
    const mr_shape *s = mr_rewrite_shape(r, id);
    if (!mr_rewrite_is(r, at, "Softmax") || !s || !mr_rewrite_reads(r, id, t->at, t->n) || t->n == 16) return -1;
    const mr_node *n = mr_rewrite_node(r, at);
    const mr_attr *axis = mr_node_attr(n, "axis");
    const int64_t given = axis ? axis->i : n->schema->since < 13 ? 1 : -1;
    if (given != -1 && given != s->rank - 1) return -1;
    t->at[t->n++] = at;
    return n->in[0];
}

static bool fits_mask(const mr_rewrite *r, int mask, int scores)
{
    const mr_shape *m = mr_rewrite_shape(r, mask), *s = mr_rewrite_shape(r, scores);
    if (!m || !s || m->rank > s->rank || mr_rewrite_dtype(r, mask) != mr_rewrite_dtype(r, scores)) return false;
    for (int k = 1; k <= m->rank; k++)
        if (m->d[m->rank - k] != 1 && m->d[m->rank - k] != s->d[s->rank - k]) return false;
    return true;
}

/* The product of the scores, and the mask that is added (-1: none): their maker's position. */
static int take_scores(const mr_rewrite *r, mr_taken *t, int id, int *mask, double *scale)
{
    *mask = -1;
    int sum = mr_take(r, t, id, "Add");
    for (int i = 0; sum >= 0 && i < 2; i++) {
        const mr_node *n = mr_rewrite_node(r, sum);
        mr_taken all = *t;
        double s = *scale;
        int product = mr_take(r, &all, take_scale(r, &all, n->in[i], &s), "MatMul");
        if (product < 0 || !fits_mask(r, n->in[!i], n->in[i])) continue;
        *t = all, *scale = s, *mask = n->in[!i];
        return product;
    }
    return sum >= 0 ? -1 : mr_take(r, t, take_scale(r, t, id, scale), "MatMul");
}

static bool same_front(const mr_rewrite *r, int a, int b)
{
    const mr_shape *x = mr_rewrite_shape(r, a), *y = mr_rewrite_shape(r, b);
    bool same = x && y && x->rank == y->rank && x->rank >= 3;
    for (int d = 0; same && d < x->rank - 2; d++) same = x->d[d] == y->d[d];
    return same;
}

/* A transpose behind it that leaves the vectors whole: the output is written where it would put it. */
static int take_output(const mr_rewrite *r, mr_taken *t, int id, mr_attention_axes *y)
{
    const int rank = mr_rewrite_shape(r, id)->rank, at = mr_rewrite_user(r, id);
    int perm[MR_MAX_RANK] = {0}, where[MR_MAX_RANK] = {0};
    *y = (mr_attention_axes){0, rank == 4 ? 1 : -1, rank - 2};
    if (!mr_rewrite_is(r, at, "Transpose") || !perm_of(r, at, rank, perm) || perm[rank - 1] != rank - 1) return id;
    if (t->n == 16) return id;
    for (int i = 0; i < rank; i++) where[perm[i]] = i;
    *y = (mr_attention_axes){where[0], rank == 4 ? where[1] : -1, where[rank - 2]};
    t->at[t->n++] = at;
    return mr_rewrite_node(r, at)->out[0];
}

static bool match_attention(mr_rewrite *r, int at)
{
    if (!mr_rewrite_is(r, at, "MatMul")) return false;
    const mr_node *mix = mr_rewrite_node(r, at);
    mr_taken t = {.at = {at}, .n = 1};
    double scale = 1;
    int weights = take_guard(r, &t, mix->in[0]), mask, q, k, v = mix->in[1];
    const bool zeros = weights >= 0;
    if (!zeros) t.n = 1, weights = mix->in[0];
    int scores = take_softmax(r, &t, weights), product = scores < 0 ? -1 : take_scores(r, &t, scores, &mask, &scale);
    mr_fused_attention *f = product < 0 ? NULL : mr_rewrite_alloc(r, sizeof *f);
    if (!f) return false;
    q = mr_rewrite_node(r, product)->in[0], k = mr_rewrite_node(r, product)->in[1];
    if (!same_front(r, q, k) || !same_front(r, weights, v)) return false;
    if (!operand(r, &t, &q, false, &scale, &f->q) || !operand(r, &t, &k, true, &scale, &f->k) ||
        !operand(r, &t, &v, false, NULL, &f->v))
        return false;
    int y = take_output(r, &t, mix->out[0], &f->y);
    f->scale = scale, f->zeros = zeros;
    f->type = mr_rewrite_dtype(r, y), f->shape = *mr_rewrite_shape(r, y);
    mr_node *n = mr_rewrite_make(r, MR_FUSED_DOMAIN, "Attention", 1, 4);
    if (!n) return false;
    n->in[0] = q, n->in[1] = k, n->in[2] = v, n->in[3] = mask;
    n->fused = f;
    return mr_rewrite_replace(r, n, t.at, t.n);
}

/* ---- transposes ---- */

static bool put_transpose(mr_rewrite *r, int x, const int64_t *perm, int rank, const mr_taken *t)
{
    mr_node *n = mr_rewrite_make(r, "", "Transpose", 13, 1);
    if (!n) return false;
    n->in[0] = x;
    mr_rewrite_ints(r, n, "perm", rank, perm);
    return mr_rewrite_replace(r, n, t->at, t->n);
}

/* A transpose of a transpose is one. */
static bool match_two(mr_rewrite *r, int at)
{
    mr_taken t = {.at = {at}, .n = 1};
    int inner = mr_rewrite_is(r, at, "Transpose") ? mr_take(r, &t, mr_rewrite_node(r, at)->in[0], "Transpose") : -1;
    const mr_shape *s = inner < 0 ? NULL : mr_rewrite_shape(r, mr_rewrite_node(r, inner)->in[0]);
    int p[MR_MAX_RANK], q[MR_MAX_RANK];
    int64_t both[MR_MAX_RANK];
    if (!s || !perm_of(r, inner, s->rank, p) || !perm_of(r, at, s->rank, q)) return false;
    for (int i = 0; i < s->rank; i++) both[i] = p[q[i]];
    return put_transpose(r, mr_rewrite_node(r, inner)->in[0], both, s->rank, &t);
}

/* Leading axes that are made one, the last two exchanged, and the axes parted again: one transpose. */
static bool match_merged(mr_rewrite *r, int at)
{
    static const int turned[] = {0, 2, 1};
    mr_taken t = {.at = {at}, .n = 1};
    int inner = mr_rewrite_is(r, at, "Reshape") ? mr_take(r, &t, mr_rewrite_node(r, at)->in[0], "Transpose") : -1;
    int merge = inner < 0 ? -1 : mr_take(r, &t, mr_rewrite_node(r, inner)->in[0], "Reshape"), perm[MR_MAX_RANK];
    if (merge < 0 || !mr_rewrite_shape(r, mr_rewrite_node(r, merge)->out[0])) return false;
    const int x = mr_rewrite_node(r, merge)->in[0];
    const mr_shape *s = mr_rewrite_shape(r, x), *m = mr_rewrite_shape(r, mr_rewrite_node(r, merge)->out[0]),
                   *y = mr_rewrite_shape(r, mr_rewrite_node(r, at)->out[0]);
    if (!s || !y || m->rank != 3 || s->rank != y->rank || s->rank < 3 || !perm_of(r, inner, 3, perm)) return false;
    int64_t to[MR_MAX_RANK];
    for (int i = 0; i < 3; i++)
        if (perm[i] != turned[i]) return false;
    for (int d = 0; d < s->rank; d++) to[d] = d;
    to[s->rank - 1] = s->rank - 2, to[s->rank - 2] = s->rank - 1;
    for (int d = 0; d < s->rank; d++)
        if (y->d[d] != s->d[to[d]]) return false;
    if (m->d[1] != s->d[s->rank - 2] || m->d[2] != s->d[s->rank - 1]) return false;
    return put_transpose(r, x, to, s->rank, &t);
}

const mr_rule mr_rules_attention[] = {
    {"transpose_parts", "Reshape, Transpose of the last two axes, Reshape: one Transpose", 1, match_merged},
    {"transpose_two", "Transpose of a Transpose: one Transpose", 1, match_two},
    {"attention", "Softmax(Q Kᵀ · scale + mask) V, with the transposes around it: attention without the scores", 2,
     match_attention},
    {0},
};

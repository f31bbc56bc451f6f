/* rewrite_chain.c: elementwise functions go behind the convolution or product that makes their first operand, or
 * together, one after the other over parts that stay in cache. The same bits: every link rounds as its node does. */
#include <string.h>

#include "kernels/cpu/cpu.h"
#include "ops/fused.h"
#include "ops/matmul.h"
#include "runtime/rewrite.h"

typedef struct chain {
    mr_rewrite *r;
    mr_fused *fused;
    int at[1 + MR_FUSED_LINKS], n_at;
    int operand[MR_FUSED_OPERANDS], n_operands;
    int y; /* the last value */
} chain;

static bool same_shape(const chain *c, int a, int b)
{
    const mr_shape *x = mr_rewrite_shape(c->r, a), *y = mr_rewrite_shape(c->r, b);
    return x && y && mr_shape_equal(x, y);
}

/* The elementwise function of the node, if its output is of the same type and shape as one of its inputs. */
static bool elementwise(const chain *c, const mr_node *n, mr_call *call, const void **params, int *n_in)
{
    const mr_impl *row = n->n_out == 1 ? mr_rewrite_row(c->r, n, call) : NULL;
    if (!row || !row->each || !(*params = row->each(call, n_in))) return false;
    for (int i = 0; i < *n_in; i++)
        if (mr_rewrite_dtype(c->r, n->in[i]) != mr_rewrite_dtype(c->r, n->out[0])) return false;
    return mr_rewrite_dtype(c->r, n->out[0]) != MR_UNDEFINED;
}

/* One more link: the node at a position, which reads `value` as its input i. */
static bool append(chain *c, int at, int value)
{
    const mr_node *n = mr_rewrite_node(c->r, at);
    mr_fused *f = c->fused;
    mr_call call;
    const void *params;
    int n_in;
    if (f->n == MR_FUSED_LINKS || !elementwise(c, n, &call, &params, &n_in)) return false;
    int which = n->in[0] == value ? 0 : 1;
    if (which >= n_in || !same_shape(c, value, n->out[0])) return false;
    mr_chain_link *k = &f->link[f->n];
    *k = (mr_chain_link){.fn = (mr_elementwise_fn)call.fn, .params = params, .operand = -1, .first = which == 1};
    if (n_in == 2) {
        if (c->n_operands == MR_FUSED_OPERANDS) return false;
        c->operand[c->n_operands++] = n->in[!which];
        k->operand = c->n_operands;
    }
    f->n++;
    c->at[c->n_at++] = at;
    c->y = n->out[0];
    return true;
}

static void grow(chain *c)
{
    for (int at; (at = mr_rewrite_user(c->r, c->y)) >= 0;)
        if (!append(c, at, c->y)) return;
}

static bool put(chain *c, mr_node *n, const mr_node *front, int n_own, bool without_c)
{
    mr_fused *f = c->fused;
    if (!n) return false;
    for (int i = 0; i < n_own && front; i++) n->in[i] = i < front->n_in && !(without_c && i == 2) ? front->in[i] : -1;
    for (int i = 0; i < c->n_operands; i++) n->in[n_own + i] = c->operand[i];
    f->n_own = n_own;
    f->type = mr_rewrite_dtype(c->r, c->y);
    f->shape = *mr_rewrite_shape(c->r, c->y);
    n->fused = f;
    return mr_rewrite_replace(c->r, n, c->at, c->n_at);
}

static chain start(mr_rewrite *r)
{
    return (chain){.r = r, .fused = mr_rewrite_alloc(r, sizeof(mr_fused))};
}

/* ---- behind a convolution or a product ---- */

/* C of a Gemm is added to the rounded product of floats, by kernels that take a tail: a link does it in whole vectors.
 */
static void take_c(chain *c, const mr_node *gemm)
{
    static const mr_binary_params none = {0};
    mr_call call;
    const int id = gemm->n_in > 2 ? gemm->in[2] : -1;
    const mr_gemm_params *p = gemm->params;
    if (id < 0 || p->beta != 1 || mr_rewrite_dtype(c->r, id) != MR_F32) return;
    if (!mr_rewrite_row(c->r, gemm, &call) || !call.cpu->gemm.pack_size[MR_F32]) return;
    c->fused->link[c->fused->n++] =
        (mr_chain_link){.fn = call.cpu->binary.fn[MR_ADD][MR_F32], .params = &none, .operand = 1};
    c->operand[c->n_operands++] = id;
}

static bool match_front(mr_rewrite *r, int at)
{
    static const struct {
        const char *op;
        int n_own;
    } fronts[] = {{"Conv", 3}, {"MatMul", 2}, {"Gemm", 3}};
    enum { GEMM = 2 };
    const mr_node *front = mr_rewrite_node(r, at);
    int k = 0;
    while (k < 3 && !mr_rewrite_is(r, at, fronts[k].op)) k++;
    if (k == 3 || !mr_rewrite_shape(r, front->out[0])) return false;
    chain c = start(r);
    if (!c.fused) return false;
    c.at[c.n_at++] = at;
    c.y = front->out[0];
    if (k == GEMM) take_c(&c, front);
    const bool taken = c.fused->n > 0;
    grow(&c);
    if (!c.fused->n) return false;
    const int n_own = fronts[k].n_own;
    mr_node *n = mr_rewrite_make(r, MR_FUSED_DOMAIN, fronts[k].op, 1, n_own + c.n_operands);
    if (n) n->params = front->params;
    return put(&c, n, front, n_own, taken);
}

/* ---- alone ---- */

static bool match_alone(mr_rewrite *r, int at)
{
    const mr_node *n = mr_rewrite_node(r, at);
    chain c = start(r);
    if (!c.fused || *n->domain) return false;
    for (int i = 0; i < 2 && i < n->n_in && !c.fused->n; i++) {
        c.y = n->in[i];
        if (c.y >= 0 && append(&c, at, n->in[i])) grow(&c);
    }
    if (c.fused->n < 2) return false;
    const int x = c.fused->link[0].first ? n->in[1] : n->in[0];
    for (int i = 0; i < c.n_operands; i++) c.fused->again |= c.operand[i] == x;
    mr_node *made = mr_rewrite_make(r, MR_FUSED_DOMAIN, "Chain", 1, 1 + c.n_operands);
    if (made) made->in[0] = x;
    return put(&c, made, NULL, 1, false);
}

const mr_rule mr_rules_chain[] = {
    {"front", "Conv, MatMul or Gemm, and elementwise functions behind it: in its blocks", 2, match_front},
    {"chain", "elementwise functions one after the other: in one pass", 2, match_alone},
    {0},
};

/* fold.c: nodes whose outputs can be known while planning: constants, views of known values, and what is computed at
 * once because its inputs are known and small. That is how shape arithmetic becomes values. */
#include "builder.h"
#include "carrier.h"

#include <string.h>

#define FOLD_SMALL (64 << 10) /* bytes: what shapes need */
#define FOLD_LARGE (64 << 20) /* bytes: weights transposed, cast, …, in fast mode */

static size_t known_bytes(const mr_arg *a, int n)
{
    size_t sum = 0;
    for (int i = 0; i < n; i++)
        if (a[i].t) sum += mr_tensor_bytes(a[i].t);
    return sum;
}

bool mr_may_fold(const mr_builder *b, const mr_call *c)
{
    const mr_op *op = c->node->op;
    if (op->flags & (MR_OP_RANDOM | MR_OP_CONTROL | MR_OP_STATEFUL | MR_OP_OWN_OUTPUT)) return false;
    for (int i = 0; i < c->n_in; i++) {
        const mr_arg *a = &c->in[i];
        if (a->type.kind == MR_NONE) continue;
        if (a->type.kind != MR_TENSOR) return false;
        if (op->flags & MR_OP_SHAPE_ONLY ? !mr_shape_known(&a->shape) : !a->t) return false;
    }
    size_t total = 0, bytes;
    for (int o = 0; o < c->n_out; o++) {
        if (c->node->out[o] < 0) continue;
        if (c->out[o].type.kind != MR_TENSOR || !mr_shape_known(&c->out[o].shape) ||
            !mr_shape_bytes(&c->out[o].shape, mr_out_dtype(c, o), &bytes))
            return false;
        total += bytes;
    }
    if (total <= FOLD_SMALL) return known_bytes(c->in, c->n_in) <= FOLD_LARGE;
    bool large = b->s->options.mode == MR_MODE_FAST && b->s->options.optimize > 0 && !b->all;
    return large && total <= FOLD_LARGE && total <= 4 * known_bytes(c->in, c->n_in);
}

/* What a folded node gave, as the session carries it. */
static bool set_result(mr_builder *b, int id, mr_value *v)
{
    mr_dtype declared = b->p->values[id].declared;
    if (b->s->options.f64) {
        mr_value *wide = mr_carrier_value(v);
        if (!declared) declared = (mr_dtype)v->type.elem;
        mr_value_release(v);
        if (!(v = wide)) return false;
    }
    mr_pvalue_set_known(&b->p->values[id], v);
    b->p->values[id].declared = b->s->options.f64 ? declared : MR_UNDEFINED;
    return true;
}

bool mr_fold_node(mr_builder *b, mr_call *c, const mr_impl *impl)
{
    const mr_node *n = c->node;
    mr_value **outs = MR_REGION_NEW(&b->p->region, mr_value *, n->n_out + 1);
    if (!outs) return false;
    mr_status st = mr_fold(c, impl, outs);
    bool ok = st == MR_OK;
    if (st && st != MR_ENODE) mr_error_clear(c->error); /* no room for it now, say; a run may still do it */
    for (int o = 0; o < n->n_out; o++)
        if (n->out[o] >= 0 && ok)
            ok = set_result(b, n->out[o], outs[o]);
        else
            mr_value_release(outs[o]);
    if (ok) b->p->folded[b->p->n_folded++] = n;
    return ok;
}

/* A view of a known value is known: the same bytes under the inferred shape. */
bool mr_fold_view(mr_builder *b, const mr_call *c)
{
    if (!c->in[0].t || !mr_shape_known(&c->out[0].shape)) return false;
    mr_tensor t = *c->in[0].t;
    mr_tensor_set_shape(&t, &c->out[0].shape);
    mr_value *v = mr_value_borrow(&t);
    if (!v) return false;
    mr_pvalue_set_known(&b->p->values[c->node->out[0]], v);
    b->p->folded[b->p->n_folded++] = c->node;
    return true;
}

bool mr_fold_constant(mr_builder *b, const mr_node *n)
{
    mr_value *v = n->op->constant(n, n->params);
    if (!v) return false;
    if (!set_result(b, n->out[0], v)) return false;
    b->p->folded[b->p->n_folded++] = n;
    return true;
}

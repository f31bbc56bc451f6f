/* flops.c: operations of the nodes of a plan. Rows count what they do; here is what a row is asked with. */
#include "engine.h"

#include <math.h>
#include <string.h>

static void set_arg(const mr_plan *p, int id, mr_arg *a)
{
    *a = (mr_arg){.shape = mr_shape_unknown()};
    if (id < 0) return;
    const mr_pvalue *v = &p->values[id];
    *a = (mr_arg){.type = v->type, .shape = v->shape, .v = v->known, .elems = v->elems};
    if (v->known && v->known->type.kind == MR_TENSOR) a->t = &v->known->t;
}

static bool shapes_known(const mr_call *c)
{
    for (int i = 0; i < c->n_in + c->n_out; i++) {
        const mr_arg *a = &c->in[i];
        bool there = i < c->n_in ? c->node->in[i] >= 0 : c->node->out[i - c->n_in] >= 0;
        if (there && (a->type.kind != MR_TENSOR || !mr_shape_known(&a->shape))) return false;
    }
    return true;
}

double mr_node_flops(mr_plan *p, const mr_node *n)
{
    if (!n->op || !n->op->flops) return 0;
    mr_region region = {0};
    mr_error ignored = {0};
    mr_exec exec = {.session = p->session, .plan = p, .region = &region};
    mr_arg *args = MR_REGION_NEW(&region, mr_arg, n->n_in + n->n_out + 1);
    if (!args) return NAN;
    mr_call c = {.node = n, .params = n->params, .n_in = n->n_in, .n_out = n->n_out, .error = &ignored, .exec = &exec};
    c.in = args, c.out = args + n->n_in;
    for (int i = 0; i < n->n_in; i++) set_arg(p, n->in[i], &c.in[i]);
    for (int o = 0; o < n->n_out; o++) set_arg(p, n->out[o], &c.out[o]);
    bool asked = n->op->flags & MR_OP_CONTROL || shapes_known(&c);
    double flops = asked ? n->op->flops(&c) : NAN;
    mr_error_clear(&ignored);
    mr_region_free(&region);
    return flops;
}

double mr_call_flops(const mr_call *c)
{
    const mr_op *op = c->node->op;
    double flops = op && op->flops && !(op->flags & MR_OP_CONTROL) ? op->flops(c) : 0;
    return isnan(flops) ? 0 : flops;
}

double mr_subgraph_flops(const mr_call *c, int k)
{
    const mr_graph *sub = c->node->subgraphs[k];
    mr_plan *p = c->exec->session->judged ? c->exec->session->judged[sub->id] : NULL;
    double sum = p ? 0 : NAN;
    for (int i = 0; p && i < sub->n_nodes; i++) sum += mr_node_flops(p, sub->nodes[i]);
    return sum;
}

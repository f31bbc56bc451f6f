/* subgraph.c: what a control-flow row asks for: types and results of its subgraphs, each planned for its signature. */
#include "builder.h"

#include <stdlib.h>
#include <string.h>

/* Under --precision f64 a body declares its inputs' element types itself, or the checks see the carrier. */
static mr_dtype formal_dtype(const mr_call *c, const mr_graph *sub, int i)
{
    return c->exec->session->options.f64 ? (mr_dtype)sub->values[sub->inputs[i]].decl.type.elem : MR_UNDEFINED;
}

/* How the captures of a subgraph look from the frame (running) or the plan (planning) that holds its node. */
void mr_capture_keys(const mr_call *c, const mr_graph *sub, mr_key *keys)
{
    const mr_plan *p = c->exec->plan;
    for (int i = 0; i < sub->n_captures; i++) {
        int id = sub->values[sub->captures[i]].outer;
        const mr_pvalue *v = &p->values[id];
        keys[i] = (mr_key){v->type, v->shape, v->known, v->declared};
        if (c->exec->frame && !v->known && v->type.kind == MR_TENSOR)
            keys[i].shape = mr_tensor_shape(&c->exec->frame->slots[id].t);
    }
}

static void adopt_refusals(mr_plan *to, const mr_plan *from, bool certain)
{
    for (int i = 0; i < from->refusals.n; i++) {
        mr_refusal *r = mr_refusals_copy(&to->refusals, &from->refusals.at[i]);
        if (r && !certain && mr_is_conflict(r->error.code)) r->kind = MR_REFUSE_DEPENDS;
    }
    to->refusals.dependents += from->refusals.dependents;
}

/* What was judged is kept if somebody wants it. */
static void judge(mr_session *s, const mr_graph *sub, mr_plan *p)
{
    if (s->judged) {
        mr_plan *before = s->judged[sub->id];
        s->judged[sub->id] = p;
        p = before;
    }
    mr_plan_free(p);
}

mr_status mr_infer_subgraph(mr_call *c, int k, bool certain, int n_in, const mr_typed_shape *in, int n_out,
                            mr_typed_shape *out)
{
    mr_session *s = c->exec->session;
    const mr_graph *sub = c->node->subgraphs[k];
    bool planning = !c->exec->frame;
    if (sub->n_inputs != n_in)
        return mr_call_fail(c, MR_E_ARITY, "subgraph '%s' has %d inputs, needs %d", sub->name, sub->n_inputs, n_in);
    if (sub->n_outputs != n_out)
        return mr_call_fail(c, MR_E_ARITY, "subgraph '%s' has %d outputs, needs %d", sub->name, sub->n_outputs, n_out);
    int n_keys = n_in + sub->n_captures;
    mr_key *keys = mr_call_alloc(c, sizeof *keys * ((size_t)n_keys + 1));
    if (!keys) return c->error->status;
    for (int i = 0; i < n_in; i++) keys[i] = (mr_key){in[i].type, in[i].shape, NULL, formal_dtype(c, sub, i)};
    mr_capture_keys(c, sub, keys + n_in);
    /* Under check every node counts, and nothing is kept; otherwise the plan is likely the one that will run. */
    mr_plan *p =
        s->checking ? mr_plan_build(s, sub, keys, n_keys, true, c->error) : mr_plan_get(s, sub, keys, n_keys, c->error);
    if (!p) return c->error->status;
    if (planning) adopt_refusals(c->exec->plan, p, certain);
    for (int o = 0; o < n_out; o++) {
        const mr_pvalue *v = &p->values[p->outputs[o]];
        out[o] = (mr_typed_shape){v->type, v->shape};
    }
    if (s->checking) judge(s, sub, p);
    return MR_OK;
}

static mr_status refused(mr_call *c, const mr_plan *p)
{
    for (int i = 0; i < p->refusals.n; i++) {
        const mr_refusal *r = &p->refusals.at[i];
        if (r->kind == MR_REFUSE_DEPENDS) continue;
        mr_fail_as(c->error, MR_ENODE, r->error.code, "%s", r->error.text);
        c->error->where = r->error.where ? strdup(r->error.where) : NULL;
        if (r->error.hint) mr_error_hint(c->error, "%s", r->error.hint);
        return c->error->status;
    }
    return MR_OK;
}

mr_status mr_call_subgraph(mr_call *c, int k, int n_in, mr_value *const *in, int n_out, mr_value **out)
{
    mr_session *s = c->exec->session;
    const mr_graph *sub = c->node->subgraphs[k];
    int n_keys = n_in + sub->n_captures;
    mr_key *keys = calloc((size_t)n_keys + 1, sizeof *keys);
    if (!keys) return mr_call_fail(c, MR_E_MEMORY, "out of memory");
    if (n_in != sub->n_inputs || n_out != sub->n_outputs) {
        free(keys);
        return mr_call_fail(c, MR_E_ARITY, "subgraph '%s' has %d inputs and %d outputs, needs %d and %d", sub->name,
                            sub->n_inputs, sub->n_outputs, n_in, n_out);
    }
    for (int i = 0; i < n_in; i++)
        keys[i] = (mr_key){in[i]->type, in[i]->type.kind == MR_TENSOR ? mr_tensor_shape(&in[i]->t) : mr_shape_unknown(),
                           NULL, formal_dtype(c, sub, i)};
    mr_capture_keys(c, sub, keys + n_in);
    mr_plan *p = mr_plan_get(s, sub, keys, n_keys, c->error);
    free(keys);
    if (!p) return c->error->status;
    if (refused(c, p)) return c->error->status;
    return mr_plan_run(p, in, c->exec->frame, out, c->exec->depth + 1, c->error);
}

/* steps.c: the steps of a plan: kernels, views, copies between memories. */
#include "builder.h"

#include <stdlib.h>
#include <string.h>

static mr_step *new_step(mr_builder *b)
{
    mr_plan *p = b->p;
    if (p->n_steps == b->cap_steps) {
        int cap = b->cap_steps ? 2 * b->cap_steps : 64;
        mr_step *steps = realloc(p->steps, sizeof *steps * (size_t)cap);
        if (!steps) return NULL;
        p->steps = steps, b->cap_steps = cap;
    }
    mr_step *st = &p->steps[p->n_steps++];
    memset(st, 0, sizeof *st);
    return st;
}

bool mr_call_shapes_known(const mr_call *c)
{
    for (int i = 0; i < c->n_in; i++)
        if (c->in[i].type.kind != MR_NONE && (c->in[i].type.kind != MR_TENSOR || !mr_shape_known(&c->in[i].shape)))
            return false;
    for (int o = 0; o < c->n_out; o++)
        if (c->node->out[o] >= 0 && (c->out[o].type.kind != MR_TENSOR || !mr_shape_known(&c->out[o].shape)))
            return false;
    return true;
}

/* One more value of the plan, like id. -1: out of memory. */
static int new_value(mr_builder *b, int id)
{
    mr_plan *p = b->p;
    mr_pvalue *grown = realloc(p->values, sizeof *grown * ((size_t)p->n_values + 2));
    if (!grown) return -1;
    p->values = grown;
    int made = p->n_values++;
    p->values[made] = (mr_pvalue){.type = grown[id].type,
                                  .shape = grown[id].shape,
                                  .dev = grown[id].dev,
                                  .root = made,
                                  .first = -1,
                                  .last = -1,
                                  .twin = -1};
    return made;
}

/* A step of the engine's own, from one value to another; node: on whose behalf. */
static bool new_transfer(mr_builder *b, mr_step_kind kind, const mr_node *n, int from, int to)
{
    int *ids = MR_REGION_NEW(&b->p->region, int, 2);
    mr_step *st = ids ? new_step(b) : NULL;
    if (!st) return false;
    ids[0] = from, ids[1] = to;
    *st = (mr_step){.kind = kind, .node = n, .in = ids, .out = ids + 1, .n_in = 1, .n_out = 1};
    return true;
}

/* A value in the other memory: a constant is uploaded with the frame, anything else gets a step that copies it. */
static int copy_of(mr_builder *b, const mr_node *n, int id)
{
    if (b->p->values[id].twin >= 0) return b->p->values[id].twin;
    int twin = new_value(b, id);
    if (twin < 0) return -1;
    mr_pvalue *from = &b->p->values[id], *to = &b->p->values[twin];
    to->dev = from->dev == MR_CPU ? MR_CUDA : MR_CPU;
    to->twin = id;
    from->twin = twin;
    if (from->known) {
        to->known = mr_value_retain(from->known);
        to->place = MR_AT_CONST;
        return twin;
    }
    return new_transfer(b, MR_STEP_COPY, n, id, twin) ? twin : -1;
}

/* Ids of a node's inputs in the memory where its row reads them. */
static int *inputs_at(mr_builder *b, const mr_node *n, int n_in, mr_device_kind dev, const mr_impl *impl)
{
    if (!b->s->device) return n->in;
    int *ids = MR_REGION_NEW(&b->p->region, int, n_in + 1);
    for (int i = 0; ids && i < n_in; i++) {
        bool host = dev == MR_CPU || (impl && i < 32 && impl->host_in >> i & 1);
        ids[i] = n->in[i];
        if (ids[i] < 0 || b->p->values[ids[i]].type.kind != MR_TENSOR) continue;
        if (b->p->values[ids[i]].dev != (host ? MR_CPU : MR_CUDA)) ids[i] = copy_of(b, n, ids[i]);
        if (ids[i] < 0) return NULL;
    }
    for (int k = 0; ids && k < n->n_subgraphs; k++)
        for (int i = 0; i < n->subgraphs[k]->n_captures; i++) {
            int id = n->subgraphs[k]->values[n->subgraphs[k]->captures[i]].outer;
            if (b->p->values[id].dev != MR_CPU && copy_of(b, n, id) < 0) return NULL;
        }
    return ids;
}

static mr_status add_step(mr_builder *b, mr_call *c, const mr_impl *impl, bool view)
{
    const mr_node *n = c->node;
    if (b->sketch) return MR_OK;
    bool fixed =
        mr_call_shapes_known(c) && !(n->op->flags & (MR_OP_CONTROL | MR_OP_OWN_OUTPUT)) && !(impl && impl->count);
    mr_device_kind dev = view ? b->p->values[n->in[0]].dev : impl ? impl->dev : MR_CPU;
    int *in = view ? n->in : inputs_at(b, n, c->n_in, dev, impl);
    mr_step *st = in ? new_step(b) : NULL;
    if (!st) return mr_builder_no_memory(b->e);
    st->node = n, st->in = in, st->out = b->out, st->n_in = c->n_in, st->n_out = c->n_out;
    st->kind = !fixed ? MR_STEP_DYNAMIC : view ? MR_STEP_VIEW : impl ? MR_STEP_RUN : MR_STEP_DYNAMIC;
    st->view = view, st->impl = impl, st->fn = c->fn;
    for (int o = 0; o < n->n_out; o++)
        if (b->out[o] >= 0) b->p->values[b->out[o]].dev = dev;
    if (!mr_pack_weights(b, c, impl, st)) return mr_builder_no_memory(b->e);
    c->packed = st->packed; /* what is packed may want less scratch */
    if (st->kind == MR_STEP_RUN && impl->scratch) {
        st->scratch = impl->scratch(c);
        if (st->scratch > b->p->scratch) b->p->scratch = st->scratch;
    }
    return MR_OK;
}

mr_status mr_add_step(mr_builder *b, mr_call *c, const mr_impl *impl)
{
    return add_step(b, c, impl, false);
}
mr_status mr_add_view(mr_builder *b, mr_call *c)
{
    return add_step(b, c, NULL, true);
}

int mr_narrow_twin(mr_builder *b, int id, mr_dtype d)
{
    int twin = new_value(b, id);
    if (twin >= 0) b->p->values[twin].type = mr_type_tensor(d);
    return twin;
}

mr_status mr_add_carry(mr_builder *b, const mr_node *n, int from, int to)
{
    return new_transfer(b, MR_STEP_CARRY, n, from, to) ? MR_OK : mr_builder_no_memory(b->e);
}

bool mr_outputs_to_host(mr_builder *b)
{
    mr_plan *p = b->p;
    if (!b->s->device) return true;
    int *ids = MR_REGION_NEW(&p->region, int, p->n_outputs + 1);
    for (int o = 0; ids && o < p->n_outputs; o++) {
        ids[o] = p->outputs[o];
        int made = b->g->values[ids[o]].producer;
        if (p->values[ids[o]].dev != MR_CPU && (ids[o] = copy_of(b, b->g->nodes[made], ids[o])) < 0) return false;
    }
    p->outputs = ids;
    return ids != NULL;
}

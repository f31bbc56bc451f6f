/* plan.c: one graph for one signature of inputs: what each value is, which row runs each node, in which steps.
 *
 * One pass over the nodes in order types, resolves and, where a node's inputs are known and small, computes it at once:
 * that's how shape arithmetic (Shape → Gather → Concat → Reshape) becomes values. What cannot run is collected, not
 * thrown: check shows all of it, preparing a run shows the first. */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLD_SMALL (64 << 10) /* bytes: what shapes need */
#define FOLD_LARGE (64 << 20) /* bytes: weights transposed, cast, …, in fast mode */
#define PLANS_PER_GRAPH 8     /* signatures of one subgraph before its dims are left open */

typedef struct {
    mr_plan *p;
    mr_session *s;
    const mr_graph *g;
    mr_error *e;
    bool all;   /* every node, for check; else those that the outputs need */
    bool *need; /* by node */
    int cap_steps;
    mr_exec exec;
} builder;

static mr_status no_memory(mr_error *e) { return mr_fail(e, MR_E_MEMORY, "out of memory while planning"); }

/* ---- which nodes ---- */

static void need_value(builder *b, bool *value, int id)
{
    if (id >= 0) value[id] = true;
    (void)b;
}

static bool mark_needed(builder *b)
{
    const mr_graph *g = b->g;
    bool *value = MR_REGION_NEW(&b->p->region, bool, g->n_values + 1);
    b->need = MR_REGION_NEW(&b->p->region, bool, g->n_nodes + 1);
    if (!value || !b->need) return false;
    for (int i = 0; i < b->p->n_outputs; i++) need_value(b, value, b->p->outputs[i]);
    for (int k = g->n_nodes - 1; k >= 0; k--) {
        const mr_node *n = g->nodes[k];
        for (int o = 0; o < n->n_out; o++) b->need[k] |= n->out[o] >= 0 && value[n->out[o]];
        if (!b->need[k] && !b->all) continue;
        for (int i = 0; i < n->n_in; i++) need_value(b, value, n->in[i]);
        for (int s = 0; s < n->n_subgraphs; s++) {
            const mr_graph *sub = n->subgraphs[s];
            for (int i = 0; i < sub->n_captures; i++) need_value(b, value, sub->values[sub->captures[i]].outer);
        }
    }
    return true;
}

/* ---- one node as a call ---- */

static int present(const int *ids, int n)
{
    while (n > 0 && ids[n - 1] < 0) n--;
    return n;
}

static bool make_call(builder *b, const mr_node *n, mr_call *c, mr_error *e)
{
    *c = (mr_call){.node = n, .params = n->params, .n_in = present(n->in, n->n_in), .n_out = n->n_out,
                   .cpu = b->s->cpu, .pool = b->s->model->env->pool, .error = e, .exec = &b->exec};
    if (b->s->device) {
        c->cuda = b->s->device->plugin->fns;
        c->stream = b->s->device->plugin->stream(b->s->device->context);
    }
    c->in = MR_REGION_NEW(&b->p->region, mr_arg, c->n_in + c->n_out + 1);
    if (!c->in) return false;
    c->out = c->in + c->n_in;
    for (int i = 0; i < c->n_in; i++) {
        if (n->in[i] < 0) continue;
        const mr_pvalue *v = &b->p->values[n->in[i]];
        c->in[i] = (mr_arg){.type = v->type, .shape = v->shape, .v = v->known, .elems = v->elems};
        if (v->known && v->known->type.kind == MR_TENSOR) c->in[i].t = &v->known->t;
    }
    for (int o = 0; o < c->n_out; o++) c->out[o].shape = mr_shape_unknown();
    return true;
}

static bool inputs_typed(const builder *b, const mr_node *n)
{
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0 && b->p->values[n->in[i]].type.kind == MR_NONE) return false;
    return true;
}

static void set_known(mr_pvalue *v, mr_value *known)
{
    v->known = known;
    v->type = known->type;
    v->place = MR_AT_CONST;
    v->shape = known->type.kind == MR_TENSOR ? mr_tensor_shape(&known->t) : mr_shape_unknown();
}

/* The outputs of a node that cannot be judged get what the schema and the file say of them, so that the nodes behind it
 * can be. */
static void guess_outputs(builder *b, const mr_node *n, const mr_call *c)
{
    mr_type *in = MR_REGION_NEW(&b->p->region, mr_type, c->n_in + 1);
    for (int i = 0; in && i < c->n_in; i++) in[i] = c->in[i].type;
    for (int o = 0; o < n->n_out; o++) {
        if (n->out[o] < 0) continue;
        mr_pvalue *v = &b->p->values[n->out[o]];
        const mr_vinfo *info = &b->g->values[n->out[o]];
        mr_value *given = b->s->options.assume ? b->s->options.assume(b->s->options.assume_arg, info->name) : NULL;
        v->place = MR_AT_NONE;
        v->shape = mr_shape_unknown();
        if (given) set_known(v, given);
        else if (info->decl.type.kind) v->type = info->decl.type, v->shape = info->decl.shape;
        else if (!in || !n->schema || !mr_schema_out_type(n, in, c->n_in, o, &v->type)) v->type = (mr_type){0};
    }
}

static bool assumed(const builder *b, const mr_node *n)
{
    for (int o = 0; o < n->n_out; o++)
        if (n->out[o] >= 0 && !b->p->values[n->out[o]].known) return false;
    return b->s->options.assume != NULL;
}

static mr_status refuse(builder *b, const mr_node *n, const mr_call *c, const mr_error *e, const char *shown)
{
    guess_outputs(b, n, c);
    if (assumed(b, n)) return MR_OK;
    mr_refusal *r = mr_refusals_add(&b->p->refusals, e, c);
    if (!r) return no_memory(b->e);
    if (shown && shown[0]) r->shown = strdup(shown);
    return MR_OK;
}

/* ---- folding ---- */

static size_t known_bytes(const mr_arg *a, int n)
{
    size_t sum = 0;
    for (int i = 0; i < n; i++)
        if (a[i].t) sum += mr_tensor_bytes(a[i].t);
    return sum;
}

static bool may_fold(const builder *b, const mr_call *c, const mr_op *op)
{
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

/* false: the node keeps its step, and fails there with a message of its own if it must. */
static bool fold(builder *b, const mr_node *n, mr_call *c, const mr_impl *impl)
{
    mr_value **outs = MR_REGION_NEW(&b->p->region, mr_value *, n->n_out + 1);
    mr_error ignored = {0}, *kept = c->error;
    if (!outs) return false;
    c->error = &ignored;
    bool ok = mr_fold(c, impl, outs) == MR_OK;
    c->error = kept;
    mr_error_clear(&ignored);
    for (int o = 0; o < n->n_out; o++)
        if (n->out[o] >= 0 && ok) set_known(&b->p->values[n->out[o]], outs[o]);
        else mr_value_release(outs[o]);
    if (ok) b->p->folded[b->p->n_folded++] = n;
    return ok;
}

/* A view of a known value is known: the same bytes under the inferred shape. */
static bool fold_view(builder *b, const mr_node *n, const mr_call *c)
{
    if (!c->in[0].t || !mr_shape_known(&c->out[0].shape)) return false;
    mr_tensor t = *c->in[0].t;
    mr_tensor_set_shape(&t, &c->out[0].shape);
    mr_value *v = mr_value_borrow(&t);
    if (!v) return false;
    set_known(&b->p->values[n->out[0]], v);
    b->p->folded[b->p->n_folded++] = n;
    return true;
}

/* ---- steps ---- */

static uint64_t hash_bytes(const void *p, size_t n)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < n; i++) h = (h ^ ((const unsigned char *)p)[i]) * UINT64_C(0x100000001b3);
    return h;
}

static void *pack_weight(builder *b, mr_call *c, const mr_impl *impl, int i)
{
    mr_model *m = b->s->model;
    size_t bytes = impl->pack_size(c, i);
    if (!bytes) return NULL;
    uint64_t key = hash_bytes(c->params, c->node->op->params_size) ^ (uint64_t)i << 56 ^ bytes;
    pthread_mutex_lock(&m->lock);
    mr_packed *k = m->packed;
    while (k && !(k->weight == c->in[i].v && k->impl == impl && k->key == key)) k = k->next;
    if (!k && (k = calloc(1, sizeof *k))) {
        *k = (mr_packed){.weight = c->in[i].v, .impl = impl, .key = key, .bytes = bytes, .next = m->packed};
        k->data = aligned_alloc(64, (bytes + 63) / 64 * 64);
        if (k->data) {
            impl->pack(c, i, k->data);
            mr_value_retain(c->in[i].v);
            m->packed = k;
        } else {
            free(k), k = NULL;
        }
    }
    pthread_mutex_unlock(&m->lock);
    if (k) b->p->packed_bytes += bytes;
    return k ? k->data : NULL;
}

static bool pack_weights(builder *b, mr_call *c, const mr_impl *impl, mr_step *st)
{
    if (!impl || !impl->pack_in) return true;
    st->packed = MR_REGION_NEW(&b->p->region, void *, c->n_in + 1);
    if (!st->packed) return false;
    for (int i = 0; i < c->n_in; i++)
        if ((impl->pack_in >> i & 1) && c->in[i].t) st->packed[i] = pack_weight(b, c, impl, i);
    return true;
}

static mr_step *new_step(builder *b)
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

static bool all_shapes_known(const mr_call *c)
{
    for (int i = 0; i < c->n_in; i++)
        if (c->in[i].type.kind != MR_NONE && (c->in[i].type.kind != MR_TENSOR || !mr_shape_known(&c->in[i].shape)))
            return false;
    for (int o = 0; o < c->n_out; o++)
        if (c->node->out[o] >= 0 && (c->out[o].type.kind != MR_TENSOR || !mr_shape_known(&c->out[o].shape)))
            return false;
    return true;
}

/* A value in the other memory: a constant is uploaded with the frame, anything else gets a step that copies it. */
static int copy_of(builder *b, const mr_node *n, int id)
{
    mr_plan *p = b->p;
    if (p->values[id].twin >= 0) return p->values[id].twin;
    mr_pvalue *grown = realloc(p->values, sizeof *grown * ((size_t)p->n_values + 2));
    if (!grown) return -1;
    p->values = grown;
    int twin = p->n_values++;
    mr_pvalue *from = &p->values[id];
    p->values[twin] = (mr_pvalue){.type = from->type, .shape = from->shape, .dev = from->dev == MR_CPU ? MR_CUDA : MR_CPU,
                                  .root = twin, .first = -1, .last = -1, .twin = id};
    from->twin = twin;
    if (from->known) {
        p->values[twin].known = mr_value_retain(from->known);
        p->values[twin].place = MR_AT_CONST;
        return twin;
    }
    mr_step *st = new_step(b);
    int *ids = MR_REGION_NEW(&p->region, int, 2);
    if (!st || !ids) return -1;
    ids[0] = id, ids[1] = twin;
    *st = (mr_step){.kind = MR_STEP_COPY, .node = n, .in = ids, .out = ids + 1, .n_in = 1, .n_out = 1};
    return twin;
}

/* Ids of a node's inputs in the memory where its row reads them. */
static int *inputs_at(builder *b, const mr_node *n, int n_in, mr_device_kind dev, const mr_impl *impl)
{
    if (!b->s->device) return n->in;
    int *ids = MR_REGION_NEW(&b->p->region, int, n_in + 1);
    for (int i = 0; ids && i < n_in; i++) {
        bool host = dev == MR_CPU || (impl && impl->host_in >> i & 1);
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

static mr_status add_step(builder *b, const mr_node *n, mr_call *c, const mr_impl *impl)
{
    bool view = n->op->flags & MR_OP_VIEW;
    bool fixed = all_shapes_known(c) && !(n->op->flags & (MR_OP_CONTROL | MR_OP_OWN_OUTPUT)) &&
                 !(impl && impl->count);
    mr_device_kind dev = view ? b->p->values[n->in[0]].dev : impl ? impl->dev : MR_CPU;
    int *in = view ? n->in : inputs_at(b, n, c->n_in, dev, impl);
    mr_step *st = in ? new_step(b) : NULL;
    if (!st) return no_memory(b->e);
    st->node = n, st->in = in, st->out = n->out, st->n_in = c->n_in, st->n_out = c->n_out;
    st->kind = !fixed ? MR_STEP_DYNAMIC : view ? MR_STEP_VIEW : impl ? MR_STEP_RUN : MR_STEP_DYNAMIC;
    st->impl = impl, st->fn = c->fn;
    for (int o = 0; o < n->n_out; o++)
        if (n->out[o] >= 0) b->p->values[n->out[o]].dev = dev;
    if (st->kind == MR_STEP_RUN && impl->scratch) {
        st->scratch = impl->scratch(c);
        if (st->scratch > b->p->scratch) b->p->scratch = st->scratch;
    }
    return pack_weights(b, c, impl, st) ? MR_OK : no_memory(b->e);
}

/* The caller gets outputs in host memory. */
static bool outputs_to_host(builder *b)
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

/* ---- the pass ---- */

static void take_outputs(builder *b, const mr_node *n, const mr_call *c)
{
    for (int o = 0; o < n->n_out; o++) {
        if (n->out[o] < 0) continue;
        mr_pvalue *v = &b->p->values[n->out[o]];
        v->type = c->out[o].type;
        v->shape = c->out[o].shape;
        v->elems = c->out[o].elems;
    }
}

static mr_status schema_check_types(const mr_call *c, mr_region *r, mr_error *e)
{
    mr_type *in = MR_REGION_NEW(r, mr_type, c->n_in + 1);
    if (!in) return no_memory(e);
    for (int i = 0; i < c->n_in; i++) in[i] = c->in[i].type;
    mr_status st = mr_schema_types(c->node, in, c->n_in, e);
    if (st) mr_error_at_node(e, c->node);
    return st;
}

/* Control flow is run by the engine, wherever its bodies run. */
static const mr_impl *choose_row(builder *b, mr_call *c, char *shown, size_t size)
{
    bool device = b->s->device && !(c->node->op->flags & MR_OP_CONTROL);
    const mr_impl *impl = mr_resolve(c, device ? MR_CUDA : MR_CPU, c->error, shown, size);
    if (impl || !device || !b->s->device_falls_back) return impl;
    mr_error_clear(c->error);
    return mr_resolve(c, MR_CPU, c->error, shown, size);
}

static mr_status add_typed_node(builder *b, const mr_node *n, mr_call *c)
{
    mr_error *e = c->error;
    char shown[512] = "";
    if (schema_check_types(c, &b->p->region, e)) return refuse(b, n, c, e, NULL);
    if (!n->op) {
        mr_fail(e, MR_E_NO_KERNEL, "%s is not implemented", n->op_type);
        mr_error_at_node(e, n);
        return refuse(b, n, c, e, NULL);
    }
    if (n->op->constant) {
        mr_value *v = n->op->constant(n, n->params);
        if (!v) return no_memory(b->e);
        set_known(&b->p->values[n->out[0]], v);
        b->p->folded[b->p->n_folded++] = n;
        return MR_OK;
    }
    int before = b->p->refusals.n;
    if (n->op->infer(c)) return refuse(b, n, c, e, NULL);
    bool inner = b->p->refusals.n > before; /* found in a subgraph, and recorded there */
    take_outputs(b, n, c);
    if ((n->op->flags & MR_OP_VIEW) && fold_view(b, n, c)) return MR_OK;
    if (n->op->flags & MR_OP_VIEW) return inner ? MR_OK : add_step(b, n, c, NULL);
    const mr_impl *impl = NULL;
    if (may_fold(b, c, n->op)) {
        mr_error none = {.node = -1};
        impl = mr_resolve(c, MR_CPU, &none, NULL, 0);
        mr_error_clear(&none);
        if (impl && fold(b, n, c, impl)) return MR_OK;
    }
    impl = choose_row(b, c, shown, sizeof shown);
    if (impl && impl->dev == MR_CUDA && !all_shapes_known(c)) {
        mr_fail(e, MR_E_ATTRIBUTES, "shapes that are known only while the model runs cannot be used on %s", b->s->options.device);
        mr_error_at_node(e, n);
        return refuse(b, n, c, e, NULL);
    }
    if (!impl && e->code != MR_E_DEPENDS) return refuse(b, n, c, e, shown);
    if (!impl && b->all && !mr_refusals_add(&b->p->refusals, e, c)) return no_memory(b->e);
    mr_error_clear(e);
    return inner ? MR_OK : add_step(b, n, c, impl);
}

static mr_status add_node(builder *b, const mr_node *n)
{
    mr_call c;
    mr_error e = {.node = -1};
    if (!make_call(b, n, &c, &e)) return no_memory(b->e);
    mr_status st = MR_OK;
    if (n->refusal.status) {
        st = refuse(b, n, &c, &n->refusal, NULL);
    } else if (!inputs_typed(b, n)) {
        b->p->refusals.dependents++;
        guess_outputs(b, n, &c);
    } else {
        st = add_typed_node(b, n, &c);
    }
    mr_error_clear(&e);
    return st;
}

/* ---- values before the first node ---- */

static void take_key(mr_pvalue *v, const mr_key *k)
{
    v->type = k->type;
    v->shape = k->shape;
    v->place = MR_AT_INPUT;
    if (k->known) set_known(v, mr_value_retain(k->known));
}

static bool start_values(builder *b)
{
    mr_plan *p = b->p;
    p->n_values = b->g->n_values;
    p->values = calloc((size_t)p->n_values + 1, sizeof *p->values);
    if (!p->values) return false;
    for (int i = 0; i < p->n_values; i++) {
        mr_pvalue *v = &p->values[i];
        v->root = i, v->first = -1, v->last = -1, v->twin = -1;
        v->shape = mr_shape_unknown();
        if (b->g->values[i].init) set_known(v, mr_value_retain(b->g->values[i].init));
    }
    for (int k = 0; k < p->n_keys; k++) {
        bool formal = k < b->g->n_inputs;
        int id = formal ? b->g->inputs[k] : b->g->captures[k - b->g->n_inputs];
        mr_pvalue *v = &p->values[id];
        if (v->known && p->keys[k].known == v->known) continue; /* left to its initializer */
        mr_value_release(v->known);
        v->known = NULL;
        take_key(v, &p->keys[k]);
    }
    return true;
}

static bool copy_keys(mr_plan *p, const mr_key *keys, int n)
{
    p->keys = calloc((size_t)n + 1, sizeof *keys);
    if (!p->keys) return false;
    p->n_keys = n;
    for (int i = 0; i < n; i++) {
        p->keys[i] = keys[i];
        if (keys[i].known) mr_value_retain(keys[i].known);
    }
    return true;
}

static mr_status build(builder *b)
{
    mr_plan *p = b->p;
    p->folded = MR_REGION_NEW(&p->region, const mr_node *, b->g->n_nodes + 1);
    if (!p->folded || !start_values(b) || !mark_needed(b)) return no_memory(b->e);
    b->exec = (mr_exec){.session = b->s, .plan = p, .region = &p->region};
    for (int k = 0; k < b->g->n_nodes; k++) {
        if (!b->need[k] && !b->all) continue;
        mr_status st = add_node(b, b->g->nodes[k]);
        if (st) return st;
    }
    bool runs = !b->all;
    for (int i = 0; i < p->refusals.n; i++) runs &= p->refusals.at[i].kind == MR_REFUSE_DEPENDS;
    if (!runs) return MR_OK;
    return outputs_to_host(b) ? mr_plan_layout(p, b->e) : no_memory(b->e);
}

mr_plan *mr_plan_build(mr_session *s, const mr_graph *g, const mr_key *keys, int n_keys, bool all, mr_error *e)
{
    mr_plan *p = calloc(1, sizeof *p);
    if (!p || !copy_keys(p, keys, n_keys)) {
        free(p);
        no_memory(e);
        return NULL;
    }
    bool chosen = !g->parent && s->outputs;
    p->session = s, p->graph = g;
    p->outputs = chosen ? s->outputs : g->outputs;
    p->n_outputs = chosen ? s->n_outputs : g->n_outputs;
    builder b = {.p = p, .s = s, .g = g, .e = e, .all = all};
    if (build(&b)) {
        mr_plan_free(p);
        return NULL;
    }
    return p;
}

void mr_plan_free(mr_plan *p)
{
    if (!p) return;
    mr_frame_free(p->frame);
    for (int i = 0; i < p->n_values && p->values; i++) mr_value_release(p->values[i].known);
    for (int i = 0; i < p->n_keys; i++) mr_value_release(p->keys[i].known);
    mr_refusals_free(&p->refusals);
    mr_region_free(&p->region);
    free(p->values), free(p->steps), free(p->keys), free(p);
}

/* ---- the cache ---- */

static bool dim_fits(mr_dim plan, mr_dim d, bool loose) { return plan == d || (loose && plan < 0); }

static bool key_fits(const mr_key *plan, const mr_key *k, bool loose)
{
    if (!mr_type_equal(plan->type, k->type) || plan->known != k->known) return false;
    if (plan->known) return true;
    if (plan->shape.rank != k->shape.rank) return loose && plan->shape.rank < 0;
    for (int d = 0; d < k->shape.rank; d++)
        if (!dim_fits(plan->shape.d[d], k->shape.d[d], loose)) return false;
    return true;
}

/* Moves the plan that fits to the front: most recent first. */
static mr_plan *find_plan(mr_plan **list, const mr_key *keys, int n_keys, bool loose)
{
    for (mr_plan **at = list; *at; at = &(*at)->next) {
        mr_plan *p = *at;
        bool fits = true;
        for (int i = 0; i < n_keys && fits; i++) fits = key_fits(&p->keys[i], &keys[i], loose);
        if (!fits) continue;
        *at = p->next;
        p->next = *list;
        return *list = p;
    }
    return NULL;
}

/* A subgraph that has met many signatures (a Loop whose carried tensor grows) gets a plan with the dims left open. */
static void open_dims(mr_key *keys, int n, const mr_plan *seen)
{
    for (int i = 0; i < n; i++)
        for (int d = 0; !keys[i].known && d < keys[i].shape.rank; d++)
            for (const mr_plan *p = seen; p; p = p->next)
                if (p->keys[i].shape.rank == keys[i].shape.rank && p->keys[i].shape.d[d] != keys[i].shape.d[d])
                    keys[i].shape.d[d] = MR_DIM_UNKNOWN;
}

mr_plan *mr_plan_get(mr_session *s, const mr_graph *g, const mr_key *keys, int n_keys, mr_error *e)
{
    mr_plan **list = &s->plans[g->id];
    int count = 0;
    for (const mr_plan *p = *list; p; p = p->next) count++;
    bool many = g->parent && count >= PLANS_PER_GRAPH;
    mr_plan *p = find_plan(list, keys, n_keys, false);
    if (!p && many) p = find_plan(list, keys, n_keys, true);
    if (p) return p;
    mr_key *own = malloc(sizeof *own * ((size_t)n_keys + 1));
    if (!own) return no_memory(e), NULL;
    memcpy(own, keys, sizeof *own * (size_t)n_keys);
    if (many) open_dims(own, n_keys, *list);
    p = mr_plan_build(s, g, own, n_keys, false, e);
    free(own);
    if (!p) return NULL;
    p->next = *list;
    return *list = p;
}

/* ---- subgraphs while inferring ---- */

/* How the captures of a subgraph look from the frame (running) or the plan (planning) that holds its node. */
void mr_capture_keys(const mr_call *c, const mr_graph *sub, mr_key *keys)
{
    const mr_plan *p = c->exec->plan;
    for (int i = 0; i < sub->n_captures; i++) {
        int id = sub->values[sub->captures[i]].outer;
        const mr_pvalue *v = &p->values[id];
        keys[i] = (mr_key){v->type, v->shape, v->known};
        if (c->exec->frame && !v->known && v->type.kind == MR_TENSOR)
            keys[i].shape = mr_tensor_shape(&c->exec->frame->slots[id].t);
    }
}

static void adopt_refusals(mr_plan *to, const mr_plan *from)
{
    for (int i = 0; i < from->refusals.n; i++) {
        const mr_refusal *r = &from->refusals.at[i];
        mr_refusal *copy = mr_refusals_add(&to->refusals, &r->error, NULL);
        if (!copy) return;
        copy->node = r->node, copy->graph = r->graph;
        copy->shown = r->shown ? strdup(r->shown) : NULL;
        copy->in_types = calloc((size_t)r->node->n_in + 1, sizeof *copy->in_types);
        if (copy->in_types && r->in_types)
            memcpy(copy->in_types, r->in_types, sizeof(mr_type) * (size_t)present(r->node->in, r->node->n_in));
    }
    to->refusals.dependents += from->refusals.dependents;
}

mr_status mr_infer_subgraph(mr_call *c, int k, int n_in, const mr_typed_shape *in, int n_out, mr_typed_shape *out)
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
    for (int i = 0; i < n_in; i++) keys[i] = (mr_key){in[i].type, in[i].shape, NULL};
    mr_capture_keys(c, sub, keys + n_in);
    /* Under check every node counts, and nothing is kept; otherwise the plan is likely the one that will run. */
    mr_plan *p = s->checking ? mr_plan_build(s, sub, keys, n_keys, true, c->error)
                             : mr_plan_get(s, sub, keys, n_keys, c->error);
    if (!p) return c->error->status;
    if (planning) adopt_refusals(c->exec->plan, p);
    for (int o = 0; o < n_out; o++) {
        const mr_pvalue *v = &p->values[p->outputs[o]];
        out[o] = (mr_typed_shape){v->type, v->shape};
    }
    if (s->checking) mr_plan_free(p);
    return MR_OK;
}

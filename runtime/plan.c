/* plan.c: one graph for one signature of inputs: what each value is, which row runs each node, in which steps.
 *
 * One pass over the nodes in order types, resolves and, where a node's inputs are known and small, computes it at once:
 * that's how shape arithmetic (Shape → Gather → Concat → Reshape) becomes values. What cannot run is collected, not
 * thrown: check shows all of it, preparing a run shows the first. */
#include "builder.h"
#include "carrier.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLANS_PER_GRAPH                                                                                                \
    8 /* signatures of one subgraph before its dims are left open; of the main graph that are kept */

mr_status mr_builder_no_memory(mr_error *e)
{
    return mr_fail(e, MR_E_MEMORY, "out of memory while planning");
}

/* ---- which nodes ---- */

static void need_inputs(const mr_node *n, bool *value)
{
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0) value[n->in[i]] = true;
    for (int s = 0; s < n->n_subgraphs; s++) {
        const mr_graph *sub = n->subgraphs[s];
        for (int i = 0; i < sub->n_captures; i++) value[sub->values[sub->captures[i]].outer] = true;
    }
}

/* b->need: the nodes that the outputs hang on. */
static bool mark_needed(mr_builder *b)
{
    const mr_graph *g = b->g;
    bool *value = MR_REGION_NEW(&b->p->region, bool, g->n_values + 1);
    b->need = MR_REGION_NEW(&b->p->region, bool, g->n_nodes + 1);
    if (!value || !b->need) return false;
    for (int i = 0; i < b->p->n_outputs; i++) value[b->p->outputs[i]] = true;
    /* What the draft made and somebody looks at stays, though nothing may read it any more. */
    const mr_options *o = &b->s->options;
    for (int i = 0; b->draft && o->keep && i < g->n_values; i++)
        value[i] |= g->values[i].producer >= 0 && o->keep(o->observe_arg, g->values[i].name);
    for (int k = g->n_nodes - 1; k >= 0; k--) {
        const mr_node *n = g->nodes[k];
        for (int o = 0; o < n->n_out; o++) b->need[k] |= n->out[o] >= 0 && value[n->out[o]];
        if (b->need[k]) need_inputs(n, value);
    }
    return true;
}

/* ---- one node as a call ---- */

static int present(const int *ids, int n)
{
    while (n > 0 && ids[n - 1] < 0) n--;
    return n;
}

bool mr_builder_call(mr_builder *b, const mr_node *n, mr_call *c, mr_error *e)
{
    *c = (mr_call){.node = n,
                   .params = n->params,
                   .n_in = present(n->in, n->n_in),
                   .n_out = n->n_out,
                   .cpu = b->s->cpu,
                   .pool = b->s->model->env->pool,
                   .error = e,
                   .exec = &b->exec};
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

static bool inputs_typed(const mr_builder *b, const mr_node *n)
{
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0 && b->p->values[n->in[i]].type.kind == MR_NONE) return false;
    return true;
}

void mr_pvalue_set_known(mr_pvalue *v, mr_value *known)
{
    v->known = known;
    v->type = known->type;
    v->place = MR_AT_CONST;
    v->shape = known->type.kind == MR_TENSOR ? mr_tensor_shape(&known->t) : mr_shape_unknown();
}

/* The outputs of a node that cannot be judged get what the schema and the file say of them, so that the nodes behind it
 * can be. */
static void guess_outputs(mr_builder *b, const mr_node *n, const mr_call *c)
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
        if (given)
            mr_pvalue_set_known(v, given);
        else if (info->decl.type.kind)
            v->type = info->decl.type, v->shape = info->decl.shape;
        else if (!in || !n->schema || !mr_schema_out_type(n, in, c->n_in, o, &v->type))
            v->type = (mr_type){0};
    }
}

static bool assumed(const mr_builder *b, const mr_node *n)
{
    for (int o = 0; o < n->n_out; o++)
        if (n->out[o] >= 0 && !b->p->values[n->out[o]].known) return false;
    return b->s->options.assume != NULL;
}

static mr_status refuse(mr_builder *b, const mr_node *n, const mr_call *c, const mr_error *e, const char *shown)
{
    guess_outputs(b, n, c);
    if (assumed(b, n)) return MR_OK;
    mr_refusal *r = mr_refusals_add(&b->p->refusals, e, c);
    if (!r) return mr_builder_no_memory(b->e);
    if (shown && shown[0]) r->shown = strdup(shown);
    return MR_OK;
}

/* ---- the pass ---- */

static void take_outputs(mr_builder *b, const mr_node *n, const mr_call *c)
{
    for (int o = 0; o < n->n_out; o++) {
        if (n->out[o] < 0) continue;
        mr_pvalue *v = &b->p->values[n->out[o]];
        v->type = b->s->options.f64 ? mr_carrier_type(c->out[o].type) : c->out[o].type;
        v->shape = c->out[o].shape;
        v->elems = c->out[o].elems;
    }
}

/* The types of a node's inputs as the file has them, whatever carries the values. */
static mr_type *declared_types(const mr_builder *b, const mr_call *c)
{
    mr_type *in = MR_REGION_NEW(&b->p->region, mr_type, c->n_in + 1);
    for (int i = 0; in && i < c->n_in; i++) {
        in[i] = c->in[i].type;
        mr_dtype d = mr_in_has(c, i) ? b->p->values[c->node->in[i]].declared : MR_UNDEFINED;
        if (d) in[i].elem = (uint8_t)d;
    }
    return in;
}

static mr_status schema_check_types(mr_builder *b, const mr_call *c, mr_error *e)
{
    mr_type *in = declared_types(b, c);
    if (!in) return mr_builder_no_memory(e);
    if (!c->node->schema && c->node->n_origins) return MR_OK; /* no operator of ONNX */
    /* A carrier of which nothing says what it carries (a body's input without a declared type) could be any float. */
    for (int i = 0; b->s->options.f64 && i < c->n_in; i++)
        if (in[i].elem == MR_F64) return MR_OK;
    mr_status st = mr_schema_types(c->node, in, c->n_in, e);
    if (st) mr_error_at_node(e, c->node);
    return st;
}

/* Under --precision f64: what the outputs are by the file. */
static mr_status declare_outputs(mr_builder *b, const mr_call *c)
{
    mr_type *in = declared_types(b, c), t;
    if (!in) return mr_builder_no_memory(b->e);
    for (int o = 0; o < c->n_out; o++)
        if (c->node->out[o] >= 0)
            b->p->values[c->node->out[o]].declared =
                (mr_dtype)(mr_schema_out_type(c->node, in, c->n_in, o, &t) ? t.elem : c->out[o].type.elem);
    return MR_OK;
}

/* A cast between floats that are both carried changes nothing. */
static bool is_view(const mr_builder *b, const mr_call *c)
{
    if (c->node->op->flags & MR_OP_VIEW) return true;
    if (!b->s->options.f64 || !(c->node->op->flags & MR_OP_FLOAT_CAST)) return false;
    return mr_in_dtype(c, 0) == MR_F64 && (mr_is_carried(mr_out_dtype(c, 0)) || mr_out_dtype(c, 0) == MR_F64);
}

/* A row that makes a narrower float of its own accord (its type is an attribute) does so; a step behind it carries on.
 */
static mr_status add_carried_step(mr_builder *b, mr_call *c, const mr_impl *impl)
{
    const mr_node *n = c->node;
    int *out = MR_REGION_NEW(&b->p->region, int, n->n_out + 1);
    if (!out) return mr_builder_no_memory(b->e);
    for (int o = 0; o < n->n_out; o++) {
        bool narrow = n->out[o] >= 0 && c->out[o].type.kind == MR_TENSOR && mr_is_carried(mr_out_dtype(c, o));
        out[o] = narrow ? mr_narrow_twin(b, n->out[o], mr_out_dtype(c, o)) : n->out[o];
        if (narrow && out[o] < 0) return mr_builder_no_memory(b->e);
    }
    b->out = out;
    mr_status st = mr_add_step(b, c, impl);
    for (int o = 0; !st && o < n->n_out; o++)
        if (out[o] != n->out[o]) st = mr_add_carry(b, n, out[o], n->out[o]);
    return st;
}

/* Control flow is run by the engine, wherever its bodies run. */
static const mr_impl *choose_row(mr_builder *b, mr_call *c, char *shown, size_t size)
{
    bool device = b->s->device && !(c->node->op->flags & MR_OP_CONTROL);
    const mr_impl *impl = mr_resolve(c, device ? MR_CUDA : MR_CPU, c->error, shown, size);
    if (impl || !device || !b->s->device_falls_back) return impl;
    mr_error_clear(c->error);
    return mr_resolve(c, MR_CPU, c->error, shown, size);
}

static mr_status add_typed_node(mr_builder *b, const mr_node *n, mr_call *c)
{
    mr_error *e = c->error;
    char shown[512] = "";
    if (schema_check_types(b, c, e)) return refuse(b, n, c, e, NULL);
    if (!n->op) {
        mr_fail(e, MR_E_NO_KERNEL, "%s is not implemented", n->op_type);
        mr_error_at_node(e, n);
        return refuse(b, n, c, e, NULL);
    }
    if (n->op->constant) return mr_fold_constant(b, n) ? MR_OK : mr_builder_no_memory(b->e);
    int before = b->p->refusals.n;
    if (n->op->infer(c)) return refuse(b, n, c, e, NULL);
    bool inner = false; /* refused for what is in a subgraph, and recorded there */
    for (int i = before; i < b->p->refusals.n; i++) inner |= b->p->refusals.at[i].kind != MR_REFUSE_DEPENDS;
    take_outputs(b, n, c);
    if (mr_declared_check(b, c)) {
        mr_refusal *r = mr_refusals_add(&b->p->refusals, e, c);
        if (!r) return mr_builder_no_memory(b->e);
        r->declared = true;
        mr_error_clear(e);
    }
    if (b->s->options.f64 && declare_outputs(b, c)) return b->e->status;
    if (is_view(b, c)) return mr_fold_view(b, c) || inner ? MR_OK : mr_add_view(b, c);
    const mr_impl *impl = NULL;
    if (mr_may_fold(b, c)) {
        mr_error none = {.node = -1};
        impl = mr_resolve(c, MR_CPU, &none, NULL, 0);
        mr_error_clear(&none);
        if (impl && mr_fold_node(b, c, impl)) return MR_OK;
        if (e->status) return refuse(b, n, c, e, NULL);
    }
    impl = choose_row(b, c, shown, sizeof shown);
    if (impl && impl->dev == MR_CUDA && !mr_call_shapes_known(c)) {
        /* Under check the inputs' shapes may be what is missing. */
        mr_fail(e, b->s->checking ? MR_E_DEPENDS : MR_E_ATTRIBUTES,
                "shapes that are known only while the model runs cannot be used on %s", b->s->options.device);
        mr_error_at_node(e, n);
        return refuse(b, n, c, e, NULL);
    }
    if (!impl && e->code != MR_E_DEPENDS) return refuse(b, n, c, e, shown);
    if (!impl && b->all && !mr_refusals_add(&b->p->refusals, e, c)) return mr_builder_no_memory(b->e);
    mr_error_clear(e);
    if (inner) return MR_OK;
    return b->s->options.f64 ? add_carried_step(b, c, impl) : mr_add_step(b, c, impl);
}

static mr_status add_node(mr_builder *b, const mr_node *n)
{
    mr_call c;
    mr_error e = {.node = -1};
    b->out = n->out;
    if (!mr_builder_call(b, n, &c, &e)) return mr_builder_no_memory(b->e);
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
    v->declared = k->declared;
    v->place = MR_AT_INPUT;
    if (k->known) mr_pvalue_set_known(v, mr_value_retain(k->known));
}

static bool start_values(mr_builder *b)
{
    mr_plan *p = b->p;
    p->n_values = b->g->n_values;
    p->values = calloc((size_t)p->n_values + 1, sizeof *p->values);
    if (!p->values) return false;
    for (int i = 0; i < p->n_values; i++) {
        mr_pvalue *v = &p->values[i];
        v->root = i, v->first = -1, v->last = -1, v->twin = -1;
        v->shape = mr_shape_unknown();
        mr_value *init = b->draft ? b->draft->values[i].known : b->g->values[i].init;
        if (b->draft) v->declared = b->draft->values[i].declared;
        if (!init) continue;
        if (b->s->options.f64) v->declared = (mr_dtype)init->type.elem;
        init = b->s->options.f64 ? mr_carrier_value(init) : mr_value_retain(init);
        if (!init) return false;
        mr_pvalue_set_known(v, init);
    }
    for (int k = 0; k < p->n_keys; k++) {
        bool formal = k < b->g->n_inputs;
        int id = formal ? b->g->inputs[k] : b->g->captures[k - b->g->n_inputs];
        mr_pvalue *v = &p->values[id];
        if (v->known && (b->draft || p->keys[k].known == b->g->values[id].init)) continue; /* left to its initializer */
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

/* Of folded values, which the plan alone holds, and of inputs that a run carries in double. */
static void count_memory(mr_plan *p)
{
    size_t bytes;
    for (int i = 0; i < p->n_values; i++) {
        const mr_value *v = p->values[i].known;
        if (v && v->buffer && v->refs == 1) p->const_bytes += mr_tensor_bytes(&v->t);
    }
    p->session->const_bytes += p->const_bytes;
    for (int i = 0; i < p->graph->n_inputs; i++) {
        const mr_key *k = &p->keys[i];
        bool carried = !p->graph->parent && !k->known && mr_is_carried(k->declared);
        if (carried && mr_shape_bytes(&k->shape, MR_F64, &bytes)) p->carried_bytes += bytes;
    }
}

static bool start_folded(mr_builder *b)
{
    mr_plan *p = b->p;
    int known = b->draft ? b->draft->n_folded : 0;
    p->folded = MR_REGION_NEW(&p->region, const mr_node *, b->g->n_nodes + known + 1);
    if (p->folded && known) memcpy(p->folded, b->draft->folded, sizeof *p->folded * (size_t)known);
    p->n_folded = p->folded ? known : 0;
    return p->folded != NULL;
}

static mr_status build(mr_builder *b)
{
    mr_plan *p = b->p;
    if (!start_folded(b) || !start_values(b) || !mark_needed(b)) return mr_builder_no_memory(b->e);
    b->exec = (mr_exec){.session = b->s, .plan = p, .region = &p->region};
    for (int k = 0; k < b->g->n_nodes; k++) {
        if (!b->need[k] && !b->all) continue;
        int before = p->refusals.n;
        mr_status st = add_node(b, b->g->nodes[k]);
        if (st) return st;
        for (int i = before; i < p->refusals.n; i++) p->refusals.at[i].needed &= b->need[k];
    }
    return MR_OK;
}

static bool runs(const mr_builder *b)
{
    bool runs = !b->all;
    for (int i = 0; i < b->p->refusals.n; i++) runs &= b->p->refusals.at[i].kind == MR_REFUSE_DEPENDS;
    return runs;
}

static bool start_plan(mr_builder *b, const mr_graph *g, const mr_key *keys, int n_keys)
{
    mr_session *s = b->s;
    mr_plan *p = b->p = calloc(1, sizeof *p);
    if (!p || !copy_keys(p, keys, n_keys)) {
        free(p);
        return false;
    }
    bool chosen = !g->parent && s->outputs;
    p->session = s, p->graph = b->g = g;
    p->outputs = chosen ? s->outputs : g->outputs;
    p->n_outputs = chosen ? s->n_outputs : g->n_outputs;
    return true;
}

/* Plans the graph that the draft b is rewritten to; the draft goes. NULL: e says why. */
static mr_plan *build_rewritten(mr_builder *b)
{
    mr_builder to = {.s = b->s, .e = b->e, .draft = b->p};
    mr_graph *g = mr_rewrite_graph(b);
    bool made = g && start_plan(&to, g, b->p->keys, b->p->n_keys);
    if (made) to.p->rewritten = g;
    mr_status st = made ? build(&to) : mr_builder_no_memory(b->e);
    if (!st && !runs(&to)) st = mr_fail(b->e, MR_E_INTERNAL, "a rewritten graph does not run");
    if (!st && !mr_outputs_to_host(&to)) st = mr_builder_no_memory(b->e);
    if (made) to.p->drafted = b->p->region, b->p->region = (mr_region){0};
    mr_plan_free(b->p);
    if (!made) mr_rewritten_free(g);
    if (!st) count_memory(to.p), st = mr_plan_layout(to.p, b->e);
    if (!st) return to.p;
    if (made) mr_plan_free(to.p);
    return NULL;
}

mr_plan *mr_plan_build(mr_session *s, const mr_graph *g, const mr_key *keys, int n_keys, bool all, mr_error *e)
{
    mr_builder b = {.s = s, .e = e, .all = all};
    b.sketch = !all && !s->checking && s->options.mode == MR_MODE_FAST && !s->options.f64 && s->options.optimize > 0;
    if (!start_plan(&b, g, keys, n_keys)) return mr_builder_no_memory(e), NULL;
    mr_status st = build(&b);
    if (!st && b.sketch && runs(&b)) return build_rewritten(&b);
    if (!st && runs(&b)) {
        count_memory(b.p);
        st = mr_outputs_to_host(&b) ? mr_plan_layout(b.p, e) : mr_builder_no_memory(e);
    }
    if (!st) return b.p;
    mr_plan_free(b.p);
    return NULL;
}

void mr_plan_free(mr_plan *p)
{
    if (!p) return;
    mr_frame_free(p->frame);
    mr_packed_leave(p);
    p->session->const_bytes -= p->const_bytes;
    for (int i = 0; i < p->n_values && p->values; i++) mr_value_release(p->values[i].known);
    for (int i = 0; i < p->n_keys; i++) mr_value_release(p->keys[i].known);
    mr_refusals_free(&p->refusals);
    mr_region_free(&p->region), mr_region_free(&p->drafted);
    free(p->values), free(p->steps), free(p->keys);
    mr_rewritten_free(p->rewritten);
    free(p);
}

/* ---- the cache ---- */

static bool dim_fits(mr_dim plan, mr_dim d, bool loose)
{
    return plan == d || (loose && plan < 0);
}

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

static void drop_last(mr_plan **list)
{
    while ((*list)->next) list = &(*list)->next;
    mr_plan_free(*list);
    *list = NULL;
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
    if (!own) return mr_builder_no_memory(e), NULL;
    memcpy(own, keys, sizeof *own * (size_t)n_keys);
    if (many) open_dims(own, n_keys, *list);
    p = mr_plan_build(s, g, own, n_keys, false, e);
    free(own);
    if (!p) return NULL;
    if (!g->parent && count >= PLANS_PER_GRAPH) drop_last(list);
    p->next = *list;
    return *list = p;
}

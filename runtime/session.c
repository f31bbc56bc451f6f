/* session.c: environments, loaded models, and runs of a model under one set of options. */
#include "account.h"
#include "carrier.h"
#include "custom.h"
#include "engine.h"
#include "expansion.h"
#include "spare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/cpu.h"

enum { MAX_INDEX = 255 }; /* of a device */

/* ---- environment ---- */

mr_env *mr_env_new(int threads)
{
    mr_env *env = calloc(1, sizeof *env);
    if (!env) return NULL;
    env->refs = 1;
    env->log_level = MR_LOG_WARNING;
    pthread_mutex_init(&env->lock, NULL);
    env->pool = mr_pool_create(threads);
    env->threads = mr_pool_threads(env->pool);
    for (int m = 0; m < 2; m++) {
        env->cpu[m] = calloc(1, sizeof *env->cpu[m]);
        if (env->cpu[m]) mr_cpu_fill(env->cpu[m], m == MR_MODE_REFERENCE ? MR_ISA_SCALAR : mr_cpu_isa());
    }
    if (!env->pool || !env->cpu[0] || !env->cpu[1]) {
        mr_env_free(env);
        return NULL;
    }
    return env;
}

void mr_env_free(mr_env *env)
{
    if (!env || __atomic_sub_fetch(&env->refs, 1, __ATOMIC_ACQ_REL) > 0) return;
    while (env->devices) {
        mr_device *d = env->devices;
        env->devices = d->next;
        mr_device_close(d);
    }
    mr_customs_free(env->customs);
    mr_pool_destroy(env->pool);
    free(env->cpu[0]), free(env->cpu[1]);
    pthread_mutex_destroy(&env->lock);
    free(env);
}

void mr_log(mr_env *env, mr_log_level level, const char *fmt, ...)
{
    if (!env->log || level > env->log_level) return;
    char text[2048];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    env->log(env->log_arg, level, text);
}

/* ---- model ---- */

static bool expands(const mr_node *n)
{
    return n->op && n->op->impls && n->op->impls->expand && !n->refusal.status;
}

static const mr_schema_body *body_of(const mr_node *n)
{
    return n->op || n->refusal.status ? NULL : mr_function_body(n);
}

/* Operators that minirt has no rows for run by their body, where ONNX gives one. */
static mr_status expand_bodies(mr_graph *g, mr_error *e)
{
    for (int k = 0; k < g->n_nodes; k++) {
        if (expands(g->nodes[k]) && mr_expand(g->nodes[k], e)) return e->status;
        for (const mr_schema_body *b; k < g->n_nodes && (b = body_of(g->nodes[k]));) {
            mr_status st = mr_function_inline(g->nodes[k], b->data, b->len, e);
            if (st) return st;
        }
        for (int s = 0; k < g->n_nodes && s < g->nodes[k]->n_subgraphs; s++) {
            mr_status st = expand_bodies(g->nodes[k]->subgraphs[s], e);
            if (st) return st;
        }
    }
    return MR_OK;
}

/* A node that breaks a rule of ONNX makes the model invalid, whether an output needs it or not. */
static const mr_node *invalid_node(const mr_graph *g)
{
    for (int k = 0; k < g->n_nodes; k++) {
        if (g->nodes[k]->refusal.status == MR_EINVALID) return g->nodes[k];
        for (int s = 0; s < g->nodes[k]->n_subgraphs; s++) {
            const mr_node *inner = invalid_node(g->nodes[k]->subgraphs[s]);
            if (inner) return inner;
        }
    }
    return NULL;
}

static mr_status adopt(mr_env *env, mr_graph_model *g, mr_model **out, mr_error *e)
{
    mr_model *m = calloc(1, sizeof *m);
    if (!m) mr_fail(e, MR_E_MEMORY, "out of memory");
    if (!m || expand_bodies(g->main, e)) {
        mr_graph_free(g);
        free(m);
        return e->status;
    }
    *m = (mr_model){.env = env, .g = g, .refs = 1, .weight_bytes = mr_graph_weight_bytes(g, false)};
    m->invalid_node = invalid_node(g->main);
    __atomic_add_fetch(&env->refs, 1, __ATOMIC_RELAXED);
    pthread_mutex_init(&m->lock, NULL);
    *out = m;
    return MR_OK;
}

static const mr_customs *customs_now(mr_env *env)
{
    pthread_mutex_lock(&env->lock);
    const mr_customs *c = env->customs;
    pthread_mutex_unlock(&env->lock);
    return c;
}

mr_status mr_model_open(mr_env *env, const char *path, mr_model **out, mr_error *e)
{
    mr_graph_model *g = NULL;
    mr_status st = mr_graph_load(path, customs_now(env), &g, e);
    return st ? st : adopt(env, g, out, e);
}

mr_status mr_model_open_memory(mr_env *env, const void *bytes, size_t n, mr_model **out, mr_error *e)
{
    mr_graph_model *g = NULL;
    mr_status st = mr_graph_load_memory(bytes, n, NULL, customs_now(env), &g, e);
    return st ? st : adopt(env, g, out, e);
}

mr_model *mr_model_ref(mr_model *m)
{
    __atomic_add_fetch(&m->refs, 1, __ATOMIC_RELAXED);
    return m;
}

void mr_model_close(mr_model *m)
{
    if (!m || __atomic_sub_fetch(&m->refs, 1, __ATOMIC_ACQ_REL) > 0) return;
    mr_packed_drop(m);
    mr_graph_free(m->g);
    mr_env_free(m->env);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

/* ---- session ---- */

/* The N of "cuda:N". */
static bool parse_index(const char *text, int *index)
{
    char *end;
    long n = strtol(text, &end, 10);
    *index = (int)n;
    return *text >= '0' && *text <= '9' && !*end && n <= MAX_INDEX;
}

/* "cuda", "cuda:1", "cuda-host", "cuda,cpu", "cpu" */
static mr_status open_device(mr_session *s, mr_error *e)
{
    const char *spec = s->options.device;
    if (!spec || !strcmp(spec, "cpu")) return MR_OK;
    char name[64], why[512] = "";
    snprintf(name, sizeof name, "%s", spec);
    char *comma = strchr(name, ','), *colon;
    if (comma && strcmp(comma, ",cpu")) return mr_fail(e, MR_E_USAGE, "device '%s': only ',cpu' may follow", spec);
    if (comma) *comma = 0, s->device_falls_back = true;
    int index = 0;
    if ((colon = strchr(name, ':')) && !parse_index(colon + 1, &index))
        return mr_fail(e, MR_E_USAGE, "device '%s': behind ':' stands a number from 0 to %d", spec, MAX_INDEX);
    if (colon) *colon = 0;
    s->device = mr_device_open(s->model->env, name, index, why, sizeof why);
    return s->device ? MR_OK : mr_fail(e, MR_E_DEVICE, "device %s: %s", spec, why);
}

mr_status mr_session_new(mr_model *m, const mr_options *o, const int *outputs, int n_outputs, mr_session **out,
                         mr_error *e)
{
    mr_session *s = calloc(1, sizeof *s);
    if (!s) return mr_fail(e, MR_E_MEMORY, "out of memory");
    s->model = mr_model_ref(m);
    s->options = *o;
    s->cpu = m->env->cpu[o->mode];
    s->plans = calloc((size_t)m->g->n_graphs + 1, sizeof(mr_plan *));
    if (outputs && (s->outputs = malloc(sizeof *outputs * ((size_t)n_outputs + 1))))
        memcpy(s->outputs, outputs, sizeof *outputs * (size_t)n_outputs);
    s->n_outputs = outputs ? n_outputs : m->g->main->n_outputs;
    s->spares = mr_spares_new(s->n_outputs);
    if (!s->plans || !s->spares || (outputs && !s->outputs)) mr_fail(e, MR_E_MEMORY, "out of memory");
    if (e->status || open_device(s, e)) {
        mr_session_free(s);
        return e->status;
    }
    *out = s;
    return MR_OK;
}

static void drop_plans(mr_session *s)
{
    for (int g = 0; g < s->model->g->n_graphs; g++)
        while (s->plans[g]) {
            mr_plan *p = s->plans[g];
            s->plans[g] = p->next;
            mr_plan_free(p);
        }
}

void mr_session_free(mr_session *s)
{
    if (!s) return;
    if (s->plans) drop_plans(s);
    if (s->spares) mr_spares_close(s->spares);
    for (int g = 0; s->judged && g < s->model->g->n_graphs; g++) mr_plan_free(s->judged[g]);
    free(s->plans), free(s->judged), free(s->outputs);
    mr_model_close(s->model);
    free(s);
}

/* ---- preparing ---- */

static mr_key *input_keys(const mr_session *s, const mr_graph *g, mr_value *const *in)
{
    mr_key *keys = calloc((size_t)g->n_inputs + 1, sizeof *keys);
    for (int i = 0; keys && i < g->n_inputs; i++) {
        mr_value *v = in[i] ? in[i] : g->values[g->inputs[i]].init;
        if (!v) continue;
        keys[i] = (mr_key){v->type, v->type.kind == MR_TENSOR ? mr_tensor_shape(&v->t) : mr_shape_unknown(),
                           in[i] ? NULL : v, MR_UNDEFINED};
        if (!s->options.f64) continue;
        keys[i].declared = (mr_dtype)v->type.elem;
        keys[i].type = mr_carrier_type(v->type);
    }
    return keys;
}

static void refuse_with(mr_error *e, const mr_refusal *r)
{
    bool ran = r->error.status == MR_ENODE; /* nothing did: a value that is known beforehand is as wrong as a shape */
    mr_fail_as(e, ran ? MR_EINVALID : r->error.status, r->error.code, "%s", r->error.text);
    e->node = r->error.node;
    e->where = r->error.where ? strdup(r->error.where) : NULL;
    if (r->error.hint) mr_error_hint(e, "%s", r->error.hint);
    if (r->shown) {
        char *text = NULL;
        if (asprintf(&text, "%s (%s)", e->text, r->shown) >= 0) free(e->text), e->text = text;
    }
}

/* Invalid before unsupported, as the exit status has it. */
static const mr_refusal *worst(const mr_refusals *r)
{
    const mr_refusal *w = NULL;
    for (int i = 0; i < r->n; i++)
        if (r->at[i].kind != MR_REFUSE_DEPENDS && (!w || r->at[i].kind < w->kind)) w = &r->at[i];
    return w;
}

/* Conflicts that the declared shapes and the file's values already show are the file's fault. The others, of n refusals
 * at r, are the given inputs'; that they are is their status then. */
static void blame_given(mr_session *s, mr_refusal *r, int n)
{
    bool any = false;
    for (int i = 0; i < n; i++) any |= mr_is_conflict(r[i].error.code);
    if (!any) return;
    mr_error e = {.node = -1};
    mr_plan *p = mr_session_check(s, NULL, &e);
    for (int i = 0; i < n; i++) {
        bool found = !mr_is_conflict(r[i].error.code);
        for (int k = 0; p && k < p->refusals.n && !found; k++)
            found = p->refusals.at[k].node == r[i].node && p->refusals.at[k].error.code == r[i].error.code;
        if (!found) r[i].error.status = MR_EINPUT;
    }
    mr_plan_free(p);
    mr_error_clear(&e);
}

/* What is wrong with the model as a whole. */
static mr_status refuse_invalid(const mr_session *s, mr_error *e)
{
    const mr_graph_model *g = s->model->g;
    if (!g->n_invalid) return MR_OK;
    const mr_error *v = &g->invalid[0];
    mr_fail_as(e, v->status, v->code, "%s", v->text);
    if (v->where) e->where = strdup(v->where);
    if (v->hint) mr_error_hint(e, "%s", v->hint);
    return e->status;
}

/* What the file declares wrongly, if a plan has raised doubts. */
static void refuse_declared(mr_session *s, mr_error *e)
{
    if (s->declared != MR_DECLARED_DOUBTED) return;
    mr_plan *p = mr_session_check(s, NULL, e);
    if (!p) return;
    const mr_refusal *r = worst(&p->refusals);
    if (r && r->declared)
        refuse_with(e, r);
    else
        s->declared = MR_DECLARED_HOLDS;
    mr_plan_free(p);
}

mr_status mr_session_prepare(mr_session *s, mr_value *const *in, mr_plan **out, mr_error *e)
{
    const mr_graph_model *g = s->model->g;
    if (refuse_invalid(s, e) || mr_inputs_check(g->main, in, e)) return e->status;
    mr_key *keys = input_keys(s, g->main, in);
    if (!keys) return mr_fail(e, MR_E_MEMORY, "out of memory");
    mr_plan *p = mr_plan_get(s, g->main, keys, g->main->n_inputs, e);
    free(keys);
    if (!p) return e->status;
    *out = p;
    const mr_refusal *r = worst(&p->refusals);
    const mr_node *invalid = s->model->invalid_node;
    if (invalid && !(r && r->kind == MR_REFUSE_INVALID)) {
        mr_fail_as(e, invalid->refusal.status, invalid->refusal.code, "%s", invalid->refusal.text);
        if (invalid->refusal.hint) mr_error_hint(e, "%s", invalid->refusal.hint);
        mr_error_at_node(e, invalid);
        return e->status;
    }
    if (!r || r->kind != MR_REFUSE_INVALID) refuse_declared(s, e);
    if (!r || e->status) return e->status;
    refuse_with(e, r);
    mr_refusal asked = {.node = r->node, .error = {.code = r->error.code, .status = e->status}};
    blame_given(s, &asked, 1);
    return e->status = asked.error.status;
}

/* Nodes of bodies that the plan did not come to, since the node that holds them is refused itself. */
static bool refuse_unreached(mr_refusals *r, const mr_graph *g)
{
    for (int k = 0; k < g->n_nodes; k++) {
        const mr_node *n = g->nodes[k];
        bool there = n->refusal.status == MR_OK;
        for (int i = 0; i < r->n && !there; i++) there = r->at[i].node == n;
        if (!there && !mr_refusals_add(r, &n->refusal, &(mr_call){.node = n})) return false;
        for (int s = 0; s < n->n_subgraphs; s++)
            if (!refuse_unreached(r, n->subgraphs[s])) return false;
    }
    return true;
}

mr_plan *mr_session_check(mr_session *s, const mr_typed_shape *inputs, mr_error *e)
{
    const mr_graph *g = s->model->g->main;
    mr_key *keys = calloc((size_t)g->n_inputs + 1, sizeof *keys);
    if (!keys) return mr_fail(e, MR_E_MEMORY, "out of memory"), NULL;
    for (int i = 0; i < g->n_inputs; i++) {
        const mr_vinfo *v = &g->values[g->inputs[i]];
        const mr_typed_shape *t = inputs ? &inputs[i] : &v->decl;
        keys[i] = (mr_key){t->type, t->shape, v->init, MR_UNDEFINED};
    }
    s->checking = true;
    mr_plan *p = mr_plan_build(s, g, keys, g->n_inputs, true, e);
    s->checking = false;
    free(keys);
    if (p && inputs) blame_given(s, p->refusals.at, p->refusals.n);
    if (!p || refuse_unreached(&p->refusals, g)) return p;
    mr_fail(e, MR_E_MEMORY, "out of memory");
    mr_plan_free(p);
    return NULL;
}

mr_plan *mr_session_judge(mr_session *s, const mr_typed_shape *inputs, mr_error *e)
{
    s->judged = calloc((size_t)s->model->g->n_graphs + 1, sizeof *s->judged);
    if (!s->judged) return mr_fail(e, MR_E_MEMORY, "out of memory"), NULL;
    return mr_session_check(s, inputs, e);
}

/* ---- showing ---- */

static mr_status plan_of_shapes(mr_session *s, const mr_typed_shape *shapes, mr_plan **out, mr_error *e)
{
    const mr_graph *g = s->model->g->main;
    mr_value **none = calloc((size_t)g->n_inputs + 1, sizeof *none);
    mr_key *keys = none ? input_keys(s, g, none) : NULL;
    free(none);
    if (!keys) return mr_fail(e, MR_E_MEMORY, "out of memory");
    for (int i = 0; i < g->n_inputs; i++) {
        if (keys[i].known) continue;
        keys[i] = (mr_key){shapes[i].type, shapes[i].shape, NULL, MR_UNDEFINED};
        if (!s->options.f64) continue;
        keys[i].declared = (mr_dtype)shapes[i].type.elem;
        keys[i].type = mr_carrier_type(shapes[i].type);
    }
    *out = mr_plan_get(s, g, keys, g->n_inputs, e);
    free(keys);
    const mr_refusal *r = *out ? worst(&(*out)->refusals) : NULL;
    if (r) refuse_with(e, r);
    return e->status;
}

mr_status mr_session_plan(mr_session *s, mr_value *const *in, const mr_typed_shape *shapes, mr_plan **out, mr_error *e)
{
    if (in) return mr_session_prepare(s, in, out, e);
    return refuse_invalid(s, e) ? e->status : plan_of_shapes(s, shapes, out, e);
}

size_t mr_plan_bytes(const mr_plan *p)
{
    return p->arena[MR_CPU] + p->scratch + p->output_bytes + p->carried_bytes + p->const_bytes + p->packed_bytes +
           p->session->model->weight_bytes;
}

/* ---- running ---- */

size_t mr_session_held_bytes(const mr_session *s)
{
    const mr_model *m = s->model;
    return m->weight_bytes + __atomic_load_n(&m->packed_bytes, __ATOMIC_RELAXED) + s->const_bytes + s->frame_bytes;
}

static size_t run_bytes(const mr_plan *p)
{
    size_t frame = p->frame ? 0 : p->arena[MR_CPU] + p->scratch;
    return frame + p->output_bytes + p->carried_bytes;
}

/* Frames of plans that do not run now. */
static void free_other_frames(mr_session *s, const mr_plan *p)
{
    for (int g = 0; g < s->model->g->n_graphs; g++)
        for (mr_plan *q = s->plans[g]; q; q = q->next)
            if (q != p) mr_frame_free(q->frame), q->frame = NULL;
}

static bool is_over(mr_session *s, const mr_plan *p)
{
    size_t limit = s->options.memory_limit;
    if (!limit || mr_session_held_bytes(s) + run_bytes(p) <= limit) return false;
    free_other_frames(s, p);
    return mr_session_held_bytes(s) + run_bytes(p) > limit;
}

/* A plan that fits the limit, at last without packed weights: those that nobody else reads are freed. */
static mr_status fit_limit(mr_session *s, mr_value *const *in, mr_plan **p, mr_error *e)
{
    if (!is_over(s, *p)) return MR_OK;
    bool turned = (*p)->packed && !s->lean;
    if (turned) {
        s->lean = true;
        drop_plans(s);
        mr_packed_drop(s->model);
        if (mr_session_prepare(s, in, p, e)) return e->status;
        if (!is_over(s, *p)) return MR_OK;
    }
    size_t peak = mr_session_held_bytes(s) + run_bytes(*p);
    mr_plan_over_limit(*p, peak, s->options.memory_limit, e);
    if (turned) s->lean = false, drop_plans(s); /* it did not help: smaller inputs may have room for all */
    return e->status;
}

static mr_status run_carried(const mr_session *s, mr_plan *p, mr_value *const *in, mr_value **out, mr_error *e)
{
    int n = s->model->g->main->n_inputs;
    mr_value **wide = calloc((size_t)n + 1, sizeof *wide);
    mr_status st = wide ? MR_OK : mr_fail(e, MR_E_MEMORY, "out of memory");
    for (int i = 0; !st && i < n; i++)
        if (in[i] && !(wide[i] = mr_carrier_value(in[i]))) st = mr_fail(e, MR_E_MEMORY, "out of memory");
    if (!st) st = mr_plan_run(p, wide, NULL, out, 0, e);
    for (int i = 0; wide && i < n; i++) mr_value_release(wide[i]);
    free(wide);
    return st;
}

mr_status mr_session_run(mr_session *s, mr_value *const *in, mr_value **out, mr_error *e)
{
    mr_plan *p = NULL;
    mr_status st = mr_session_prepare(s, in, &p, e);
    if (st || (st = fit_limit(s, in, &p, e))) return st;
    /* 1e9 seconds and more are no limit: their nanoseconds may not fit. */
    bool limited = s->options.timeout_s > 0 && s->options.timeout_s < 1e9;
    s->deadline_ns = limited ? mr_now_ns() + (int64_t)(s->options.timeout_s * 1e9) : 0;
    mr_account *account = mr_account_new(s->options.memory_limit, mr_session_held_bytes(s));
    if (!account) return mr_fail(e, MR_E_MEMORY, "out of memory");
    mr_account *before = mr_account_use(account);
    st = s->options.f64 ? run_carried(s, p, in, out, e) : mr_plan_run(p, in, NULL, out, 0, e);
    mr_account_use(before);
    s->peak = account->peak;
    mr_account_release(account);
    return st;
}

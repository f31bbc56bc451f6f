/* api.c: the C API over the engine. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"

int mr_abi_version(void)
{
    return MR_ABI_VERSION;
}
const char *mr_version(void)
{
    return MR_VERSION;
}

/* ---- errors ---- */

mr_error *mr_error_new(void)
{
    mr_error *e = calloc(1, sizeof *e);
    if (e) e->node = -1;
    return e;
}

void mr_error_free(mr_error *e)
{
    if (!e) return;
    mr_error_clear(e);
    free(e);
}

mr_error_info mr_error_get(const mr_error *e)
{
    return (mr_error_info){e->status, (int)e->code, e->node, e->where, e->text, e->hint};
}

/* Errors that nobody wants to see go to `own`; a used one starts afresh. */
static mr_error *fresh(mr_error *e, mr_error *own)
{
    if (!e) e = own;
    mr_error_clear(e);
    e->node = -1;
    return e;
}

/* ---- environments and models ---- */

mr_env *mr_env_create(const mr_env_options *o, mr_error *e)
{
    mr_error own = {0};
    e = fresh(e, &own);
    int threads = o ? o->threads : 0;
    bool usable = threads >= 0 && threads <= MR_MAX_THREADS;
    if (!usable) mr_fail(e, MR_E_USAGE, "%d threads: from 0 (all cores) to %d", threads, MR_MAX_THREADS);
    mr_env *env = usable ? mr_env_new(threads) : NULL;
    if (!env) mr_fail(e, MR_E_MEMORY, "out of memory for an environment");
    if (env && o && o->log) {
        env->log = (void (*)(void *, mr_log_level, const char *))o->log;
        env->log_arg = o->log_arg;
        env->log_level = (mr_log_level)o->log_level;
    }
    mr_error_clear(&own);
    return env;
}

void mr_env_destroy(mr_env *env)
{
    mr_env_free(env);
}

mr_model *mr_model_load(mr_env *env, const char *path, mr_error *e)
{
    mr_error own = {0};
    mr_model *m = NULL;
    mr_model_open(env, path, &m, fresh(e, &own));
    mr_error_clear(&own);
    return m;
}

mr_model *mr_model_load_memory(mr_env *env, const void *bytes, size_t size, mr_error *e)
{
    mr_error own = {0};
    mr_model *m = NULL;
    mr_model_open_memory(env, bytes, size, &m, fresh(e, &own));
    mr_error_clear(&own);
    return m;
}

void mr_model_destroy(mr_model *m)
{
    if (m) mr_model_forget_verdict(m);
    mr_model_close(m);
}

static mr_status describe(const mr_graph *g, const int *ids, int n, int i, mr_io_info *info)
{
    if (i < 0 || i >= n) return MR_EUSAGE;
    const mr_vinfo *v = &g->values[ids[i]];
    *info = (mr_io_info){.name = v->name,
                         .kind = (mr_kind)v->decl.type.kind,
                         .dtype = (mr_dtype)v->decl.type.elem,
                         .rank = v->decl.shape.rank,
                         .optional = v->init != NULL};
    for (int d = 0; d < info->rank; d++) {
        info->dims[d] = v->decl.shape.d[d] < 0 ? -1 : v->decl.shape.d[d];
        info->symbols[d] = mr_model_dim_name(g->model, v->decl.shape.d[d]);
    }
    return MR_OK;
}

int mr_model_input_count(const mr_model *m)
{
    return m->g->main->n_inputs;
}
int mr_model_output_count(const mr_model *m)
{
    return m->g->main->n_outputs;
}

mr_status mr_model_input(const mr_model *m, int i, mr_io_info *info)
{
    return describe(m->g->main, m->g->main->inputs, m->g->main->n_inputs, i, info);
}

mr_status mr_model_output(const mr_model *m, int i, mr_io_info *info)
{
    return describe(m->g->main, m->g->main->outputs, m->g->main->n_outputs, i, info);
}

const char *mr_model_metadata(const mr_model *m, const char *key)
{
    const mr_graph_model *g = m->g;
    for (int i = 0; i < g->n_meta; i++)
        if (!strcmp(g->meta_keys[i], key)) return g->meta_values[i];
    if (!strcmp(key, "producer_name")) return g->producer_name;
    if (!strcmp(key, "producer_version")) return g->producer_version;
    if (!strcmp(key, "domain")) return g->domain;
    if (!strcmp(key, "doc_string")) return g->doc;
    return NULL;
}

/* ---- refusals ---- */

void mr_model_forget_verdict(mr_model *m)
{
    mr_session *s = m->checked;
    mr_plan_free(m->verdict);
    m->verdict = NULL, m->checked = NULL;
    mr_session_free(s);
}

int mr_model_refusal_count(mr_model *m, const char *device, mr_error *e)
{
    mr_error own = {0};
    e = fresh(e, &own);
    mr_options o = {.device = device};
    mr_session *s = NULL;
    pthread_mutex_lock(&m->lock);
    mr_model_forget_verdict(m);
    if (mr_session_new(m, &o, NULL, 0, &s, e) == MR_OK) {
        m->checked = s;
        m->verdict = mr_session_check(s, NULL, e);
    }
    int n = m->verdict ? m->g->n_invalid + m->verdict->refusals.n : -1;
    pthread_mutex_unlock(&m->lock);
    mr_error_clear(&own);
    return n;
}

static mr_status refusal_at(const mr_model *m, int i, mr_refusal_info *info)
{
    if (!m->verdict || i < 0 || i >= m->g->n_invalid + m->verdict->refusals.n) return MR_EUSAGE;
    if (i < m->g->n_invalid) {
        *info = (mr_refusal_info){.error = mr_error_get(&m->g->invalid[i]),
                                  .kind = mr_refusal_kind_name(MR_REFUSE_INVALID)};
        return MR_OK;
    }
    const mr_refusal *r = &m->verdict->refusals.at[i - m->g->n_invalid];
    *info = (mr_refusal_info){.error = mr_error_get(&r->error), .kind = mr_refusal_kind_name(r->kind)};
    if (r->node) {
        info->op = r->node->op_type, info->domain = r->node->domain, info->name = r->node->name;
        info->version = r->node->schema ? r->node->schema->since : r->node->opset;
    }
    return MR_OK;
}

mr_status mr_model_refusal(mr_model *m, int i, mr_refusal_info *info)
{
    pthread_mutex_lock(&m->lock);
    mr_status st = refusal_at(m, i, info);
    pthread_mutex_unlock(&m->lock);
    return st;
}

/* ---- runs ---- */

struct mr_run {
    mr_session *session;
    const mr_graph *graph;
    mr_value **in, **out;
    atomic_bool cancel;
    pthread_t thread;
    bool started;
    mr_status status; /* of the thread */
    mr_error error;   /* likewise */
};

mr_run *mr_run_create(mr_model *m, const mr_run_options *o, mr_error *e)
{
    mr_error own = {0};
    e = fresh(e, &own);
    mr_run *r = calloc(1, sizeof *r);
    if (!r) mr_fail(e, MR_E_MEMORY, "out of memory for a run");
    if (r) {
        bool reference = o && o->reference;
        mr_options so = {.mode = reference ? MR_MODE_REFERENCE : MR_MODE_FAST, .cancel = &r->cancel};
        so.optimize = o && o->optimize >= 0 ? o->optimize : reference ? 0 : 2;
        if (o) so.device = o->device, so.memory_limit = o->memory_limit, so.timeout_s = o->timeout;
        r->graph = m->g->main;
        r->in = calloc((size_t)r->graph->n_inputs + 1, sizeof *r->in);
        r->out = calloc((size_t)r->graph->n_outputs + 1, sizeof *r->out);
        if (!r->in || !r->out) mr_fail(e, MR_E_MEMORY, "out of memory for a run");
        if (e->status || mr_session_new(m, &so, NULL, 0, &r->session, e)) mr_run_destroy(r), r = NULL;
    }
    mr_error_clear(&own);
    return r;
}

static void drop_outputs(mr_run *r)
{
    for (int i = 0; i < r->graph->n_outputs; i++) mr_value_release(r->out[i]), r->out[i] = NULL;
}

void mr_run_destroy(mr_run *r)
{
    if (!r) return;
    if (r->started) mr_run_cancel(r), mr_run_wait(r, NULL);
    for (int i = 0; r->in && i < r->graph->n_inputs; i++) mr_value_release(r->in[i]);
    if (r->out) drop_outputs(r);
    mr_session_free(r->session);
    mr_error_clear(&r->error);
    free(r->in), free(r->out), free(r);
}

static mr_status want_idle(const mr_run *r, mr_error *e)
{
    return r->started ? mr_fail(e, MR_E_USAGE, "the run has been started and not waited for") : MR_OK;
}

mr_status mr_run_bind(mr_run *r, const char *input, mr_value *v, mr_error *e)
{
    mr_error own = {0};
    e = fresh(e, &own);
    int at = -1;
    for (int i = 0; i < r->graph->n_inputs; i++)
        if (!strcmp(r->graph->values[r->graph->inputs[i]].name, input)) at = i;
    mr_status st = want_idle(r, e);
    if (!st && at < 0) st = mr_fail(e, MR_E_INPUT_UNKNOWN, "the model has no input '%s'", input);
    if (!st) {
        if (v) mr_value_retain(v);
        mr_value_release(r->in[at]);
        r->in[at] = v;
    }
    mr_error_clear(&own);
    return st;
}

mr_status mr_run_execute(mr_run *r, mr_error *e)
{
    mr_error own = {0};
    e = fresh(e, &own);
    mr_status st = want_idle(r, e);
    if (!st) {
        drop_outputs(r);
        atomic_store(&r->cancel, false);
        st = mr_session_run(r->session, r->in, r->out, e);
    }
    mr_error_clear(&own);
    return st;
}

const mr_value *mr_run_output(const mr_run *r, int i)
{
    return r->started || i < 0 || i >= r->graph->n_outputs ? NULL : r->out[i];
}

mr_value *mr_run_take_output(mr_run *r, int i)
{
    if (r->started || i < 0 || i >= r->graph->n_outputs) return NULL;
    mr_value *v = r->out[i];
    r->out[i] = NULL;
    return v;
}

static void *execute(void *arg)
{
    mr_run *r = arg;
    r->status = mr_session_run(r->session, r->in, r->out, &r->error);
    return NULL;
}

mr_status mr_run_start(mr_run *r, mr_error *e)
{
    mr_error own = {0};
    e = fresh(e, &own);
    mr_status st = want_idle(r, e);
    if (!st) {
        drop_outputs(r);
        mr_error_clear(&r->error);
        r->error.node = -1;
        atomic_store(&r->cancel, false);
        r->started = !pthread_create(&r->thread, NULL, execute, r);
        if (!r->started) st = mr_fail(e, MR_E_MEMORY, "no thread could be started");
    }
    mr_error_clear(&own);
    return st;
}

mr_status mr_run_wait(mr_run *r, mr_error *e)
{
    if (!r->started) return MR_EUSAGE;
    pthread_join(r->thread, NULL);
    r->started = false;
    if (e) {
        mr_error_clear(e);
        *e = r->error;
        r->error = (mr_error){.node = -1};
    }
    return r->status;
}

void mr_run_cancel(mr_run *r)
{
    atomic_store(&r->cancel, true);
}

/* ---- values ---- */

mr_value *mr_value_wrap(mr_dtype dtype, int rank, const int64_t *dims, void *data)
{
    mr_tensor t = {.dtype = dtype, .rank = rank, .data = data};
    size_t bytes;
    if (rank < 0 || rank > MR_MAX_RANK || !mr_dtype_size(dtype) || dtype == MR_STRING) return NULL;
    if (rank) memcpy(t.dims, dims, sizeof *dims * (size_t)rank);
    mr_shape s = mr_tensor_shape(&t);
    if (!mr_shape_bytes(&s, dtype, &bytes)) return NULL;
    return mr_value_borrow(&t);
}

mr_kind mr_value_kind(const mr_value *v)
{
    return (mr_kind)v->type.kind;
}
mr_dtype mr_value_dtype(const mr_value *v)
{
    return (mr_dtype)v->type.elem;
}
int mr_value_rank(const mr_value *v)
{
    return v->type.kind == MR_TENSOR ? v->t.rank : 0;
}
const int64_t *mr_value_dims(const mr_value *v)
{
    return v->t.dims;
}
int64_t mr_value_count(const mr_value *v)
{
    return v->type.kind == MR_TENSOR ? mr_tensor_count(&v->t) : v->n;
}
const void *mr_value_data(const mr_value *v)
{
    return v->type.elem == MR_STRING ? NULL : v->t.data;
}
void *mr_value_data_mut(mr_value *v)
{
    return v->type.elem == MR_STRING ? NULL : v->t.data;
}

const char *mr_value_string(const mr_value *v, int64_t i, size_t *len)
{
    if (v->type.kind != MR_TENSOR || v->type.elem != MR_STRING || i < 0 || i >= mr_tensor_count(&v->t)) return NULL;
    const mr_string *s = (const mr_string *)v->t.data + i;
    if (len) *len = s->len;
    return s->data ? s->data : "";
}

int mr_value_put_string(mr_value *v, int64_t i, const char *s, size_t len)
{
    if (v->type.kind != MR_TENSOR || v->type.elem != MR_STRING || i < 0 || i >= mr_tensor_count(&v->t)) return 0;
    return mr_value_set_string(v, i, s, len);
}

const mr_value *mr_value_item(const mr_value *v, int64_t i)
{
    return i < 0 || i >= v->n ? NULL : v->items[i];
}

/* exec.c: runs a plan: a flat list of steps over slots. */
#include "engine.h"

#include "account.h"
#include "carrier.h"
#include "spare.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t mr_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static mr_value *new_tensor(mr_call *c, mr_dtype d, const mr_shape *shape)
{
    size_t bytes;
    if (!mr_shape_bytes(shape, d, &bytes)) {
        char text[256];
        mr_call_fail(c, MR_E_SIZE, "an output of %s%s is larger than can be addressed", mr_dtype_name(d),
                     mr_shape_string(shape, NULL, text, sizeof text));
        return NULL;
    }
    mr_value *v = mr_value_uninit(d, shape->rank, shape->d);
    if (!v) mr_call_fail(c, MR_E_MEMORY, "out of memory for an output of %zu bytes", bytes);
    return v;
}

/* ---- frames ---- */

#define ALONE_BYTES (32 << 10) /* steps on less than this take less time than a second thread needs to wake */

static bool too_small_to_share(const mr_plan *p, const mr_step *st)
{
    size_t sum = 0, bytes;
    for (int i = 0; i < st->n_in + st->n_out; i++) {
        int id = i < st->n_in ? st->in[i] : st->out[i - st->n_in];
        if (id < 0) continue;
        if (!mr_shape_bytes(&p->values[id].shape, (mr_dtype)p->values[id].type.elem, &bytes)) return false;
        sum += bytes;
    }
    return st->kind == MR_STEP_RUN && sum < ALONE_BYTES;
}

static bool frame_calls(mr_frame *f)
{
    mr_plan *p = f->plan;
    mr_session *s = p->session;
    for (int k = 0; k < p->n_steps; k++) {
        const mr_step *st = &p->steps[k];
        mr_call *c = &f->calls[k];
        *c = (mr_call){.node = st->node,
                       .params = st->node->params,
                       .n_in = st->n_in,
                       .n_out = st->n_out,
                       .fn = st->fn,
                       .cpu = s->cpu,
                       .pool = s->model->env->pool,
                       .scratch = f->scratch[st->impl ? st->impl->dev : MR_CPU],
                       .packed = st->packed,
                       .exec = f->exec};
        c->in = MR_REGION_NEW(&p->region, mr_arg, st->n_in + st->n_out + 1);
        if (!c->in) return false;
        c->out = c->in + st->n_in;
        if (too_small_to_share(p, st)) c->pool = NULL;
        if (!c->packed && !(c->packed = MR_REGION_NEW(&p->region, void *, st->n_in + 1))) return false;
        if (s->device) c->cuda = s->device->plugin->fns, c->stream = s->device->plugin->stream(s->device->context);
        for (int i = 0; i < st->n_in + st->n_out; i++) {
            int id = i < st->n_in ? st->in[i] : st->out[i - st->n_in];
            if (id < 0) continue;
            const mr_pvalue *v = &p->values[id];
            c->in[i] = (mr_arg){.type = v->type, .shape = v->shape, .t = &f->slots[id].t, .v = v->known};
        }
    }
    return true;
}

static void frame_slots(mr_frame *f)
{
    for (int i = 0; i < f->plan->n_values; i++) {
        const mr_pvalue *v = &f->plan->values[i];
        mr_tensor *t = &f->slots[i].t;
        if (v->known && v->dev == MR_CUDA) continue; /* frame_device has it */
        if (v->known && v->known->type.kind == MR_TENSOR) {
            *t = v->known->t;
        } else if (v->type.kind == MR_TENSOR) {
            t->dtype = (mr_dtype)v->type.elem;
            if (mr_shape_known(&v->shape)) mr_tensor_set_shape(t, &v->shape);
            if (v->place == MR_AT_ARENA) t->data = f->arena[v->dev] + f->plan->values[v->root].offset;
        }
    }
}

/* Device memory of a frame: arena, scratch, and the constants that device rows read. */
static bool frame_device(mr_frame *f)
{
    mr_plan *p = f->plan;
    mr_device *d = p->session->device;
    if (!d) return true;
    f->arena[MR_CUDA] = d->plugin->alloc(d->context, p->arena[MR_CUDA] + 64);
    f->scratch[MR_CUDA] = d->plugin->alloc(d->context, p->scratch + 64);
    if (!f->arena[MR_CUDA] || !f->scratch[MR_CUDA]) return false;
    for (int i = 0; i < p->n_values; i++) {
        const mr_pvalue *v = &p->values[i];
        if (v->dev != MR_CUDA || v->place != MR_AT_CONST) continue;
        size_t bytes = mr_tensor_bytes(&v->known->t);
        f->slots[i].t = v->known->t;
        f->slots[i].t.data = d->plugin->alloc(d->context, bytes ? bytes : 1);
        if (!f->slots[i].t.data || d->plugin->copy_in(d->context, f->slots[i].t.data, v->known->t.data, bytes))
            return false;
    }
    return true;
}

static void frame_device_free(mr_frame *f)
{
    mr_device *d = f->plan->session->device;
    if (!d) return;
    for (int i = 0; i < f->plan->n_values; i++)
        if (f->plan->values[i].dev == MR_CUDA && f->plan->values[i].place == MR_AT_CONST)
            d->plugin->free(d->context, f->slots[i].t.data);
    d->plugin->free(d->context, f->arena[MR_CUDA]);
    d->plugin->free(d->context, f->scratch[MR_CUDA]);
}

/* Frames stay with their plans: what they hold counts for later runs too. */
static bool frame_charge(mr_frame *f)
{
    size_t bytes = f->plan->arena[MR_CPU] + f->plan->scratch;
    if (!mr_account_charge(mr_account_current(), bytes)) return false;
    f->bytes = bytes;
    f->plan->session->frame_bytes += bytes;
    return true;
}

static bool frame_memory(mr_frame *f)
{
    mr_plan *p = f->plan;
    if (!frame_charge(f)) return false;
    f->slots = calloc((size_t)p->n_values + 1, sizeof *f->slots);
    f->calls = calloc((size_t)p->n_steps + 1, sizeof *f->calls);
    f->exec = calloc(1, sizeof *f->exec);
    f->arena[MR_CPU] = aligned_alloc(64, (p->arena[MR_CPU] + 127) / 64 * 64);
    f->scratch[MR_CPU] = aligned_alloc(64, (p->scratch + 127) / 64 * 64);
    if (!f->slots || !f->calls || !f->exec || !f->arena[MR_CPU] || !f->scratch[MR_CPU]) return false;
    *f->exec = (mr_exec){.session = p->session, .plan = p, .frame = f, .region = &f->region};
    bool device = frame_device(f);
    frame_slots(f);
    return device && frame_calls(f);
}

static mr_frame *frame_new(mr_plan *p, mr_error *e)
{
    mr_frame *f = calloc(1, sizeof *f);
    if (f) f->plan = p;
    if (f && frame_memory(f)) return f;
    mr_frame_free(f);
    mr_fail(e, MR_E_MEMORY, "out of memory for %zu bytes of tensors and %zu of scratch",
            p->arena[MR_CPU] + p->arena[MR_CUDA], p->scratch);
    return NULL;
}

static void drop_slot(mr_frame *f, int id)
{
    mr_value_release(f->slots[id].v);
    f->slots[id].v = NULL;
}

static void frame_clear(mr_frame *f)
{
    for (int i = 0; i < f->plan->n_values; i++)
        if (f->slots[i].v) drop_slot(f, i);
    mr_region_free(&f->region);
}

void mr_frame_free(mr_frame *f)
{
    if (!f) return;
    if (f->slots) frame_clear(f), frame_device_free(f);
    f->plan->session->frame_bytes -= f->bytes;
    free(f->slots), free(f->calls), free(f->exec), free(f->arena[MR_CPU]), free(f->scratch[MR_CPU]), free(f);
}

/* ---- dynamic steps: shapes hang on values ---- */

static void refresh_inputs(mr_frame *f, const mr_step *st, mr_call *c)
{
    for (int i = 0; i < st->n_in; i++) {
        int id = st->in[i];
        if (id < 0) continue;
        mr_slot *s = &f->slots[id];
        mr_value *known = f->plan->values[id].known;
        c->in[i].v = s->v ? s->v : known;
        if (c->in[i].type.kind == MR_NONE && c->in[i].v) c->in[i].type = c->in[i].v->type;
        if (c->in[i].type.kind == MR_TENSOR) c->in[i].t = &s->t, c->in[i].shape = mr_tensor_shape(&s->t);
    }
    for (int o = 0; o < st->n_out; o++) c->out[o] = (mr_arg){.shape = mr_shape_unknown()};
}

static mr_status alloc_outputs(mr_frame *f, const mr_step *st, mr_call *c)
{
    for (int o = 0; o < st->n_out; o++) {
        int id = st->out[o];
        if (id < 0 || c->out[o].type.kind != MR_TENSOR) continue;
        mr_slot *s = &f->slots[id];
        if (!mr_shape_known(&c->out[o].shape))
            return mr_call_fail(c, MR_E_INTERNAL, "output %d has no shape though all inputs are there", o);
        s->v = new_tensor(c, mr_out_dtype(c, o), &c->out[o].shape);
        if (!s->v) return c->error->status;
        s->t = s->v->t;
        c->out[o].t = &s->t;
    }
    return MR_OK;
}

/* What the row itself made (mr_call_set_value) goes into the slots. */
static void take_values(mr_frame *f, const mr_step *st, mr_call *c)
{
    for (int o = 0; o < st->n_out; o++) {
        mr_value *v = c->out[o].v;
        if (!v) continue;
        c->out[o].v = NULL;
        if (st->out[o] < 0) {
            mr_value_release(v);
            continue;
        }
        mr_slot *s = &f->slots[st->out[o]];
        mr_value_release(s->v);
        s->v = v;
        if (v->type.kind == MR_TENSOR) s->t = v->t;
    }
}

static mr_status run_view(mr_frame *f, const mr_step *st, mr_call *c)
{
    mr_slot *from = &f->slots[st->in[0]], *to = &f->slots[st->out[0]];
    mr_value *whole = from->v ? from->v : f->plan->values[st->in[0]].known;
    if (c->in[0].type.kind != MR_TENSOR) {
        to->v = mr_value_retain(c->in[0].v);
        return MR_OK;
    }
    to->t = from->t;
    mr_tensor_set_shape(&to->t, &c->out[0].shape);
    to->v = f->plan->values[st->out[0]].place == MR_AT_OWNED && whole ? mr_value_retain(whole) : NULL;
    return MR_OK;
}

static mr_status run_dynamic(mr_frame *f, const mr_step *st, mr_call *c)
{
    const mr_op *op = st->node->op;
    refresh_inputs(f, st, c);
    mr_status r = op->flags & MR_OP_CONTROL ? MR_OK : op->infer(c);
    if (r) return r;
    if (st->view) return run_view(f, st, c);
    const mr_impl *impl = mr_resolve(c, MR_CPU, c->error, NULL, 0);
    if (!impl) return c->error->status;
    if (impl->count && (r = impl->count(c))) return r;
    if (!(op->flags & (MR_OP_CONTROL | MR_OP_OWN_OUTPUT)) && (r = alloc_outputs(f, st, c))) return r;
    size_t scratch = impl->scratch ? impl->scratch(c) : 0;
    mr_account *account = mr_account_current();
    bool fits = mr_account_charge(account, scratch);
    void *own = fits && scratch ? aligned_alloc(64, (scratch + 63) / 64 * 64) : NULL;
    c->scratch = own;
    r = scratch && !own ? mr_call_fail(c, MR_E_MEMORY, "out of memory for %zu bytes of scratch", scratch)
                        : impl->run(c);
    free(own);
    if (fits) mr_account_credit(account, scratch);
    take_values(f, st, c);
    return r;
}

/* ---- the loop ---- */

static mr_status interrupted(const mr_session *s, mr_error *e)
{
    if (s->options.cancel && atomic_load_explicit(s->options.cancel, memory_order_relaxed))
        return mr_fail(e, MR_E_CANCELLED, "the run was cancelled");
    if (s->deadline_ns && mr_now_ns() > s->deadline_ns)
        return mr_fail(e, MR_E_TIMEOUT, "the run took longer than %g s", s->options.timeout_s);
    return MR_OK;
}

/* What the observer makes is its own. */
static void observe(const mr_options *o, const mr_event *ev)
{
    mr_account *of_run = mr_account_use(NULL);
    o->observe(o->observe_arg, ev);
    mr_account_use(of_run);
}

static void tell(mr_frame *f, const mr_step *st, mr_call *c, int64_t begin)
{
    const mr_options *o = &f->plan->session->options;
    for (int i = 0; i < st->n_out; i++) {
        if (st->out[i] < 0) continue;
        mr_slot *s = &f->slots[st->out[i]];
        bool tensor = s->v ? s->v->type.kind == MR_TENSOR : true;
        c->out[i].v = tensor ? NULL : s->v; /* a view's owner has another shape */
        c->out[i].t = tensor ? &s->t : NULL;
        c->out[i].type = s->v ? s->v->type : mr_type_tensor(s->t.dtype);
    }
    mr_event ev = {st->node, st->impl ? st->impl->name : NULL, c, begin, mr_now_ns(), f->exec->depth};
    observe(o, &ev);
    for (int i = 0; i < st->n_out; i++) c->out[i].v = NULL;
}

static mr_status run_copy(mr_frame *f, const mr_step *st, mr_error *e)
{
    const mr_device *d = f->plan->session->device;
    const mr_tensor *from = &f->slots[st->in[0]].t, *to = &f->slots[st->out[0]].t;
    size_t bytes = mr_tensor_bytes(from);
    bool in = f->plan->values[st->out[0]].dev == MR_CUDA;
    int bad = in ? d->plugin->copy_in(d->context, to->data, from->data, bytes)
                 : d->plugin->copy_out(d->context, to->data, from->data, bytes);
    return bad ? mr_fail(e, MR_E_DEVICE, "copy of %zu bytes: %s", bytes, d->plugin->error(d->context)) : MR_OK;
}

static mr_status run_carry(mr_frame *f, const mr_step *st, mr_call *c)
{
    const mr_tensor *from = &f->slots[st->in[0]].t;
    mr_slot *to = &f->slots[st->out[0]];
    if (f->plan->values[st->out[0]].place == MR_AT_OWNED) {
        mr_shape shape = mr_tensor_shape(from);
        if (!(to->v = new_tensor(c, MR_F64, &shape))) return c->error->status;
        to->t = to->v->t;
    }
    mr_carrier_convert(to->t.data, from);
    return MR_OK;
}

static mr_status run_step(mr_frame *f, int k, mr_error *e)
{
    const mr_step *st = &f->plan->steps[k];
    mr_call *c = &f->calls[k];
    c->error = e;
    f->exec->step = st;
    switch (st->kind) {
    case MR_STEP_RUN:
        return st->impl->run(c);
    case MR_STEP_VIEW:
        return run_view(f, st, c);
    case MR_STEP_DYNAMIC:
        return run_dynamic(f, st, c);
    case MR_STEP_COPY:
        return run_copy(f, st, e);
    case MR_STEP_CARRY:
        return run_carry(f, st, c);
    }
    return mr_fail(e, MR_E_INTERNAL, "a step of no known kind");
}

/* A conflict that shows only now comes from run-time values: the node failed, the file is not at fault. */
static mr_status at_run_time(mr_error *e, mr_status st)
{
    if (st == MR_EINVALID || st == MR_EUNSUPPORTED) e->status = st = MR_ENODE;
    return st;
}

static mr_status run_steps(mr_frame *f, mr_error *e)
{
    const mr_session *s = f->plan->session;
    bool watched = s->options.cancel || s->deadline_ns;
    for (int k = 0; k < f->plan->n_steps; k++) {
        if (watched && interrupted(s, e)) return e->status;
        int64_t begin = s->options.observe ? mr_now_ns() : 0;
        if (run_step(f, k, e)) {
            mr_error_at_node(e, f->plan->steps[k].node);
            return at_run_time(e, e->status);
        }
        const mr_step *st = &f->plan->steps[k];
        bool of_node = st->kind != MR_STEP_COPY && st->kind != MR_STEP_CARRY; /* those are between nodes */
        if (s->options.observe && of_node) tell(f, st, &f->calls[k], begin);
        for (int i = 0; i < st->n_drop; i++) drop_slot(f, st->drop[i]);
    }
    return MR_OK;
}

static void tell_folded(mr_frame *f)
{
    const mr_plan *p = f->plan;
    const mr_options *o = &p->session->options;
    for (int k = 0; o->observe && k < p->n_folded; k++) {
        const mr_node *n = p->folded[k];
        mr_arg out[64] = {0};
        int n_out = n->n_out < 64 ? n->n_out : 64;
        for (int i = 0; i < n_out; i++) {
            mr_value *v = n->out[i] >= 0 ? p->values[n->out[i]].known : NULL;
            if (v) out[i] = (mr_arg){.type = v->type, .shape = mr_tensor_shape(&v->t), .t = &v->t, .v = v};
        }
        mr_call c = {.node = n, .params = n->params, .out = out, .n_out = n_out, .exec = f->exec};
        mr_event ev = {n, NULL, &c, 0, 0, f->exec->depth};
        observe(o, &ev);
    }
}

/* ---- in and out ---- */

static void bind_slot(mr_slot *s, const mr_tensor *t, mr_value *owner)
{
    if (t) s->t = *t;
    s->v = owner ? mr_value_retain(owner) : NULL;
}

static void bind_inputs(mr_frame *f, mr_value *const *in, const mr_frame *parent)
{
    const mr_graph *g = f->plan->graph;
    for (int i = 0; i < g->n_inputs; i++)
        if (in[i] && !f->plan->values[g->inputs[i]].known)
            bind_slot(&f->slots[g->inputs[i]], in[i]->type.kind == MR_TENSOR ? &in[i]->t : NULL, in[i]);
    for (int i = 0; i < g->n_captures; i++) {
        int id = g->captures[i], outer = g->values[id].outer;
        if (f->plan->values[id].known || f->plan->values[id].type.kind == MR_NONE) continue;
        const mr_pvalue *from = &parent->plan->values[outer];
        const mr_slot *s = &parent->slots[from->dev == MR_CPU ? outer : from->twin];
        bind_slot(&f->slots[id], &s->t, s->v);
    }
}

/* home NULL: a buffer that is freed with its value. */
static bool make_output(mr_frame *f, int id, mr_spares *home, bool only_spare)
{
    const mr_pvalue *v = &f->plan->values[id];
    mr_slot *s = &f->slots[id];
    if (v->place != MR_AT_OUTPUT || v->root != id || s->v) return true;
    s->v = home ? mr_value_of_spare(home, only_spare, (mr_dtype)v->type.elem, v->shape.rank, v->shape.d)
                : mr_value_uninit((mr_dtype)v->type.elem, v->shape.rank, v->shape.d);
    if (s->v) s->t = s->v->t;
    return s->v != NULL;
}

/* The caller's come from the buffers of the last run first; what fits none is freed before more is asked for. */
static mr_status make_outputs(mr_frame *f, mr_error *e)
{
    mr_plan *p = f->plan;
    mr_spares *home = f->exec->depth == 0 ? p->session->spares : NULL;
    for (int i = 0; home && i < p->n_values; i++) make_output(f, i, home, true);
    if (home) mr_spares_trim(home);
    for (int i = 0; i < p->n_values; i++)
        if (!make_output(f, i, home, false))
            return mr_fail(e, MR_E_MEMORY, "out of memory for an output of %zu bytes", p->values[i].bytes);
    for (int i = 0; i < p->n_values; i++)
        if (p->values[i].place == MR_AT_OUTPUT && p->values[i].root != i)
            f->slots[i].t.data = f->slots[p->values[i].root].t.data;
    return MR_OK;
}

/* Does the value own its bytes, and is it just the tensor? */
static bool is_whole(const mr_value *v, const mr_tensor *t)
{
    mr_shape a = mr_tensor_shape(&v->t), b = mr_tensor_shape(t);
    return v->buffer && t->dtype != MR_STRING && v->t.data == t->data && mr_shape_equal(&a, &b);
}

/* The value with id as one that outlives the frame. */
static mr_value *take(mr_frame *f, int id)
{
    mr_plan *p = f->plan;
    mr_pvalue *v = &p->values[id];
    mr_slot *s = &f->slots[id], *root = &f->slots[v->root];
    if (v->known)
        return v->known->buffer || v->type.kind != MR_TENSOR ? mr_value_retain(v->known) : mr_value_copy(&v->known->t);
    if (s->v && s->v->type.kind != MR_TENSOR) return mr_value_retain(s->v);
    bool whole = root->v && root->v->buffer && s->t.dtype != MR_STRING && root->v->t.data == s->t.data &&
                 mr_tensor_count(&root->v->t) == mr_tensor_count(&s->t) && root->v->refs == 1;
    if (v->place == MR_AT_INPUT && s->v && is_whole(s->v, &s->t)) return mr_value_retain(s->v);
    if (v->place == MR_AT_INPUT || !whole) return mr_value_copy(&s->t);
    root->v->t = s->t; /* the same bytes under the output's own shape and type */
    root->v->type = mr_type_tensor(s->t.dtype);
    return mr_value_retain(root->v);
}

static mr_status take_outputs(mr_frame *f, mr_value **out, mr_error *e)
{
    for (int o = 0; o < f->plan->n_outputs; o++) {
        out[o] = take(f, f->plan->outputs[o]);
        if (out[o]) continue;
        while (o > 0) mr_value_release(out[--o]);
        return mr_fail(e, MR_E_MEMORY, "out of memory for output %d", o);
    }
    return MR_OK;
}

mr_status mr_plan_run(mr_plan *p, mr_value *const *in, const mr_frame *parent, mr_value **out, int depth, mr_error *e)
{
    if (!p->frame && !(p->frame = frame_new(p, e))) return e->status;
    mr_frame *f = p->frame;
    f->exec->depth = depth;
    bind_inputs(f, in, parent);
    mr_status st = make_outputs(f, e);
    if (!st) tell_folded(f);
    if (!st) st = run_steps(f, e);
    if (!st) st = take_outputs(f, out, e);
    const mr_account *account = mr_account_current();
    if (st && e->code == MR_E_MEMORY && account && account->refused) mr_frame_over_limit(f, account, e);
    frame_clear(f);
    return st;
}

/* ---- folding ---- */

mr_status mr_fold(mr_call *c, const mr_impl *impl, mr_value **outs)
{
    mr_status st = MR_OK;
    void *scratch = NULL;
    size_t bytes = impl->scratch ? impl->scratch(c) : 0;
    void **packed = mr_call_alloc(c, sizeof *packed * ((size_t)c->n_in + 1));
    if (!packed || (bytes && !(scratch = aligned_alloc(64, (bytes + 63) / 64 * 64)))) st = MR_EMEMORY;
    for (int o = 0; !st && o < c->n_out; o++) {
        if (c->node->out[o] < 0) continue;
        outs[o] = new_tensor(c, mr_out_dtype(c, o), &c->out[o].shape);
        if (!outs[o])
            st = MR_EMEMORY;
        else
            c->out[o].t = &outs[o]->t;
    }
    c->packed = packed;
    c->scratch = scratch;
    if (!st) st = impl->run(c);
    for (int o = 0; o < c->n_out; o++) c->out[o].t = NULL;
    free(scratch);
    return st;
}

/* call.c: what a row may ask of the engine while it infers or runs. */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *mr_node_in_name(const mr_node *n, int i)
{
    const mr_schema *s = n->schema;
    if (!s || s->n_in == 0) return "?";
    return s->in[i < s->n_in ? i : s->n_in - 1].name;
}

const char *mr_in_name(const mr_call *c, int i)
{
    return mr_node_in_name(c->node, i);
}

int mr_call_version(const mr_call *c)
{
    return c->node->schema ? c->node->schema->since : 0;
}

/* A claim about types is asked outside any session. */
bool mr_call_carried(const mr_call *c)
{
    return c->exec && c->exec->session && c->exec->session->options.f64;
}

mr_status mr_call_fail(mr_call *c, mr_code code, const char *fmt, ...)
{
    char operands[4096];
    va_list ap;
    va_start(ap, fmt);
    bool first = c->error->status == MR_OK;
    mr_status s = mr_vfail(c->error, code, fmt, ap);
    va_end(ap);
    mr_error_at_node(c->error, c->node);
    if (first && mr_is_shape_conflict(code)) mr_error_more(c->error, mr_operands_string(c, operands, sizeof operands));
    return s;
}

mr_status mr_call_fail_in(mr_call *c, mr_code code, int i, const char *fmt, ...)
{
    char text[1024], shape[256] = "", value[256] = "";
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    const mr_graph *g = c->node->graph;
    if (i < c->n_in && c->in[i].type.kind == MR_TENSOR) {
        char dims[220] = "";
        if (c->in[i].shape.rank >= 0) mr_shape_string(&c->in[i].shape, g->model->symbols, dims, sizeof dims);
        snprintf(shape, sizeof shape, " %s%s", mr_dtype_name(mr_in_dtype(c, i)), dims);
    }
    if (i < c->node->n_in && c->node->in[i] >= 0)
        snprintf(value, sizeof value, " (%s)", g->values[c->node->in[i]].name);
    return mr_call_fail(c, code, "input %d '%s'%s%s: %s", i, mr_in_name(c, i), value, shape, text);
}

void mr_call_hint(mr_call *c, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    mr_error_hint(c->error, "%s", text);
}

void *mr_call_alloc(mr_call *c, size_t bytes)
{
    void *p = mr_region_alloc(c->exec->region, bytes ? bytes : 1);
    if (!p) mr_call_fail(c, MR_E_MEMORY, "out of memory for %zu bytes", bytes);
    return p;
}

mr_status mr_call_set_value(mr_call *c, int o, mr_value *v)
{
    if (!v) return mr_call_fail(c, MR_E_MEMORY, "out of memory for output %d", o);
    mr_arg *a = &c->out[o];
    mr_value_release(a->v);
    a->v = v;
    a->type = v->type;
    if (v->type.kind == MR_TENSOR) {
        a->shape = mr_tensor_shape(&v->t);
        a->t = &v->t;
    }
    return MR_OK;
}

mr_value *mr_call_take(mr_call *c, int i)
{
    const mr_arg *a = &c->in[i];
    if (a->type.kind != MR_TENSOR) return a->v ? mr_value_retain(a->v) : NULL;
    bool whole = a->v && a->v->buffer && a->v->t.data == a->t->data && a->v->t.dtype != MR_STRING;
    if (whole && mr_tensor_count(&a->v->t) == mr_tensor_count(a->t) && a->v->t.rank == a->t->rank &&
        !memcmp(a->v->t.dims, a->t->dims, sizeof(int64_t) * (size_t)a->t->rank))
        return mr_value_retain(a->v);
    return mr_value_copy(a->t);
}

mr_typed_shape mr_out_planned(const mr_call *c, int o)
{
    int id = c->node->out[o];
    if (id < 0) return (mr_typed_shape){.shape = mr_shape_unknown()};
    const mr_pvalue *v = &c->exec->plan->values[id];
    return (mr_typed_shape){v->type, v->shape};
}

uint64_t mr_call_entropy(mr_call *c)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    static atomic_uint_fast64_t count; /* so that two calls within one tick differ */
    uint64_t x = (uint64_t)t.tv_sec * 1000000007u ^ (uint64_t)t.tv_nsec << 20 ^ (uintptr_t)c;
    return x ^ (atomic_fetch_add(&count, 1) + 1) * UINT64_C(0x9E3779B97F4A7C15);
}

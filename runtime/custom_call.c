/* custom_call.c: a custom operator as a row: calls of the engine become calls of the plugin. */
#include <stdio.h>
#include <string.h>

#include "custom.h"

typedef struct row {
    mr_op op; /* first: a node's op is the row */
    mr_impl impls[2];
    const mr_custom_op *def;
} row;

typedef struct params {
    const mr_attr **attrs; /* by attribute of the schema, with its default; NULL: absent */
} params;

typedef struct call {
    mr_custom_call open; /* first: what the plugin holds */
    mr_call *c;
    bool running;
} call;

static const mr_custom_op *def_of(const mr_call *c)
{
    return ((const row *)c->node->op)->def;
}

static mr_call *inner(const mr_custom_call *c)
{
    return ((const call *)c)->c;
}

/* ---- what the plugin may ask ---- */

static int input_count(const mr_custom_call *c)
{
    return inner(c)->n_in;
}

static int output_count(const mr_custom_call *c)
{
    return inner(c)->n_out;
}

static void show(const mr_arg *a, mr_custom_tensor *t)
{
    *t = (mr_custom_tensor){.dtype = (mr_dtype)a->type.elem, .rank = a->shape.rank, .dims = a->shape.d};
    if (!a->t) return;
    t->rank = a->t->rank, t->dims = a->t->dims;
    if (a->type.elem != MR_STRING) t->data = a->t->data;
}

static int input(const mr_custom_call *c, int i, mr_custom_tensor *t)
{
    if (i < 0 || !mr_in_has(inner(c), i)) return 0;
    show(&inner(c)->in[i], t);
    return 1;
}

static int output(const mr_custom_call *c, int o, mr_custom_tensor *t)
{
    if (o < 0 || !mr_out_wanted(inner(c), o)) return 0;
    show(&inner(c)->out[o], t);
    return 1;
}

/* What the schema says the output is; under --precision f64 a carrier is what it carries. */
static bool fits_schema(mr_call *c, int o, mr_dtype dtype)
{
    mr_type want, *in = mr_call_alloc(c, sizeof *in * (size_t)(c->n_in + 1));
    for (int i = 0; in && i < c->n_in; i++) in[i] = c->in[i].type;
    if (!in || mr_call_carried(c) || !mr_schema_out_type(c->node, in, c->n_in, o, &want)) return true;
    return want.elem == dtype;
}

static mr_status set_output(mr_custom_call *k, int o, mr_dtype dtype, int rank, const int64_t *dims)
{
    mr_call *c = inner(k);
    if (((call *)k)->running) return mr_call_fail(c, MR_E_NODE_FAILED, "the plugin sets an output's shape in run");
    if (o < 0 || o >= c->n_out) return MR_OK; /* not wanted */
    if (!mr_dtype_size(dtype) || rank < -1 || rank > MR_MAX_RANK)
        return mr_call_fail(c, MR_E_PLUGIN, "the plugin gives output %d the type %d and rank %d", o, (int)dtype, rank);
    if (!fits_schema(c, o, dtype))
        return mr_call_fail(c, MR_E_PLUGIN, "the plugin makes output %d %s, which its schema does not allow", o,
                            mr_dtype_name(dtype));
    c->out[o].type = mr_type_tensor(dtype);
    c->out[o].shape = mr_shape_unknown();
    c->out[o].shape.rank = rank;
    if (rank > 0) memcpy(c->out[o].shape.d, dims, sizeof *dims * (size_t)rank);
    return MR_OK;
}

static const char *input_string(const mr_custom_call *c, int i, int64_t k, size_t *len)
{
    if (i < 0 || mr_in_dtype(inner(c), i) != MR_STRING) return NULL;
    const mr_tensor *t = inner(c)->in[i].t;
    if (!t || k < 0 || k >= mr_tensor_count(t)) return NULL;
    const mr_string *s = (const mr_string *)t->data + k;
    *len = s->len;
    return s->data ? s->data : "";
}

static mr_status put_string(mr_custom_call *k, int o, int64_t at, const char *s, size_t len)
{
    mr_call *c = inner(k);
    bool there = o >= 0 && mr_out_wanted(c, o) && c->out[o].t && c->out[o].t->dtype == MR_STRING;
    if (!there || at < 0 || at >= mr_tensor_count(c->out[o].t))
        return mr_call_fail(c, MR_E_NODE_FAILED, "the plugin writes string %lld of output %d, which is not there",
                            (long long)at, o);
    char *copy = mr_call_alloc(c, len);
    if (!copy) return c->error->status;
    memcpy(copy, s, len);
    ((mr_string *)c->out[o].t->data)[at] = (mr_string){copy, len};
    return MR_OK;
}

static const mr_attr *attr(const mr_custom_call *c, const char *name, mr_attr_kind kind)
{
    const mr_schema *s = inner(c)->node->schema;
    const params *p = inner(c)->params;
    for (int i = 0; i < s->n_attrs; i++)
        if (!strcmp(s->attrs[i].name, name)) return p->attrs[i] && p->attrs[i]->kind == kind ? p->attrs[i] : NULL;
    return NULL;
}

static int attr_int(const mr_custom_call *c, const char *name, int64_t *value)
{
    const mr_attr *a = attr(c, name, MR_ATTR_INT);
    if (a) *value = a->i;
    return a != NULL;
}

static int attr_float(const mr_custom_call *c, const char *name, float *value)
{
    const mr_attr *a = attr(c, name, MR_ATTR_FLOAT);
    if (a) *value = a->f;
    return a != NULL;
}

static const char *attr_string(const mr_custom_call *c, const char *name, size_t *len)
{
    const mr_attr *a = attr(c, name, MR_ATTR_STRING);
    if (!a) return NULL;
    *len = a->s.len;
    return a->s.data ? a->s.data : "";
}

static const int64_t *attr_ints(const mr_custom_call *c, const char *name, int64_t *n)
{
    static const int64_t none;
    const mr_attr *a = attr(c, name, MR_ATTR_INTS);
    if (!a) return NULL;
    *n = a->n;
    return a->n ? a->ints : &none;
}

static const float *attr_floats(const mr_custom_call *c, const char *name, int64_t *n)
{
    static const float none;
    const mr_attr *a = attr(c, name, MR_ATTR_FLOATS);
    if (!a) return NULL;
    *n = a->n;
    return a->n ? a->floats : &none;
}

static const char *attr_strings(const mr_custom_call *c, const char *name, int64_t k, size_t *len)
{
    const mr_attr *a = attr(c, name, MR_ATTR_STRINGS);
    if (!a || k < 0 || k >= a->n) return NULL;
    *len = a->strings[k].len;
    return a->strings[k].data ? a->strings[k].data : "";
}

static int attr_tensor(const mr_custom_call *c, const char *name, mr_custom_tensor *t)
{
    const mr_attr *a = attr(c, name, MR_ATTR_TENSOR);
    if (!a || !a->n) return 0;
    const mr_tensor *v = &a->values[0]->t;
    *t = (mr_custom_tensor){v->dtype, v->rank, v->dims, v->dtype == MR_STRING ? NULL : v->data};
    return 1;
}

static mr_status fail(mr_custom_call *k, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return mr_call_fail(inner(k), ((call *)k)->running ? MR_E_NODE_FAILED : MR_E_SHAPES, "%s", text);
}

static void parallel_for(mr_custom_call *c, int64_t n, int64_t grain, void (*fn)(void *, int64_t, int64_t), void *arg)
{
    mr_parallel_for(inner(c)->pool, n, grain, fn, arg);
}

static const mr_custom_api api = {.input_count = input_count,
                                  .output_count = output_count,
                                  .input = input,
                                  .output = output,
                                  .set_output = set_output,
                                  .input_string = input_string,
                                  .put_string = put_string,
                                  .attr_int = attr_int,
                                  .attr_float = attr_float,
                                  .attr_string = attr_string,
                                  .attr_ints = attr_ints,
                                  .attr_floats = attr_floats,
                                  .attr_strings = attr_strings,
                                  .attr_tensor = attr_tensor,
                                  .fail = fail,
                                  .parallel_for = parallel_for};

/* ---- the row ---- */

/* Defaults are made once: kernels may ask from many threads. */
static void read(mr_reader *r, void *params_)
{
    params *p = params_;
    const mr_node *n = mr_read_node(r);
    const mr_schema *s = n->schema;
    p->attrs = mr_read_alloc(r, sizeof *p->attrs * (size_t)(s->n_attrs + 1));
    for (int i = 0; p->attrs && i < s->n_attrs; i++) {
        mr_attr *fallback = mr_read_alloc(r, sizeof *fallback);
        if (mr_read_has(r, s->attrs[i].name))
            p->attrs[i] = mr_node_attr(n, s->attrs[i].name);
        else if (fallback && mr_schema_default(&n->graph->model->region, &s->attrs[i], fallback))
            p->attrs[i] = fallback;
    }
    if (!p->attrs) mr_read_fail(r, MR_E_MEMORY, "no memory for the attributes");
}

static bool all_known(const mr_call *c)
{
    for (int i = 0; i < c->n_in; i++)
        if (mr_in_has(c, i) && !c->in[i].t) return false;
    return true;
}

static mr_status infer(mr_call *c)
{
    call k = {{&api}, c, false};
    for (int o = 0; o < c->n_out; o++) c->out[o].type = (mr_type){0};
    mr_status st = def_of(c)->infer(&k.open);
    if (c->error->status) return c->error->status;
    if (st) return mr_call_fail(c, MR_E_SHAPES, "the plugin gives status %d and no reason", (int)st);
    for (int o = 0; o < c->n_out; o++) {
        if (!mr_out_wanted(c, o)) continue;
        if (c->out[o].type.kind == MR_NONE)
            return mr_call_fail(c, MR_E_PLUGIN, "the plugin does not say what output %d is", o);
        if (all_known(c) && !mr_shape_known(&c->out[o].shape))
            return mr_call_fail(c, MR_E_PLUGIN, "the plugin does not know the shape of output %d from all inputs", o);
    }
    return MR_OK;
}

/* A kernel that asks for the type of an input that is absent is the general one. */
static mr_fn have(const mr_call *c)
{
    for (const mr_custom_kernel *k = def_of(c)->kernels; k->run; k++) {
        bool fits = true;
        for (int i = 0; i < 8; i++)
            fits = fits && (!k->types[i] || !mr_in_has(c, i) || k->types[i] == mr_in_dtype(c, i));
        if (fits) return (mr_fn)k->run;
    }
    return NULL;
}

static mr_status run(mr_call *c)
{
    call k = {{&api}, c, true};
    mr_status st = ((mr_status(*)(mr_custom_call *))c->fn)(&k.open);
    if (c->error->status) return c->error->status;
    return st ? mr_call_fail(c, MR_E_NODE_FAILED, "the plugin gives status %d and no reason", (int)st) : MR_OK;
}

const mr_op *mr_custom_row(mr_region *r, const mr_custom_op *def)
{
    row *w = MR_REGION_NEW(r, row, 1);
    char *name = mr_region_printf(r, "%s.%s", def->domain, def->name);
    if (!w || !name) return NULL;
    w->def = def;
    w->impls[0] = (mr_impl){.name = name, .dev = MR_CPU, .have = have, .run = run};
    w->op = (mr_op){.domain = def->domain,
                    .name = def->name,
                    .since = def->since_version,
                    .params_size = sizeof(params),
                    .read = read,
                    .infer = infer,
                    .impls = w->impls,
                    .flags = def->random ? MR_OP_RANDOM : 0};
    return &w->op;
}

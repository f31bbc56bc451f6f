/* graph.c: looking things up in graphs, and saying where a node stands. */
#include "model.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int mr_graph_find_value(const mr_graph *g, const char *name)
{
    for (int i = 0; i < g->n_values; i++)
        if (strcmp(g->values[i].name, name) == 0) return i;
    return -1;
}

int mr_graph_add_value(mr_graph *g, const char *name)
{
    if (g->n_values == g->cap_values) {
        if (g->cap_values > INT_MAX / 2) return -1;
        int cap = g->cap_values ? g->cap_values * 2 : 16;
        mr_vinfo *values = MR_REGION_NEW(&g->model->region, mr_vinfo, cap);
        if (!values) return -1;
        if (g->n_values) memcpy(values, g->values, sizeof(mr_vinfo) * (size_t)g->n_values);
        g->values = values;
        g->cap_values = cap;
    }
    mr_vinfo *v = &g->values[g->n_values];
    *v = (mr_vinfo){.producer = -1, .outer = -1, .decl = {.shape = {.rank = -1}}};
    v->name = mr_region_string(&g->model->region, name, strlen(name));
    return v->name ? g->n_values++ : -1;
}

mr_dim mr_model_symbol(mr_graph_model *m, const char *name)
{
    for (int k = 0; k < m->n_symbols; k++)
        if (strcmp(m->symbols[k], name) == 0) return -(mr_dim)(k + 2);
    if (m->n_symbols == m->cap_symbols) {
        int cap = m->cap_symbols ? m->cap_symbols * 2 : 16;
        const char **symbols = MR_REGION_NEW(&m->region, const char *, cap);
        if (!symbols) return MR_DIM_UNKNOWN;
        if (m->n_symbols) memcpy(symbols, m->symbols, sizeof(*symbols) * (size_t)m->n_symbols);
        m->symbols = symbols;
        m->cap_symbols = cap;
    }
    const char *copy = mr_region_string(&m->region, name, strlen(name));
    if (!copy) return MR_DIM_UNKNOWN;
    m->symbols[m->n_symbols++] = copy;
    return -(mr_dim)(m->n_symbols + 1);
}

const char *mr_model_dim_name(const mr_graph_model *m, mr_dim d)
{
    return d < MR_DIM_UNKNOWN && -(d + 2) < m->n_symbols ? m->symbols[-(d + 2)] : NULL;
}

const char *mr_attr_kind_name(mr_attr_kind k)
{
    static const char *const names[] = {
        "UNDEFINED", "FLOAT",   "INT",    "STRING",        "TENSOR",         "GRAPH",      "FLOATS",     "INTS",
        "STRINGS",   "TENSORS", "GRAPHS", "SPARSE_TENSOR", "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"};
    return (unsigned)k <= MR_ATTR_TYPE_PROTOS ? names[k] : "unknown";
}

const mr_node *mr_node_file(const mr_node *n)
{
    return n->origin ? n->origin : n;
}

const mr_node *mr_node_of(const mr_node *n, int i)
{
    if (!n->n_origins) return i == 0 ? n : NULL;
    return i < n->n_origins ? n->origins[i] : NULL;
}

const mr_attr *mr_node_attr(const mr_node *n, const char *name)
{
    for (int i = 0; i < n->n_attrs; i++)
        if (strcmp(n->attrs[i].name, name) == 0) return &n->attrs[i];
    return NULL;
}

/* "(Conv-11)", "(my.domain:Block-2)"; the version is missing for operators without a schema. */
static int show_op(const mr_node *n, char *buf, size_t size)
{
    char version[16] = "";
    if (n->schema) snprintf(version, sizeof version, "-%d", n->schema->since);
    return snprintf(buf, size, "(%s%s%s%s)", n->domain, *n->domain ? ":" : "", n->op_type, version);
}

/* A node that stands for others: the first of them, and which are with it. */
static const char *where_fused(const mr_node *n, char *buf, size_t size)
{
    size_t at = strlen(mr_node_where(n->origins[0], buf, size));
    for (int i = 1; i < n->n_origins && at < size; i++) {
        const mr_node *f = mr_node_file(n->origins[i]);
        at +=
            (size_t)snprintf(buf + at, size - at, "%s node %d '%s' ", i > 1 ? "," : ", fused with", f->index, f->name);
        if (at < size) at += (size_t)show_op(n->origins[i], buf + at, size - at);
    }
    return buf;
}

const char *mr_node_where(const mr_node *n, char *buf, size_t size)
{
    if (n->n_origins) return where_fused(n, buf, size);
    const mr_node *f = mr_node_file(n);
    size_t at = (size_t)snprintf(buf, size, "node %d '%s' ", f->index, f->name);
    if (at < size) at += (size_t)show_op(f, buf + at, size - at);
    if (n != f && at < size) {
        at += (size_t)snprintf(buf + at, size - at, ", in %s '%s' ", n->origin_path ? n->origin_path : "", n->name);
        if (at < size) at += (size_t)show_op(n, buf + at, size - at);
    }
    for (const mr_graph *g = f->graph; g && g->owner && at < size; g = g->parent) {
        const mr_node *owner = mr_node_file(g->owner);
        at += (size_t)snprintf(buf + at, size - at, ", in %s of node %d '%s' ", g->attr, owner->index, owner->name);
        if (at < size) at += (size_t)show_op(owner, buf + at, size - at);
    }
    return buf;
}

struct mr_owned {
    struct mr_owned *next;
    mr_value *value; /* else the error */
    mr_error *error;
};

static bool own(mr_graph_model *m, mr_value *value, mr_error *error)
{
    struct mr_owned *o = MR_REGION_NEW(&m->region, struct mr_owned, 1);
    if (!o) {
        mr_value_release(value);
        return false;
    }
    *o = (struct mr_owned){m->owned, value, error};
    m->owned = o;
    return true;
}

bool mr_model_own_value(mr_graph_model *m, mr_value *v)
{
    return own(m, v, NULL);
}

size_t mr_graph_weight_bytes(const mr_graph_model *m, bool mapped)
{
    size_t sum = 0;
    for (const struct mr_owned *o = m->owned; o; o = o->next)
        if (o->value && o->value->type.kind == MR_TENSOR && (o->value->buffer == NULL) == mapped)
            sum += mr_tensor_bytes(&o->value->t);
    return sum;
}

bool mr_model_own_error(mr_graph_model *m, mr_error *e)
{
    return own(m, NULL, e);
}

void mr_graph_free(mr_graph_model *m)
{
    if (!m) return;
    for (struct mr_owned *o = m->owned; o; o = o->next) {
        mr_value_release(o->value);
        if (o->error) mr_error_clear(o->error);
    }
    for (int i = 0; i < m->n_invalid; i++) mr_error_clear(&m->invalid[i]);
    free(m->invalid);
    for (int i = 0; i < m->n_maps; i++) mr_map_close(m->maps[i]);
    free(m->maps);
    mr_region region = m->region;
    mr_region_free(&region);
}

static mr_error *add_invalid(mr_graph_model *m)
{
    if (m->n_invalid == m->cap_invalid) {
        int cap = m->cap_invalid ? m->cap_invalid * 2 : 8;
        mr_error *invalid = realloc(m->invalid, sizeof(*invalid) * (size_t)cap);
        if (!invalid) return NULL;
        m->invalid = invalid;
        m->cap_invalid = cap;
    }
    m->invalid[m->n_invalid] = (mr_error){.node = -1};
    return &m->invalid[m->n_invalid++];
}

mr_status mr_model_invalid(mr_graph_model *m, mr_code code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    mr_status s = mr_vfail(add_invalid(m), code, fmt, ap);
    va_end(ap);
    return s;
}

void mr_model_invalid_as(mr_graph_model *m, mr_error *why)
{
    mr_error *e = add_invalid(m);
    if (!e) return;
    *e = *why;
    *why = (mr_error){.node = -1};
}

void mr_error_at_node(mr_error *e, const mr_node *n)
{
    if (e->where) return;
    char where[512];
    e->where = strdup(mr_node_where(n, where, sizeof where));
    e->node = mr_node_file(n)->index;
}

void mr_node_invalid(mr_node *n, mr_code code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    mr_error *e = n->refusal.status == MR_OK ? &n->refusal : add_invalid(n->graph->model);
    mr_vfail(e, code, fmt, ap);
    if (e) mr_error_at_node(e, n);
    va_end(ap);
}

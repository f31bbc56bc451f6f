/* attr.c: reading a node's attributes, and noticing what nobody read. */
#include "attr.h"

#include <stdio.h>
#include <string.h>

#include "model.h"
#include "op.h"

struct mr_reader {
    mr_node *node;
    bool *read;       /* of the node's attributes */
    mr_attr fallback; /* the schema's, while it's being returned */
};

bool mr_schema_default(mr_region *r, const mr_schema_attr *a, mr_attr *out)
{
    *out = (mr_attr){.name = a->name, .kind = (mr_attr_kind)a->kind};
    if (!a->has_default) return false;
    mr_string *strings;
    switch (out->kind) {
    case MR_ATTR_INT:
        out->i = a->i;
        return true;
    case MR_ATTR_FLOAT:
        out->f = a->f;
        return true;
    case MR_ATTR_STRING:
        out->s = (mr_string){a->s, strlen(a->s)};
        return true;
    case MR_ATTR_INTS:
        out->ints = a->ints;
        break;
    case MR_ATTR_FLOATS:
        out->floats = a->floats;
        break;
    case MR_ATTR_STRINGS:
        if (!(strings = MR_REGION_NEW(r, mr_string, a->n))) return false;
        for (int i = 0; i < a->n; i++) strings[i] = (mr_string){a->strings[i], strlen(a->strings[i])};
        out->strings = strings;
        break;
    default:
        return false;
    }
    out->n = a->n;
    return true;
}

/* The attribute as given, else the schema's default, else NULL. */
static const mr_attr *get(mr_reader *r, const char *name, mr_attr_kind kind)
{
    const mr_node *n = r->node;
    const mr_attr *a = mr_node_attr(n, name);
    if (a) r->read[a - n->attrs] = true;
    if (!a && n->schema) {
        const mr_schema_attr *s = mr_schema_attr_find(n->schema, name);
        if (s && mr_schema_default(&n->graph->model->region, s, &r->fallback)) a = &r->fallback;
    }
    return a && a->kind == kind ? a : NULL;
}

int64_t mr_read_int(mr_reader *r, const char *name, int64_t fallback)
{
    const mr_attr *a = get(r, name, MR_ATTR_INT);
    return a ? a->i : fallback;
}

float mr_read_float(mr_reader *r, const char *name, float fallback)
{
    const mr_attr *a = get(r, name, MR_ATTR_FLOAT);
    return a ? a->f : fallback;
}

mr_string mr_read_string(mr_reader *r, const char *name, const char *fallback)
{
    const mr_attr *a = get(r, name, MR_ATTR_STRING);
    return a ? a->s : (mr_string){fallback, fallback ? strlen(fallback) : 0};
}

int mr_read_ints(mr_reader *r, const char *name, const int64_t **out)
{
    const mr_attr *a = get(r, name, MR_ATTR_INTS);
    *out = a ? a->ints : NULL;
    return a ? (int)a->n : -1;
}

int mr_read_floats(mr_reader *r, const char *name, const float **out)
{
    const mr_attr *a = get(r, name, MR_ATTR_FLOATS);
    *out = a ? a->floats : NULL;
    return a ? (int)a->n : -1;
}

int mr_read_strings(mr_reader *r, const char *name, const mr_string **out)
{
    const mr_attr *a = get(r, name, MR_ATTR_STRINGS);
    *out = a ? a->strings : NULL;
    return a ? (int)a->n : -1;
}

const mr_tensor *mr_read_tensor(mr_reader *r, const char *name)
{
    const mr_attr *a = get(r, name, MR_ATTR_TENSOR);
    return a && a->n ? &a->values[0]->t : NULL;
}

mr_value *mr_read_value(mr_reader *r, const char *name)
{
    const mr_attr *a = get(r, name, MR_ATTR_TENSOR);
    if (!a) a = get(r, name, MR_ATTR_SPARSE_TENSOR);
    return a && a->n ? a->values[0] : NULL;
}

const mr_typed_shape *mr_read_type(mr_reader *r, const char *name)
{
    const mr_attr *a = get(r, name, MR_ATTR_TYPE_PROTO);
    return a && a->n ? a->types : NULL;
}

bool mr_read_has(mr_reader *r, const char *name)
{
    const mr_attr *a = mr_node_attr(r->node, name);
    if (a) r->read[a - r->node->attrs] = true;
    return a != NULL;
}

void mr_read_ignore(mr_reader *r, const char *name)
{
    const mr_attr *a = mr_node_attr(r->node, name);
    if (mr_read_has(r, name)) r->node->attrs[a - r->node->attrs].ignored = true;
}

int mr_read_enum(mr_reader *r, const char *name, const char *const *names, int fallback)
{
    const mr_attr *a = get(r, name, MR_ATTR_STRING);
    if (!a) return fallback;
    char known[512] = "", given[128], near[256];
    size_t at = 0;
    snprintf(given, sizeof given, "%.*s", (int)(a->s.len < sizeof given ? a->s.len : sizeof given - 1), a->s.data);
    mr_nearest nearest = {.name = given};
    for (int i = 0; names[i]; i++) {
        if (strlen(names[i]) == a->s.len && memcmp(names[i], a->s.data, a->s.len) == 0) return i;
        if (at < sizeof known) at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", i ? ", " : "", names[i]);
        mr_nearest_offer(&nearest, names[i]);
    }
    mr_read_fail(r, MR_E_ATTRIBUTE, "attribute %s \"%s\" unknown: one of %s", name, given, known);
    if (mr_nearest_string(&nearest, near, sizeof near)) mr_error_hint(&r->node->refusal, "did you mean %s?", near);
    return fallback;
}

int mr_read_version(const mr_reader *r)
{
    return r->node->schema ? r->node->schema->since : 0;
}
const mr_node *mr_read_node(const mr_reader *r)
{
    return r->node;
}
void *mr_read_alloc(mr_reader *r, size_t bytes)
{
    return mr_region_alloc(&r->node->graph->model->region, bytes);
}

void mr_read_fail(mr_reader *r, mr_code code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    mr_vfail(&r->node->refusal, code, fmt, ap);
    va_end(ap);
    mr_error_at_node(&r->node->refusal, r->node);
}

/* Graphs are not read: control flow runs them by their position. */
static bool needs_reading(const mr_node *n, const mr_attr *a)
{
    bool graph = a->kind == MR_ATTR_GRAPH || a->kind == MR_ATTR_GRAPHS;
    return !(graph && n->op->flags & MR_OP_CONTROL) && strncmp(a->name, "__", 2) != 0;
}

void mr_attrs_read(mr_node *n)
{
    mr_region *region = &n->graph->model->region;
    mr_reader r = {.node = n, .read = MR_REGION_NEW(region, bool, n->n_attrs)};
    n->params = mr_region_alloc(region, n->op->params_size);
    if (!r.read || !n->params) {
        mr_read_fail(&r, MR_E_MEMORY, "no memory for the parameters");
        return;
    }
    if (n->op->read) n->op->read(&r, n->params);
    for (int i = 0; i < n->n_attrs; i++)
        if (!r.read[i] && needs_reading(n, &n->attrs[i]))
            mr_read_fail(&r, MR_E_ATTRIBUTE_UNREAD, "attribute '%s' of %s is not supported", n->attrs[i].name,
                         n->op_type);
}

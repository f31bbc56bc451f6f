/* model_attr.c: AttributeProto to attribute; in function bodies, references to the attributes of the call. */
#include "model.h"

#include <string.h>

/* What stands for an attribute of the file once references are followed. */
typedef struct bound {
    const Onnx__AttributeProto *proto; /* read in that scope … */
    mr_scope *scope;
    const mr_attr *ready; /* … or one of a node that was built before. Both NULL: absent */
} bound;

static const Onnx__AttributeProto *find(Onnx__AttributeProto *const *attrs, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (attrs[i]->name && strcmp(attrs[i]->name, name) == 0) return attrs[i];
    return NULL;
}

static bool is_reference(const Onnx__AttributeProto *p)
{
    return p->ref_attr_name && *p->ref_attr_name;
}

/* A reference is the attribute of the call, else the default of the function, else absent. */
static bound follow(mr_node *n, mr_scope *s, const Onnx__AttributeProto *a)
{
    while (a && is_reference(a)) {
        const char *name = a->ref_attr_name;
        const mr_body *b = s->body;
        if (!b) {
            mr_node_invalid(n, MR_E_ATTRIBUTE, "attribute '%s' refers to '%s' outside of a function", a->name, name);
            return (bound){0};
        }
        const mr_attr *ready = b->call ? NULL : mr_node_attr(b->node, name);
        if (ready) return (bound){.ready = ready};
        a = b->call ? find(b->call->attribute, b->call->n_attribute, name) : NULL;
        if (a)
            s = b->call_scope;
        else
            a = find(b->function->attribute_proto, b->function->n_attribute_proto, name);
    }
    return (bound){.proto = a, .scope = s};
}

/* Files before IR version 2 need not give the type. */
static mr_attr_kind kind_of(const Onnx__AttributeProto *p)
{
    if (p->has_type && p->type != ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__UNDEFINED) return (mr_attr_kind)p->type;
    return p->has_f              ? MR_ATTR_FLOAT
           : p->has_i            ? MR_ATTR_INT
           : p->has_s            ? MR_ATTR_STRING
           : p->t                ? MR_ATTR_TENSOR
           : p->g                ? MR_ATTR_GRAPH
           : p->n_floats         ? MR_ATTR_FLOATS
           : p->n_ints           ? MR_ATTR_INTS
           : p->n_strings        ? MR_ATTR_STRINGS
           : p->n_tensors        ? MR_ATTR_TENSORS
           : p->n_graphs         ? MR_ATTR_GRAPHS
           : p->sparse_tensor    ? MR_ATTR_SPARSE_TENSOR
           : p->n_sparse_tensors ? MR_ATTR_SPARSE_TENSORS
           : p->tp               ? MR_ATTR_TYPE_PROTO
           : p->n_type_protos    ? MR_ATTR_TYPE_PROTOS
                                 : MR_ATTR_NONE;
}

/* The kinds whose value is in the message, one bit a kind. */
static unsigned kinds_given(const Onnx__AttributeProto *p)
{
    return (unsigned)(!!p->has_f << MR_ATTR_FLOAT | !!p->has_i << MR_ATTR_INT | !!p->has_s << MR_ATTR_STRING |
                      !!p->t << MR_ATTR_TENSOR | !!p->g << MR_ATTR_GRAPH | !!p->n_floats << MR_ATTR_FLOATS |
                      !!p->n_ints << MR_ATTR_INTS | !!p->n_strings << MR_ATTR_STRINGS |
                      !!p->n_tensors << MR_ATTR_TENSORS | !!p->n_graphs << MR_ATTR_GRAPHS |
                      !!p->sparse_tensor << MR_ATTR_SPARSE_TENSOR | !!p->n_sparse_tensors << MR_ATTR_SPARSE_TENSORS |
                      !!p->tp << MR_ATTR_TYPE_PROTO | !!p->n_type_protos << MR_ATTR_TYPE_PROTOS);
}

static void *copy(mr_loader *l, const void *src, size_t bytes)
{
    void *dst = mr_region_alloc(&l->model->region, bytes);
    if (!dst)
        mr_loader_memory(l);
    else if (bytes)
        memcpy(dst, src, bytes);
    return dst;
}

static bool copy_strings(mr_loader *l, const ProtobufCBinaryData *src, size_t n, mr_string *out)
{
    for (size_t i = 0; i < n; i++) {
        char *data = mr_region_string(&l->model->region, (const char *)src[i].data, src[i].len);
        if (!data) return mr_loader_memory(l);
        out[i] = (mr_string){data, src[i].len};
    }
    return true;
}

/* Values that cannot be read stand against the node; the attribute is left out then. */
static bool value_read(mr_loader *l, mr_node *n, mr_attr *a, mr_value *v, mr_error *why)
{
    if (v) {
        if (!mr_model_own_value(l->model, v)) return mr_loader_memory(l);
        a->values[a->n++] = v;
    } else if (why->status == MR_EMEMORY)
        mr_fail(l->e, why->code, "%s", why->text);
    else
        mr_node_invalid(n, why->code, "%s", why->text);
    mr_error_clear(why);
    return l->e->status == MR_OK;
}

static bool read_tensors(mr_loader *l, mr_node *n, mr_attr *a, Onnx__TensorProto *const *p, size_t count)
{
    mr_error why = {0};
    a->values = MR_REGION_NEW(&l->model->region, mr_value *, count);
    bool ok = a->values || mr_loader_memory(l);
    for (size_t i = 0; ok && i < count; i++)
        ok = value_read(l, n, a, mr_tensor_load(&l->source, p[i], a->name, &why), &why);
    return ok;
}

static bool read_sparse(mr_loader *l, mr_node *n, mr_attr *a, Onnx__SparseTensorProto *const *p, size_t count)
{
    mr_error why = {0};
    a->values = MR_REGION_NEW(&l->model->region, mr_value *, count);
    bool ok = a->values || mr_loader_memory(l);
    for (size_t i = 0; ok && i < count; i++)
        ok = value_read(l, n, a, mr_sparse_load(&l->source, p[i], a->name, &why), &why);
    return ok;
}

static bool read_graphs(mr_loader *l, mr_node *n, mr_scope *s, mr_attr *a, Onnx__GraphProto *const *p, size_t count)
{
    a->graphs = MR_REGION_NEW(&l->model->region, mr_graph *, count);
    if (!a->graphs) return mr_loader_memory(l);
    for (; a->n < (int64_t)count; a->n++)
        if (!(a->graphs[a->n] = mr_graph_build(l, p[a->n], s, n, a->name))) return false;
    return true;
}

static bool read_types(mr_loader *l, mr_attr *a, Onnx__TypeProto *const *p, size_t count)
{
    mr_typed_shape *types = MR_REGION_NEW(&l->model->region, mr_typed_shape, count);
    if (!types) return mr_loader_memory(l);
    for (size_t i = 0; i < count; i++) types[i] = mr_type_build(l, p[i], a->name);
    a->types = types;
    a->n = (int64_t)count;
    return true;
}

static bool read_attr(mr_loader *l, mr_node *n, mr_scope *s, mr_attr *a, const Onnx__AttributeProto *p)
{
    mr_string *strings;
    switch (a->kind) {
    case MR_ATTR_FLOAT:
        a->f = p->f;
        return true;
    case MR_ATTR_INT:
        a->i = p->i;
        return true;
    case MR_ATTR_STRING:
        return copy_strings(l, &p->s, 1, &a->s);
    case MR_ATTR_TENSOR:
        return read_tensors(l, n, a, &p->t, 1);
    case MR_ATTR_GRAPH:
        return read_graphs(l, n, s, a, &p->g, 1);
    case MR_ATTR_FLOATS:
        a->n = (int64_t)p->n_floats;
        return (a->floats = copy(l, p->floats, p->n_floats * sizeof(float))) != NULL;
    case MR_ATTR_INTS:
        a->n = (int64_t)p->n_ints;
        return (a->ints = copy(l, p->ints, p->n_ints * sizeof(int64_t))) != NULL;
    case MR_ATTR_STRINGS:
        strings = MR_REGION_NEW(&l->model->region, mr_string, p->n_strings);
        a->strings = strings;
        a->n = (int64_t)p->n_strings;
        return strings ? copy_strings(l, p->strings, p->n_strings, strings) : mr_loader_memory(l);
    case MR_ATTR_TENSORS:
        return read_tensors(l, n, a, p->tensors, p->n_tensors);
    case MR_ATTR_GRAPHS:
        return read_graphs(l, n, s, a, p->graphs, p->n_graphs);
    case MR_ATTR_SPARSE_TENSOR:
        return read_sparse(l, n, a, &p->sparse_tensor, 1);
    case MR_ATTR_SPARSE_TENSORS:
        return read_sparse(l, n, a, p->sparse_tensors, p->n_sparse_tensors);
    case MR_ATTR_TYPE_PROTO:
        return read_types(l, a, &p->tp, 1);
    case MR_ATTR_TYPE_PROTOS:
        return read_types(l, a, p->type_protos, p->n_type_protos);
    default:
        return true;
    }
}

/* Says what is wrong with the message itself. Numbers and strings may be missing, which is their default. */
static bool is_sound(mr_node *n, const char *name, mr_attr_kind kind, const Onnx__AttributeProto *p)
{
    const unsigned may_miss = 1u << MR_ATTR_FLOAT | 1u << MR_ATTR_INT | 1u << MR_ATTR_STRING | 1u << MR_ATTR_FLOATS |
                              1u << MR_ATTR_INTS | 1u << MR_ATTR_STRINGS | 1u << MR_ATTR_TENSORS |
                              1u << MR_ATTR_GRAPHS | 1u << MR_ATTR_SPARSE_TENSORS | 1u << MR_ATTR_TYPE_PROTOS;
    bool said = p->has_type && p->type != ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__UNDEFINED;
    bool typed = said || n->graph->model->ir_version < 2;
    if (!typed || kind == MR_ATTR_NONE) {
        mr_node_invalid(n, MR_E_ATTRIBUTE, "attribute '%s' has no type", name);
        return false;
    }
    if (kind < MR_ATTR_NONE || kind > MR_ATTR_TYPE_PROTOS) {
        mr_node_invalid(n, MR_E_ATTRIBUTE, "attribute '%s' has the unknown type %d", name, (int)kind);
        return false;
    }
    unsigned given = kinds_given(p), own = 1u << kind;
    if (given & ~own) {
        mr_node_invalid(n, MR_E_ATTRIBUTE, "attribute '%s' is %s but holds a value of another type", name,
                        mr_attr_kind_name(kind));
        return false;
    }
    if (!(given & own) && !(own & may_miss)) {
        mr_node_invalid(n, MR_E_ATTRIBUTE, "attribute '%s' is %s but holds none", name, mr_attr_kind_name(kind));
        return false;
    }
    return true;
}

/* An attribute of a node that was built: its values belong to the model, its graphs change hands. */
static bool take_ready(mr_node *n, mr_attr *a, const mr_attr *ready)
{
    const char *name = a->name;
    *a = *ready;
    a->name = name;
    bool graphs = a->kind == MR_ATTR_GRAPH || a->kind == MR_ATTR_GRAPHS;
    for (int64_t i = 0; graphs && i < a->n; i++) {
        if (a->graphs[i]->parent != n->graph) {
            a->n = i;
            mr_node_invalid(n, MR_E_FUNCTION, "graph '%s' is handed down into a subgraph of a function", name);
            return false;
        }
        a->graphs[i]->owner = n;
        a->graphs[i]->attr = name;
    }
    return true;
}

static bool count_subgraphs(mr_loader *l, mr_node *n)
{
    for (int i = 0; i < n->n_attrs; i++)
        if (n->attrs[i].kind == MR_ATTR_GRAPH || n->attrs[i].kind == MR_ATTR_GRAPHS)
            n->n_subgraphs += (int)n->attrs[i].n;
    if (n->n_subgraphs == 0) return true;
    n->subgraphs = MR_REGION_NEW(&l->model->region, mr_graph *, n->n_subgraphs);
    if (!n->subgraphs) return mr_loader_memory(l);
    int at = 0, n_known = n->schema ? n->schema->n_attrs : 0;
    /* In the order of the schema; then, or without one, in the order of the file. */
    for (int k = 0; k <= n_known; k++)
        for (int i = 0; i < n->n_attrs; i++) {
            const mr_attr *a = &n->attrs[i];
            if (a->kind != MR_ATTR_GRAPH && a->kind != MR_ATTR_GRAPHS) continue;
            bool known = n->schema && mr_schema_attr_find(n->schema, a->name);
            if (k < n_known ? strcmp(n->schema->attrs[k].name, a->name) == 0 : !known)
                for (int64_t g = 0; g < a->n; g++) n->subgraphs[at++] = a->graphs[g];
        }
    return true;
}

bool mr_attr_check(mr_node *n, const Onnx__NodeProto *p, size_t i)
{
    const Onnx__AttributeProto *a = p->attribute[i];
    bool named = a->name && *a->name;
    if (!named) mr_node_invalid(n, MR_E_ATTRIBUTE, "an attribute has no name");
    if (!named) return false;
    if (find(p->attribute, i, a->name)) {
        mr_node_invalid(n, MR_E_ATTRIBUTE, "attribute '%s' is given twice", a->name);
        return false;
    }
    if (!is_reference(a)) return is_sound(n, a->name, kind_of(a), a);
    if (!a->has_type) mr_node_invalid(n, MR_E_ATTRIBUTE, "attribute '%s' has no type", a->name);
    return a->has_type;
}

/* What a reference leads to must be of the kind that it says. */
static bool fits_reference(mr_node *n, const Onnx__AttributeProto *a, const Onnx__AttributeProto *to)
{
    mr_attr_kind kind = kind_of(to);
    if (a == to) return true;
    if (!is_sound(n, a->name, kind, to)) return false;
    if ((mr_attr_kind)a->type == kind) return true;
    mr_node_invalid(n, MR_E_ATTRIBUTE, "attribute '%s' is %s but refers to '%s', which is %s", a->name,
                    mr_attr_kind_name((mr_attr_kind)a->type), a->ref_attr_name, mr_attr_kind_name(kind));
    return false;
}

bool mr_attrs_build(mr_loader *l, mr_scope *s, const Onnx__NodeProto *p, mr_node *n)
{
    n->attrs = MR_REGION_NEW(&l->model->region, mr_attr, p->n_attribute);
    if (!n->attrs) return mr_loader_memory(l);
    for (size_t i = 0; i < p->n_attribute; i++) {
        if (!mr_attr_check(n, p, i)) continue;
        bound b = follow(n, s, p->attribute[i]);
        mr_attr *a = &n->attrs[n->n_attrs];
        if (!(a->name = mr_loader_string(l, p->attribute[i]->name))) return false;
        if (b.ready) {
            if (take_ready(n, a, b.ready)) n->n_attrs++;
        } else if (b.proto && fits_reference(n, p->attribute[i], b.proto)) {
            a->kind = kind_of(b.proto);
            if (!read_attr(l, n, b.scope, a, b.proto)) return false;
            n->n_attrs++;
        }
    }
    return count_subgraphs(l, n);
}

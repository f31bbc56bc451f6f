/* model_graph.c: GraphProto to graph: names to value ids, what is declared of values, nodes. */
#include <limits.h>
#include <string.h>

#include "model.h"

enum { MOST_NODES = 1 << 18 };

bool mr_loader_memory(mr_loader *l)
{
    mr_fail(l->e, MR_E_MEMORY, "no memory for the graph");
    return false;
}

const char *mr_loader_string(mr_loader *l, const char *s)
{
    if (!s) s = "";
    const char *copy = mr_region_string(&l->model->region, s, strlen(s));
    if (!copy) mr_loader_memory(l);
    return copy;
}

const char *mr_domain_of(const char *domain)
{
    return !domain || strcmp(domain, "ai.onnx") == 0 ? "" : domain;
}

/* ---- values ---- */

bool mr_name_value(mr_loader *l, mr_scope *s, const char *name, int id)
{
    return mr_names_put(&s->names, name, id) || mr_loader_memory(l);
}

int mr_value_new(mr_loader *l, mr_scope *s, const char *name)
{
    mr_names *taken = &s->build->taken; /* the last number behind each name, 1 for none */
    const char *prefix = s->inlined ? s->body->prefix : "", *base = name, *full;
    if (*prefix) base = mr_region_printf(&l->scratch, "%s%s", prefix, name);
    int last = base ? mr_names_get(taken, base, 0) : 0;
    for (full = base; full && mr_names_get(taken, full, 0);)
        full = mr_region_printf(&l->scratch, "%s_%d", base, ++last);
    int id = full ? mr_graph_add_value(s->build->graph, full) : -1;
    if (id < 0 || !mr_names_put(taken, base, last ? last : 1) ||
        !mr_names_put(taken, s->build->graph->values[id].name, 1)) {
        mr_loader_memory(l);
        return -1;
    }
    return id;
}

static bool note_capture(mr_loader *l, mr_graph *g, int id)
{
    if ((g->n_captures & (g->n_captures - 1)) == 0) { /* full at every power of two */
        int *captures = MR_REGION_NEW(&l->model->region, int, g->n_captures ? g->n_captures * 2 : 1);
        if (!captures) return mr_loader_memory(l);
        if (g->n_captures) memcpy(captures, g->captures, sizeof(int) * (size_t)g->n_captures);
        g->captures = captures;
    }
    g->captures[g->n_captures++] = id;
    return true;
}

/* The id in g of value id of a graph around it; every graph between them captures it too. */
static int capture(mr_loader *l, mr_graph *g, const mr_graph *from, int id)
{
    if (g == from) return id;
    int outer = capture(l, g->parent, from, id);
    if (outer < 0) return -1;
    for (int i = 0; i < g->n_captures; i++)
        if (g->values[g->captures[i]].outer == outer) return g->captures[i];
    const mr_vinfo *v = &g->parent->values[outer];
    int inner = mr_graph_add_value(g, v->name);
    if (inner < 0) {
        mr_loader_memory(l);
        return -1;
    }
    g->values[inner].outer = outer;
    g->values[inner].decl = v->decl;
    return note_capture(l, g, inner) ? inner : -1;
}

int mr_scope_find(mr_loader *l, mr_scope *s, const char *name)
{
    const mr_scope *t = s;
    int id = MR_UNDEFINED_NAME;
    for (; t; t = t->parent)
        if ((id = mr_names_get(&t->names, name, MR_UNDEFINED_NAME)) != MR_UNDEFINED_NAME) break;
    if (id < 0 || t->build->graph == s->build->graph) return id;
    id = capture(l, s->build->graph, t->build->graph, id);
    if (id >= 0) mr_name_value(l, s, name, id);
    return id;
}

static void undefined_input(mr_node *n, const mr_scope *s, const char *name)
{
    char near[256];
    mr_nearest nearest = {.name = name};
    mr_node_invalid(n, MR_E_GRAPH, "input '%s' is not defined anywhere", name);
    for (; s; s = s->parent)
        for (int i = 0; i < s->build->graph->n_values; i++) mr_nearest_offer(&nearest, s->build->graph->values[i].name);
    if (mr_nearest_string(&nearest, near, sizeof near)) mr_error_hint(&n->refusal, "did you mean %s?", near);
}

/* ---- what a graph declares ---- */

/* A value of the file's graph; one that is there already is a violation, which what describes. */
static int declare(mr_loader *l, mr_scope *s, const char *name, const char *what)
{
    mr_graph *g = s->build->graph;
    if (!name || !*name)
        mr_model_invalid(l->model, MR_E_GRAPH, "graph '%s': %s without a name", g->name, what);
    else if (mr_names_get(&s->names, name, MR_UNDEFINED_NAME) != MR_UNDEFINED_NAME)
        mr_model_invalid(l->model, MR_E_GRAPH, "graph '%s': %s '%s' is defined already", g->name, what, name);
    int id = mr_value_new(l, s, name ? name : "");
    return id >= 0 && mr_name_value(l, s, g->values[id].name, id) ? id : -1;
}

static bool declare_inputs(mr_loader *l, mr_scope *s, const Onnx__GraphProto *p)
{
    mr_graph *g = s->build->graph;
    g->inputs = MR_REGION_NEW(&l->model->region, int, p->n_input);
    if (!g->inputs) return mr_loader_memory(l);
    for (size_t i = 0; i < p->n_input; i++) {
        int id = declare(l, s, p->input[i]->name, "input");
        if (id < 0) return false;
        mr_vinfo *v = &g->values[id];
        v->is_input = true;
        v->decl = mr_type_build(l, p->input[i]->type, v->name);
        /* A shape is not asked for: the text has it optional, though onnx.checker wants one. */
        if (!g->parent && v->decl.type.kind == MR_NONE)
            mr_model_invalid(l->model, MR_E_GRAPH, "input '%s' has no type", v->name);
        g->inputs[g->n_inputs++] = id;
    }
    return true;
}

static void check_against_input(mr_loader *l, const mr_vinfo *v)
{
    const mr_tensor *t = &v->init->t;
    char have[256], want[256];
    mr_shape s = mr_tensor_shape(t);
    bool fits = v->decl.type.kind == MR_TENSOR && v->decl.type.elem == t->dtype;
    if (fits && v->decl.shape.rank >= 0) fits = v->decl.shape.rank == t->rank;
    for (int i = 0; fits && i < v->decl.shape.rank; i++) fits = v->decl.shape.d[i] < 0 || v->decl.shape.d[i] == s.d[i];
    if (v->decl.type.kind != MR_NONE && !fits)
        mr_model_invalid(l->model, MR_E_GRAPH, "initializer '%s' is %s%s, the input of that name is %s%s", v->name,
                         mr_dtype_name(t->dtype), mr_shape_string(&s, NULL, have, sizeof have),
                         mr_dtype_name(v->decl.type.elem),
                         mr_shape_string(&v->decl.shape, l->model->symbols, want, sizeof want));
}

/* init is taken over; NULL: it could not be read, why says why. */
static bool declare_initializer(mr_loader *l, mr_scope *s, const char *name, mr_value *init, mr_error *why)
{
    mr_graph *g = s->build->graph;
    if (!init && why->status == MR_EMEMORY) {
        mr_fail(l->e, why->code, "%s", why->text);
        return false;
    }
    if (!init)
        mr_model_invalid_as(l->model, why);
    else if (!mr_model_own_value(l->model, init))
        return mr_loader_memory(l);
    int id = name ? mr_names_get(&s->names, name, -1) : -1;
    bool fresh = id < 0 || !g->values[id].is_input || g->values[id].init;
    if (fresh) id = declare(l, s, name, "initializer");
    if (id < 0 || !init) return id >= 0;
    mr_vinfo *v = &g->values[id];
    v->init = init;
    if (fresh)
        v->decl = (mr_typed_shape){init->type, mr_tensor_shape(&init->t)};
    else
        check_against_input(l, v);
    if (fresh && !g->parent && l->model->ir_version < 4)
        mr_model_invalid(l->model, MR_E_GRAPH, "initializer '%s' is no input of the graph; IR version %lld asks for it",
                         v->name, (long long)l->model->ir_version);
    return true;
}

static bool declare_initializers(mr_loader *l, mr_scope *s, const Onnx__GraphProto *p)
{
    bool ok = true;
    for (size_t i = 0; ok && i < p->n_initializer; i++) {
        mr_error why = {0};
        mr_value *v = mr_tensor_load(&l->source, p->initializer[i], "", &why);
        ok = declare_initializer(l, s, p->initializer[i]->name, v, &why);
        mr_error_clear(&why);
    }
    for (size_t i = 0; ok && i < p->n_sparse_initializer; i++) {
        mr_error why = {0};
        const Onnx__SparseTensorProto *sp = p->sparse_initializer[i];
        mr_value *sparse = mr_sparse_load(&l->source, sp, "", &why), *v = NULL;
        /* "The initializers … stored in sparse format": what the graph sees is the dense tensor. */
        if (sparse && !(v = mr_value_densify(sparse)))
            mr_fail(&why, MR_E_MEMORY, "no memory for sparse initializer '%s'", sp->values->name);
        mr_value_release(sparse);
        ok = declare_initializer(l, s, sp->values ? sp->values->name : NULL, v, &why);
        mr_error_clear(&why);
    }
    return ok;
}

static void declare_types(mr_loader *l, mr_scope *s, const Onnx__GraphProto *p)
{
    mr_graph *g = s->build->graph;
    for (size_t i = 0; i < p->n_value_info; i++) {
        const char *name = p->value_info[i]->name;
        int id = name ? mr_names_get(&s->names, name, -1) : -1;
        if (id >= 0 && g->values[id].decl.type.kind == MR_NONE)
            g->values[id].decl = mr_type_build(l, p->value_info[i]->type, name);
    }
}

static bool declare_outputs(mr_loader *l, mr_scope *s, const Onnx__GraphProto *p)
{
    mr_graph *g = s->build->graph;
    g->outputs = MR_REGION_NEW(&l->model->region, int, p->n_output);
    if (!g->outputs) return mr_loader_memory(l);
    for (size_t i = 0; i < p->n_output; i++) {
        const char *name = p->output[i]->name ? p->output[i]->name : "";
        int id = mr_scope_find(l, s, name);
        if (id < 0) {
            mr_model_invalid(l->model, MR_E_GRAPH, "output '%s' of graph '%s' is not defined anywhere", name, g->name);
            if ((id = mr_value_new(l, s, name)) < 0) return false;
        }
        mr_vinfo *v = &g->values[id];
        mr_typed_shape decl = mr_type_build(l, p->output[i]->type, name);
        if (!g->parent && decl.type.kind == MR_NONE)
            mr_model_invalid(l->model, MR_E_GRAPH, "output '%s' has no type", name);
        if (v->decl.type.kind == MR_NONE) v->decl = decl;
        v->is_output = true;
        g->outputs[g->n_outputs++] = id;
    }
    return true;
}

/* ---- nodes ---- */

static int opset_of(const mr_loader *l, const mr_scope *s, const char *domain)
{
    for (int i = 0; s->body && i < s->body->n_opsets; i++)
        if (strcmp(s->body->opsets[i].domain, domain) == 0) return (int)s->body->opsets[i].version;
    for (int i = 0; !s->body && i < l->model->n_opsets; i++)
        if (strcmp(l->model->opsets[i].domain, domain) == 0) return (int)l->model->opsets[i].version;
    return 0;
}

/* A node with its name and place, without inputs, outputs and attributes. */
static mr_node *node_new(mr_loader *l, mr_scope *s, const Onnx__NodeProto *p, int index)
{
    mr_node *n = MR_REGION_NEW(&l->model->region, mr_node, 1);
    if (!n) return mr_loader_memory(l), NULL;
    if (++l->n_nodes > MOST_NODES) {
        mr_fail(l->e, MR_E_SIZE, "the graph has more than %d nodes, functions inlined", MOST_NODES);
        return NULL;
    }
    n->name = mr_loader_string(l, p->name);
    n->op_type = mr_loader_string(l, p->op_type);
    n->domain = mr_loader_string(l, mr_domain_of(p->domain));
    n->overload = mr_loader_string(l, p->overload);
    if (!n->name || !n->op_type || !n->domain || !n->overload) return NULL;
    if (!mr_model_own_error(l->model, &n->refusal)) return mr_loader_memory(l), NULL;
    n->graph = s->build->graph;
    n->index = s->inlined ? s->build->next_index++ : index;
    n->origin = s->body ? s->body->origin : NULL;
    n->origin_path = s->body ? s->body->path : NULL;
    n->opset = opset_of(l, s, n->domain);
    n->schema = mr_schema_find(l->model->customs, n->domain, n->op_type, n->opset);
    n->in = MR_REGION_NEW(&l->model->region, int, p->n_input);
    n->out = MR_REGION_NEW(&l->model->region, int, p->n_output);
    if (!n->in || !n->out) return mr_loader_memory(l), NULL;
    return n;
}

static void defined_twice(mr_node *n, const char *name, const mr_vinfo *v)
{
    const char *by = v->is_input ? "an input" : v->init ? "an initializer" : "the output of another node";
    mr_node_invalid(n, MR_E_GRAPH, "output '%s' is defined already, as %s", name, by);
}

/* Is there a value of that name around the graph, made before the node that holds the graph? Ids grow with the order of
 * the file. Within functions some ids are the caller's, and nothing can be said. */
static bool hides_outer(const mr_scope *s, const char *name)
{
    const mr_node *owner = s->build->graph->owner;
    for (const mr_scope *t = s->parent; t && !s->body; owner = t->build->graph->owner, t = t->parent) {
        int id = mr_names_get(&t->names, name, -1);
        if (id < 0) continue;
        bool before = t->build->graph->values[id].outer >= 0;
        for (int i = 0; i < owner->n_out; i++) before = before || (owner->out[i] >= 0 && id < owner->out[i]);
        return before;
    }
    return false;
}

static bool declare_node_outputs(mr_loader *l, mr_scope *s, const Onnx__NodeProto *p, mr_node *n)
{
    for (size_t i = 0; i < p->n_output; i++) {
        const char *name = p->output[i];
        int *out = &n->out[n->n_out++], known = mr_names_get(&s->names, name, MR_UNDEFINED_NAME);
        *out = -1;
        if (!*name) continue;
        if (known == MR_UNDEFINED_NAME)
            *out = mr_names_get(&s->results, name, -1);
        else if (known >= 0)
            defined_twice(n, name, &n->graph->values[known]);
        if (hides_outer(s, name))
            mr_node_invalid(n, MR_E_GRAPH, "output '%s' hides a value of that name in the graph around", name);
        if (*out < 0 && (*out = mr_value_new(l, s, name)) < 0) return false;
        if (known == MR_UNDEFINED_NAME && !mr_name_value(l, s, name, *out)) return false;
    }
    return true;
}

mr_node **mr_nodes_declare(mr_loader *l, mr_scope *s, Onnx__NodeProto *const *nodes, size_t n)
{
    mr_node **made = MR_REGION_NEW(&l->scratch, mr_node *, n);
    if (!made) return mr_loader_memory(l), NULL;
    for (size_t i = 0; i < n; i++)
        if (!(made[i] = node_new(l, s, nodes[i], (int)i)) || !declare_node_outputs(l, s, nodes[i], made[i]))
            return NULL;
    return made;
}

bool mr_node_append(mr_loader *l, mr_node *n)
{
    mr_graph *g = n->graph;
    if ((g->n_nodes & (g->n_nodes - 1)) == 0) { /* full at every power of two */
        mr_node **nodes = MR_REGION_NEW(&l->model->region, mr_node *, g->n_nodes ? g->n_nodes * 2 : 1);
        if (!nodes) return mr_loader_memory(l);
        if (g->n_nodes) memcpy(nodes, g->nodes, sizeof(*nodes) * (size_t)g->n_nodes);
        g->nodes = nodes;
    }
    g->nodes[g->n_nodes++] = n;
    return true;
}

static bool find_inputs(mr_loader *l, mr_scope *s, const Onnx__NodeProto *p, mr_node *n)
{
    for (size_t i = 0; i < p->n_input; i++) {
        int id = *p->input[i] ? mr_scope_find(l, s, p->input[i]) : -1;
        if (l->e->status != MR_OK) return false;
        if (id == MR_UNDEFINED_NAME) undefined_input(n, s, p->input[i]);
        n->in[n->n_in++] = id < 0 ? -1 : id;
    }
    return true;
}

bool mr_nodes_build(mr_loader *l, mr_scope *s, Onnx__NodeProto *const *nodes, mr_node *const *made, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const Onnx__NodeProto *p = nodes[i];
        if (!find_inputs(l, s, p, made[i])) return false;
        if (!*made[i]->op_type) mr_node_invalid(made[i], MR_E_GRAPH, "the node has no op_type");
        if (!p->n_input && !p->n_output)
            mr_node_invalid(made[i], MR_E_GRAPH, "the node has neither inputs nor outputs");
        const Onnx__FunctionProto *f = mr_function_of(l, p);
        bool ok = f ? mr_function_expand(l, s, p, f, made[i])
                    : mr_attrs_build(l, s, p, made[i]) && mr_node_append(l, made[i]);
        if (!ok) return false;
    }
    return true;
}

mr_graph *mr_graph_build(mr_loader *l, const Onnx__GraphProto *p, mr_scope *parent, const mr_node *owner,
                         const char *attr)
{
    mr_graph *g = MR_REGION_NEW(&l->model->region, mr_graph, 1);
    if (!g) return mr_loader_memory(l), NULL;
    mr_build build = {.graph = g, .taken.region = &l->scratch, .next_index = (int)p->n_node};
    mr_scope s = {.names.region = &l->scratch, .build = &build, .parent = parent};
    s.body = parent ? parent->body : NULL;
    g->model = l->model;
    g->parent = owner ? owner->graph : NULL;
    g->owner = owner;
    g->attr = attr;
    g->id = l->model->n_graphs++;
    if (!(g->name = mr_loader_string(l, p->name))) return NULL;
    if (!*g->name) mr_model_invalid(l->model, MR_E_GRAPH, "a graph has no name");
    mr_node **made;
    if (!declare_inputs(l, &s, p) || !declare_initializers(l, &s, p) ||
        !(made = mr_nodes_declare(l, &s, p->node, p->n_node)))
        return NULL;
    declare_types(l, &s, p);
    if (!declare_outputs(l, &s, p) || !mr_nodes_build(l, &s, p->node, made, p->n_node)) return NULL;
    return mr_graph_order(l, g) ? g : NULL;
}

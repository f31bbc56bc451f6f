/* model_function.c: model-local functions, put in the place of the nodes that call them. */
#include "model.h"

#include <limits.h>
#include <string.h>

enum { DEEPEST = 200 }; /* functions within functions, and graphs within them */

static const char *show_name(mr_loader *l, const char *domain, const char *name, const char *overload)
{
    bool over = overload && *overload;
    return mr_region_printf(&l->scratch, "%s%s%s%s%s", domain ? domain : "", domain && *domain ? ":" : "",
                            name ? name : "", over ? ":" : "", over ? overload : "");
}

static const char *function_name(mr_loader *l, const Onnx__FunctionProto *f)
{
    return show_name(l, f->domain, f->name, f->overload);
}

static const char *key_of(mr_region *r, const char *domain, const char *name, const char *overload)
{
    return mr_region_printf(r, "%s:%s:%s", mr_domain_of(domain), name ? name : "", overload ? overload : "");
}

static int find(const mr_loader *l, const Onnx__NodeProto *p)
{
    if (l->n_functions == 0) return -1;
    mr_region r = {0};
    const char *key = key_of(&r, p->domain, p->op_type, p->overload);
    int id = key ? mr_names_get(&l->function_ids, key, -1) : -1;
    mr_region_free(&r);
    return id;
}

const Onnx__FunctionProto *mr_function_of(const mr_loader *l, const Onnx__NodeProto *p)
{
    int id = find(l, p);
    return id < 0 ? NULL : l->functions[id];
}

/* ---- recursion ---- */

typedef struct walk {
    mr_loader *l;
    char *state; /* 0 new, 1 on the path, 2 done */
    int *path;
    int depth;
} walk;

static bool recursive(walk *w, int f)
{
    const char *chain = "";
    int from = w->depth - 1;
    while (w->path[from] != f) from--;
    for (int i = from; chain && i < w->depth; i++)
        chain = mr_region_printf(&w->l->scratch, "%s%s -> ", chain, function_name(w->l, w->l->functions[w->path[i]]));
    mr_fail(w->l->e, MR_E_FUNCTION, "recursive functions %s%s", chain ? chain : "",
            function_name(w->l, w->l->functions[f]));
    return false;
}

static bool walk_function(walk *w, int f);

static bool walk_nodes(walk *w, Onnx__NodeProto *const *nodes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int f = find(w->l, nodes[i]);
        if (f >= 0 && !walk_function(w, f)) return false;
        for (size_t k = 0; k < nodes[i]->n_attribute; k++) {
            const Onnx__AttributeProto *a = nodes[i]->attribute[k];
            if (a->g && !walk_nodes(w, a->g->node, a->g->n_node)) return false;
            for (size_t g = 0; g < a->n_graphs; g++)
                if (!walk_nodes(w, a->graphs[g]->node, a->graphs[g]->n_node)) return false;
        }
    }
    return true;
}

static bool walk_function(walk *w, int f)
{
    if (w->state[f] == 2) return true;
    if (w->state[f] == 1) return recursive(w, f);
    if (w->depth == DEEPEST) {
        mr_fail(w->l->e, MR_E_FUNCTION, "functions are nested more than %d deep", DEEPEST);
        return false;
    }
    w->state[f] = 1;
    w->path[w->depth++] = f;
    if (!walk_nodes(w, w->l->functions[f]->node, w->l->functions[f]->n_node)) return false;
    w->depth--;
    w->state[f] = 2;
    return true;
}

static void check_names(mr_loader *l, const Onnx__FunctionProto *f, char *const *names, size_t n, const char *what)
{
    mr_names seen = {.region = &l->scratch};
    for (size_t i = 0; i < n; i++) {
        if (mr_names_get(&seen, names[i], 0))
            mr_model_invalid(l->model, MR_E_FUNCTION, "function %s has the %s '%s' twice", function_name(l, f), what,
                             names[i]);
        mr_names_put(&seen, names[i], 1);
    }
}

static void check_signature(mr_loader *l, const Onnx__FunctionProto *f)
{
    if (!f->name || !*f->name || (!f->domain && l->model->ir_version >= 8))
        mr_model_invalid(l->model, MR_E_FUNCTION, "function '%s' has no %s", function_name(l, f),
                         f->name && *f->name ? "domain" : "name");
    check_names(l, f, f->input, f->n_input, "input");
    check_names(l, f, f->output, f->n_output, "output");
    check_names(l, f, f->attribute, f->n_attribute, "attribute");
}

bool mr_functions_check(mr_loader *l)
{
    walk w = {.l = l,
              .state = MR_REGION_NEW(&l->scratch, char, l->n_functions),
              .path = MR_REGION_NEW(&l->scratch, int, DEEPEST)};
    if (!w.state || !w.path) return mr_loader_memory(l);
    for (int i = 0; i < l->n_functions; i++) {
        const Onnx__FunctionProto *f = l->functions[i];
        const char *key = key_of(&l->scratch, f->domain, f->name, f->overload);
        if (!key) return mr_loader_memory(l);
        check_signature(l, f);
        if (mr_names_get(&l->function_ids, key, -1) >= 0)
            mr_model_invalid(l->model, MR_E_FUNCTION, "function %s is defined twice", function_name(l, f));
        else if (!mr_names_put(&l->function_ids, key, i))
            return mr_loader_memory(l);
    }
    for (int i = 0; i < l->n_functions; i++)
        if (!walk_function(&w, i)) return false;
    return true;
}

/* ---- inlining ---- */

static bool import_opsets(mr_loader *l, mr_body *b, const Onnx__FunctionProto *f)
{
    b->opsets = MR_REGION_NEW(&l->scratch, mr_opset, f->n_opset_import);
    if (!b->opsets) return mr_loader_memory(l);
    for (size_t i = 0; i < f->n_opset_import; i++)
        b->opsets[b->n_opsets++] = (mr_opset){mr_domain_of(f->opset_import[i]->domain), f->opset_import[i]->version};
    return true;
}

static void check_call(mr_node *call, const Onnx__FunctionProto *f, const mr_body *b)
{
    if ((size_t)call->n_in > f->n_input)
        mr_node_invalid(call, MR_E_FUNCTION, "%d inputs, function %s has %zu", call->n_in, b->name, f->n_input);
    if ((size_t)call->n_out > f->n_output)
        mr_node_invalid(call, MR_E_FUNCTION, "%d outputs, function %s has %zu", call->n_out, b->name, f->n_output);
    if (call->opset == 0)
        mr_node_invalid(call, MR_E_OPSET_IMPORT, "domain %s is not imported, function %s needs it", call->domain,
                        b->name);
    for (size_t i = 0; b->call && i < b->call->n_attribute; i++) {
        if (!mr_attr_check(call, b->call, i)) continue;
        const char *name = b->call->attribute[i]->name;
        bool known = false;
        for (size_t k = 0; !known && k < f->n_attribute; k++) known = strcmp(f->attribute[k], name) == 0;
        for (size_t k = 0; !known && k < f->n_attribute_proto; k++)
            known = f->attribute_proto[k]->name && strcmp(f->attribute_proto[k]->name, name) == 0;
        if (!known) mr_node_invalid(call, MR_E_FUNCTION, "function %s has no attribute '%s'", b->name, name);
    }
}

/* What the formal inputs and outputs are in the graph of the call. */
static bool bind_formals(mr_loader *l, mr_scope *s, const Onnx__FunctionProto *f, const mr_node *call)
{
    for (size_t i = 0; i < f->n_input; i++)
        if (!mr_name_value(l, s, f->input[i], i < (size_t)call->n_in ? call->in[i] : -1)) return false;
    for (size_t i = 0; i < f->n_output && i < (size_t)call->n_out; i++)
        if (call->out[i] >= 0 && !mr_names_put(&s->results, f->output[i], call->out[i])) return mr_loader_memory(l);
    return true;
}

/* An output that the body hands through, or names twice, is a value that a node has made or nobody: copy it. */
static bool copy_value(mr_loader *l, mr_scope *s, int from, int to)
{
    Onnx__NodeProto p = ONNX__NODE_PROTO__INIT;
    p.op_type = "Identity";
    mr_node **made = mr_nodes_declare(l, s, (Onnx__NodeProto *[]){&p}, 1);
    if (!made) return false;
    mr_node *n = made[0];
    if (!n->schema) { /* the body imports no ai.onnx */
        n->opset = mr_opset_max("");
        n->schema = mr_schema_find(NULL, "", n->op_type, n->opset);
    }
    n->in = MR_REGION_NEW(&l->model->region, int, 1);
    n->out = MR_REGION_NEW(&l->model->region, int, 1);
    if (!n->in || !n->out) return mr_loader_memory(l);
    n->in[n->n_in++] = from;
    n->out[n->n_out++] = to;
    return mr_node_append(l, n);
}

static bool bind_results(mr_loader *l, mr_scope *s, const Onnx__FunctionProto *f, mr_node *call)
{
    for (size_t i = 0; i < f->n_output && i < (size_t)call->n_out; i++) {
        int id = mr_names_get(&s->names, f->output[i], MR_UNDEFINED_NAME);
        if (call->out[i] < 0 || id == call->out[i]) continue;
        if (id < 0)
            mr_node_invalid(call, MR_E_FUNCTION, "function %s does not make its output '%s'", s->body->name,
                            f->output[i]);
        else if (!copy_value(l, s, id, call->out[i]))
            return false;
    }
    return true;
}

static bool expand(mr_loader *l, mr_scope *s, mr_body *b, mr_node *call)
{
    const Onnx__FunctionProto *f = b->function;
    if (!import_opsets(l, b, f)) return false;
    check_call(call, f, b);
    if (!bind_formals(l, s, f, call)) return false;
    mr_node **made = mr_nodes_declare(l, s, f->node, f->n_node);
    if (!made || !mr_nodes_build(l, s, f->node, made, f->n_node) || !bind_results(l, s, f, call)) return false;
    /* The call is gone from the graph: what stands against it goes to the model. */
    if (call->refusal.status != MR_OK) mr_model_invalid_as(l->model, &call->refusal);
    return true;
}

bool mr_function_expand(mr_loader *l, mr_scope *s, const Onnx__NodeProto *p, const Onnx__FunctionProto *f,
                        mr_node *call)
{
    const mr_body *around = s->body;
    const char *prefix = s->inlined ? around->prefix : "", *path = around ? around->path : "";
    mr_body b = {.around = around, .function = f, .call = p, .call_scope = s, .origin = around ? around->origin : call};
    mr_scope inner = {
        .names.region = &l->scratch, .results.region = &l->scratch, .build = s->build, .body = &b, .inlined = true};
    b.name = function_name(l, f);
    b.path = mr_region_printf(&l->model->region, "%s%s%s", path, *path ? "/" : "", f->name ? f->name : "");
    b.prefix = *call->name ? mr_region_printf(&l->scratch, "%s%s/", prefix, call->name)
                           : mr_region_printf(&l->scratch, "%s%s_%d/", prefix, call->op_type, call->index);
    if (!b.name || !b.path || !b.prefix) return mr_loader_memory(l);
    if (++l->depth > DEEPEST) {
        mr_fail(l->e, MR_E_FUNCTION, "functions are nested more than %d deep", DEEPEST);
        return false;
    }
    bool ok = expand(l, &inner, &b, call);
    l->depth--;
    return ok;
}

/* ---- function operators of ONNX, on demand ---- */

const mr_schema_body *mr_function_body(const mr_node *n)
{
    const mr_schema_body *body = NULL;
    int opset = n->opset;
    for (int i = 0; *n->domain && i < n->graph->model->n_opsets; i++)
        if (!*n->graph->model->opsets[i].domain) opset = (int)n->graph->model->opsets[i].version;
    for (int i = 0; n->schema && i < n->schema->n_bodies; i++)
        if (n->schema->bodies[i].opset <= opset || !body) body = &n->schema->bodies[i];
    return body;
}

static bool seed_names(mr_loader *l, mr_build *b)
{
    const mr_graph *g = b->graph;
    for (int i = 0; i < g->n_values; i++)
        if (!mr_names_put(&b->taken, g->values[i].name, 1)) return mr_loader_memory(l);
    for (int i = 0; i < g->n_nodes; i++)
        if (g->nodes[i]->index >= b->next_index) b->next_index = g->nodes[i]->index + 1;
    return true;
}

/* The attributes of the call with the schema's defaults, for the body to refer to. */
static const mr_node *with_defaults(mr_loader *l, const mr_node *n)
{
    mr_node *full = MR_REGION_NEW(&l->scratch, mr_node, 1);
    int most = n->n_attrs + (n->schema ? n->schema->n_attrs : 0);
    if (!full || !(full->attrs = MR_REGION_NEW(&l->scratch, mr_attr, most))) return mr_loader_memory(l), NULL;
    if (n->n_attrs) memcpy(full->attrs, n->attrs, sizeof(mr_attr) * (size_t)n->n_attrs);
    full->n_attrs = n->n_attrs;
    for (int i = 0; n->schema && i < n->schema->n_attrs; i++)
        if (!mr_node_attr(n, n->schema->attrs[i].name) &&
            mr_schema_default(&l->model->region, &n->schema->attrs[i], &full->attrs[full->n_attrs]))
            full->n_attrs++;
    return full;
}

/* Moves the nodes from `from` to the end of the graph to where node `at` stood. */
static void splice(mr_graph *g, int at, int from, mr_node **scratch)
{
    int added = g->n_nodes - from, tail = from - at - 1;
    memcpy(scratch, g->nodes + from, sizeof(*scratch) * (size_t)added);
    memmove(g->nodes + at + added, g->nodes + at + 1, sizeof(*scratch) * (size_t)tail);
    memcpy(g->nodes + at, scratch, sizeof(*scratch) * (size_t)added);
    g->n_nodes--;
}

static bool replace(mr_loader *l, mr_node *n, const Onnx__FunctionProto *f)
{
    mr_graph *g = n->graph;
    mr_build build = {.graph = g, .taken.region = &l->scratch};
    mr_body b = {.name = n->op_type, .function = f, .origin = mr_node_file(n)};
    mr_scope s = {
        .names.region = &l->scratch, .results.region = &l->scratch, .build = &build, .body = &b, .inlined = true};
    const char *path = n->origin_path ? n->origin_path : "";
    int from = g->n_nodes, at = 0;
    while (at < from && g->nodes[at] != n) at++;
    b.path = mr_region_printf(&l->model->region, "%s%s%s", path, *path ? "/" : "", n->op_type);
    b.prefix = *n->name ? mr_region_printf(&l->scratch, "%s/", n->name)
                        : mr_region_printf(&l->scratch, "%s_%d/", n->op_type, n->index);
    if (!b.path || !b.prefix) return mr_loader_memory(l);
    if (!seed_names(l, &build) || !(b.node = with_defaults(l, n)) || !expand(l, &s, &b, n)) return false;
    mr_node **scratch = MR_REGION_NEW(&l->scratch, mr_node *, g->n_nodes - from);
    if (!scratch) return mr_loader_memory(l);
    int added = g->n_nodes - from;
    splice(g, at, from, scratch);
    for (int i = 0; i < added; i++) mr_schema_check_node(g->nodes[at + i]);
    return mr_graph_order(l, g);
}

mr_status mr_function_inline(mr_node *n, const void *bytes, size_t size, mr_error *e)
{
    ProtobufCMessage *f;
    if (mr_wire_unpack(&onnx__function_proto__descriptor, bytes, size, &f, e) != MR_OK) return e->status;
    mr_loader l = {.model = n->graph->model, .source.bytes = bytes, .e = e};
    l.function_ids.region = &l.scratch;
    replace(&l, n, (const Onnx__FunctionProto *)f);
    mr_region_free(&l.scratch);
    protobuf_c_message_free_unpacked(f, NULL);
    return e->status;
}

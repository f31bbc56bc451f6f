/* expansion.c: nodes in the place of a node. */
#include "expansion.h"

#include <string.h>

#include "model.h"

static mr_region *region(const mr_expansion *x)
{
    return &x->graph->model->region;
}

static void *no_memory(mr_expansion *x)
{
    mr_fail(x->e, MR_E_MEMORY, "no memory for the nodes that %s becomes", x->call->op_type);
    return NULL;
}

/* "Gradient_1/Mul_7", or what comes after it while there's one already. */
static int value_new(mr_expansion *x, const char *op, int out)
{
    for (int k = x->n_made;; k++) {
        char *name = *x->call->name
                         ? mr_region_printf(region(x), "%s/%s_%d_%d", x->call->name, op, k, out)
                         : mr_region_printf(region(x), "%s_%d/%s_%d_%d", x->call->op_type, x->call->index, op, k, out);
        if (!name) return no_memory(x), -1;
        if (mr_graph_find_value(x->graph, name) >= 0) continue;
        int id = mr_graph_add_value(x->graph, name);
        if (id < 0) no_memory(x);
        return id;
    }
}

static bool keep(mr_expansion *x, mr_node *n)
{
    if (x->n_made == x->cap) {
        int cap = x->cap ? x->cap * 2 : 64;
        mr_node **more = MR_REGION_NEW(region(x), mr_node *, cap);
        if (!more) return no_memory(x), false;
        if (x->n_made) memcpy(more, x->made, sizeof *more * (size_t)x->n_made);
        x->made = more, x->cap = cap;
    }
    x->made[x->n_made++] = n;
    return true;
}

static mr_node *node_new(mr_expansion *x, const char *op, int n_in, const int *in, int n_out)
{
    mr_node *n = MR_REGION_NEW(region(x), mr_node, 1);
    int *ids = MR_REGION_NEW(region(x), int, n_in + n_out + 1);
    if (x->e->status || !n || !ids || !mr_model_own_error(x->graph->model, &n->refusal)) return no_memory(x);
    *n = (mr_node){.name = "",
                   .op_type = op,
                   .overload = "",
                   .graph = x->graph,
                   .in = ids,
                   .n_in = n_in,
                   .out = ids + n_in,
                   .n_out = n_out,
                   .origin = mr_node_file(x->call),
                   .origin_path = x->call->op_type};
    for (int i = 0; i < n_in; i++) ids[i] = in[i] < 0 ? -1 : in[i];
    while (n->n_in > 0 && ids[n->n_in - 1] < 0) n->n_in--;
    for (int o = 0; o < n_out; o++)
        if ((n->out[o] = value_new(x, op, o)) < 0) return NULL;
    return keep(x, n) ? n : NULL;
}

mr_node *mr_expansion_node(mr_expansion *x, const char *op, int n_in, const int *in, int n_out)
{
    mr_node *n = node_new(x, op, n_in, in, n_out);
    if (!n) return NULL;
    n->domain = "";
    n->opset = mr_opset_max("");
    n->schema = mr_schema_find(NULL, "", op, n->opset);
    return n;
}

mr_node *mr_expansion_copy(mr_expansion *x, const mr_node *from, const int *in, int n_out)
{
    mr_node *n = node_new(x, from->op_type, from->n_in, in, n_out);
    if (!n) return NULL;
    n->domain = from->domain;
    n->opset = from->opset;
    n->schema = from->schema;
    n->attrs = from->attrs;
    n->n_attrs = from->n_attrs;
    return n;
}

/* The attribute to be set: that of the name, or one more; those of a copy are the copied node's and stay as they are.
 */
static mr_attr *attr(mr_expansion *x, mr_node *n, const char *name, mr_attr_kind kind)
{
    if (!n) return NULL;
    mr_attr *all = MR_REGION_NEW(region(x), mr_attr, n->n_attrs + 1);
    if (!all) return no_memory(x);
    if (n->n_attrs) memcpy(all, n->attrs, sizeof *all * (size_t)n->n_attrs);
    n->attrs = all;
    int i = 0;
    while (i < n->n_attrs && strcmp(all[i].name, name)) i++;
    n->n_attrs += i == n->n_attrs;
    all[i] = (mr_attr){.name = name, .kind = kind};
    return &all[i];
}

void mr_expansion_int(mr_expansion *x, mr_node *n, const char *name, int64_t v)
{
    mr_attr *a = attr(x, n, name, MR_ATTR_INT);
    if (a) a->i = v;
}

void mr_expansion_float(mr_expansion *x, mr_node *n, const char *name, float v)
{
    mr_attr *a = attr(x, n, name, MR_ATTR_FLOAT);
    if (a) a->f = v;
}

void mr_expansion_string(mr_expansion *x, mr_node *n, const char *name, const char *v)
{
    mr_attr *a = attr(x, n, name, MR_ATTR_STRING);
    if (a) a->s = (mr_string){v, strlen(v)};
}

void mr_expansion_ints(mr_expansion *x, mr_node *n, const char *name, const int64_t *v, int count)
{
    int64_t *copy = MR_REGION_NEW(region(x), int64_t, count + 1);
    mr_attr *a = copy ? attr(x, n, name, MR_ATTR_INTS) : no_memory(x);
    if (!a) return;
    if (count) memcpy(copy, v, sizeof *v * (size_t)count);
    a->ints = copy, a->n = count;
}

void mr_expansion_value(mr_expansion *x, mr_node *n, const char *name, mr_value *v)
{
    mr_value **values = MR_REGION_NEW(region(x), mr_value *, 1);
    bool owned = v && mr_model_own_value(x->graph->model, v);
    mr_attr *a = owned && values ? attr(x, n, name, MR_ATTR_TENSOR) : no_memory(x);
    if (!a) return;
    values[0] = v;
    a->values = values, a->n = 1;
}

static int next_index(const mr_graph *g)
{
    int next = 0;
    for (int i = 0; i < g->n_nodes; i++)
        if (g->nodes[i]->index >= next) next = g->nodes[i]->index + 1;
    return next;
}

static mr_status put_in_place(mr_expansion *x)
{
    mr_graph *g = x->graph;
    mr_loader l = {.model = g->model, .e = x->e};
    int index = next_index(g), at = 0, n = 0;
    mr_node **nodes = MR_REGION_NEW(region(x), mr_node *, g->n_nodes + x->n_made);
    if (!nodes) return no_memory(x), x->e->status;
    while (g->nodes[at] != x->call) nodes[n++] = g->nodes[at++];
    for (int i = 0; i < x->n_made; i++) x->made[i]->index = index++, nodes[n++] = x->made[i];
    while (++at < g->n_nodes) nodes[n++] = g->nodes[at];
    g->nodes = nodes;
    g->n_nodes = n;
    for (int i = 0; i < x->n_made; i++) mr_schema_check_node(x->made[i]);
    mr_graph_order(&l, g);
    mr_region_free(&l.scratch);
    return x->e->status;
}

mr_status mr_expand(mr_node *call, mr_error *e)
{
    mr_expansion x = {.call = call, .graph = call->graph, .e = e};
    call->op->impls->expand(&x);
    if (e->status || call->refusal.status) return e->status;
    return put_in_place(&x);
}

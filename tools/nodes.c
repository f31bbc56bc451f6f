/* nodes.c: labels of nodes, and counting them. */
#include "nodes.h"

#include <string.h>

static bool named_alone(const mr_node *n)
{
    int same = 0;
    const mr_node *last = NULL;
    for (int i = 0; i < n->graph->n_nodes; i++) {
        const mr_node *file = mr_node_file(n->graph->nodes[i]);
        same += file != last && !strcmp(file->name, n->name);
        last = file;
    }
    return same <= 1;
}

static const char *first_output(const mr_node *n)
{
    for (int o = 0; o < n->n_out; o++)
        if (n->out[o] >= 0) return n->graph->values[n->out[o]].name;
    return "";
}

static const char *own_label(mr_region *r, const mr_node *n)
{
    if (n->name[0] && (n->origin || named_alone(n))) return n->name;
    if (n->name[0]) return mr_region_printf(r, "node %d '%s' (output '%s')", n->index, n->name, first_output(n));
    return mr_region_printf(r, "node %d (output '%s')", n->index, first_output(n));
}

const char *mr_node_label(mr_region *r, const mr_node *n)
{
    if (n->n_origins) return mr_node_label(r, mr_node_of(n, 0));
    const mr_node *owner = n->graph->owner;
    const char *own = own_label(r, n);
    if (owner && owner->origin == n->origin)
        return mr_region_printf(r, "%s/%s/%s", mr_node_label(r, owner), n->graph->attr, own);
    if (n->origin)
        return mr_region_printf(r, "%s/%s/%s", mr_node_label(r, n->origin), n->origin_path ? n->origin_path : "", own);
    return own;
}

const char *mr_node_op(mr_region *r, const mr_node *n)
{
    const char *all = n->n_origins ? mr_node_op(r, mr_node_of(n, 0)) : NULL;
    for (int i = 1; i < n->n_origins; i++) all = mr_region_printf(r, "%s + %s", all, mr_node_op(r, mr_node_of(n, i)));
    if (all) return all;
    const char *colons = *n->domain ? "::" : "";
    int version = n->schema ? n->schema->since : n->opset;
    if (!version) return mr_region_printf(r, "%s%s%s", n->domain, colons, n->op_type);
    return mr_region_printf(r, "%s%s%s-%d", n->domain, colons, n->op_type, version);
}

int mr_nodes_count(const mr_graph *g)
{
    int n = 0;
    const mr_node *last = NULL;
    for (int i = 0; i < g->n_nodes; i++) {
        const mr_node *file = mr_node_file(g->nodes[i]); /* several from one call of a function stand together */
        n += file != last;
        last = file;
    }
    return n;
}

int mr_nodes_count_inner(const mr_graph *g)
{
    int n = 0;
    for (int i = 0; i < g->n_nodes; i++)
        for (int s = 0; !g->nodes[i]->origin && s < g->nodes[i]->n_subgraphs; s++)
            n += mr_nodes_count(g->nodes[i]->subgraphs[s]) + mr_nodes_count_inner(g->nodes[i]->subgraphs[s]);
    return n;
}

static const char *list_text(mr_region *r, const mr_attr *a)
{
    const char *text = "[";
    for (int64_t i = 0; i < a->n && text; i++) {
        const char *comma = i ? "," : "";
        if (a->kind == MR_ATTR_INTS)
            text = mr_region_printf(r, "%s%s%lld", text, comma, (long long)a->ints[i]);
        else if (a->kind == MR_ATTR_FLOATS)
            text = mr_region_printf(r, "%s%s%g", text, comma, (double)a->floats[i]);
        else
            text = mr_region_printf(r, "%s%s%.*s", text, comma, (int)a->strings[i].len, a->strings[i].data);
    }
    return text ? mr_region_printf(r, "%s]", text) : NULL;
}

static const char *attr_text(mr_region *r, const mr_attr *a)
{
    switch (a->kind) {
    case MR_ATTR_INT:
        return mr_region_printf(r, "%lld", (long long)a->i);
    case MR_ATTR_FLOAT:
        return mr_region_printf(r, "%g", (double)a->f);
    case MR_ATTR_STRING:
        return mr_region_printf(r, "%.*s", (int)a->s.len, a->s.data);
    case MR_ATTR_INTS:
    case MR_ATTR_FLOATS:
    case MR_ATTR_STRINGS:
        return list_text(r, a);
    default:
        return NULL;
    }
}

const char *mr_node_attrs(mr_region *r, const mr_node *n)
{
    const char *all = "";
    for (int i = 0; i < n->n_attrs && all; i++) {
        const char *text = attr_text(r, &n->attrs[i]);
        if (text) all = mr_region_printf(r, "%s%s%s = %s", all, *all ? ", " : "", n->attrs[i].name, text);
    }
    return all;
}

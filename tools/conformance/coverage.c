/* coverage.c: what a case covers: operators, versions, types, attributes. */
#include <stdio.h>
#include <stdlib.h>

#include "judge.h"

static json_t *attribute(const mr_attr *a)
{
    json_t *list = json_array();
    switch (a->kind) {
    case MR_ATTR_INT:
        json_array_append_new(list, json_integer(a->i));
        break;
    case MR_ATTR_FLOAT:
        json_array_append_new(list, json_real(a->f));
        break;
    case MR_ATTR_STRING:
        json_array_append_new(list, json_stringn(a->s.data, a->s.len));
        break;
    case MR_ATTR_INTS:
        for (int64_t i = 0; i < a->n; i++) json_array_append_new(list, json_integer(a->ints[i]));
        return list;
    case MR_ATTR_FLOATS:
        for (int64_t i = 0; i < a->n; i++) json_array_append_new(list, json_real(a->floats[i]));
        return list;
    case MR_ATTR_STRINGS:
        for (int64_t i = 0; i < a->n; i++)
            json_array_append_new(list, json_stringn(a->strings[i].data, a->strings[i].len));
        return list;
    default: /* tensors, graphs, types: their presence is what there is to say */
        json_decref(list);
        return json_true();
    }
    json_t *one = json_incref(json_array_get(list, 0));
    json_decref(list);
    return one ? one : json_null(); /* NaN and bytes that are no text have no JSON */
}

static json_t *input_types(const mr_node *n)
{
    json_t *types = json_array();
    char text[64];
    for (int i = 0; i < n->n_in; i++) {
        mr_type t = {0};
        if (n->in[i] >= 0) t = n->graph->values[n->in[i]].decl.type;
        bool known = t.kind != MR_NONE;
        json_array_append_new(types, known ? json_string(mr_type_string(t, text, sizeof text)) : json_null());
    }
    return types;
}

json_t *mr_coverage(const mr_graph *g)
{
    json_t *nodes = json_array();
    for (int i = 0; i < g->n_nodes; i++) {
        const mr_node *n = g->nodes[i];
        json_t *attributes = json_object();
        for (int a = 0; a < n->n_attrs; a++) json_object_set_new(attributes, n->attrs[a].name, attribute(&n->attrs[a]));
        json_array_append_new(nodes, json_pack("{s:s, s:s, s:i, s:o, s:o}", "op", n->op_type, "domain", n->domain,
                                               "version", n->schema ? n->schema->since : 0, "types", input_types(n),
                                               "attributes", attributes));
    }
    return nodes;
}

/* coverage.c: what a case covers: operators, versions, types, attributes. Of every node: of the main graph, of
 * subgraphs that may run, of what functions became, and the calls of those functions themselves. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "judge.h"

/* JSON has no number for NaN and the infinities. */
static json_t *real(double v)
{
    return isfinite(v) ? json_real(v) : json_string(isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
}

/* Bytes that are no text, in hexadecimal. */
static json_t *text(const mr_string *s)
{
    json_t *j = json_stringn(s->data, s->len);
    char *hex = j ? NULL : malloc(2 * s->len + 3);
    if (!hex) return j;
    snprintf(hex, 3, "0x");
    for (size_t i = 0; i < s->len; i++) snprintf(hex + 2 + 2 * i, 3, "%02x", (unsigned char)s->data[i]);
    j = json_string(hex);
    free(hex);
    return j;
}

static json_t *attribute(const mr_attr *a)
{
    json_t *list;
    switch (a->kind) {
    case MR_ATTR_INT:
        return json_integer(a->i);
    case MR_ATTR_FLOAT:
        return real(a->f);
    case MR_ATTR_STRING:
        return text(&a->s);
    case MR_ATTR_INTS:
    case MR_ATTR_FLOATS:
    case MR_ATTR_STRINGS:
        break;
    default:
        return json_true(); /* tensors, graphs, types: their presence is what there is to say */
    }
    list = json_array();
    for (int64_t i = 0; i < a->n; i++)
        json_array_append_new(list, a->kind == MR_ATTR_INTS     ? json_integer(a->ints[i])
                                    : a->kind == MR_ATTR_FLOATS ? real(a->floats[i])
                                                                : text(&a->strings[i]));
    return list;
}

/* As check infers them; null: absent. */
static json_t *types_of(const mr_node *n, const mr_plan *p, const int *ids, int count)
{
    json_t *types = json_array();
    char buf[64];
    for (int i = 0; i < count; i++) {
        mr_type t = {0};
        if (ids[i] >= 0) t = p->values[ids[i]].type;
        if (ids[i] >= 0 && t.kind == MR_NONE) t = n->graph->values[ids[i]].decl.type;
        json_array_append_new(types, t.kind == MR_NONE ? json_null() : json_string(mr_type_string(t, buf, sizeof buf)));
    }
    return types;
}

/* A function of the model has no schema: its version is that of its domain. */
static json_t *row_of(const mr_node *n, const mr_plan *p)
{
    json_t *attributes = json_object();
    for (int a = 0; a < n->n_attrs; a++) json_object_set_new(attributes, n->attrs[a].name, attribute(&n->attrs[a]));
    return json_pack("{s:s, s:s, s:i, s:o, s:o, s:o}", "op", n->op_type, "domain", n->domain, "version",
                     n->schema ? n->schema->since : n->opset, "types", types_of(n, p, n->in, n->n_in), "outputs",
                     types_of(n, p, n->out, n->n_out), "attributes", attributes);
}

static void add_nodes(json_t *rows, const mr_session *s, const mr_graph *g, const mr_plan *p)
{
    const mr_node *call = NULL; /* whose nodes follow one another */
    for (int i = 0; i < g->n_nodes; i++) {
        const mr_node *n = g->nodes[i];
        if (n->origin && n->origin != call && n->origin->graph == g) json_array_append_new(rows, row_of(n->origin, p));
        call = n->origin;
        json_array_append_new(rows, row_of(n, p));
        for (int k = 0; k < n->n_subgraphs; k++)
            if (s->judged[n->subgraphs[k]->id]) add_nodes(rows, s, n->subgraphs[k], s->judged[n->subgraphs[k]->id]);
    }
}

json_t *mr_coverage(mr_model *m, const mr_options *o)
{
    json_t *rows = json_array();
    mr_session *s = NULL;
    mr_error e = {0};
    mr_plan *p = mr_session_new(m, o, NULL, 0, &s, &e) ? NULL : mr_session_judge(s, NULL, &e);
    if (p) add_nodes(rows, s, m->g->main, p);
    mr_plan_free(p);
    mr_session_free(s);
    mr_error_clear(&e);
    return rows;
}

/* dump_model.c: a loaded model as text, for test_model.py: what stands against it, one "E…" line each with its hint,
 * then graphs, nodes and the bytes of small constants. The exit status is that of the load. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/graph.h"

static void show_error(const mr_error *e)
{
    char *text = mr_error_format(e, NULL);
    if (text) puts(text);
    free(text);
}

static void show_value(const char *what, const char *name, const mr_value *v)
{
    const mr_tensor *t = &v->t;
    char shape[256];
    mr_shape s = mr_tensor_shape(t);
    printf("%s %s %s%s%s", what, name, v->type.kind == MR_SPARSE ? "sparse " : "", mr_dtype_name(v->type.elem),
           mr_shape_string(&s, NULL, shape, sizeof shape));
    if (v->type.kind == MR_SPARSE) {
        puts("");
        show_value("  values", "", v->items[0]);
        show_value("  indices", "", v->items[1]);
        return;
    }
    printf(" ");
    for (int64_t i = 0; t->dtype == MR_STRING && i < mr_tensor_count(t); i++)
        printf("[%.*s]", (int)((mr_string *)t->data)[i].len, ((mr_string *)t->data)[i].data);
    for (size_t i = 0; t->dtype != MR_STRING && i < mr_tensor_bytes(t) && i < 4096; i++)
        printf("%02x", ((unsigned char *)t->data)[i]);
    puts("");
}

static void show_attr(const mr_attr *a)
{
    printf("  attr %s %s", a->name, mr_attr_kind_name(a->kind));
    if (a->kind == MR_ATTR_INT) printf(" %lld", (long long)a->i);
    if (a->kind == MR_ATTR_FLOAT) printf(" %g", (double)a->f);
    if (a->kind == MR_ATTR_STRING) printf(" %.*s", (int)a->s.len, a->s.data);
    for (int64_t i = 0; a->kind == MR_ATTR_INTS && i < a->n; i++) printf(" %lld", (long long)a->ints[i]);
    for (int64_t i = 0; a->kind == MR_ATTR_FLOATS && i < a->n; i++) printf(" %g", (double)a->floats[i]);
    for (int64_t i = 0; a->kind == MR_ATTR_STRINGS && i < a->n; i++)
        printf(" %.*s", (int)a->strings[i].len, a->strings[i].data);
    puts("");
    bool values = a->kind == MR_ATTR_TENSOR || a->kind == MR_ATTR_TENSORS || a->kind == MR_ATTR_SPARSE_TENSOR;
    for (int64_t i = 0; values && i < a->n; i++) show_value("  value", a->name, a->values[i]);
}

static void show_ids(const mr_graph *g, const char *what, const int *ids, int n)
{
    printf(" %s", what);
    for (int i = 0; i < n; i++) printf(" %s", ids[i] < 0 ? "-" : g->values[ids[i]].name);
}

static void show_graph(const mr_graph *g)
{
    char text[512];
    printf("graph %d '%s'", g->id, g->name);
    show_ids(g, "in", g->inputs, g->n_inputs);
    show_ids(g, "out", g->outputs, g->n_outputs);
    show_ids(g, "captures", g->captures, g->n_captures);
    puts("");
    for (int i = 0; i < g->n_values; i++) {
        const mr_vinfo *v = &g->values[i];
        printf("decl %s %s", v->name, mr_type_string(v->decl.type, text, sizeof text));
        puts(mr_shape_string(&v->decl.shape, g->model->symbols, text, sizeof text));
        if (v->init) show_value("init", v->name, v->init);
    }
    for (int i = 0; i < g->n_nodes; i++) {
        const mr_node *n = g->nodes[i];
        printf("%s", mr_node_where(n, text, sizeof text));
        show_ids(g, "<-", n->in, n->n_in);
        show_ids(g, "->", n->out, n->n_out);
        puts("");
        if (n->refusal.status != MR_OK) show_error(&n->refusal);
        for (int k = 0; k < n->n_attrs; k++) show_attr(&n->attrs[k]);
        for (int k = 0; k < n->n_subgraphs; k++) show_graph(n->subgraphs[k]);
    }
}

/* --inline: puts the bodies of ONNX's own functions in, as far as there are any. */
static mr_status inline_bodies(mr_graph *g, mr_error *e)
{
    for (int i = 0; i < g->n_nodes; i++) {
        mr_node *n = g->nodes[i];
        const mr_schema_body *body = mr_function_body(n);
        if (body && mr_function_inline(n, body->data, body->len, e) != MR_OK) return e->status;
        if (body) i = -1;
    }
    return MR_OK;
}

int main(int argc, char **argv)
{
    mr_graph_model *m;
    mr_error e = {0};
    if (argc < 2) return MR_EUSAGE;
    bool bodies = argc > 2 && strcmp(argv[2], "--inline") == 0;
    if (mr_graph_load(argv[1], NULL, &m, &e) == MR_OK && bodies) inline_bodies(m->main, &e);
    if (e.status != MR_OK) show_error(&e);
    for (int i = 0; m && i < m->n_invalid; i++) show_error(&m->invalid[i]);
    if (m) show_graph(m->main);
    mr_graph_free(m);
    int status = e.status;
    mr_error_clear(&e);
    return status;
}

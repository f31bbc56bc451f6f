/* facts.c: counting what is in a model. */
#include "info.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodes.h"

/* ---- operators ---- */

static mr_op_count *count_of(mr_facts *f, const mr_node *n)
{
    const char *op = mr_node_op(f->r, n);
    for (int i = 0; op && i < f->n_ops; i++)
        if (!strcmp(f->ops[i].op, op)) return &f->ops[i];
    if (f->n_ops % 32 == 0) {
        mr_op_count *grown = MR_REGION_NEW(f->r, mr_op_count, f->n_ops + 32);
        if (!grown || !op) return NULL;
        if (f->n_ops) memcpy(grown, f->ops, sizeof *grown * (size_t)f->n_ops);
        f->ops = grown;
    }
    mr_op_count *c = &f->ops[f->n_ops++];
    *c = (mr_op_count){.op = op, .first = n};
    return c;
}

/* A call of a function stands for the nodes that it became, which follow one another. */
static bool count_nodes(mr_facts *f, const mr_graph *g)
{
    const mr_node *last = NULL;
    for (int i = 0; i < g->n_nodes; i++) {
        const mr_node *n = g->nodes[i], *file = mr_node_file(n);
        mr_op_count *c = count_of(f, file);
        if (!c) return false;
        if (file != last && g->parent) c->subgraphs++;
        if (file != last && !g->parent) c->main++;
        c->expanded += file != n;
        last = file;
        mr_op_count *inner = file != n && !g->parent ? count_of(f, n) : NULL;
        if (inner) inner->functions++;
        for (int s = 0; s < n->n_subgraphs; s++)
            if (!n->origin && !count_nodes(f, n->subgraphs[s])) return false;
    }
    return true;
}

/* ---- parameters ---- */

static void add_tensor(mr_param_count *c, const mr_tensor *t)
{
    double n = (double)mr_tensor_count(t), bits = t->dtype == MR_STRING ? 0 : mr_dtype_wire_bits(t->dtype);
    const mr_string *s = t->data;
    c->tensors++;
    c->elements += n;
    c->bytes += ceil(n * bits / 8);
    for (int64_t i = 0; t->dtype == MR_STRING && i < mr_tensor_count(t); i++) c->bytes += (double)s[i].len;
}

/* Of a sparse tensor the elements that are there. */
static const mr_tensor *stored(const mr_value *v)
{
    return v->type.kind == MR_SPARSE ? &v->items[0]->t : mr_value_dense(v);
}

static void count_params(mr_facts *f, const mr_graph *g)
{
    for (int i = 0; i < g->n_values; i++) {
        const mr_tensor *t = g->values[i].init ? stored(g->values[i].init) : NULL;
        if (t) add_tensor(&f->params[t->dtype], t), add_tensor(&f->all, t);
    }
    for (int k = 0; k < g->n_nodes; k++) {
        const mr_node *n = g->nodes[k];
        mr_value *v = n->op && n->op->constant ? n->op->constant(n, n->params) : NULL;
        const mr_tensor *t = v ? stored(v) : NULL;
        if (t) add_tensor(&f->constants, t);
        mr_value_release(v);
        for (int s = 0; s < n->n_subgraphs; s++) count_params(f, n->subgraphs[s]);
    }
}

/* ---- operations ---- */

static bool add_open(mr_facts *f, const char *name)
{
    for (int i = 0; i < f->n_open; i++)
        if (!strcmp(f->open[i], name)) return true;
    const char **grown = MR_REGION_NEW(f->r, const char *, f->n_open + 1);
    if (!grown) return false;
    if (f->n_open) memcpy(grown, f->open, sizeof *grown * (size_t)f->n_open);
    f->open = grown;
    f->open[f->n_open++] = name;
    return true;
}

static bool add_symbols(mr_facts *f, const mr_shape *s, bool *any)
{
    for (int d = 0; d < s->rank; d++) {
        const char *symbol = mr_model_dim_name(f->model, s->d[d]);
        if (symbol && !add_open(f, symbol)) return false;
        *any |= symbol != NULL;
    }
    return true;
}

static bool has_unnamed(const mr_shape *s)
{
    bool found = s->rank < 0;
    for (int d = 0; d < s->rank; d++) found |= s->d[d] == MR_DIM_UNKNOWN;
    return found;
}

/* What the node's operations hang on: the symbols among the dims of its arguments; where they were lost on the way,
 * those of the inputs; where these have none, values that only a run knows. */
static bool add_reasons(mr_facts *f, const mr_plan *p, const mr_node *n)
{
    bool any = false;
    for (int i = 0; i < n->n_in + n->n_out; i++) {
        int id = i < n->n_in ? n->in[i] : n->out[i - n->n_in];
        if (id >= 0 && !add_symbols(f, &p->values[id].shape, &any)) return false;
    }
    const mr_graph *g = p->graph;
    for (int i = 0; !any && i < g->n_inputs; i++) {
        const mr_pvalue *v = &p->values[g->inputs[i]];
        if (v->type.kind == MR_TENSOR && has_unnamed(&v->shape)) f->unnamed = true;
        if (!add_symbols(f, &v->shape, &any)) return false;
    }
    return any || f->unnamed || add_open(f, "values");
}

static bool count_flops(mr_facts *f, mr_plan *p)
{
    for (int k = 0; k < p->graph->n_nodes; k++) {
        const mr_node *n = p->graph->nodes[k];
        mr_op_count *c = count_of(f, mr_node_file(n));
        if (!c) return false;
        if (!n->op || !n->op->flops) continue;
        double flops = mr_node_flops(p, n);
        c->counted = true;
        c->flops += flops;
        if (isnan(flops) ? !add_reasons(f, p, n) : (f->flops += flops, false)) return false;
    }
    return true;
}

mr_status mr_facts_collect(const mr_graph_model *m, mr_plan *judged, mr_region *r, mr_facts *f, mr_error *e)
{
    *f = (mr_facts){.model = m, .r = r};
    f->mapped_bytes = (double)mr_graph_weight_bytes(m, true);
    count_params(f, m->main);
    bool ok = count_nodes(f, m->main) && (!judged || count_flops(f, judged));
    for (int i = 0; !judged && i < f->n_ops; i++) f->ops[i].flops = NAN;
    return ok ? MR_OK : mr_fail(e, MR_E_MEMORY, "out of memory");
}

/* ---- types ---- */

const char *mr_typed_text(mr_region *r, const mr_graph_model *m, mr_type t, const mr_shape *s)
{
    char type[96], shape[512] = "";
    if (t.kind == MR_NONE) return "?";
    if (t.kind != MR_TENSOR) return mr_region_printf(r, "%s", mr_type_string(t, type, sizeof type));
    if (s->rank >= 0) mr_shape_string(s, m->symbols, shape, sizeof shape);
    return mr_region_printf(r, "%s%s", mr_dtype_name((mr_dtype)t.elem), s->rank < 0 ? " of any shape" : shape);
}

json_t *mr_shape_json(const mr_graph_model *m, const mr_shape *s)
{
    if (s->rank < 0) return json_null();
    json_t *j = json_array();
    for (int i = 0; i < s->rank; i++) {
        const char *symbol = mr_model_dim_name(m, s->d[i]);
        json_array_append_new(j, s->d[i] >= 0 ? json_integer(s->d[i]) : symbol ? json_string(symbol) : json_null());
    }
    return j;
}

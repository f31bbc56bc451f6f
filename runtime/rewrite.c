/* rewrite.c: a leaner graph for one plan. It knows no operator; the rules are in ops/.
 *
 * The draft is a plan of the file's graph: types, shapes, and values that are known. The new graph has the same values
 * under the same ids, so that captures, inputs and outputs stay what they are, and then its own; nodes that no rule
 * touched are the file's own. */
#include "rewrite.h"

#include "attr.h"
#include "builder.h"

#include <stdlib.h>
#include <string.h>

struct mr_rewrite {
    mr_builder b; /* over the draft */
    mr_graph *g;
    mr_node **node; /* NULL: gone */
    int n;
    int *maker, *reads, *reader; /* by value; reader: the last one that was noted */
    int cap;
    mr_error error; /* of calls that are only tried */
};

/* A rewritten graph has a model of its own, for its region; values belong to the plan. */
typedef struct made {
    mr_graph graph;
    mr_graph_model model;
} made;

void mr_rewritten_free(mr_graph *g)
{
    if (!g) return;
    mr_region_free(&g->model->region);
    free(g);
}

/* ---- who reads what ---- */

static void read_value(mr_rewrite *r, int id, int at)
{
    if (id >= 0) r->reads[id]++, r->reader[id] = at;
}

static void note_reads(mr_rewrite *r, int at)
{
    const mr_node *n = r->node[at];
    for (int i = 0; i < n->n_in; i++) read_value(r, n->in[i], at);
    for (int k = 0; k < n->n_subgraphs; k++) {
        const mr_graph *sub = n->subgraphs[k];
        /* More than once: what a body reads, it may read in every round. */
        for (int i = 0; i < sub->n_captures; i++) r->reads[sub->values[sub->captures[i]].outer] += 2;
    }
    for (int o = 0; o < n->n_out; o++)
        if (n->out[o] >= 0) r->maker[n->out[o]] = at;
}

static void note_all(mr_rewrite *r)
{
    const mr_plan *p = r->b.p;
    const mr_options *o = &r->b.s->options;
    for (int i = 0; i < p->n_values; i++) {
        r->maker[i] = r->reader[i] = -1;
        r->reads[i] = o->keep && i < r->g->n_values && o->keep(o->observe_arg, r->g->values[i].name) ? 2 : 0;
    }
    for (int i = 0; i < p->n_outputs; i++) r->reads[p->outputs[i]] += 2;
    for (int k = 0; k < r->n; k++)
        if (r->node[k]) note_reads(r, k);
}

/* ---- looking ---- */

int mr_rewrite_size(const mr_rewrite *r)
{
    return r->n;
}
const mr_node *mr_rewrite_node(const mr_rewrite *r, int at)
{
    return at < 0 ? NULL : r->node[at];
}
int mr_rewrite_maker(const mr_rewrite *r, int id)
{
    return id < 0 ? -1 : r->maker[id];
}
const mr_node *mr_rewrite_source(const mr_rewrite *r, int id)
{
    const mr_graph *file = r->b.g;
    if (id < 0 || r->maker[id] >= 0) return mr_rewrite_node(r, mr_rewrite_maker(r, id));
    int k = id < file->n_values && r->b.p->values[id].known ? file->values[id].producer : -1;
    return k < 0 ? NULL : file->nodes[k];
}
int mr_rewrite_user(const mr_rewrite *r, int id)
{
    return id >= 0 && r->reads[id] == 1 ? r->reader[id] : -1;
}

bool mr_rewrite_reads(const mr_rewrite *r, int id, const int *at, int count)
{
    int found = 0;
    for (int k = 0; k < count; k++)
        for (int i = 0; i < r->node[at[k]]->n_in; i++) found += r->node[at[k]]->in[i] == id;
    return found == r->reads[id];
}

bool mr_rewrite_is(const mr_rewrite *r, int at, const char *op)
{
    const mr_node *n = mr_rewrite_node(r, at);
    return n && !*n->domain && !strcmp(n->op_type, op);
}

const mr_tensor *mr_rewrite_known(const mr_rewrite *r, int id)
{
    const mr_value *v = id < 0 ? NULL : r->b.p->values[id].known;
    return v && v->type.kind == MR_TENSOR ? &v->t : NULL;
}

bool mr_rewrite_number(const mr_rewrite *r, int id, double *v)
{
    const mr_tensor *t = mr_rewrite_known(r, id);
    bool number = t && mr_tensor_count(t) == 1 && mr_dtype_in(t->dtype, MR_FLOATS | MR_INTS);
    if (number) *v = mr_tensor_real(t, 0);
    return number;
}

const mr_shape *mr_rewrite_shape(const mr_rewrite *r, int id)
{
    const mr_pvalue *v = id < 0 ? NULL : &r->b.p->values[id];
    return v && v->type.kind == MR_TENSOR && mr_shape_known(&v->shape) ? &v->shape : NULL;
}

mr_dtype mr_rewrite_dtype(const mr_rewrite *r, int id)
{
    const mr_pvalue *v = id < 0 ? NULL : &r->b.p->values[id];
    return v && v->type.kind == MR_TENSOR ? (mr_dtype)v->type.elem : MR_UNDEFINED;
}

/* The node as a call whose outputs are inferred, its shapes known, and the row that will run it. */
const mr_impl *mr_rewrite_row(mr_rewrite *r, const mr_node *n, mr_call *c)
{
    const mr_impl *row = NULL;
    if (!n->op || n->refusal.status || n->op->constant || !n->op->infer) return NULL;
    if (mr_builder_call(&r->b, n, c, &r->error) && !n->op->infer(c) && mr_call_shapes_known(c))
        row = mr_resolve(c, r->b.s->device ? MR_CUDA : MR_CPU, &r->error, NULL, 0);
    mr_error_clear(&r->error);
    return row;
}

void *mr_rewrite_alloc(mr_rewrite *r, size_t bytes)
{
    return mr_region_alloc(&r->g->model->region, bytes);
}

/* ---- changing ---- */

static bool grow_tables(mr_rewrite *r, int n)
{
    if (n <= r->cap) return true;
    int cap = 2 * n + 16;
    int *tables = MR_REGION_NEW(&r->b.p->region, int, 3 * cap);
    if (!tables) return false;
    int *old[3] = {r->maker, r->reads, r->reader};
    for (int i = 0; i < 3; i++)
        if (r->cap) memcpy(tables + i * cap, old[i], sizeof(int) * (size_t)r->cap);
    r->maker = tables, r->reads = tables + cap, r->reader = tables + 2 * cap;
    r->cap = cap;
    return true;
}

int mr_rewrite_constant(mr_rewrite *r, mr_value *v, const char *name)
{
    mr_plan *p = r->b.p;
    mr_pvalue *values = v ? realloc(p->values, sizeof *values * ((size_t)p->n_values + 2)) : NULL;
    if (values) p->values = values;
    int id = values && grow_tables(r, p->n_values + 1) ? mr_graph_add_value(r->g, name) : -1;
    if (id < 0) return mr_value_release(v), -1;
    p->n_values = id + 1;
    p->values[id] = (mr_pvalue){.root = id, .first = -1, .last = -1, .twin = -1};
    mr_pvalue_set_known(&p->values[id], v);
    r->maker[id] = r->reader[id] = -1, r->reads[id] = 0;
    r->g->values[id].init = v;
    return id;
}

mr_node *mr_rewrite_make(mr_rewrite *r, const char *domain, const char *op, int version, int n_in)
{
    mr_node *n = mr_rewrite_alloc(r, sizeof *n);
    int *ids = mr_rewrite_alloc(r, sizeof *ids * ((size_t)n_in + 1));
    if (!n || !ids) return NULL;
    for (int i = 0; i < n_in + 1; i++) ids[i] = -1;
    const mr_schema *s = mr_schema_find(NULL, domain, op, version);
    *n = (mr_node){.name = "", .op_type = op, .domain = domain, .overload = "", .opset = version, .schema = s};
    n->in = ids + 1, n->n_in = n_in, n->out = ids, n->n_out = 1, n->graph = r->g;
    n->op = mr_op_find(domain, op, s ? s->since : version);
    return n->op ? n : NULL;
}

static mr_attr *add_attr(mr_rewrite *r, mr_node *n, const char *name, mr_attr_kind kind)
{
    enum { MOST = 8 };
    if (!n->attrs) n->attrs = mr_rewrite_alloc(r, MOST * sizeof *n->attrs);
    if (!n->attrs || n->n_attrs == MOST) return NULL;
    mr_attr *a = &n->attrs[n->n_attrs++];
    *a = (mr_attr){.name = name, .kind = kind};
    return a;
}

void mr_rewrite_int(mr_rewrite *r, mr_node *n, const char *name, int64_t v)
{
    mr_attr *a = add_attr(r, n, name, MR_ATTR_INT);
    if (a) a->i = v;
}
void mr_rewrite_float(mr_rewrite *r, mr_node *n, const char *name, float v)
{
    mr_attr *a = add_attr(r, n, name, MR_ATTR_FLOAT);
    if (a) a->f = v;
}
void mr_rewrite_text(mr_rewrite *r, mr_node *n, const char *name, const char *v)
{
    mr_attr *a = add_attr(r, n, name, MR_ATTR_STRING);
    if (a) a->s = (mr_string){v, strlen(v)};
}

void mr_rewrite_ints(mr_rewrite *r, mr_node *n, const char *name, int count, const int64_t *v)
{
    int64_t *copy = mr_rewrite_alloc(r, sizeof *v * (size_t)count);
    mr_attr *a = copy ? add_attr(r, n, name, MR_ATTR_INTS) : NULL;
    if (!a) return;
    memcpy(copy, v, sizeof *v * (size_t)count);
    a->ints = copy, a->n = count;
}

/* Does a row run n, and give what its output was? */
static bool fits(mr_rewrite *r, mr_node *n)
{
    mr_call c;
    if (!n->params && n->op->params_size) mr_attrs_read(n);
    if (n->refusal.status || !mr_rewrite_row(r, n, &c)) return mr_error_clear(&n->refusal), false;
    const mr_pvalue *was = &r->b.p->values[n->out[0]];
    return mr_type_equal(c.out[0].type, was->type) && mr_shape_equal(&c.out[0].shape, &was->shape);
}

/* The nodes of the graph that n stands for: those of the ones that it replaces. */
static bool name_after(mr_rewrite *r, mr_node *n, const int *at, int count)
{
    int total = 0;
    for (int k = 0; k < count; k++) total += r->node[at[k]]->n_origins ? r->node[at[k]]->n_origins : 1;
    const mr_node **origins = mr_rewrite_alloc(r, sizeof *origins * (size_t)total);
    if (!origins) return false;
    n->origins = origins;
    for (int k = 0; k < count; k++) {
        const mr_node *from = r->node[at[k]];
        for (int i = 0; i < (from->n_origins ? from->n_origins : 1); i++) origins[n->n_origins++] = mr_node_of(from, i);
    }
    n->name = origins[0]->name;
    n->index = origins[0]->index;
    n->origin = mr_node_file(origins[0]);
    return true;
}

static void unread(mr_rewrite *r, const mr_node *n)
{
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0) r->reads[n->in[i]]--;
    for (int o = 0; o < n->n_out; o++)
        if (n->out[o] >= 0) r->maker[n->out[o]] = -1;
}

/* Who the one reader is has to be found again for values that had more. */
static void find_readers(mr_rewrite *r, const mr_node *n)
{
    for (int i = 0; i < n->n_in; i++) {
        int id = n->in[i];
        if (id < 0 || r->reads[id] != 1) continue;
        for (int k = 0; k < r->n; k++)
            for (int j = 0; r->node[k] && j < r->node[k]->n_in; j++)
                if (r->node[k]->in[j] == id) r->reader[id] = k;
    }
}

bool mr_rewrite_replace(mr_rewrite *r, mr_node *n, const int *at, int count)
{
    int place = at[0];
    mr_node **gone = MR_REGION_NEW(&r->b.p->region, mr_node *, count);
    for (int k = 0; k < count; k++)
        if (at[k] > place) place = at[k];
    n->out[0] = r->node[place]->out[0];
    if (!gone || !fits(r, n) || !name_after(r, n, at, count)) return false;
    for (int k = 0; k < count; k++) {
        gone[k] = r->node[at[k]];
        unread(r, gone[k]);
        r->node[at[k]] = NULL;
    }
    r->node[place] = n;
    note_reads(r, place);
    for (int k = 0; k < count; k++) find_readers(r, gone[k]);
    return true;
}

/* The file's nodes are not changed: what reads another value now is a copy. */
static bool read_other(mr_rewrite *r, int at, int id, int other)
{
    mr_node *old = r->node[at], *n = mr_rewrite_alloc(r, sizeof *n);
    int *in = mr_rewrite_alloc(r, sizeof *in * ((size_t)old->n_in + 1));
    if (!n || !in) return false;
    *n = *old;
    n->in = in;
    for (int i = 0; i < n->n_in; i++) in[i] = old->in[i] == id ? other : old->in[i];
    if (!n->n_origins && !name_after(r, n, &at, 1)) return false;
    unread(r, old);
    r->node[at] = n;
    note_reads(r, at);
    return true;
}

bool mr_rewrite_merge(mr_rewrite *r, int at, int id, int other)
{
    int found = 0;
    for (int k = 0; k < r->n; k++)
        for (int i = 0; r->node[k] && i < r->node[k]->n_in; i++) found += r->node[k]->in[i] == id;
    if (found != r->reads[id]) return false; /* an output, or read by a body */
    mr_node *gone = r->node[at];
    for (int k = 0; k < r->n; k++)
        for (int i = 0; r->node[k] && i < r->node[k]->n_in; i++)
            if (r->node[k]->in[i] == id && !read_other(r, k, id, other)) return false;
    unread(r, gone);
    r->node[at] = NULL;
    find_readers(r, gone);
    for (int k = 0; k < r->n; k++)
        for (int i = 0; r->node[k] && i < r->node[k]->n_in; i++)
            if (r->node[k]->in[i] == other) r->reader[other] = k;
    return true;
}

/* ---- the whole ---- */

static bool start(mr_rewrite *r, const mr_graph *from)
{
    const mr_plan *p = r->b.p;
    made *m = calloc(1, sizeof *m);
    if (!m) return false;
    m->graph = *from;
    m->model = *from->model;
    m->model.region = (mr_region){0};
    m->graph.model = &m->model;
    m->graph.cap_values = m->graph.n_values; /* the first that is added copies them */
    r->g = &m->graph;
    r->node = mr_rewrite_alloc(r, sizeof *r->node * ((size_t)from->n_nodes + 1));
    m->graph.values = mr_rewrite_alloc(r, sizeof(mr_vinfo) * ((size_t)from->n_values + 1));
    if (!r->node || !m->graph.values || !grow_tables(r, p->n_values)) return false;
    memcpy(m->graph.values, from->values, sizeof(mr_vinfo) * (size_t)from->n_values);
    for (int k = 0; k < from->n_nodes; k++) {
        const mr_node *n = from->nodes[k];
        bool known = n->n_out > 0;
        for (int o = 0; o < n->n_out; o++) known &= n->out[o] < 0 || p->values[n->out[o]].known != NULL;
        if (r->b.need[k] && !known) r->node[r->n++] = from->nodes[k];
    }
    r->b.exec.region = &m->model.region;
    note_all(r);
    return true;
}

static void finish(mr_rewrite *r)
{
    mr_graph *g = r->g;
    for (int i = 0; i < g->n_values; i++) g->values[i].producer = -1;
    g->nodes = r->node, g->n_nodes = 0;
    for (int k = 0; k < r->n; k++) {
        mr_node *n = r->node[k];
        if (!n) continue;
        for (int o = 0; o < n->n_out; o++)
            if (n->out[o] >= 0) g->values[n->out[o]].producer = g->n_nodes, g->values[n->out[o]].producer_out = o;
        g->nodes[g->n_nodes++] = n;
    }
}

mr_graph *mr_rewrite_graph(const mr_builder *draft)
{
    mr_rewrite r = {.b = *draft, .error.node = -1};
    const mr_rule *rule;
    if (!start(&r, draft->g)) return mr_rewritten_free(r.g), NULL;
    for (int i = 0; (rule = mr_rule_at(i)); i++)
        for (int k = 0; k < r.n && rule->level <= draft->s->options.optimize; k++)
            if (r.node[k]) rule->match(&r, k);
    finish(&r);
    return r.g;
}

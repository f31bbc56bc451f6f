/* gradient.c: Gradient becomes the nodes that compute it: reverse-mode differentiation over the nodes between xs and y.
 *
 * "The tensors named in attributes "xs", "zs", and "y" define the differentiated computation graph, and the inputs to
 * Gradient node define the values at which the gradient is computed." Where the inputs are the tensors named, the
 * values of the forward pass serve; else its nodes are made again over the inputs. The gradient of a y that is no
 * scalar is that of the sum of its elements. */
#include "gradient.h"

#include <stdlib.h>
#include <string.h>

typedef struct params {
    const mr_string *xs, *zs;
    int n_xs, n_zs;
    mr_string y;
} params;

static void read(mr_reader *r, void *params_)
{
    params *p = params_;
    p->n_xs = mr_read_strings(r, "xs", &p->xs);
    p->n_zs = mr_read_strings(r, "zs", &p->zs);
    if (p->n_zs < 0) p->n_zs = 0;
    p->y = mr_read_string(r, "y", "");
    if (mr_read_node(r)->n_in != p->n_xs + p->n_zs)
        mr_read_fail(r, MR_E_ARITY, "%d inputs, xs and zs name %d", mr_read_node(r)->n_in, p->n_xs + p->n_zs);
}

/* By value of the graph, as it was before anything was made. */
typedef struct tape {
    mr_expansion *x;
    const params *p;
    int n;
    int *at;       /* the value that stands for it: itself, an input of Gradient, or made again */
    bool *cut;     /* named in xs or zs: what makes it does not count */
    bool *varies;  /* depends on one of xs, and y on it … */
    bool *moved;   /* depends on a tensor that another stands for */
    int *gradient; /* of y; -1: none so far */
} tape;

static void refuse(tape *t, const char *what, const mr_node *n)
{
    char where[512];
    mr_error *e = &t->x->call->refusal;
    if (n)
        mr_fail(e, MR_E_ATTRIBUTES, "%s: %s", mr_node_where(n, where, sizeof where), what);
    else
        mr_fail(e, MR_E_ATTRIBUTES, "%s", what);
    mr_error_at_node(e, t->x->call);
}

static int find(tape *t, mr_string name, const char *list)
{
    const mr_graph *g = t->x->graph;
    for (int i = 0; i < t->n; i++)
        if (strlen(g->values[i].name) == name.len && !memcmp(g->values[i].name, name.data, name.len)) return i;
    mr_error *e = &t->x->call->refusal;
    mr_fail(e, MR_E_ATTRIBUTE, "%s names '%.*s', which is no tensor of this graph", list, (int)name.len, name.data);
    mr_error_at_node(e, t->x->call);
    return -1;
}

static bool place_inputs(tape *t)
{
    for (int i = 0; i < t->p->n_xs + t->p->n_zs; i++) {
        bool is_x = i < t->p->n_xs;
        int id = find(t, is_x ? t->p->xs[i] : t->p->zs[i - t->p->n_xs], is_x ? "xs" : "zs");
        if (id < 0) return false;
        t->at[id] = t->x->call->in[i];
        t->moved[id] = t->at[id] != id;
        t->cut[id] = true;
        t->varies[id] = is_x;
    }
    return true;
}

/* ---- forward: what varies, and the nodes that must be made again ---- */

static bool any(const bool *flags, const int *ids, int n)
{
    for (int i = 0; i < n; i++)
        if (ids[i] >= 0 && flags[ids[i]]) return true;
    return false;
}

static void make_again(tape *t, const mr_node *n)
{
    int in[MR_GRADIENT_ARGS];
    if (n->n_subgraphs || n->n_in > MR_GRADIENT_ARGS) {
        refuse(t, "cannot be computed again at other inputs than the tensors named", n);
        return;
    }
    for (int i = 0; i < n->n_in; i++) in[i] = n->in[i] < 0 ? -1 : t->at[n->in[i]];
    const mr_node *copy = mr_expansion_copy(t->x, n, in, n->n_out);
    for (int o = 0; copy && o < n->n_out; o++)
        if (n->out[o] >= 0) t->at[n->out[o]] = copy->out[o];
}

static bool *needed_by(tape *t, int y)
{
    const mr_graph *g = t->x->graph;
    bool *needed = calloc((size_t)t->n + 1, sizeof *needed);
    if (!needed) return NULL;
    needed[y] = true;
    for (int k = g->n_nodes - 1; k >= 0; k--) {
        const mr_node *n = g->nodes[k];
        bool wanted = false;
        for (int o = 0; o < n->n_out; o++) wanted |= n->out[o] >= 0 && needed[n->out[o]] && !t->cut[n->out[o]];
        for (int i = 0; wanted && i < n->n_in; i++)
            if (n->in[i] >= 0) needed[n->in[i]] = true;
    }
    return needed;
}

static void go_forward(tape *t, const bool *needed)
{
    const mr_graph *g = t->x->graph;
    for (int k = 0; k < g->n_nodes && !t->x->call->refusal.status; k++) {
        const mr_node *n = g->nodes[k];
        if (n == t->x->call || !any(needed, n->out, n->n_out)) continue;
        bool varies = any(t->varies, n->in, n->n_in), moved = any(t->moved, n->in, n->n_in);
        for (int o = 0; o < n->n_out; o++)
            if (n->out[o] >= 0 && !t->cut[n->out[o]]) t->varies[n->out[o]] = varies, t->moved[n->out[o]] = moved;
        if (moved && any(t->moved, n->out, n->n_out)) make_again(t, n);
    }
}

/* ---- backward ---- */

static void add_gradient(tape *t, int id, int g)
{
    int before = t->gradient[id];
    t->gradient[id] = before < 0 ? g : mr_gradient_op(t->x, "Add", before, g, -1);
}

static void step_back(tape *t, const mr_node *n)
{
    int in[MR_GRADIENT_ARGS], out[MR_GRADIENT_ARGS], dy[MR_GRADIENT_ARGS], dx[MR_GRADIENT_ARGS];
    mr_gradient_rule rule = mr_gradient_rule_of(n);
    if (!rule || n->n_in > MR_GRADIENT_ARGS || n->n_out > MR_GRADIENT_ARGS) {
        refuse(t, "there is no rule for its gradient", n);
        return;
    }
    for (int i = 0; i < n->n_in; i++) in[i] = n->in[i] < 0 ? -1 : t->at[n->in[i]], dx[i] = -1;
    for (int o = 0; o < n->n_out; o++) {
        bool counts = n->out[o] >= 0 && !t->cut[n->out[o]];
        out[o] = n->out[o] < 0 ? -1 : t->at[n->out[o]];
        dy[o] = counts ? t->gradient[n->out[o]] : -1;
    }
    rule(&(mr_step_back){t->x, n, in, out, dy, dx});
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0 && dx[i] >= 0 && t->varies[n->in[i]]) add_gradient(t, n->in[i], dx[i]);
}

static void go_back(tape *t, int y)
{
    const mr_graph *g = t->x->graph;
    t->gradient[y] = mr_gradient_ones(t->x, t->at[y]);
    for (int k = g->n_nodes - 1; k >= 0 && !t->x->call->refusal.status; k--) {
        const mr_node *n = g->nodes[k];
        bool comes = false;
        for (int o = 0; o < n->n_out; o++)
            comes |= n->out[o] >= 0 && !t->cut[n->out[o]] && t->varies[n->out[o]] && t->gradient[n->out[o]] >= 0;
        if (comes && n != t->x->call) step_back(t, n);
    }
}

static void give_outputs(tape *t)
{
    for (int i = 0; i < t->x->call->n_out && i < t->p->n_xs; i++) {
        int to = t->x->call->out[i], id = find(t, t->p->xs[i], "xs");
        if (to < 0 || id < 0) continue;
        int from = t->gradient[id] >= 0 ? t->gradient[id] : mr_gradient_zeros(t->x, t->at[id]);
        mr_node *n = mr_expansion_node(t->x, "Identity", 1, &from, 1);
        if (n) n->out[0] = to;
    }
}

static void differentiate(tape *t)
{
    int y = find(t, t->p->y, "y");
    if (y < 0 || !place_inputs(t)) return;
    bool *needed = needed_by(t, y);
    if (!needed) {
        mr_fail(t->x->e, MR_E_MEMORY, "no memory for Gradient");
        return;
    }
    go_forward(t, needed);
    if (!t->x->call->refusal.status) go_back(t, y);
    if (!t->x->call->refusal.status) give_outputs(t);
    free(needed);
}

static void expand(mr_expansion *x)
{
    int n = x->graph->n_values;
    tape t = {.x = x, .p = x->call->params, .n = n};
    t.at = calloc((size_t)n + 1, sizeof *t.at);
    t.gradient = calloc((size_t)n + 1, sizeof *t.gradient);
    bool *flags = calloc((size_t)n * 3 + 1, sizeof *flags);
    if (t.at && t.gradient && flags) {
        t.cut = flags, t.varies = flags + n, t.moved = flags + 2 * n;
        for (int i = 0; i < n; i++) t.at[i] = i, t.gradient[i] = -1;
        differentiate(&t);
    } else {
        mr_fail(x->e, MR_E_MEMORY, "no memory for Gradient");
    }
    free(t.at), free(t.gradient), free(flags);
}

static const mr_impl impls[] = {{.name = "gradient", .expand = expand}, {0}};

const mr_op mr_ops_gradient[] = {
    {"ai.onnx.preview.training", "Gradient", 1, 0, sizeof(params), read, NULL, impls, 0, NULL, NULL},
    {0},
};

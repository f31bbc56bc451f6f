/* model_order.c: topological order. ONNX asks files to have it; where one has not, the nodes are sorted all the same,
 * so that everything else can be said about the model too. */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void note_producers(mr_graph *g)
{
    for (int i = 0; i < g->n_nodes; i++) {
        const mr_node *n = g->nodes[i];
        for (int o = 0; o < n->n_out; o++) {
            if (n->out[o] < 0) continue;
            g->values[n->out[o]].producer = i;
            g->values[n->out[o]].producer_out = o;
        }
    }
}

/* Value k that the node reads, its subgraphs' captures included: an id, -1 for none, -2 behind the last. */
static int value_read(const mr_node *n, int k)
{
    if (k < n->n_in) return n->in[k];
    k -= n->n_in;
    for (int i = 0; i < n->n_subgraphs; i++) {
        const mr_graph *sub = n->subgraphs[i];
        if (k < sub->n_captures) return sub->values[sub->captures[k]].outer;
        k -= sub->n_captures;
    }
    return -2;
}

/* Of the first node that reads what a later one makes: the value. -1: in order. */
static int first_early(const mr_graph *g, int *reader, int *count)
{
    int found = -1;
    *count = 0;
    for (int i = 0; i < g->n_nodes; i++) {
        bool early = false;
        for (int k = 0, v; (v = value_read(g->nodes[i], k)) != -2; k++) {
            if (v < 0 || g->values[v].producer < i) continue;
            if (found < 0) {
                found = v;
                *reader = i;
            }
            early = true;
        }
        *count += early;
    }
    return found;
}

typedef struct visit {
    int node, next; /* the next of its values to look at */
} visit;

typedef struct sorting {
    mr_graph *g;
    char *state; /* 0 new, 1 on the path, 2 placed */
    visit *path;
    int depth, n_placed;
    mr_node **placed;
    bool cycle;
} sorting;

static void report_cycle(sorting *s, int node)
{
    char text[1024];
    size_t at = 0;
    int from = s->depth - 1;
    while (s->path[from].node != node) from--;
    for (int i = from; i <= s->depth && at < sizeof text; i++) {
        const mr_node *n = s->g->nodes[i < s->depth ? s->path[i].node : node];
        at += (size_t)snprintf(text + at, sizeof text - at, "%snode %d '%s' (%s)", i > from ? " -> " : "", n->index,
                               n->name, n->op_type);
    }
    if (!s->cycle) mr_model_invalid(s->g->model, MR_E_GRAPH, "graph '%s' has a cycle: %s", s->g->name, text);
    s->cycle = true;
}

/* Depth first, without recursion: graphs can be long chains. */
static void place(sorting *s, int root)
{
    if (s->state[root]) return;
    s->path[s->depth++] = (visit){root, 0};
    s->state[root] = 1;
    while (s->depth) {
        visit *top = &s->path[s->depth - 1];
        int v = value_read(s->g->nodes[top->node], top->next++);
        if (v == -2) {
            s->state[top->node] = 2;
            s->placed[s->n_placed++] = s->g->nodes[top->node];
            s->depth--;
            continue;
        }
        int p = v < 0 ? -1 : s->g->values[v].producer;
        if (p < 0 || s->state[p] == 2) continue;
        if (s->state[p] == 1) {
            report_cycle(s, p);
            continue;
        }
        s->state[p] = 1;
        s->path[s->depth++] = (visit){p, 0};
    }
}

static bool sort(mr_graph *g, bool *cycle)
{
    size_t n = (size_t)g->n_nodes;
    sorting s = {
        .g = g, .state = calloc(n, 1), .path = calloc(n, sizeof(visit)), .placed = calloc(n, sizeof(mr_node *))};
    bool ok = s.state && s.path && s.placed;
    for (int i = 0; ok && i < g->n_nodes; i++) place(&s, i);
    if (ok) memcpy(g->nodes, s.placed, n * sizeof(mr_node *));
    *cycle = s.cycle;
    free(s.state);
    free(s.path);
    free(s.placed);
    return ok;
}

bool mr_graph_order(mr_loader *l, mr_graph *g)
{
    int reader, count;
    bool cycle = false;
    note_producers(g);
    int v = first_early(g, &reader, &count);
    if (v < 0) return true;
    const mr_node *n = g->nodes[reader], *by = g->nodes[g->values[v].producer];
    if (!sort(g, &cycle)) return mr_loader_memory(l);
    if (!cycle)
        mr_model_invalid(
            l->model, MR_E_GRAPH,
            "graph '%s' is not in topological order: node %d '%s' (%s) reads '%s', which node %d '%s' (%s) "
            "makes later%s",
            g->name, n->index, n->name, n->op_type, g->values[v].name, by->index, by->name, by->op_type,
            count > 1 ? "; other nodes do so too" : "");
    note_producers(g);
    return true;
}

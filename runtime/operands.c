/* operands.c: what met at a node where shapes do not fit, for messages: each input, and the node that gave it its
 * shape.
 *
 *     A float32[2,128,768]  from node 11 'norm' (LayerNormalization-17), shaped by node 3 'embed' (Gather-13) of data
 *       float32[30522,768] (initializer words), indices int64[2,128] (input ids)
 *     B float32[1024,768]  initializer weight */
#include <stdio.h>
#include <string.h>

#include "engine.h"

enum { SHOWN = 6 }; /* inputs, at most */

typedef struct words {
    char *at;
    size_t left;
} words;

static void say(words *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void say(words *w, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(w->at, w->left, fmt, ap);
    va_end(ap);
    size_t used = n < 0 ? 0 : (size_t)n < w->left ? (size_t)n : w->left - 1;
    w->at += used, w->left -= used;
}

/* The shape that a value of the graph has, as far as it is known at the call. */
static mr_shape shape_of(const mr_exec *x, int id)
{
    const mr_shape *s = &x->plan->values[id].shape;
    if (!x->frame || mr_shape_known(s)) return *s;
    const mr_slot *slot = &x->frame->slots[id];
    return slot->t.dtype != MR_UNDEFINED ? mr_tensor_shape(&slot->t) : *s;
}

static bool same_shape(const mr_shape *a, const mr_shape *b)
{
    if (a->rank < 0 || a->rank != b->rank) return false;
    for (int d = 0; d < a->rank; d++)
        if (a->d[d] != b->d[d] || a->d[d] == MR_DIM_UNKNOWN) return false;
    return true;
}

/* The value that had this shape first, seen from id through nodes that leave it as it is. */
static int shape_origin(const mr_exec *x, const mr_graph *g, int id)
{
    mr_shape shape = shape_of(x, id);
    for (int k = 0, from = 0; k < g->n_nodes && from >= 0 && g->values[id].producer >= 0; k++) {
        const mr_node *n = g->nodes[g->values[id].producer];
        from = -1;
        for (int i = 0; i < n->n_in && from < 0; i++) {
            mr_shape other = n->in[i] >= 0 ? shape_of(x, n->in[i]) : mr_shape_unknown();
            if (same_shape(&shape, &other)) from = n->in[i];
        }
        if (from >= 0) id = from;
    }
    return id;
}

static void say_type(words *w, const mr_exec *x, const mr_graph *g, int id)
{
    mr_shape shape = shape_of(x, id);
    const mr_pvalue *v = &x->plan->values[id];
    char dims[256] = "";
    if (v->type.kind != MR_TENSOR) return;
    if (shape.rank >= 0) mr_shape_string(&shape, g->model->symbols, dims, sizeof dims);
    say(w, " %s%s", mr_dtype_name(v->declared ? v->declared : (mr_dtype)v->type.elem), dims);
}

/* "initializer w", "input x", "from node 3 'embed' (Gather-13)". */
static void say_source(words *w, const mr_graph *g, int id)
{
    const mr_vinfo *v = &g->values[id];
    char where[400];
    if (v->producer >= 0)
        say(w, "from %s", mr_node_where(g->nodes[v->producer], where, sizeof where));
    else
        say(w, "%s %s",
            v->init         ? "initializer"
            : v->outer >= 0 ? "outer value"
            : v->is_input   ? "input"
                            : "constant",
            v->name);
}

/* " of data float32[5,2] (initializer words), indices int64[3] (input ids)" */
static void say_inputs(words *w, const mr_exec *x, const mr_graph *g, const mr_node *n)
{
    for (int i = 0, shown = 0; i < n->n_in && shown < SHOWN; i++) {
        if (n->in[i] < 0) continue;
        say(w, "%s %s", shown++ ? "," : " of", mr_node_in_name(n, i));
        say_type(w, x, g, n->in[i]);
        say(w, " (");
        say_source(w, g, n->in[i]);
        say(w, ")");
    }
}

static void say_operand(words *w, const mr_call *c, int i)
{
    const mr_graph *g = c->exec->plan->graph; /* the node's, or what that was rewritten to, with the same ids */
    int id = c->node->in[i], origin = shape_origin(c->exec, g, id);
    say(w, "\n  %s", mr_node_in_name(c->node, i));
    say_type(w, c->exec, g, id);
    say(w, "  ");
    say_source(w, g, id);
    const mr_node *maker = g->values[origin].producer >= 0 ? g->nodes[g->values[origin].producer] : NULL;
    char where[400];
    if (maker) {
        if (origin != id) say(w, ", shaped by %s", mr_node_where(maker, where, sizeof where));
        say_inputs(w, c->exec, g, maker);
    } else if (origin != id) {
        say(w, ", with the shape of ");
        say_source(w, g, origin);
    }
}

const char *mr_operands_string(const mr_call *c, char *buf, size_t size)
{
    const mr_node *n = c->node;
    words w = {buf, size};
    int shown = 0, more = 0;
    *buf = 0;
    if (!c->exec || !c->exec->plan) return buf;
    for (int i = 0; i < n->n_in; i++) {
        if (n->in[i] < 0) continue;
        if (shown++ < SHOWN)
            say_operand(&w, c, i);
        else
            more++;
    }
    if (more) say(&w, "\n  and %d more", more);
    return buf;
}

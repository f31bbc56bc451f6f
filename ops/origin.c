/* origin.c: which tensor an input is and where it came from, in words. */
#include "ops/origin.h"

#include <stdio.h>

const char *mr_in_origin(const mr_call *c, int i, char *buf, size_t size)
{
    const mr_graph *g = c->node->graph;
    const mr_vinfo *v = &g->values[c->node->in[i]];
    char dims[256] = "", from[512];
    if (c->in[i].shape.rank >= 0) mr_shape_string(&c->in[i].shape, g->model->symbols, dims, sizeof dims);
    if (v->producer >= 0) {
        char where[400];
        snprintf(from, sizeof from, "%s, from %s", v->name, mr_node_where(g->nodes[v->producer], where, sizeof where));
    } else {
        const char *what = v->init ? "initializer" : v->outer >= 0 ? "outer value" : "input";
        snprintf(from, sizeof from, "%s %s", what, v->name);
    }
    snprintf(buf, size, "'%s' %s%s (%s)", mr_in_name(c, i), mr_dtype_name(mr_in_dtype(c, i)), dims, from);
    return buf;
}

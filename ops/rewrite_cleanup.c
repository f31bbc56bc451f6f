/* rewrite_cleanup.c: nodes that change nothing, and nodes that compute what another one has. */
#include <string.h>

#include "runtime/rewrite.h"

static bool match_identity(mr_rewrite *r, int at)
{
    const mr_node *n = mr_rewrite_node(r, at);
    return mr_rewrite_is(r, at, "Identity") && n->n_in == 1 && mr_rewrite_merge(r, at, n->out[0], n->in[0]);
}

static bool same_attr(const mr_attr *a, const mr_attr *b)
{
    if (strcmp(a->name, b->name) || a->kind != b->kind || a->n != b->n) return false;
    switch (a->kind) {
    case MR_ATTR_INT:
        return a->i == b->i;
    case MR_ATTR_FLOAT:
        return memcmp(&a->f, &b->f, sizeof a->f) == 0;
    case MR_ATTR_STRING:
        return a->s.len == b->s.len && !memcmp(a->s.data, b->s.data, a->s.len);
    case MR_ATTR_INTS:
        return !memcmp(a->ints, b->ints, sizeof *a->ints * (size_t)a->n);
    case MR_ATTR_FLOATS:
        return !memcmp(a->floats, b->floats, sizeof *a->floats * (size_t)a->n);
    default:
        return false;
    }
}

static bool same(const mr_node *a, const mr_node *b)
{
    enum { OWN = MR_OP_RANDOM | MR_OP_CONTROL | MR_OP_STATEFUL | MR_OP_OWN_OUTPUT };
    if (a->op != b->op || !a->op || a->op->flags & OWN || a->schema != b->schema) return false;
    if (a->n_in != b->n_in || a->n_out != 1 || b->n_out != 1 || a->n_attrs != b->n_attrs || a->n_subgraphs)
        return false;
    if (memcmp(a->in, b->in, sizeof *a->in * (size_t)a->n_in)) return false;
    for (int i = 0; i < a->n_attrs; i++)
        if (!same_attr(&a->attrs[i], &b->attrs[i])) return false;
    return true;
}

static bool match_common(mr_rewrite *r, int at)
{
    const mr_node *n = mr_rewrite_node(r, at);
    for (int k = 0; k < at; k++) {
        const mr_node *other = mr_rewrite_node(r, k);
        if (other && same(n, other)) return mr_rewrite_merge(r, at, n->out[0], other->out[0]);
    }
    return false;
}

const mr_rule mr_rules_cleanup[] = {
    {"identity", "Identity: its readers read what it reads", 1, match_identity},
    {"common", "a node that computes what another one does: its readers read that one's", 1, match_common},
    {0},
};

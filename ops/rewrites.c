/* rewrites.c: the table of all rules of the rewriter, and what rules look for. */
#include "ops/rewrites.h"

#include <math.h>
#include <string.h>

#define RULES(file) extern const mr_rule mr_rules_##file[];
#include "ops/rewrites.inc"
#undef RULES

static const mr_rule *const files[] = {
#define RULES(file) mr_rules_##file,
#include "ops/rewrites.inc"
#undef RULES
};

const mr_rule *mr_rule_at(int i)
{
    for (size_t f = 0; f < sizeof files / sizeof *files; f++)
        for (const mr_rule *r = files[f]; r->name; r++)
            if (i-- == 0) return r;
    return NULL;
}

int mr_take(const mr_rewrite *r, mr_taken *t, int id, const char *op)
{
    int at = mr_rewrite_maker(r, id);
    if (!mr_rewrite_is(r, at, op) || mr_rewrite_user(r, id) < 0 || t->n == 16) return -1;
    if (mr_rewrite_node(r, at)->n_out != 1) return -1;
    return t->at[t->n++] = at;
}

int mr_beside_number(const mr_rewrite *r, int at, double *number)
{
    const mr_node *n = mr_rewrite_node(r, at);
    if (!n || n->n_in != 2) return -1;
    if (mr_rewrite_number(r, n->in[1], number)) return n->in[0];
    bool ordered = !strcmp(n->op_type, "Sub") || !strcmp(n->op_type, "Div");
    return !ordered && mr_rewrite_number(r, n->in[0], number) ? n->in[1] : -1;
}

int mr_beside(const mr_node *n, int id)
{
    if (n->n_in != 2) return -1;
    return n->in[0] == id ? n->in[1] : n->in[1] == id ? n->in[0] : -1;
}

bool mr_is_number(mr_dtype d, double have, double want)
{
    const double step = d == MR_BF16 ? 0x1p-8 : d == MR_F16 ? 0x1p-11 : 0x1p-23;
    return fabs(have - want) <= fabs(want) * step;
}

int mr_take_operand(const mr_rewrite *r, mr_taken *t, int at, const char *op, int *other)
{
    const mr_node *n = mr_rewrite_node(r, at);
    for (int i = 0; n && n->n_in == 2 && i < 2; i++) {
        int found = mr_take(r, t, n->in[i], op);
        if (found < 0) continue;
        *other = n->in[!i];
        return found;
    }
    return -1;
}

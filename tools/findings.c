/* findings.c: collecting what stands against a model, and what that means for the nodes behind. */
#include "findings.h"

#include <stdlib.h>
#include <string.h>

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

const char *mr_finding_words(mr_findings *f, const mr_finding *x, const char **name)
{
    const char *text = x->error->text, *open = strchr(text, '\''), *close = open ? strchr(open + 1, '\'') : NULL;
    *name = NULL;
    if (x->refusal || !close) return text;
    *name = mr_region_string(&f->region, open + 1, (size_t)(close - open - 1));
    return mr_region_printf(&f->region, "%.*s''%s", (int)(open - text), text, close + 1);
}

static bool same_op(const mr_node *a, const mr_node *b)
{
    return a->schema == b->schema && !strcmp(a->op_type, b->op_type) && !strcmp(a->domain, b->domain);
}

static bool same_reason(mr_findings *f, const mr_finding *a, const mr_finding *b)
{
    const char *name;
    if (a->error->code != b->error->code || !a->refusal != !b->refusal) return false;
    if (!same_text(a->error->hint, b->error->hint)) return false;
    if (!a->refusal && (a->error->where || b->error->where)) return false;
    const char *x = mr_finding_words(f, a, &name), *y = mr_finding_words(f, b, &name);
    if (!same_text(x, y) || !a->refusal) return same_text(x, y);
    return same_op(a->refusal->node, b->refusal->node) && same_text(a->refusal->shown, b->refusal->shown) &&
           a->refusal->needed == b->refusal->needed;
}

/* A body that is planned more than once is refused more than once. */
static bool known(const mr_findings *f, const mr_refusal *r)
{
    for (int i = 0; i < f->n; i++) {
        const mr_refusal *o = f->at[i].refusal;
        if (o && o->node == r->node && o->error.code == r->error.code && same_text(o->error.text, r->error.text))
            return true;
    }
    return false;
}

static void add(mr_findings *f, mr_finding x)
{
    x.reason = f->n;
    for (int i = 0; i < f->n && x.reason == f->n; i++)
        if (f->at[i].reason == i && same_reason(f, &f->at[i], &x)) x.reason = i;
    f->reasons += x.reason == f->n;
    f->at[f->n++] = x;
}

/* Does something stand against the node, or against a node of the function body that it became? */
static bool against(const mr_findings *f, const mr_node *file, bool depends)
{
    for (int i = 0; i < f->n; i++) {
        const mr_finding *x = &f->at[i];
        if (x->refusal && (x->kind == MR_REFUSE_DEPENDS) == depends && mr_node_file(x->refusal->node) == file)
            return true;
    }
    return false;
}

/* ---- the nodes behind ---- */

/* Marks what the graph's nodes make of values that a refused node makes; true: there is a refused node in it. outer:
 * the marks of the graph around. */
static bool spread(mr_findings *f, const mr_graph *g, const bool *outer)
{
    bool *marked = MR_REGION_NEW(&f->region, bool, g->n_values + 1), any = false;
    bool ours = !g->owner || !g->owner->origin; /* its nodes are the file's */
    const mr_node *last = NULL;
    for (int i = 0; marked && outer && i < g->n_captures; i++)
        marked[g->captures[i]] = outer[g->values[g->captures[i]].outer];
    for (int k = 0; marked && k < g->n_nodes; k++) {
        const mr_node *n = g->nodes[k], *file = mr_node_file(n);
        bool refused = against(f, file, false), behind = false;
        for (int i = 0; i < n->n_in; i++) behind |= n->in[i] >= 0 && marked[n->in[i]];
        for (int s = 0; s < n->n_subgraphs; s++) behind |= spread(f, n->subgraphs[s], marked);
        for (int o = 0; o < n->n_out; o++)
            if (n->out[o] >= 0) marked[n->out[o]] = refused || behind;
        if (ours && file != last) {
            f->cannot += refused;
            f->depend += !refused && against(f, file, true);
            f->behind += behind && !refused;
        }
        any |= refused || behind;
        last = file;
    }
    return any;
}

mr_status mr_findings_make(const mr_model *m, const mr_plan *verdict, mr_findings *f, mr_error *e)
{
    const mr_graph_model *g = m->g;
    const mr_refusals *r = &verdict->refusals;
    *f = (mr_findings){.at = calloc((size_t)(g->n_invalid + r->n) + 1, sizeof *f->at)};
    if (!f->at) return mr_fail(e, MR_E_MEMORY, "out of memory");
    for (int i = 0; i < g->n_invalid; i++)
        add(f, (mr_finding){.kind = mr_refusal_kind_of(g->invalid[i].code), .error = &g->invalid[i]});
    for (int i = 0; i < r->n; i++)
        if (!known(f, &r->at[i]))
            add(f, (mr_finding){.kind = r->at[i].kind, .error = &r->at[i].error, .refusal = &r->at[i]});
    spread(f, g->main, NULL);
    f->unjudged = r->dependents < f->behind ? r->dependents : f->behind;
    for (int i = 0; i < f->n; i++) {
        const mr_finding *x = &f->at[i];
        bool needed = !x->refusal || x->refusal->needed;
        if (x->error->status == MR_EINPUT)
            f->status = f->status == MR_EINVALID ? MR_EINVALID : MR_EINPUT;
        else if (x->kind == MR_REFUSE_INVALID)
            f->status = MR_EINVALID;
        else if (x->kind != MR_REFUSE_DEPENDS && needed && !f->status)
            f->status = MR_EUNSUPPORTED;
    }
    return MR_OK;
}

void mr_findings_free(mr_findings *f)
{
    mr_region_free(&f->region);
    free(f->at);
    *f = (mr_findings){0};
}

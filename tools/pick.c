/* pick.c: --outputs. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "setup.h"
#include "tools/io/inputs.h"

typedef struct picking {
    const mr_graph *g;
    const char **names; /* of all values of the graph */
    int *ids, n;
    bool *taken;
} picking;

static void take(picking *p, int id)
{
    if (!p->taken[id]) p->ids[p->n++] = id;
    p->taken[id] = true;
}

static bool exists(const mr_graph *g, int id)
{
    return g->values[id].producer >= 0 || g->values[id].is_input || g->values[id].init;
}

/* One name or pattern of n characters. A pattern is for what nodes make, not for inputs and weights. */
static mr_status pick_pattern(picking *p, const char *text, size_t n, mr_error *e)
{
    int before = p->n;
    bool any = false, wild = memchr(text, '*', n) || memchr(text, '?', n) || memchr(text, '[', n);
    char *pattern = strndup(text, n);
    if (!pattern) return mr_fail(e, MR_E_MEMORY, "out of memory");
    for (int id = 0; wild && id < p->g->n_values; id++)
        if (p->g->values[id].producer >= 0 && fnmatch(pattern, p->names[id], 0) == 0) {
            any = true;
            take(p, id);
        }
    free(pattern);
    if (any || p->n > before) return MR_OK;
    return mr_name_unknown(e, MR_E_USAGE, wild ? "tensor that matches" : "tensor", text, n, p->names, p->g->n_values);
}

static mr_status pick(picking *p, const char *text, mr_error *e)
{
    while (*text && e->status == MR_OK) {
        const char *rest;
        int id = mr_name_match(text, p->names, p->g->n_values, ", ", &rest);
        if (id >= 0 && exists(p->g, id)) {
            take(p, id);
        } else {
            size_t n = strcspn(text, ",");
            pick_pattern(p, text, n, e);
            rest = text + n;
        }
        text = rest + (*rest == ',');
    }
    return e->status;
}

mr_status mr_outputs_picked(const mr_args *a, const mr_graph *g, int **ids, int *n, mr_error *e)
{
    size_t cap = (size_t)g->n_values + 1;
    *ids = NULL;
    *n = 0;
    if (!mr_args_has(a, MR_OPT_OUTPUTS)) return MR_OK;
    picking p = {g, calloc(cap, sizeof *p.names), calloc(cap, sizeof *p.ids), 0, calloc(cap, sizeof *p.taken)};
    if (!p.names || !p.ids || !p.taken) mr_fail(e, MR_E_MEMORY, "out of memory");
    for (int id = 0; p.names && id < g->n_values; id++) p.names[id] = g->values[id].name;
    const char *text;
    for (int i = 0; e->status == MR_OK && (text = mr_args_next(a, MR_OPT_OUTPUTS, &i));) pick(&p, text, e);
    if (e->status == MR_OK && p.n == 0) mr_fail(e, MR_E_USAGE, "--outputs names nothing");
    free(p.names);
    free(p.taken);
    if (e->status) {
        free(p.ids);
        return e->status;
    }
    *ids = p.ids;
    *n = p.n;
    return MR_OK;
}

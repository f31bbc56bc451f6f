/* shapes.c: -s and --shape. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inputs.h"

typedef struct given {
    int64_t *extents; /* by symbol; -1: not set */
    int64_t rest;     /* of '*'; -1: not set */
} given;

static mr_status set_symbol(const mr_graph_model *m, const char *text, given *g, mr_error *e)
{
    const char *rest, *equals = strrchr(text, '=');
    int64_t n;
    bool all = strncmp(text, "*=", 2) == 0;
    int k = all ? -1 : mr_name_match(text, m->symbols, m->n_symbols, "=", &rest);
    if (all) rest = text + 1;
    if (!equals || (!all && k < 0)) {
        if (!equals) return mr_fail(e, MR_E_USAGE, "-s: '%s' is not NAME=N", text);
        return mr_name_unknown(e, MR_E_USAGE, "symbolic dimension", text, (size_t)(equals - text), m->symbols,
                               m->n_symbols);
    }
    if (*rest != '=' || !mr_arg_int(rest + 1, &n) || n < 0)
        return mr_fail(e, MR_E_USAGE, "-s: '%s': '%s' is not an extent", text, *rest ? rest + 1 : rest);
    *(all ? &g->rest : &g->extents[k]) = n;
    return MR_OK;
}

/* "1x3x224x224", "1,3,224,224"; "" is a scalar. */
static bool parse_shape(const char *text, mr_shape *s)
{
    *s = mr_shape_scalar();
    while (*text) {
        char *end;
        if (*text < '0' || *text > '9' || s->rank == MR_MAX_RANK) return false;
        errno = 0;
        s->d[s->rank++] = strtoll(text, &end, 10);
        if (errno) return false;
        if (*end && *end != 'x' && *end != ',') return false;
        text = end + (*end && end[1]);
        if (*end && !end[1]) return false;
    }
    return true;
}

static mr_status set_shape(const mr_graph *g, const char *text, mr_typed_shape *shapes, mr_error *e)
{
    const char **names = mr_input_names(g), *rest;
    mr_shape s;
    char want[256];
    int i = names ? mr_name_match(text, names, g->n_inputs, "=:", &rest) : -1;
    if (i < 0) {
        const char *equals = strrchr(text, '=');
        if (!equals)
            mr_fail(e, MR_E_USAGE, "--shape: '%s' is not INPUT=1x3x224x224", text);
        else
            mr_name_unknown(e, MR_E_INPUT_UNKNOWN, "input", text, (size_t)(equals - text), names,
                            names ? g->n_inputs : 0);
    } else if (!parse_shape(rest + 1, &s)) {
        mr_fail(e, MR_E_USAGE, "--shape: '%s' is not a shape such as 1x3x224x224", rest + 1);
    } else {
        mr_shape *d = &shapes[i].shape;
        bool fits = d->rank < 0 || d->rank == s.rank;
        for (int a = 0; fits && a < d->rank; a++) fits = d->d[a] < 0 || d->d[a] == s.d[a];
        if (!fits)
            mr_fail(e, MR_E_INPUT_SHAPE, "--shape: '%s' does not fit input '%s', which is %s", rest + 1, names[i],
                    mr_shape_string(d, g->model->symbols, want, sizeof want));
        *d = s;
    }
    free(names);
    return e->status;
}

mr_status mr_shapes_given(const mr_args *a, const mr_graph *g, mr_typed_shape **out, mr_error *e)
{
    const mr_graph_model *m = g->model;
    given given = {calloc((size_t)m->n_symbols + 1, sizeof(int64_t)), -1};
    mr_typed_shape *shapes = *out = calloc((size_t)g->n_inputs + 1, sizeof *shapes);
    const char *text;
    if (!given.extents || !shapes) mr_fail(e, MR_E_MEMORY, "out of memory");
    for (int k = 0; given.extents && k < m->n_symbols; k++) given.extents[k] = -1;
    for (int i = 0; e->status == MR_OK && i < g->n_inputs; i++) shapes[i] = g->values[g->inputs[i]].decl;
    for (int i = 0; e->status == MR_OK && (text = mr_args_next(a, MR_OPT_SYMBOL, &i));) set_symbol(m, text, &given, e);
    for (int i = 0; e->status == MR_OK && (text = mr_args_next(a, MR_OPT_SHAPE, &i));) set_shape(g, text, shapes, e);
    for (int i = 0; e->status == MR_OK && i < g->n_inputs; i++)
        for (int d = 0; d < shapes[i].shape.rank; d++) {
            mr_dim *dim = &shapes[i].shape.d[d];
            int64_t extent = *dim < MR_DIM_UNKNOWN ? given.extents[-2 - *dim] : -1;
            if (*dim < 0 && extent < 0) extent = given.rest;
            if (*dim < 0 && extent >= 0) *dim = extent;
        }
    free(given.extents);
    return e->status;
}

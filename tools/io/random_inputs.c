/* random_inputs.c: --random, --seed and --val-range. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inputs.h"
#include "random.h"

/* The range that --val-range gives an input; one with its name goes before one for all. */
typedef struct given_range {
    mr_range range;
    bool given, named;
} given_range;

static mr_status read_ranges(const mr_args *a, const char *const *names, int n, given_range *ranges, mr_error *e)
{
    const char *text;
    for (int at = 0; (text = mr_args_next(a, MR_OPT_VAL_RANGE, &at));) {
        const char *rest = text;
        int i = mr_name_match(text, names, n, ":", &rest), end = 0;
        mr_range range;
        rest += i >= 0;
        if (sscanf(rest, "[%lf,%lf]%n", &range.low, &range.high, &end) != 2 || end == 0 || rest[end]) {
            if (i < 0 && strstr(text, ":["))
                return mr_name_unknown(e, MR_E_INPUT_UNKNOWN, "input", text, (size_t)(strstr(text, ":[") - text), names,
                                       n);
            return mr_fail(e, MR_E_USAGE, "--val-range: '%s' is not [LOW,HIGH] or NAME:[LOW,HIGH]", text);
        }
        for (int k = 0; k < n; k++)
            if (i < 0 ? !ranges[k].named : k == i) ranges[k] = (given_range){range, true, i >= 0};
    }
    return MR_OK;
}

/* Symbols that the given inputs decide are decided for the others too. */
static void bind_symbols(const mr_feeds *f, mr_shape *s)
{
    const mr_graph *g = f->g;
    for (int i = 0; i < g->n_inputs; i++) {
        const mr_shape *declared = &g->values[g->inputs[i]].decl.shape;
        const mr_tensor *t = f->in[i] ? mr_value_dense(f->in[i]) : NULL;
        for (int a = 0; t && t->rank == declared->rank && a < t->rank; a++)
            for (int d = 0; d < s->rank; d++)
                if (s->d[d] < MR_DIM_UNKNOWN && s->d[d] == declared->d[a]) s->d[d] = t->dims[a];
    }
}

static mr_status make_random(mr_feeds *f, int i, uint64_t seed, given_range given, mr_error *e)
{
    const mr_graph *g = f->g;
    const char *name = g->values[g->inputs[i]].name;
    mr_typed_shape want = f->shapes[i];
    char text[256];
    bind_symbols(f, &want.shape);
    if (want.type.kind != MR_TENSOR)
        return mr_fail(e, MR_E_USAGE, "input '%s': --random makes tensors, not %s", name,
                       mr_type_string(want.type, text, sizeof text));
    if (!mr_shape_known(&want.shape)) {
        mr_fail(e, MR_E_USAGE, "input '%s': --random needs its whole shape, not %s", name,
                mr_shape_string(&want.shape, g->model->symbols, text, sizeof text));
        mr_error_hint(e, want.shape.rank < 0 ? "give it with --shape" : "set dimensions with -s NAME=N, or -s '*=1'");
        return e->status;
    }
    mr_value *v = mr_value_tensor((mr_dtype)want.type.elem, want.shape.rank, want.shape.d);
    if (!v) return mr_fail(e, MR_E_MEMORY, "out of memory for input '%s'", name);
    int64_t limit = mr_dtype_in(v->t.dtype, MR_INTS) ? mr_index_limit(g, g->inputs[i]) : -1;
    mr_range range = limit > 0 ? (mr_range){0, (double)(limit - 1)} : mr_random_range(v->t.dtype);
    mr_random_fill(&v->t, seed, name, given.given ? given.range : range, e);
    f->in[i] = v;
    return e->status;
}

mr_status mr_feeds_random(const mr_args *a, mr_feeds *f, const char *const *names, mr_error *e)
{
    const mr_graph *g = f->g;
    int64_t seed;
    given_range *ranges = calloc((size_t)g->n_inputs + 1, sizeof *ranges);
    if (!ranges) mr_fail(e, MR_E_MEMORY, "out of memory");
    mr_args_int(a, MR_OPT_SEED, 0, INT64_MAX, 0, &seed, e);
    if (e->status == MR_OK) read_ranges(a, names, g->n_inputs, ranges, e);
    for (int i = 0; i < g->n_inputs && e->status == MR_OK; i++)
        if (!f->in[i] && !g->values[g->inputs[i]].init) make_random(f, i, (uint64_t)seed, ranges[i], e);
    free(ranges);
    return e->status;
}

/* random.c: made-up inputs, and how large an index may be. */
#include "random.h"

#include <math.h>
#include <string.h>

#include "element.h"

/* splitmix64 */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t start(uint64_t seed, const char *name)
{
    for (; *name; name++) seed = (seed ^ (unsigned char)*name) * 0x100000001b3u; /* FNV-1a */
    return seed;
}

mr_range mr_random_range(mr_dtype d)
{
    if (d != MR_I8 && d != MR_U8) return (mr_range){0, 1};
    return d == MR_U8 ? (mr_range){0, 255} : (mr_range){-128, 127};
}

mr_status mr_random_fill(mr_tensor *t, uint64_t seed, const char *name, mr_range range, mr_error *e)
{
    uint64_t state = start(seed, name);
    bool real = mr_dtype_in(t->dtype, MR_ALL_FLOATS | MR_COMPLEX);
    if (t->dtype == MR_STRING)
        return mr_fail(e, MR_E_USAGE, "input '%s': --random makes no strings: give it as '%s:string[…]=…'", name, name);
    if (!(range.low <= range.high))
        return mr_fail(e, MR_E_USAGE, "input '%s': the range [%g,%g] is empty", name, range.low, range.high);
    for (int64_t i = 0, n = mr_tensor_count(t); i < n; i++) {
        double x = (double)(next(&state) >> 11) * 0x1p-53; /* [0, 1) */
        x = real ? range.low + x * (range.high - range.low) : floor(range.low + x * (range.high - range.low + 1));
        if (!mr_element_store(t, i, x))
            return mr_fail(e, MR_E_USAGE, "input '%s': the range [%g,%g] has values that are no %s", name, range.low,
                           range.high, mr_dtype_name(t->dtype));
    }
    return MR_OK;
}

/* Operators that pick from input `from` with input `index`. */
static const struct {
    const char *op;
    int index, from;
} pickers[] = {{"Gather", 1, 0}, {"EmbedLayerNormalization", 0, 2}, {"EmbedLayerNormalization", 1, 4}};

/* Operators whose output 0 has the elements of their input 0. */
static const char *const carriers[] = {"Cast",      "Identity", "Reshape", "Squeeze",
                                       "Unsqueeze", "Flatten",  "Expand",  "Transpose"};

static int64_t picked_axis(const mr_node *n, int from)
{
    if (from >= n->n_in || n->in[from] < 0) return -1;
    const mr_vinfo *v = &n->graph->values[n->in[from]];
    mr_shape s = v->init ? mr_tensor_shape(&v->init->t) : v->decl.shape;
    const mr_attr *axis = mr_node_attr(n, "axis");
    int64_t a = axis ? axis->i : 0;
    if (a < 0) a += s.rank;
    return a >= 0 && a < s.rank && s.d[a] >= 0 ? s.d[a] : -1;
}

static void lower(int64_t *limit, int64_t other)
{
    if (other >= 0 && (*limit < 0 || other < *limit)) *limit = other;
}

static int64_t limit_at(const mr_node *n, int input, int value, int depth);

static int64_t limit_of(const mr_graph *g, int value, int depth)
{
    int64_t limit = -1;
    for (int i = 0; i < g->n_nodes && depth < 8; i++)
        for (int k = 0; k < g->nodes[i]->n_in; k++)
            if (g->nodes[i]->in[k] == value) lower(&limit, limit_at(g->nodes[i], k, value, depth));
    return limit;
}

/* What input `input` of the node, which is the value, may be at most. */
static int64_t limit_at(const mr_node *n, int input, int value, int depth)
{
    int64_t limit = -1;
    for (size_t p = 0; p < sizeof pickers / sizeof *pickers; p++)
        if (pickers[p].index == input && strcmp(n->op_type, pickers[p].op) == 0)
            lower(&limit, picked_axis(n, pickers[p].from));
    for (size_t c = 0; c < sizeof carriers / sizeof *carriers && input == 0; c++)
        if (strcmp(n->op_type, carriers[c]) == 0 && n->n_out > 0 && n->out[0] >= 0 && n->out[0] != value)
            lower(&limit, limit_of(n->graph, n->out[0], depth + 1));
    return limit;
}

int64_t mr_index_limit(const mr_graph *g, int value)
{
    return limit_of(g, value, 0);
}

/* gradient_shapes.c: gradients of operators that move elements. */
#include "gradient.h"

#define OP(NAME, A, B) mr_gradient_op(s->x, NAME, A, B, -1)
#define OP1(NAME, A)   mr_gradient_op(s->x, NAME, A, -1, -1)

static int ints(mr_step_back *s, int64_t v)
{
    return mr_gradient_ints(s->x, &v, 1);
}

static int scalar(mr_step_back *s, int64_t v)
{
    return OP("Squeeze", ints(s, v), ints(s, 0));
}

/* The same elements under another shape. */
static void reshaped(mr_step_back *s)
{
    s->dx[0] = mr_gradient_reshape(s->x, s->dy[0], s->in[0]);
}

static void transpose(mr_step_back *s)
{
    const mr_attr *a = mr_node_attr(s->node, "perm");
    int64_t back[MR_MAX_RANK];
    mr_node *n = mr_expansion_node(s->x, "Transpose", 1, s->dy, 1);
    bool valid = a && a->kind == MR_ATTR_INTS && a->n <= MR_MAX_RANK;
    for (int64_t i = 0; valid && i < a->n; i++) {
        if (a->ints[i] < 0 || a->ints[i] >= a->n) return; /* the node itself is refused for it */
        back[a->ints[i]] = i;
    }
    if (valid) mr_expansion_ints(s->x, n, "perm", back, (int)a->n);
    s->dx[0] = n ? n->out[0] : -1;
}

/* Whatever moves elements, dropping or repeating some: where each came from is found by moving their numbers, and what
 * comes back is added up there. */
static void moved(mr_step_back *s)
{
    int in[MR_GRADIENT_ARGS], flat = ints(s, -1);
    for (int i = 1; i < s->node->n_in; i++) in[i] = s->in[i];
    int numbers = mr_gradient_op(s->x, "Range", scalar(s, 0), OP1("Size", s->in[0]), scalar(s, 1));
    in[0] = mr_gradient_reshape(s->x, numbers, s->in[0]);
    mr_node *from = mr_expansion_copy(s->x, s->node, in, 1);
    int at = OP("Reshape", from ? from->out[0] : -1, flat), g = OP("Reshape", s->dy[0], flat);
    int none = OP("Expand", mr_gradient_number(s->x, 0, s->in[0]), OP("Reshape", OP1("Size", s->in[0]), flat));
    mr_node *sum = mr_expansion_node(s->x, "ScatterElements", 3, (int[]){none, at, g}, 1);
    mr_expansion_string(s->x, sum, "reduction", "add");
    s->dx[0] = mr_gradient_reshape(s->x, sum ? sum->out[0] : -1, s->in[0]);
}

static int extent(mr_step_back *s, int a, int64_t axis)
{
    return OP("Gather", OP1("Shape", a), ints(s, axis));
}

static void concat(mr_step_back *s)
{
    int64_t axis = mr_gradient_int(s->node, "axis", 1);
    int begin = ints(s, 0);
    for (int i = 0; i < s->node->n_in; i++) {
        int end = OP("Add", begin, extent(s, s->in[i], axis));
        mr_node *n = mr_expansion_node(s->x, "Slice", 4, (int[]){s->dy[0], begin, end, ints(s, axis)}, 1);
        s->dx[i] = n ? n->out[0] : -1;
        begin = end;
    }
}

static void split(mr_step_back *s)
{
    int parts[MR_GRADIENT_ARGS];
    for (int o = 0; o < s->node->n_out; o++)
        parts[o] = s->dy[o] >= 0 ? s->dy[o] : s->out[o] >= 0 ? mr_gradient_zeros(s->x, s->out[o]) : -1;
    mr_node *n = mr_expansion_node(s->x, "Concat", s->node->n_out, parts, 1);
    mr_expansion_int(s->x, n, "axis", mr_gradient_int(s->node, "axis", 0));
    s->dx[0] = n ? n->out[0] : -1;
}

static void expand(mr_step_back *s)
{
    s->dx[0] = mr_gradient_sum_to(s->x, s->dy[0], s->in[0]);
}

const mr_gradient_entry mr_gradient_shapes[] = {
    {"Reshape", 1, reshaped},    {"Flatten", 1, reshaped},    {"Squeeze", 1, reshaped}, {"Unsqueeze", 1, reshaped},
    {"Transpose", 1, transpose}, {"Slice", 10, moved},        {"Gather", 1, moved},     {"GatherElements", 11, moved},
    {"GatherND", 11, moved},     {"Tile", 6, moved},          {"Expand", 8, expand},    {"Concat", 1, concat},
    {"SpaceToDepth", 13, moved}, {"DepthToSpace", 13, moved}, {"Split", 13, split},     {0},
};

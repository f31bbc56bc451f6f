/* control.c: If and Loop, and what all operators with subgraphs share. */
#include "ops/control.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- shared ---- */

int mr_read_graph(mr_reader *r, const char *name)
{
    if (!mr_read_has(r, name)) return -1;
    const mr_node *n = mr_read_node(r);
    const mr_attr *a = mr_node_attr(n, name);
    for (int k = 0; k < n->n_subgraphs; k++)
        if (n->subgraphs[k] == a->graphs[0]) return k;
    return -1;
}

void mr_shape_merge(mr_shape *a, const mr_shape *b)
{
    if (a->rank != b->rank) {
        *a = mr_shape_unknown();
        return;
    }
    for (int d = 0; d < a->rank; d++)
        if (!mr_dim_same(a->d[d], b->d[d])) a->d[d] = MR_DIM_UNKNOWN;
}

mr_typed_shape mr_in_typed(const mr_call *c, int i)
{
    if (!mr_in_has(c, i)) return (mr_typed_shape){.shape = mr_shape_unknown()};
    return (mr_typed_shape){c->in[i].type, c->in[i].shape};
}

static void nothing(void) {}

mr_fn mr_have_control(const mr_call *c)
{
    (void)c;
    return nothing;
}

const mr_typed_shape *mr_subgraph_output(const mr_call *c, int k, int o)
{
    const mr_graph *g = c->node->subgraphs[k];
    return &g->values[g->outputs[o]].decl;
}

static bool truth(const mr_value *v)
{
    return v->type.kind == MR_TENSOR && mr_tensor_count(&v->t) > 0 && mr_tensor_int(&v->t, 0) != 0;
}

static void release_all(mr_value **v, int n)
{
    for (int i = 0; i < n; i++) mr_value_release(v[i]), v[i] = NULL;
}

/* ---- If ---- */

typedef struct {
    int then_branch, else_branch;
} if_params;

static void if_read(mr_reader *r, void *params)
{
    if_params *p = params;
    p->then_branch = mr_read_graph(r, "then_branch");
    p->else_branch = mr_read_graph(r, "else_branch");
}

static mr_status infer_branch(mr_call *c, int branch, bool certain, mr_typed_shape *out, bool first)
{
    mr_typed_shape *t = mr_call_alloc(c, sizeof *t * ((size_t)c->n_out + 1));
    if (!t) return c->error->status;
    mr_status st = mr_infer_subgraph(c, branch, certain, 0, NULL, c->n_out, t);
    for (int o = 0; !st && o < c->n_out; o++) {
        if (first || out[o].type.kind == MR_NONE) {
            out[o] = t[o];
        } else if (t[o].type.kind != MR_NONE) {
            char a[64], b[64];
            if (!mr_type_equal(out[o].type, t[o].type))
                return mr_call_fail(c, MR_E_TYPE_INVALID, "output %d is %s in then_branch and %s in else_branch", o,
                                    mr_type_string(out[o].type, a, sizeof a), mr_type_string(t[o].type, b, sizeof b));
            mr_shape_merge(&out[o].shape, &t[o].shape);
        }
    }
    return st;
}

static mr_status if_infer(mr_call *c)
{
    const if_params *p = c->params;
    mr_typed_shape *out = mr_call_alloc(c, sizeof *out * ((size_t)c->n_out + 1));
    if (!out) return c->error->status;
    const mr_tensor *cond = c->in[0].t;
    if (mr_want_one(c, 0)) return c->error->status;
    bool then = !cond || mr_tensor_int(cond, 0), otherwise = !cond || !mr_tensor_int(cond, 0);
    mr_status st = then ? infer_branch(c, p->then_branch, cond != NULL, out, true) : MR_OK;
    if (!st && otherwise) st = infer_branch(c, p->else_branch, cond != NULL, out, !then);
    for (int o = 0; !st && o < c->n_out; o++) c->out[o].type = out[o].type, c->out[o].shape = out[o].shape;
    return st;
}

static mr_status if_run(mr_call *c)
{
    const if_params *p = c->params;
    const mr_tensor *cond = c->in[0].t;
    mr_value **out = mr_call_alloc(c, sizeof *out * ((size_t)c->n_out + 1));
    if (!out) return c->error->status;
    int branch = mr_tensor_int(cond, 0) ? p->then_branch : p->else_branch;
    mr_status st = mr_call_subgraph(c, branch, 0, NULL, c->n_out, out);
    for (int o = 0; !st && o < c->n_out; o++) st = mr_call_set_value(c, o, out[o]);
    return st;
}

static const mr_impl if_impls[] = {{.name = "if", .dev = MR_CPU, .have = mr_have_control, .run = if_run}, {0}};

/* ---- Loop ---- */

typedef struct {
    int body;
} loop_params;

static void loop_read(mr_reader *r, void *params)
{
    loop_params *p = params;
    p->body = mr_read_graph(r, "body");
}

/* Loop's inputs: M, cond, then the carried values. */
static int n_carried(const mr_call *c)
{
    return c->node->n_in > 2 ? c->node->n_in - 2 : 0;
}

/* A body may take an optional where the node is given, or a round made, what the optional would hold. */
static bool is_optional(mr_type t)
{
    return t.kind == MR_OPTIONAL || t.kind == MR_OPTIONAL_SEQ;
}

static mr_type formal_type(const mr_call *c, int body, int i)
{
    const mr_graph *g = c->node->subgraphs[body];
    return i < g->n_inputs ? g->values[g->inputs[i]].decl.type : (mr_type){0};
}

static mr_value *as_formal(const mr_call *c, int body, int i, mr_value *v)
{
    mr_type formal = formal_type(c, body, i);
    if (!v || !is_optional(formal) || is_optional(v->type)) return v;
    mr_value *wrapped = mr_value_list(formal, 1, &v);
    mr_value_release(v);
    return wrapped;
}

/* Infers the body until the carried shapes hold for every round; each pass can only forget dims. */
static mr_status infer_rounds(mr_call *c, int body, int carried, mr_typed_shape *in, int n_body_out,
                              mr_typed_shape *out)
{
    for (bool changed = true; changed;) {
        mr_status st = mr_infer_subgraph(c, body, true, 2 + carried, in, n_body_out, out);
        if (st) return st;
        changed = false;
        for (int i = 0; i < carried; i++) {
            mr_typed_shape *a = &in[2 + i], *b = &out[1 + i];
            if (b->type.kind == MR_NONE) continue;
            if (a->type.kind == MR_NONE) *a = *b, changed = true;
            mr_shape before = a->shape;
            mr_shape_merge(&a->shape, &b->shape);
            changed |= !mr_shape_equal(&before, &a->shape);
        }
    }
    return MR_OK;
}

static mr_status loop_infer(mr_call *c)
{
    const loop_params *p = c->params;
    int carried = n_carried(c), n_body_out = 1 + c->n_out;
    mr_typed_shape *in = mr_call_alloc(c, sizeof *in * (size_t)(2 + carried + n_body_out));
    if (!in) return c->error->status;
    mr_typed_shape *out = in + 2 + carried;
    in[0] = (mr_typed_shape){mr_type_tensor(MR_I64), mr_shape_scalar()};
    in[1] = (mr_typed_shape){mr_type_tensor(MR_BOOL), mr_shape_scalar()};
    for (int i = 0; i < carried; i++) {
        in[2 + i] = mr_in_typed(c, 2 + i);
        if (is_optional(formal_type(c, p->body, 2 + i))) in[2 + i].type = formal_type(c, p->body, 2 + i);
    }
    if (c->n_out < carried)
        return mr_call_fail(c, MR_E_ARITY, "has %d outputs for %d loop-carried values", c->n_out, carried);
    for (int i = 2; i < c->node->n_in; i++)
        if (!mr_in_has(c, i))
            return mr_call_fail(c, MR_E_ARITY, "required input %d '%s' is missing", i, mr_in_name(c, i));
    mr_status st = mr_want_one(c, 0);
    if (!st) st = mr_want_one(c, 1);
    if (!st) st = infer_rounds(c, p->body, carried, in, n_body_out, out);
    for (int o = 0; !st && o < c->n_out; o++) {
        c->out[o].type = out[1 + o].type;
        if (o < carried) {
            c->out[o].shape = in[2 + o].shape;
        } else if (out[1 + o].shape.rank >= 0 && out[1 + o].shape.rank < MR_MAX_RANK) {
            mr_shape *s = &c->out[o].shape, *one = &out[1 + o].shape;
            *s = mr_shape_of_rank(one->rank + 1);
            memcpy(s->d + 1, one->d, sizeof(mr_dim) * (size_t)one->rank);
        }
    }
    return st;
}

typedef struct {
    mr_value **in;    /* iteration, condition, carried */
    mr_value **out;   /* condition, carried, one round's scan outputs */
    mr_value ***scan; /* scan[k]: what output k gave in each round */
    int carried, scans;
    int64_t rounds, cap;
} loop_state;

static bool keep_scans(loop_state *s)
{
    if (s->scans && s->rounds == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 16;
        for (int k = 0; k < s->scans; k++) {
            mr_value **grown = realloc(s->scan[k], sizeof *grown * (size_t)s->cap);
            if (!grown) return false;
            s->scan[k] = grown;
        }
    }
    for (int k = 0; k < s->scans; k++)
        s->scan[k][s->rounds] = s->out[1 + s->carried + k], s->out[1 + s->carried + k] = NULL;
    s->rounds++;
    return true;
}

static mr_status loop_round(mr_call *c, const loop_params *p, loop_state *s)
{
    mr_value_release(s->in[0]);
    if (!(s->in[0] = mr_scalar_i64(s->rounds))) return mr_call_fail(c, MR_E_MEMORY, "out of memory");
    mr_status st = mr_call_subgraph(c, p->body, 2 + s->carried, s->in, 1 + s->carried + s->scans, s->out);
    if (st) return st;
    for (int i = 0; i < 1 + s->carried; i++) { /* condition and carried values of the next round */
        mr_value_release(s->in[1 + i]);
        s->in[1 + i] = as_formal(c, p->body, 1 + i, s->out[i]);
        s->out[i] = NULL;
        if (!s->in[1 + i]) return mr_call_fail(c, MR_E_MEMORY, "out of memory");
    }
    return keep_scans(s) ? MR_OK : mr_call_fail(c, MR_E_MEMORY, "out of memory");
}

/* What a round would make for scan output o: as it is inferred, else as it is declared. */
static mr_typed_shape round_output(const mr_call *c, const loop_params *p, int o)
{
    mr_typed_shape like = mr_out_planned(c, o);
    if (like.type.kind != MR_TENSOR || like.shape.rank < 1) return *mr_subgraph_output(c, p->body, 1 + o);
    like.shape.rank--;
    for (int d = 0; d < like.shape.rank; d++) like.shape.d[d] = like.shape.d[d + 1];
    return like;
}

static mr_status loop_results(mr_call *c, const loop_params *p, loop_state *s)
{
    mr_status st = MR_OK;
    for (int o = 0; !st && o < s->carried; o++) {
        mr_value *v = s->in[2 + o];
        bool wrapped = is_optional(v->type) && !is_optional(mr_subgraph_output(c, p->body, 1 + o)->type);
        if (wrapped && v->n == 0)
            return mr_call_fail(c, MR_E_NODE_VALUE, "output %d: no round put anything into the optional", o);
        st = mr_call_set_value(c, o, wrapped ? mr_value_retain(v->items[0]) : mr_value_retain(v));
    }
    for (int k = 0; !st && k < s->scans; k++) {
        mr_typed_shape like = round_output(c, p, s->carried + k);
        mr_value *v = mr_stack(c, s->scan[k], s->rounds, 0, false, &like);
        st = v ? mr_call_set_value(c, s->carried + k, v) : mr_call_fail(c, MR_E_MEMORY, "out of memory");
    }
    return st;
}

static mr_status loop_run(mr_call *c)
{
    const loop_params *p = c->params;
    loop_state s = {.carried = n_carried(c)};
    s.scans = c->n_out - s.carried;
    s.in = mr_call_alloc(c, sizeof *s.in * (size_t)(2 + s.carried));
    s.out = mr_call_alloc(c, sizeof *s.out * (size_t)(1 + c->n_out));
    s.scan = mr_call_alloc(c, sizeof *s.scan * (size_t)(s.scans + 1));
    if (!s.in || !s.out || !s.scan) return c->error->status;
    int64_t limit = mr_in_has(c, 0) ? mr_tensor_int(c->in[0].t, 0) : INT64_MAX;
    mr_status st = MR_OK;
    s.in[1] = mr_in_has(c, 1) ? mr_call_take(c, 1) : mr_scalar_bool(true);
    for (int i = 0; i < s.carried; i++)
        if (!(s.in[2 + i] = as_formal(c, p->body, 2 + i, mr_call_take(c, 2 + i))))
            st = mr_call_fail(c, MR_E_MEMORY, "out of memory");
    if (!s.in[1]) st = mr_call_fail(c, MR_E_MEMORY, "out of memory");
    while (!st && s.rounds < limit && truth(s.in[1])) st = loop_round(c, p, &s);
    if (!st) st = loop_results(c, p, &s);
    release_all(s.in, 2 + s.carried);
    release_all(s.out, 1 + c->n_out);
    for (int k = 0; k < s.scans; k++) {
        for (int64_t i = 0; i < s.rounds; i++) mr_value_release(s.scan[k][i]);
        free(s.scan[k]);
    }
    return st;
}

static const mr_impl loop_impls[] = {{.name = "loop", .dev = MR_CPU, .have = mr_have_control, .run = loop_run}, {0}};

/* Of the branch that is taken, where that is known, else of the one that does more. */
static double if_flops(const mr_call *c)
{
    const if_params *p = c->params;
    const mr_tensor *cond = c->in[0].t;
    if (cond) return mr_subgraph_flops(c, mr_tensor_int(cond, 0) ? p->then_branch : p->else_branch);
    double then = mr_subgraph_flops(c, p->then_branch), otherwise = mr_subgraph_flops(c, p->else_branch);
    return isnan(then) || then > otherwise ? then : otherwise;
}

/* Of all rounds that M allows. */
static double loop_flops(const mr_call *c)
{
    const loop_params *p = c->params;
    if (!mr_in_has(c, 0) || !c->in[0].t) return NAN;
    return (double)mr_tensor_int(c->in[0].t, 0) * mr_subgraph_flops(c, p->body);
}

const mr_op mr_ops_control[] = {
    {"", "If", 1, 0, sizeof(if_params), if_read, if_infer, if_impls, MR_OP_CONTROL, NULL, if_flops},
    {"", "Loop", 1, 0, sizeof(loop_params), loop_read, loop_infer, loop_impls, MR_OP_CONTROL, NULL, loop_flops},
    {0}};

/* scan.c: Scan, in its two forms: 9– (no batch) and 8 (a batch of sequences, each with its own length). */
#include "ops/control.h"

#include <math.h>
#include <string.h>

typedef struct {
    int body;
    int n_scan_in;
    const int64_t *in_axes, *in_directions, *out_axes, *out_directions;
    int n_in_axes, n_in_directions, n_out_axes, n_out_directions; /* -1: not given, all 0 */
    bool batched;                                                 /* version 8 */
} scan_params;

static int read_directions(mr_reader *r, const char *name, const int64_t **out)
{
    int n = mr_read_ints(r, name, out);
    for (int i = 0; i < n; i++)
        if ((*out)[i] != 0 && (*out)[i] != 1)
            mr_read_fail(r, MR_E_ATTRIBUTE, "attribute %s has %lld, a direction is 0 or 1", name, (long long)(*out)[i]);
    return n;
}

static void scan_read(mr_reader *r, void *params)
{
    scan_params *p = params;
    p->body = mr_read_graph(r, "body");
    p->n_scan_in = (int)mr_read_int(r, "num_scan_inputs", 0);
    p->batched = mr_read_version(r) < 9;
    if (p->batched) {
        p->n_in_axes = p->n_out_axes = p->n_out_directions = -1;
        p->n_in_directions = read_directions(r, "directions", &p->in_directions);
        return;
    }
    p->n_in_axes = mr_read_ints(r, "scan_input_axes", &p->in_axes);
    p->n_in_directions = read_directions(r, "scan_input_directions", &p->in_directions);
    p->n_out_axes = mr_read_ints(r, "scan_output_axes", &p->out_axes);
    p->n_out_directions = read_directions(r, "scan_output_directions", &p->out_directions);
}

static int64_t at(const int64_t *list, int n, int k)
{
    return k < n ? list[k] : 0;
}

/* Inputs: (version 8: sequence_lens,) states, scans. */
static int first_state(const scan_params *p)
{
    return p->batched ? 1 : 0;
}
static int n_states(const mr_call *c, const scan_params *p)
{
    return c->node->n_in - first_state(p) - p->n_scan_in;
}

static mr_status check_list(mr_call *c, const char *name, int n, int want)
{
    if (n < 0 || n == want) return MR_OK;
    return mr_call_fail(c, MR_E_ATTRIBUTE, "attribute %s has %d values, needs %d", name, n, want);
}

static mr_status check_lists(mr_call *c, const scan_params *p)
{
    int outs = c->n_out - n_states(c, p);
    mr_status st = check_list(c, "scan_input_axes", p->n_in_axes, p->n_scan_in);
    if (!st) st = check_list(c, p->batched ? "directions" : "scan_input_directions", p->n_in_directions, p->n_scan_in);
    if (!st) st = check_list(c, "scan_output_axes", p->n_out_axes, outs);
    return st ? st : check_list(c, "scan_output_directions", p->n_out_directions, outs);
}

static mr_status check_counts(mr_call *c, const scan_params *p)
{
    if (p->n_scan_in < 1 || n_states(c, p) < 0 || n_states(c, p) > c->n_out)
        return mr_call_fail(c, MR_E_ARITY, "num_scan_inputs = %d does not fit %d inputs and %d outputs", p->n_scan_in,
                            c->node->n_in, c->n_out);
    for (int i = first_state(p); i < c->node->n_in; i++)
        if (!mr_in_has(c, i))
            return mr_call_fail(c, MR_E_ARITY, "required input %d '%s' is missing", i, mr_in_name(c, i));
    return check_lists(c, p);
}

/* ---- shapes ---- */

static void remove_axis(mr_shape *s, int axis)
{
    if (s->rank <= axis) return;
    memmove(s->d + axis, s->d + axis + 1, sizeof(mr_dim) * (size_t)(s->rank - axis - 1));
    s->rank--;
}

static void insert_axis(mr_shape *s, int axis, mr_dim d)
{
    if (s->rank < 0 || s->rank == MR_MAX_RANK) {
        *s = mr_shape_unknown();
        return;
    }
    memmove(s->d + axis + 1, s->d + axis, sizeof(mr_dim) * (size_t)(s->rank - axis));
    s->d[axis] = d;
    s->rank++;
}

/* The axis of scan input k, of a shape that has no batch axis any more. */
static mr_status input_axis(mr_call *c, const scan_params *p, int k, int rank, int *axis)
{
    return mr_want_axis(c, at(p->in_axes, p->n_in_axes, k), rank, "attribute scan_input_axes", axis);
}

/* Version 8: every input has an element of the batch for each of the first's. */
static mr_status want_batch(mr_call *c, mr_dim *batch)
{
    *batch = MR_DIM_UNKNOWN;
    for (int i = 1; i < c->n_in; i++) {
        const mr_shape *s = &c->in[i].shape;
        mr_status st = mr_want_rank(c, i, 1, MR_MAX_RANK);
        if (st) return st;
        if (s->rank < 0 || s->d[0] < 0) continue;
        if (*batch >= 0 && s->d[0] != *batch)
            return mr_call_fail_in(c, MR_E_SHAPES, i, "a batch of %lld, that of input 1 is %lld", (long long)s->d[0],
                                   (long long)*batch);
        *batch = s->d[0];
    }
    int64_t lengths = mr_in_has(c, 0) ? mr_in_count(c, 0) : -1;
    if (lengths < 0 || *batch < 0 || lengths == *batch) return MR_OK;
    return mr_call_fail_in(c, MR_E_SHAPES, 0, "has %lld lengths for a batch of %lld", (long long)lengths,
                           (long long)*batch);
}

static mr_status body_inputs(mr_call *c, const scan_params *p, mr_typed_shape *in, mr_dim *length)
{
    int states = n_states(c, p), first = first_state(p);
    *length = MR_DIM_UNKNOWN;
    for (int i = 0; i < states + p->n_scan_in; i++) {
        in[i] = mr_in_typed(c, first + i);
        if (p->batched) remove_axis(&in[i].shape, 0);
        if (i < states || in[i].shape.rank < 0) continue;
        int axis;
        mr_status st = input_axis(c, p, i - states, in[i].shape.rank, &axis);
        if (!st) st = mr_want_dim(c, *length, in[i].shape.d[axis], "scan inputs have different lengths", length);
        if (st) return st;
        remove_axis(&in[i].shape, axis);
    }
    return MR_OK;
}

static mr_status scan_infer(mr_call *c)
{
    const scan_params *p = c->params;
    mr_status st = check_counts(c, p);
    if (st) return st;
    int states = n_states(c, p), n_in = states + p->n_scan_in;
    mr_typed_shape *in = mr_call_alloc(c, sizeof *in * (size_t)(n_in + c->n_out));
    mr_dim length, batch = MR_DIM_UNKNOWN;
    if (!in) return c->error->status;
    mr_typed_shape *out = in + n_in;
    if (p->batched && (st = want_batch(c, &batch))) return st;
    st = body_inputs(c, p, in, &length);
    if (!st) st = mr_infer_subgraph(c, p->body, true, n_in, in, c->n_out, out);
    for (int o = 0; !st && o < c->n_out; o++) {
        c->out[o].type = out[o].type;
        c->out[o].shape = out[o].shape;
        mr_shape *s = &c->out[o].shape;
        if (o < states) {
            mr_shape_merge(s, &in[o].shape);
        } else if (s->rank >= 0) {
            int axis;
            st = mr_want_axis(c, at(p->out_axes, p->n_out_axes, o - states), s->rank + 1, "attribute scan_output_axes",
                              &axis);
            if (!st) insert_axis(s, axis, length);
        }
        if (p->batched) insert_axis(s, 0, batch);
    }
    return st;
}

/* ---- one sequence ---- */

typedef struct {
    mr_value **state;  /* replaced round by round */
    mr_value **scan;   /* tensors to walk over */
    mr_value **result; /* stacked scan outputs */
    int states, scans, outs;
    int64_t length;
} walk;

static mr_status walk_round(mr_call *c, const scan_params *p, walk *w, int64_t t, mr_value **in, mr_value **out)
{
    mr_status st = MR_OK;
    for (int i = 0; i < w->states; i++) in[i] = w->state[i];
    for (int k = 0; !st && k < w->scans; k++) {
        int axis;
        st = input_axis(c, p, k, w->scan[k]->t.rank, &axis);
        bool back = at(p->in_directions, p->n_in_directions, k) != 0;
        if (!st) in[w->states + k] = mr_cut(&w->scan[k]->t, axis, back ? w->length - 1 - t : t, 1, false);
        if (!st && !in[w->states + k]) st = mr_call_fail(c, MR_E_MEMORY, "out of memory");
    }
    if (!st) st = mr_call_subgraph(c, p->body, w->states + w->scans, in, w->states + w->outs, out);
    for (int k = 0; k < w->scans; k++) mr_value_release(in[w->states + k]), in[w->states + k] = NULL;
    for (int i = 0; !st && i < w->states; i++) {
        mr_value_release(w->state[i]);
        w->state[i] = out[i];
    }
    return st;
}

/* What a round would make for scan output k: as it is inferred, else as it is declared. */
static mr_status round_output(mr_call *c, const scan_params *p, const walk *w, int k, mr_typed_shape *like)
{
    int axis;
    *like = mr_out_planned(c, w->states + k);
    if (like->type.kind != MR_TENSOR || like->shape.rank < (p->batched ? 2 : 1)) {
        *like = *mr_subgraph_output(c, p->body, w->states + k);
        if (like->shape.rank < 0) like->shape = mr_shape_scalar();
        return MR_OK;
    }
    if (p->batched) remove_axis(&like->shape, 0);
    mr_status st =
        mr_want_axis(c, at(p->out_axes, p->n_out_axes, k), like->shape.rank, "attribute scan_output_axes", &axis);
    if (!st) remove_axis(&like->shape, axis);
    return st;
}

static mr_status walk_results(mr_call *c, const scan_params *p, walk *w, mr_value ***rounds, int64_t made)
{
    mr_status st = MR_OK;
    for (int k = 0; !st && k < w->outs; k++) {
        mr_typed_shape like;
        int axis;
        if ((st = round_output(c, p, w, k, &like))) return st;
        int rank = made ? rounds[k][0]->t.rank : like.shape.rank;
        st = mr_want_axis(c, at(p->out_axes, p->n_out_axes, k), rank + 1, "attribute scan_output_axes", &axis);
        bool back = at(p->out_directions, p->n_out_directions, k) != 0;
        if (!st && !(w->result[k] = mr_stack(c, rounds[k], made, axis, back, &like)))
            st = mr_call_fail(c, MR_E_MEMORY, "out of memory");
    }
    return st;
}

static mr_status walk_sequence(mr_call *c, const scan_params *p, walk *w)
{
    mr_value **in = mr_call_alloc(c, sizeof *in * (size_t)(w->states + w->scans + w->states + w->outs));
    mr_value ***rounds = mr_call_alloc(c, sizeof *rounds * ((size_t)w->outs + 1));
    if (!in || !rounds) return c->error->status;
    mr_value **out = in + w->states + w->scans;
    for (int k = 0; k < w->outs; k++)
        if (!(rounds[k] = mr_call_alloc(c, sizeof **rounds * ((size_t)w->length + 1)))) return c->error->status;
    mr_status st = MR_OK;
    int64_t made = 0;
    for (int64_t t = 0; !st && t < w->length; t++) {
        st = walk_round(c, p, w, t, in, out);
        for (int k = 0; !st && k < w->outs; k++) rounds[k][made] = out[w->states + k];
        if (!st) made++;
    }
    if (!st) st = walk_results(c, p, w, rounds, made);
    for (int k = 0; k < w->outs; k++)
        for (int64_t t = 0; t < made; t++) mr_value_release(rounds[k][t]);
    return st;
}

static walk new_walk(mr_call *c, const scan_params *p)
{
    walk w = {.states = n_states(c, p), .scans = p->n_scan_in};
    w.outs = c->n_out - w.states;
    w.state = mr_call_alloc(c, sizeof *w.state * (size_t)(w.states + w.scans + w.outs + 1));
    if (!w.state) return w;
    w.scan = w.state + w.states;
    w.result = w.scan + w.scans;
    return w;
}

static void end_walk(walk *w)
{
    for (int i = 0; i < w->states + w->scans + w->outs; i++) mr_value_release(w->state[i]), w->state[i] = NULL;
}

static mr_status plain_run(mr_call *c, const scan_params *p)
{
    walk w = new_walk(c, p);
    mr_status st = w.state ? MR_OK : c->error->status;
    if (st) return st;
    for (int i = 0; i < w.states + w.scans; i++)
        if (!(w.state[i] = mr_call_take(c, i))) st = mr_call_fail(c, MR_E_MEMORY, "out of memory");
    int axis = 0;
    if (!st) st = input_axis(c, p, 0, w.scan[0]->t.rank, &axis);
    if (!st) w.length = w.scan[0]->t.dims[axis], st = walk_sequence(c, p, &w);
    for (int o = 0; !st && o < c->n_out; o++) {
        mr_value **from = o < w.states ? &w.state[o] : &w.result[o - w.states];
        st = mr_call_set_value(c, o, *from);
        *from = NULL;
    }
    end_walk(&w);
    return st;
}

/* ---- version 8: a batch of them ---- */

/* The stacked output of a short sequence is padded with zeros to the longest. */
static mr_value *pad_to(mr_value *v, int64_t length)
{
    if (!v || v->t.dims[0] == length) return v;
    int64_t dims[MR_MAX_RANK];
    memcpy(dims, v->t.dims, sizeof dims);
    dims[0] = length;
    mr_value *padded = mr_value_tensor(v->t.dtype, v->t.rank, dims);
    if (padded) memcpy(padded->t.data, v->t.data, mr_tensor_bytes(&v->t));
    mr_value_release(v);
    return padded;
}

static mr_status batch_element(mr_call *c, const scan_params *p, int64_t b, mr_value ***out)
{
    walk w = new_walk(c, p);
    mr_status st = w.state ? MR_OK : c->error->status;
    if (st) return st;
    for (int i = 0; i < w.states + w.scans; i++)
        if (!(w.state[i] = mr_cut(c->in[1 + i].t, 0, b, 1, false))) st = mr_call_fail(c, MR_E_MEMORY, "out of memory");
    int64_t longest = st ? 0 : w.scan[0]->t.dims[0];
    w.length = mr_in_has(c, 0) ? mr_tensor_int(c->in[0].t, b) : longest;
    if (w.length < 0 || w.length > longest)
        st = mr_call_fail_in(c, MR_E_NODE_VALUE, 0, "sequence_lens[%lld] = %lld outside [0,%lld]", (long long)b,
                             (long long)w.length, (long long)longest);
    if (!st) st = walk_sequence(c, p, &w);
    for (int o = 0; !st && o < c->n_out; o++) {
        mr_value **from = o < w.states ? &w.state[o] : &w.result[o - w.states];
        out[o][b] = o < w.states ? *from : pad_to(*from, longest);
        *from = NULL;
        if (!out[o][b]) st = mr_call_fail(c, MR_E_MEMORY, "out of memory");
    }
    end_walk(&w);
    return st;
}

static mr_status batch_run(mr_call *c, const scan_params *p)
{
    const int64_t batch = c->in[1].t->dims[0];
    mr_value ***out = mr_call_alloc(c, sizeof *out * (size_t)c->n_out);
    for (int o = 0; out && o < c->n_out; o++)
        if (!(out[o] = mr_call_alloc(c, sizeof **out * ((size_t)batch + 1)))) return c->error->status;
    if (!out) return c->error->status;
    mr_status st = MR_OK;
    for (int64_t b = 0; !st && b < batch; b++) st = batch_element(c, p, b, out);
    for (int o = 0; o < c->n_out; o++) {
        mr_typed_shape like = mr_out_planned(c, o); /* of one sequence, for an empty batch */
        const int scan = first_state(p) + n_states(c, p);
        if (like.shape.rank > 0) {
            remove_axis(&like.shape, 0);
        } else {
            like = *mr_subgraph_output(c, p->body, o);
            if (o >= n_states(c, p)) insert_axis(&like.shape, 0, MR_DIM_UNKNOWN);
        }
        if (o >= n_states(c, p)) like.shape.d[0] = c->in[scan].t->dims[1];
        mr_value *v = st ? NULL : mr_stack(c, out[o], batch, 0, false, &like);
        if (!st) st = mr_call_set_value(c, o, v);
        for (int64_t b = 0; b < batch; b++) mr_value_release(out[o][b]);
    }
    return st;
}

static mr_status scan_run(mr_call *c)
{
    const scan_params *p = c->params;
    return p->batched ? batch_run(c, p) : plain_run(c, p);
}

static const mr_impl scan_impls[] = {{.name = "scan", .dev = MR_CPU, .have = mr_have_control, .run = scan_run}, {0}};

/* Of all rounds of all sequences, each as long as it can be. */
static double scan_flops(const mr_call *c)
{
    const scan_params *p = c->params;
    mr_dim length, batch = p->batched && c->in[1].shape.rank > 0 ? c->in[1].shape.d[0] : 1;
    mr_typed_shape *in = mr_call_alloc((mr_call *)(uintptr_t)c, sizeof *in * ((size_t)c->n_in + 1));
    if (!in || body_inputs((mr_call *)(uintptr_t)c, p, in, &length) || length < 0 || batch < 0) return NAN;
    return (double)batch * (double)length * mr_subgraph_flops(c, p->body);
}

const mr_op mr_ops_scan[] = {
    {"", "Scan", 8, 0, sizeof(scan_params), scan_read, scan_infer, scan_impls, MR_OP_CONTROL, NULL, scan_flops}, {0}};

/* rnn.c: RNN, GRU and LSTM. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "kernels/cpu/cpu.h"
#include "ops/flops.h"
#include "ops/rnn.h"

enum {
    X = MR_RNN_X,
    W = MR_RNN_W,
    R = MR_RNN_R,
    B = MR_RNN_B,
    LENGTHS = MR_RNN_LENGTHS,
    INITIAL_H = MR_RNN_INITIAL_H,
    INITIAL_C = MR_RNN_INITIAL_C,
    P = MR_RNN_P
};
enum { Y = MR_RNN_Y, Y_H = MR_RNN_Y_H, Y_C = MR_RNN_Y_C };

/* ---- attributes ---- */

/* Defaults are those of the operators of these names; ScaledTanh's, which has none, are 1. */
static const struct {
    const char *name;
    bool alpha, beta; /* takes one */
    float default_alpha, default_beta;
} functions[MR_N_RNN_FUNCTIONS] = {
    [MR_RNN_RELU] = {"Relu", false, false, 0, 0},
    [MR_RNN_TANH] = {"Tanh", false, false, 0, 0},
    [MR_RNN_SIGMOID] = {"Sigmoid", false, false, 0, 0},
    [MR_RNN_AFFINE] = {"Affine", true, true, 1, 0},
    [MR_RNN_LEAKY_RELU] = {"LeakyRelu", true, false, 0.01f, 0},
    [MR_RNN_THRESHOLDED_RELU] = {"ThresholdedRelu", true, false, 1, 0},
    [MR_RNN_SCALED_TANH] = {"ScaledTanh", true, true, 1, 1},
    [MR_RNN_HARD_SIGMOID] = {"HardSigmoid", true, true, 0.2f, 0.5f},
    [MR_RNN_ELU] = {"Elu", true, false, 1, 0},
    [MR_RNN_SOFTSIGN] = {"Softsign", false, false, 0, 0},
    [MR_RNN_SOFTPLUS] = {"Softplus", false, false, 0, 0},
};

static int per_direction(mr_rnn_kind k)
{
    return k == MR_LSTM ? 3 : k == MR_GRU ? 2 : 1;
}

static mr_rnn_activation *activation_at(mr_rnn_params *p, int i)
{
    return &p->act[i / per_direction(p->kind)][i % per_direction(p->kind)];
}

static bool set_activation(mr_rnn_activation *act, mr_string name)
{
    for (int f = 0; f < MR_N_RNN_FUNCTIONS; f++) {
        if (strlen(functions[f].name) != name.len || strncasecmp(functions[f].name, name.data, name.len)) continue;
        *act = (mr_rnn_activation){(mr_rnn_function)f, functions[f].default_alpha, functions[f].default_beta};
        return true;
    }
    return false;
}

static void default_activations(mr_rnn_params *p)
{
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < 3; i++) p->act[d][i].f = i == 0 && p->kind != MR_RNN ? MR_RNN_SIGMOID : MR_RNN_TANH;
}

/* Names for a second direction that isn't there are allowed: RNN's own default has one. */
static void read_activations(mr_reader *r, mr_rnn_params *p)
{
    const mr_string *names;
    const int n = mr_read_strings(r, "activations", &names), per = per_direction(p->kind);
    default_activations(p);
    if (n < 0) return;
    if (n != per * p->directions && n != per * 2) {
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute activations has %d values, needs %d", n, per * p->directions);
        return;
    }
    for (int i = 0; i < n; i++)
        if (!set_activation(activation_at(p, i), names[i]))
            mr_read_fail(r, MR_E_ATTRIBUTE, "attribute activations: \"%.*s\" unknown", (int)names[i].len,
                         names[i].data);
}

/* "The values are consumed in the order of activation functions": by those that take one. As many values as there are
 * functions are one for each. */
static void read_scales(mr_reader *r, mr_rnn_params *p, bool alpha)
{
    const char *name = alpha ? "activation_alpha" : "activation_beta";
    const float *values;
    const int n = mr_read_floats(r, name, &values), count = per_direction(p->kind) * p->directions;
    int takers = 0, used = 0;
    for (int i = 0; i < count; i++) {
        mr_rnn_function f = activation_at(p, i)->f;
        takers += alpha ? functions[f].alpha : functions[f].beta;
    }
    if (n > takers && n != count) {
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute %s has %d values for %d activations, of which %d take one", name, n,
                     count, takers);
        return;
    }
    for (int i = 0; i < count && used < n; i++) {
        mr_rnn_activation *act = activation_at(p, i);
        bool takes = alpha ? functions[act->f].alpha : functions[act->f].beta;
        if (takes) *(alpha ? &act->alpha : &act->beta) = values[used];
        used += takes || n == count;
    }
}

static void read_direction(mr_reader *r, mr_rnn_params *p)
{
    static const char *const names[] = {"forward", "reverse", "bidirectional", NULL};
    /* The default of GRU 1 is spelt "foward". */
    int direction = mr_read_has(r, "direction") ? mr_read_enum(r, "direction", names, 0) : 0;
    p->directions = direction == 2 ? 2 : 1;
    p->reverse = direction == 1;
}

static void read_common(mr_reader *r, mr_rnn_params *p)
{
    read_direction(r, p);
    read_activations(r, p);
    read_scales(r, p, true);
    read_scales(r, p, false);
    p->clip = mr_read_has(r, "clip") ? mr_read_float(r, "clip", 0) : INFINITY;
    if (!(p->clip >= 0)) mr_read_fail(r, MR_E_ATTRIBUTE, "attribute clip = %g is negative", (double)p->clip);
    p->hidden = mr_read_int(r, "hidden_size", 0);
    p->batch_first = mr_read_int(r, "layout", 0) != 0;
    mr_read_ignore(r, "output_sequence"); /* what is asked for is given */
}

static void rnn_read(mr_reader *r, void *params)
{
    mr_rnn_params *p = params;
    p->kind = MR_RNN;
    read_common(r, p);
}

static void gru_read(mr_reader *r, void *params)
{
    mr_rnn_params *p = params;
    p->kind = MR_GRU;
    read_common(r, p);
    p->linear_before_reset = mr_read_int(r, "linear_before_reset", 0) != 0;
}

void mr_lstm_read(mr_reader *r, void *params)
{
    mr_rnn_params *p = params;
    p->kind = MR_LSTM;
    read_common(r, p);
    p->input_forget = mr_read_int(r, "input_forget", 0) != 0;
}

/* ---- shapes ---- */

typedef struct rnn_dims {
    mr_dim length, batch, input, hidden, directions;
} rnn_dims;

/* Input i must have these dims; those of *dims that are not known become so. */
static mr_status want_dims(mr_call *c, int i, int n, mr_dim *const *dims, const char *const *what)
{
    if (!mr_in_has(c, i)) return MR_OK;
    mr_status st = mr_want_rank(c, i, n, n);
    if (st || c->in[i].shape.rank < 0) return st;
    for (int k = 0; k < n; k++) {
        mr_dim have = c->in[i].shape.d[k], want = *dims[k];
        if (have >= 0 && want >= 0 && have != want)
            return mr_call_fail_in(c, MR_E_SHAPES, i, "dim %d is %lld, %s is %lld", k, (long long)have, what[k],
                                   (long long)want);
        if (want < 0 && have != MR_DIM_UNKNOWN) *dims[k] = have;
    }
    return MR_OK;
}

static mr_status want_state(mr_call *c, int i, rnn_dims *d)
{
    const mr_rnn_params *p = c->params;
    if (p->batch_first)
        return want_dims(c, i, 3, (mr_dim *[]){&d->batch, &d->directions, &d->hidden},
                         (const char *[]){"batch_size", "num_directions", "hidden_size"});
    return want_dims(c, i, 3, (mr_dim *[]){&d->directions, &d->batch, &d->hidden},
                     (const char *[]){"num_directions", "batch_size", "hidden_size"});
}

static mr_status want_x(mr_call *c, rnn_dims *d)
{
    const mr_rnn_params *p = c->params;
    if (p->batch_first)
        return want_dims(c, X, 3, (mr_dim *[]){&d->batch, &d->length, &d->input},
                         (const char *[]){"batch_size", "seq_length", "input_size"});
    return want_dims(c, X, 3, (mr_dim *[]){&d->length, &d->batch, &d->input},
                     (const char *[]){"seq_length", "batch_size", "input_size"});
}

/* hidden_size is the attribute, else R's last dim, else a gate's share of W. */
static mr_dim hidden_of(const mr_call *c)
{
    const mr_rnn_params *p = c->params;
    const mr_shape *w = &c->in[W].shape, *r = &c->in[R].shape;
    if (p->hidden > 0) return p->hidden;
    const int depth = p->transposed ? 1 : 2, rows = p->transposed ? 2 : 1;
    if (r->rank == 3 && r->d[depth] != MR_DIM_UNKNOWN) return r->d[depth];
    return w->rank == 3 && w->d[rows] >= 0 ? w->d[rows] / mr_rnn_gates(p->kind) : MR_DIM_UNKNOWN;
}

static mr_status want_weights(mr_call *c, int i, rnn_dims *d, mr_dim *rows, mr_dim *depth, const char *what)
{
    const mr_rnn_params *p = c->params;
    char wide[32];
    snprintf(wide, sizeof wide, "%d * hidden_size", mr_rnn_gates(p->kind));
    if (p->transposed)
        return want_dims(c, i, 3, (mr_dim *[]){&d->directions, depth, rows},
                         (const char *[]){"num_directions", what, wide});
    return want_dims(c, i, 3, (mr_dim *[]){&d->directions, rows, depth},
                     (const char *[]){"num_directions", wide, what});
}

static mr_status find_dims(mr_call *c, rnn_dims *d)
{
    const mr_rnn_params *p = c->params;
    const int gates = mr_rnn_gates(p->kind);
    *d = (rnn_dims){MR_DIM_UNKNOWN, MR_DIM_UNKNOWN, MR_DIM_UNKNOWN, hidden_of(c), p->directions};
    mr_dim rows = mr_dim_mul(d->hidden, gates), biases = mr_dim_mul(rows, 2), peepholes = mr_dim_mul(d->hidden, 3);
    mr_dim *dirs = &d->directions;
    char wider[32];
    snprintf(wider, sizeof wider, "%d * hidden_size", 2 * gates);
    mr_status st = want_x(c, d);
    if (!st) st = want_weights(c, W, d, &rows, &d->input, "input_size");
    if (!st) st = want_weights(c, R, d, &rows, &d->hidden, "hidden_size");
    if (!st) st = want_dims(c, B, 2, (mr_dim *[]){dirs, &biases}, (const char *[]){"num_directions", wider});
    if (!st) st = want_dims(c, LENGTHS, 1, (mr_dim *[]){&d->batch}, (const char *[]){"batch_size"});
    if (!st) st = want_state(c, INITIAL_H, d);
    if (!st) st = want_state(c, INITIAL_C, d);
    if (!st)
        st = want_dims(c, P, 2, (mr_dim *[]){dirs, &peepholes}, (const char *[]){"num_directions", "3 * hidden_size"});
    return st;
}

mr_status mr_rnn_want_lengths(mr_call *c, int64_t most)
{
    const mr_tensor *t = mr_in_has(c, LENGTHS) ? c->in[LENGTHS].t : NULL;
    for (int64_t n = 0; t && n < t->dims[0]; n++)
        if (mr_tensor_int(t, n) < 0 || mr_tensor_int(t, n) > most)
            return mr_call_fail_in(c, MR_E_NODE_VALUE, LENGTHS, "sequence_lens[%lld] = %lld outside [0,%lld]",
                                   (long long)n, (long long)mr_tensor_int(t, n), (long long)most);
    return MR_OK;
}

mr_status mr_rnn_infer(mr_call *c)
{
    const mr_rnn_params *p = c->params;
    rnn_dims d;
    mr_status st = find_dims(c, &d);
    if (!st && d.length >= 0) st = mr_rnn_want_lengths(c, d.length);
    if (st) return st;
    mr_shape y = {.rank = 4, .d = {d.length, d.directions, d.batch, d.hidden}};
    mr_shape h = {.rank = 3, .d = {d.directions, d.batch, d.hidden}};
    if (p->batch_first) {
        y = (mr_shape){.rank = 4, .d = {d.batch, d.length, d.directions, d.hidden}};
        h = (mr_shape){.rank = 3, .d = {d.batch, d.directions, d.hidden}};
    }
    mr_out_tensor(c, Y, mr_in_dtype(c, X), &y);
    mr_out_tensor(c, Y_H, mr_in_dtype(c, X), &h);
    return mr_out_tensor(c, Y_C, mr_in_dtype(c, X), &h);
}

/* ---- running ---- */

static const void *data_of(const mr_call *c, int i)
{
    return mr_in_has(c, i) && c->in[i].t ? c->in[i].t->data : NULL;
}

static void *result_of(const mr_call *c, int o)
{
    return mr_out_wanted(c, o) && c->out[o].t ? c->out[o].t->data : NULL;
}

static void set_strides(mr_rnn_args *a, bool batch_first)
{
    const int64_t h = a->hidden, d = a->directions;
    a->x_time = batch_first ? a->input : a->batch * a->input;
    a->x_batch = batch_first ? a->length * a->input : a->input;
    a->y_time = batch_first ? d * h : d * a->batch * h;
    a->y_direction = batch_first ? h : a->batch * h;
    a->y_batch = batch_first ? a->length * d * h : h;
    a->h_direction = a->y_direction;
    a->h_batch = batch_first ? d * h : h;
}

mr_rnn_args mr_rnn_args_of(const mr_call *c)
{
    const mr_rnn_params *p = c->params;
    const int64_t *x = c->in[X].shape.d;
    mr_rnn_args a = {.kind = p->kind,
                     .length = x[p->batch_first],
                     .batch = x[!p->batch_first],
                     .input = x[2],
                     .hidden = c->in[R].shape.d[p->transposed ? 1 : 2],
                     .directions = p->directions,
                     .reverse = p->reverse,
                     .clip = p->clip,
                     .input_forget = p->input_forget,
                     .linear_before_reset = p->linear_before_reset,
                     .pool = c->pool,
                     .scratch = c->scratch};
    memcpy(a.act, p->act, sizeof a.act);
    a.x = data_of(c, X), a.w = data_of(c, W), a.r = data_of(c, R), a.b = data_of(c, B), a.p = data_of(c, P);
    a.lengths = data_of(c, LENGTHS), a.h0 = data_of(c, INITIAL_H), a.c0 = data_of(c, INITIAL_C);
    a.y = result_of(c, Y), a.yh = result_of(c, Y_H), a.yc = result_of(c, Y_C);
    a.packed_w = c->packed ? c->packed[W] : NULL;
    a.packed_r = c->packed ? c->packed[R] : NULL;
    set_strides(&a, p->batch_first);
    return a;
}

static mr_status rnn_run(mr_call *c)
{
    mr_rnn_args a = mr_rnn_args_of(c);
    mr_status st = mr_rnn_want_lengths(c, a.length);
    if (!st) ((mr_rnn_fn *)c->fn)(&a);
    return st;
}

static mr_fn have_rnn(const mr_call *c)
{
    return MR_SLOT(c->cpu->rnn.rnn, mr_in_dtype(c, X));
}

static size_t rnn_scratch(const mr_call *c)
{
    mr_rnn_args a = mr_rnn_args_of(c);
    return c->cpu->rnn.scratch[mr_in_dtype(c, X)](&a);
}

/* What packing W or R needs to know, from its own shape. */
static mr_rnn_args weight_args(const mr_call *c, int i)
{
    const mr_rnn_params *p = c->params;
    return (mr_rnn_args){.kind = p->kind,
                         .directions = p->directions,
                         .hidden = c->in[i].shape.d[1] / mr_rnn_gates(p->kind),
                         .pool = c->pool};
}

static size_t rnn_pack_size(const mr_call *c, int i)
{
    mr_rnn_pack_size_fn *size = c->cpu->rnn.pack_size[mr_in_dtype(c, i)];
    mr_rnn_args a = weight_args(c, i);
    return size ? size(&a, c->in[i].shape.d[2]) : 0;
}

static void rnn_pack(const mr_call *c, int i, void *dst)
{
    mr_rnn_args a = weight_args(c, i);
    c->cpu->rnn.pack[mr_in_dtype(c, i)](&a, c->in[i].t->data, c->in[i].shape.d[2], dst);
}

static const mr_impl rnn_rows[] = {{.name = "rnn",
                                    .dev = MR_CPU,
                                    .have = have_rnn,
                                    .run = rnn_run,
                                    .scratch = rnn_scratch,
                                    .pack_in = 1 << W | 1 << R,
                                    .pack_size = rnn_pack_size,
                                    .pack = rnn_pack},
                                   {0}};

double mr_rnn_flops(const mr_call *c)
{
    const mr_shape *x = &c->in[X].shape;
    return 2 * (double)x->d[0] * (double)x->d[1] * (mr_count(&c->in[W].shape) + mr_count(&c->in[R].shape));
}

const mr_op mr_ops_rnn[] = {
    {"", "RNN", 1, 0, sizeof(mr_rnn_params), rnn_read, mr_rnn_infer, rnn_rows, 0, NULL, mr_rnn_flops},
    {"", "GRU", 1, 0, sizeof(mr_rnn_params), gru_read, mr_rnn_infer, rnn_rows, 0, NULL, mr_rnn_flops},
    {"", "LSTM", 1, 0, sizeof(mr_rnn_params), mr_lstm_read, mr_rnn_infer, rnn_rows, 0, NULL, mr_rnn_flops},
    {0},
};

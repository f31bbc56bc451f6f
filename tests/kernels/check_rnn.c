/* check_rnn.c: recurrent cells: kinds, directions, functions, and all that they may have or lack. */
#include <math.h>
#include <string.h>

#include "kernels/cpu/wide.h"
#include "tests/kernels/checker.h"

typedef struct shape {
    mr_dtype d;
    mr_rnn_kind kind;
    int64_t length, batch, input, hidden;
    int directions;
    bool reverse, given, lengths, packed, linear, coupled; /* given: biases, peepholes, first states */
    float clip;
    int f; /* the first of the functions */
} shape;

typedef struct job {
    const shape *s;
    mr_rnn_args a;
} job;

static const void *packed_of(ck *c, const job *j, const mr_cpu_fns *t, const void *weights, int64_t depth)
{
    const mr_dtype d = j->s->d;
    void *packed = ck_scratch(c, t->rnn.pack_size[d](&j->a, depth));
    t->rnn.pack[d](&j->a, weights, depth, packed);
    return packed;
}

static void prepare(ck *c, void *arg, const mr_cpu_fns *t)
{
    job *j = arg;
    const mr_dtype d = j->s->d;
    j->a.pool = c->pool;
    j->a.packed_w = j->a.packed_r = NULL;
    if (j->s->packed && t->rnn.pack_size[d]) {
        j->a.packed_w = packed_of(c, j, t, j->a.w, j->a.input);
        j->a.packed_r = packed_of(c, j, t, j->a.r, j->a.hidden);
    }
    j->a.scratch = t->rnn.scratch[d] ? ck_scratch(c, t->rnn.scratch[d](&j->a)) : NULL;
}

static void run(ck *c, void *arg, const mr_cpu_fns *t, void *const *y)
{
    const job *j = arg;
    mr_rnn_args a = j->a;
    (void)c;
    a.y = y[0];
    a.yh = y[1];
    a.yc = a.kind == MR_LSTM ? y[2] : NULL;
    t->rnn.rnn[j->s->d](&a);
}

/* Small enough that cells do not saturate. */
static const void *weights(ck *c, mr_dtype d, int64_t n, int64_t depth)
{
    char *x = ck_values_in(c, d, n, CK_UNIT);
    for (int64_t i = 0; i < n; i++) {
        mr_wide w;
        char *at = x + (size_t)i * mr_dtype_size(d);
        mr_wide_load(d, at, 1, &w);
        w.f[0] /= sqrt((double)(depth + 1));
        mr_wide_store(MR_WIDE_F64, &w, 1, d, at, (mr_wide_rule){0});
    }
    return x;
}

static void give(ck *c, const shape *s, mr_rnn_args *a)
{
    const int64_t gates = mr_rnn_gates(s->kind), state = s->directions * s->batch * s->hidden;
    a->b = weights(c, s->d, s->directions * 2 * gates * s->hidden, 4);
    if (s->kind == MR_LSTM) a->p = weights(c, s->d, s->directions * 3 * s->hidden, 4);
    a->h0 = ck_values_in(c, s->d, state, CK_UNIT);
    if (s->kind == MR_LSTM) a->c0 = ck_values_in(c, s->d, state, CK_UNIT);
}

static mr_rnn_args args_of(ck *c, const shape *s)
{
    const int64_t gates = mr_rnn_gates(s->kind), rows = s->directions * gates * s->hidden, d = s->directions;
    mr_rnn_args a = {.kind = s->kind,
                     .length = s->length,
                     .batch = s->batch,
                     .input = s->input,
                     .hidden = s->hidden,
                     .directions = s->directions,
                     .reverse = s->reverse,
                     .clip = s->clip,
                     .input_forget = s->coupled,
                     .linear_before_reset = s->linear};
    a.x = ck_values_in(c, s->d, s->length * s->batch * s->input, CK_UNIT);
    a.w = weights(c, s->d, rows * s->input, s->input);
    a.r = weights(c, s->d, rows * s->hidden, s->hidden);
    if (s->given) give(c, s, &a);
    if (s->lengths) {
        int32_t *lengths = ck_in(c, s->batch, sizeof *lengths);
        for (int64_t i = 0; i < s->batch; i++) lengths[i] = (int32_t)(i % (s->length + 1));
        a.lengths = lengths;
    }
    a.x_time = s->batch * s->input, a.x_batch = s->input;
    a.y_time = d * s->batch * s->hidden, a.y_direction = s->batch * s->hidden, a.y_batch = s->hidden;
    a.h_direction = a.y_direction, a.h_batch = s->hidden;
    for (int k = 0; k < 6; k++)
        a.act[k / 3][k % 3] = (mr_rnn_activation){s->f < 0 ? (k % 3 || s->kind == MR_RNN ? MR_RNN_TANH : MR_RNN_SIGMOID)
                                                           : (s->f + k) % MR_N_RNN_FUNCTIONS,
                                                  0.5f, 0.25f};
    return a;
}

/* H is rounded at each step, and a rounding that falls the other way goes on through the steps; functions that do not
 * flatten let it grow. */
static double floor_of(const shape *s)
{
    const double ulp = s->d == MR_F32 ? 0x1p-20 : s->d == MR_F16 ? 0x1p-9 : 0x1p-6;
    return ulp * (s->f < 0 ? 1 : 16);
}

static void one(ck *c, const void *arg)
{
    const shape *s = arg;
    job j = {s, args_of(c, s)};
    const int64_t state = s->directions * s->batch * s->hidden;
    ck_case(c, "%s, %lld steps of %lld x %lld to %lld, %d directions%s%s%s%s%s%s%s, functions %d",
            s->kind == MR_LSTM  ? "LSTM"
            : s->kind == MR_GRU ? "GRU"
                                : "RNN",
            (long long)s->length, (long long)s->batch, (long long)s->input, (long long)s->hidden, s->directions,
            s->reverse ? ", reverse" : "", s->given ? ", biases and states" : "", s->lengths ? ", lengths" : "",
            s->packed ? ", packed" : "", s->linear ? ", linear before reset" : "", s->coupled ? ", input forget" : "",
            s->clip < 1e9f ? ", clip" : "", s->f);
    ck_work(c, 2.0 * (double)(s->length * state * mr_rnn_gates(s->kind) * (s->input + s->hidden)), 0);
    const double floor = floor_of(s);
    const ck_output o[3] = {{s->d, s->length * state, CK_NEAR, 2, floor, NULL, 0},
                            {s->d, state, CK_NEAR, 2, floor, NULL, 0},
                            {s->d, state, CK_NEAR, 2, floor, NULL, 0}};
    ck_verify(c, &(ck_call){prepare, run}, &j, o, s->kind == MR_LSTM ? 3 : 2);
}

static void check_type(ck *c, mr_dtype d)
{
    static const int64_t hidden[] = {1, 3, 15, 16, 17, 31, 32, 33, 40, 70}, batch[] = {1, 2, 7, 8, 9, 17};
    if (c->options->bench) {
        ck_sides(c, one, &(shape){d, MR_LSTM, 16, 1, 128, 128, 1, .packed = true, .clip = INFINITY, .f = -1});
        return;
    }
    for (int i = 0; i < 240; i++) {
        const int directions = 1 + (i / 3) % 2;
        ck_sides(c, one,
                 &(shape){d, i % 3, 1 + i % 5, batch[i % 6], 1 + 7 * i % 37, hidden[i / 3 % 10], directions,
                          directions == 1 && i & 8, i & 1, i & 2, i & 4, i & 16, i & 32, i % 7 == 3 ? 0.75f : INFINITY,
                          i % 4 == 3 ? i % MR_N_RNN_FUNCTIONS : -1});
    }
    for (int k = 0; k < 3; k++) {
        ck_sides(c, one, &(shape){d, k, 40, 2, 20, 24, 2, .packed = true, .clip = INFINITY, .f = -1});
        ck_sides(c, one, &(shape){d, k, 3, 1, 300, 300, 1, .given = true, .clip = INFINITY, .f = -1});
        ck_sides(c, one, &(shape){d, k, 0, 2, 3, 4, 1, .given = true, .clip = INFINITY, .f = -1});
        ck_sides(c, one, &(shape){d, k, 3, 0, 3, 4, 1, .clip = INFINITY, .f = -1});
    }
}

/* ---- a step of an LSTM from sums of integers ---- */

typedef struct cell_job {
    const shape *s;
    mr_rnn_args lstm;
    mr_lstm_cell_args a;
    const void *h, *c;
} cell_job;

static void run_cell(ck *c, void *arg, const mr_cpu_fns *t, void *const *y)
{
    const cell_job *j = arg;
    const size_t bytes = (size_t)(j->a.rows * j->lstm.hidden) * mr_dtype_size(j->s->d);
    mr_lstm_cell_args a = j->a;
    (void)c;
    a.h = memcpy(y[0], j->h, bytes);
    a.c = memcpy(y[1], j->c, bytes);
    t->rnn.lstm_cell[j->s->d](&a);
}

static int32_t *sums(ck *c, int64_t n)
{
    int32_t *s = ck_in(c, n, sizeof *s);
    for (int64_t i = 0; i < n; i++) s[i] = (int32_t)(ck_random(c) % 200001) - 100000;
    return s;
}

static void one_cell(ck *c, const void *arg)
{
    const shape *s = arg;
    const int64_t n = s->batch * s->hidden;
    cell_job j = {.s = s, .lstm = args_of(c, s)};
    const int32_t **rows = ck_in(c, s->batch, sizeof *rows);
    for (int64_t i = 0; i < s->batch; i++) rows[i] = s->lengths && i % 3 == 1 ? NULL : sums(c, 4 * s->hidden);
    j.a = (mr_lstm_cell_args){.lstm = &j.lstm,
                              .direction = s->directions - 1,
                              .x_sums = rows,
                              .rows = s->batch,
                              .x_scale = 0x1p-8,
                              .h_scale = 0x1p-9};
    j.a.h_sums = sums(c, 4 * n);
    j.a.w_scale = ck_values_in(c, MR_F64, 4 * s->hidden, CK_SCALE);
    j.a.r_scale = ck_values_in(c, MR_F64, 4 * s->hidden, CK_SCALE);
    for (int64_t i = 0; i < 4 * s->hidden; i++)
        ((double *)j.a.w_scale)[i] *= 0x1p-8, ((double *)j.a.r_scale)[i] *= 0x1p-8;
    j.h = ck_values_in(c, s->d, n, CK_UNIT);
    j.c = ck_values_in(c, s->d, n, CK_UNIT);
    ck_case(c, "LSTM cell, %lld rows of %lld%s%s", (long long)s->batch, (long long)s->hidden,
            s->given ? ", biases and peepholes" : "", s->coupled ? ", input forget" : "");
    ck_work(c, 0, (double)(4 * n) * 8);
    const ck_output o[2] = {{s->d, n, CK_NEAR, 2, floor_of(s), NULL, 0}, {s->d, n, CK_NEAR, 2, floor_of(s), NULL, 0}};
    ck_verify(c, &(ck_call){.run = run_cell}, &j, o, 2);
}

static void check_cell(ck *c, mr_dtype d)
{
    static const int64_t hidden[] = {1, 3, 8, 15, 16, 17, 31, 32, 33, 40, 70};
    if (c->options->bench) {
        ck_sides(c, one_cell, &(shape){d, MR_LSTM, 1, 8, 1, 256, 1, .given = true, .clip = INFINITY, .f = -1});
        return;
    }
    for (int i = 0; i < 88; i++)
        ck_sides(c, one_cell,
                 &(shape){d, MR_LSTM, 1, 1 + i % 5, 1, hidden[i % 11], 1 + (i & 1), .given = i & 2, .lengths = i & 4,
                          .coupled = i & 8, .clip = i % 7 == 3 ? 0.75f : INFINITY,
                          .f = i % 4 == 3 ? i % MR_N_RNN_FUNCTIONS : -1});
}

void check_rnn(ck *c)
{
    for (int i = 0; i < 4; i++) {
        const mr_dtype d = ck_floats[i];
        ck_serves(c, &c->level.rnn.scratch[d]);
        ck_serves(c, &c->level.rnn.pack_size[d]);
        ck_serves(c, &c->level.rnn.pack[d]);
        if (ck_slot(c, &c->level.rnn.rnn[d])) check_type(c, d);
        if (ck_slot(c, &c->level.rnn.lstm_cell[d])) check_cell(c, d);
    }
}

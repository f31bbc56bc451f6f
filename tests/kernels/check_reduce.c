/* check_reduce.c: reductions over rows, columns, the middle, everything. */
#include <math.h>
#include <string.h>

#include "tests/kernels/checker.h"

typedef struct shape {
    mr_reduction op;
    mr_dtype d;
    int64_t dims[3];
    unsigned kept; /* bit i: dimension i stays */
    ck_values values;
} shape;

typedef struct job {
    const shape *s;
    mr_reduce_args a;
} job;

static void run(ck *c, void *arg, const mr_cpu_fns *t, void *const *y)
{
    const job *j = arg;
    mr_reduce_args a = j->a;
    a.y = y[0];
    a.pool = c->pool;
    t->reduce.reduce[j->s->op][j->s->d](&a);
}

static mr_box box_of(const shape *s, bool kept)
{
    mr_box b = {0};
    int64_t step = 1;
    for (int i = 2; i >= 0; step *= s->dims[i], i--) {
        if ((s->kept >> i & 1) != kept) continue;
        memmove(b.dims + 1, b.dims, sizeof *b.dims * (size_t)b.rank);
        memmove(b.xs + 1, b.xs, sizeof *b.xs * (size_t)b.rank);
        b.dims[0] = s->dims[i], b.xs[0] = step, b.rank++;
    }
    for (int64_t i = b.rank - 1, y = 1; i >= 0; y *= b.dims[i], i--) b.ys[i] = y;
    return b;
}

/* Bounds are exact, but for the sign of a zero, of which there is no first among lanes. Sums of at most 16 · 4 terms a
 * lane go on in double: each sum has the error of as many additions, and the terms' rounding. L2 halves what its sum
 * has. */
static const double *slack_of(ck *c, const job *j, int64_t n_x, int64_t n_y)
{
    const shape *s = j->s;
    double *sum = ck_in(c, n_y, sizeof *sum);
    mr_reduce_args a = j->a;
    a.x = ck_magnitudes(c, s->d, a.x, n_x);
    a.y = sum;
    c->scalar.reduce.reduce[s->op][MR_F64](&a);
    return ck_slack(c, n_y, sum, 80 * 0x1p-24);
}

static void one(ck *c, const void *arg)
{
    const shape *s = arg;
    const mr_box kept = box_of(s, true), reduced = box_of(s, false);
    const int64_t n = s->dims[0] * s->dims[1] * s->dims[2], n_y = mr_box_count(&kept, kept.rank);
    void *x = ck_values_in(c, s->d, n, s->values);
    if (s->values == CK_FINITE) ck_sprinkle(c, s->d, x, n);
    job j = {s, {.x = x, .kept = &kept, .reduced = &reduced}};
    const bool exact = s->op == MR_REDUCE_MAX || s->op == MR_REDUCE_MIN;
    ck_output o = {s->d, n_y, CK_NEAR, exact ? 0 : 1, 0, NULL, 0};
    /* Squares below the smallest float are lost. */
    if (s->op == MR_REDUCE_L2) o.floor = sqrt((double)mr_box_count(&reduced, reduced.rank)) * 0x1p-63;
    ck_case(c, "[%lld, %lld, %lld], kept %u", (long long)s->dims[0], (long long)s->dims[1], (long long)s->dims[2],
            s->kept);
    ck_work(c, 0, (double)n * (double)mr_dtype_size(s->d));
    if (!exact && !c->options->bench) o.slack = slack_of(c, &j, n, n_y);
    ck_verify(c, &(ck_call){.run = run}, &j, &o, 1);
}

static void check_op(ck *c, mr_reduction op, mr_dtype d)
{
    static const int64_t shapes[][3] = {{3, 5, 7},   {2, 9, 8},    {4, 16, 33},    {1, 300, 17},   {2, 70, 257},
                                        {3, 0, 4},   {0, 2, 3},    {2, 2, 513},    {1, 1, 4000},   {5, 64, 1},
                                        {2, 31, 40}, {17, 3, 100}, {1, 1, 140000}, {2, 1, 140000}, {140000, 1, 2}};
    const ck_values any = op == MR_REDUCE_MAX || op == MR_REDUCE_MIN ? CK_ANY : CK_FINITE;
    if (c->options->bench) {
        ck_sides(c, one, &(shape){op, d, {1, 256, 256}, 2, CK_UNIT});
        return;
    }
    for (int64_t n = 1; n < 70; n++) ck_sides(c, one, &(shape){op, d, {1, 3, n}, 2, n % 2 ? any : CK_UNIT});
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (unsigned kept = 0; kept < 8; kept++)
            for (int k = 0; k < 3; k++) {
                const ck_values v = k == 2 ? CK_HUGE : k ? any : CK_UNIT;
                const bool large = shapes[i][0] * shapes[i][1] * shapes[i][2] > 100000;
                if (large && (k == 1 || kept == 7)) continue;
                ck_sides(c, one, &(shape){op, d, {shapes[i][0], shapes[i][1], shapes[i][2]}, kept, v});
            }
}

void check_reduce(ck *c)
{
    for (int op = 0; op < MR_N_REDUCTIONS; op++)
        for (int i = 0; i < 4; i++)
            if (ck_slot(c, &c->level.reduce.reduce[op][ck_floats[i]])) check_op(c, op, ck_floats[i]);
}

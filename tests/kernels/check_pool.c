/* check_pool.c: averages and maxima over windows. */
#include "tests/kernels/checker.h"

typedef struct shape {
    mr_dtype d;
    bool max, indices, count_pads, column_major;
    int64_t planes;
    int rank;
    mr_pool_axis axis[3]; /* without the extents of y */
    ck_values values;
} shape;

typedef struct job {
    const shape *s;
    mr_pool_args a;
} job;

static void prepare(ck *c, void *arg, const mr_cpu_fns *t)
{
    job *j = arg;
    j->a.pool = c->pool;
    j->a.scratch = t->pool.scratch[j->s->d] ? ck_scratch(c, t->pool.scratch[j->s->d](&j->a)) : NULL;
}

static void run(ck *c, void *arg, const mr_cpu_fns *t, void *const *y)
{
    const job *j = arg;
    mr_pool_args a = j->a;
    (void)c;
    a.y = y[0];
    a.indices = j->s->indices ? y[1] : NULL;
    (j->s->max ? t->pool.max : t->pool.average)[j->s->d](&a);
}

static const double *slack_of(ck *c, const job *j, int64_t n_x, int64_t n_y, int64_t taps)
{
    double *sum = ck_in(c, n_y, sizeof *sum);
    mr_pool_args a = j->a;
    a.x = ck_magnitudes(c, j->s->d, a.x, n_x);
    a.y = sum;
    c->scalar.pool.average[MR_F64](&a);
    return ck_slack(c, n_y, sum, (double)(taps + 1) * 0x1p-24);
}

static void one(ck *c, const void *arg)
{
    const shape *s = arg;
    job j = {s, {.planes = s->planes, .rank = s->rank, .count_pads = s->count_pads, .column_major = s->column_major}};
    int64_t n_x = s->planes, n_y = s->planes, taps = 1;
    for (int i = 0; i < s->rank; i++) {
        mr_pool_axis *x = &j.a.axis[i];
        *x = s->axis[i];
        x->out = (x->in + x->pad + x->pad_end - (x->taps - 1) * x->dilation - 1) / x->stride + 1;
        n_x *= x->in, n_y *= x->out, taps *= x->taps;
    }
    j.a.x = ck_values_in(c, s->d, n_x, s->values);
    ck_case(c, "%lld planes, rank %d, last axis %lld taps %lld stride %lld dilation %lld pads %lld %lld%s%s",
            (long long)s->planes, s->rank, (long long)s->axis[s->rank - 1].in, (long long)s->axis[s->rank - 1].taps,
            (long long)s->axis[s->rank - 1].stride, (long long)s->axis[s->rank - 1].dilation,
            (long long)s->axis[s->rank - 1].pad, (long long)s->axis[s->rank - 1].pad_end, s->indices ? ", indices" : "",
            s->count_pads ? ", pads count" : "");
    ck_work(c, (double)(n_y * taps), 0);
    ck_output o[2] = {{s->d, n_y, s->max ? CK_SAME : CK_NEAR, 1, 0, NULL, 0}, {MR_I64, n_y, CK_BITS, 0, 0, NULL, 0}};
    if (!s->max && !c->options->bench) o[0].slack = slack_of(c, &j, n_x, n_y, taps);
    ck_verify(c, &(ck_call){prepare, run}, &j, o, s->indices ? 2 : 1);
}

static void check_type(ck *c, mr_dtype d, bool max)
{
    /* in, out, taps, stride, dilation, pads */
    static const mr_pool_axis axes[] = {{1, 0, 1, 1, 1, 0, 0},  {7, 0, 2, 2, 1, 0, 0},   {8, 0, 3, 1, 1, 1, 1},
                                        {17, 0, 3, 2, 1, 1, 1}, {33, 0, 5, 1, 1, 2, 2},  {40, 0, 3, 3, 2, 2, 4},
                                        {64, 0, 2, 2, 1, 0, 0}, {9, 0, 9, 1, 1, 0, 0},   {5, 0, 3, 1, 1, 2, 2},
                                        {13, 0, 4, 3, 1, 3, 5}, {200, 0, 7, 1, 1, 3, 3}, {31, 0, 1, 2, 1, 0, 0}};
    enum { N = sizeof axes / sizeof *axes };
    if (c->options->bench) {
        const mr_pool_axis x = {56, 0, 3, 1, 1, 1, 1};
        ck_sides(c, one, &(shape){d, max, .planes = 64, .rank = 2, .axis = {x, x}, .values = CK_UNIT});
        return;
    }
    for (int i = 0; i < N * N; i++)
        for (int k = 0; k < 4; k++) {
            shape s = {d, max, .count_pads = k & 1, .column_major = k & 2, .planes = 3, .rank = 1 + (i + k) % 3};
            s.axis[0] = axes[i % N], s.axis[1] = axes[i / N], s.axis[2] = axes[(i + k) % 3 + 1];
            s.indices = max && k == 3;
            s.values = max && k != 1 ? CK_ANY : CK_UNIT;
            ck_sides(c, one, &s);
        }
    for (int64_t n = 1; n < 2100; n = n * 5 / 4 + 1) /* the whole plane */
        for (int v = CK_ANY; v <= CK_UNIT; v++)
            if (max || v == CK_UNIT)
                ck_sides(c, one,
                         &(shape){d, max, .planes = 5, .rank = 1, .axis = {{n, 0, n, 1, 1, 0, 0}}, .values = v});
    ck_sides(c, one, &(shape){d, max, .planes = 0, .rank = 2, .axis = {axes[2], axes[2]}});
}

void check_pool(ck *c)
{
    for (int i = 0; i < 4; i++) {
        const mr_dtype d = ck_floats[i];
        ck_serves(c, &c->level.pool.scratch[d]);
        if (ck_slot(c, &c->level.pool.average[d])) check_type(c, d, false);
        if (ck_slot(c, &c->level.pool.max[d])) check_type(c, d, true);
    }
}

/* check_resize.c: interpolation from tables of taps, and the nearest element. */
#include <math.h>

#include "tests/kernels/checker.h"

/* ---- taps ---- */

typedef struct shape {
    mr_dtype d;
    int rank;
    int64_t in[3], out[3], taps[3]; /* taps 0: the axis has no table */
    int64_t inner;
    bool specials;
} shape;

typedef struct job {
    const shape *s;
    mr_resize_args a;
} job;

static void prepare(ck *c, void *arg, const mr_cpu_fns *t)
{
    job *j = arg;
    (void)t;
    j->a.pool = c->pool;
    j->a.room =
        ck_scratch(c, sizeof(double) * (size_t)(j->a.parts * mr_resize_line(&j->a.axis[j->a.rank - 1], j->a.inner)));
}

static void run(ck *c, void *arg, const mr_cpu_fns *t, void *const *y)
{
    const job *j = arg;
    mr_resize_args a = j->a;
    (void)c;
    a.y = y[0];
    t->resize.resize[j->s->d](&a);
}

static mr_resize_axis axis_of(ck *c, const shape *s, int i, int64_t stride)
{
    mr_resize_axis x = {.in = s->in[i], .out = s->out[i], .taps = s->taps[i] ? s->taps[i] : 1, .stride = stride};
    if (!s->taps[i]) return x;
    const int64_t n = x.out * x.taps;
    int64_t *at = ck_in(c, n, sizeof *at);
    for (int64_t k = 0; k < n; k++) at[k] = (int64_t)(ck_random(c) % (uint64_t)x.in) * stride;
    x.at = at;
    x.weight = ck_values_in(c, MR_F64, n, CK_SCALE);
    return x;
}

/* As a sum of products has it; the weights of all axes are multiplied and rounded before. */
static const double *slack_of(ck *c, const job *j, int64_t n_x, int64_t n_y, int64_t taps)
{
    double *sum = ck_in(c, n_y, sizeof *sum);
    job k = *j;
    prepare(c, &k, NULL);
    k.a.x = ck_magnitudes(c, j->s->d, k.a.x, n_x);
    k.a.y = sum;
    k.a.type = MR_F64;
    c->scalar.resize.resize[MR_F64](&k.a);
    return ck_slack(c, n_y, sum, (double)(taps + 6) * 0x1p-24);
}

static void one(ck *c, const void *arg)
{
    const shape *s = arg;
    job j = {s, {.type = s->d, .rank = s->rank, .inner = s->inner, .parts = MR_RESIZE_PARTS}};
    int64_t n_x = s->inner, n_y = s->inner, taps = 1;
    for (int i = s->rank - 1; i >= 0; i--) {
        j.a.axis[i] = axis_of(c, s, i, n_x);
        n_x *= s->in[i], n_y *= s->out[i], taps *= j.a.axis[i].taps;
    }
    void *x = ck_values_in(c, s->d, n_x, CK_UNIT);
    if (s->specials) ck_sprinkle(c, s->d, x, n_x);
    j.a.x = x;
    ck_case(c, "rank %d, last axis %lld to %lld by %lld taps, inner %lld", s->rank, (long long)s->in[s->rank - 1],
            (long long)s->out[s->rank - 1], (long long)s->taps[s->rank - 1], (long long)s->inner);
    ck_work(c, 0, (double)(n_x + n_y) * (double)mr_dtype_size(s->d));
    ck_output o = {s->d, n_y, CK_NEAR, 1, 0, NULL, 0};
    if (!c->options->bench) o.slack = slack_of(c, &j, n_x, n_y, taps);
    ck_verify(c, &(ck_call){prepare, run}, &j, &o, 1);
}

static void check_type(ck *c, mr_dtype d)
{
    static const int64_t lengths[] = {1, 2, 5, 7, 8, 9, 15, 16, 17, 31, 33, 70};
    if (c->options->bench) {
        ck_sides(c, one, &(shape){d, 3, {16, 56, 56}, {16, 112, 112}, {0, 2, 2}, 1, false});
        return;
    }
    for (int i = 0; i < 144; i++) {
        const int64_t in = lengths[i % 12], out = lengths[i / 12], inner = i % 5 == 2 ? 1 + i % 19 : 1;
        ck_sides(c, one, &(shape){d, 1, {in}, {out}, {1 + i % 4}, inner, i % 3 == 0});
        ck_sides(c, one, &(shape){d, 2, {3, in}, {7, out}, {2, 1 + i % 4}, inner, i % 3 == 1});
        ck_sides(c, one, &(shape){d, 3, {3, 4, in}, {3, 5, out}, {0, 3, 2}, inner, false});
    }
}

/* ---- nearest ---- */

typedef struct near_shape {
    int size;
    int64_t rows[2], cols[2], inner; /* of x, of y */
    bool sorted, table;              /* indices of the last axis; of the rows */
} near_shape;

typedef struct near_job {
    int size;
    mr_nearest_args a;
} near_job;

static void run_nearest(ck *c, void *arg, const mr_cpu_fns *t, void *const *y)
{
    const near_job *j = arg;
    mr_nearest_args a = j->a;
    a.y = y[0];
    a.pool = c->pool;
    t->resize.nearest[j->size](&a);
}

static int64_t *indices(ck *c, int64_t n, int64_t dim, int64_t step, bool sorted)
{
    int64_t *at = ck_in(c, n, sizeof *at);
    for (int64_t i = 0; i < n; i++) at[i] = (sorted ? i * dim / n : (int64_t)(ck_random(c) % (uint64_t)dim)) * step;
    return at;
}

static void one_nearest(ck *c, const void *arg)
{
    static const mr_dtype of_size[MR_N_SIZES] = {MR_U8, MR_U16, MR_U32, MR_U64, MR_C128};
    const near_shape *s = arg;
    const mr_dtype d = of_size[s->size];
    const int64_t row = s->cols[0] * s->inner, n_x = 2 * s->rows[0] * row, rows = s->table ? s->rows[1] : s->rows[0];
    near_job j = {
        s->size,
        {.rank = 3, .dims = {2, rows, s->cols[1]}, .inner = s->inner, .stride = {s->rows[0] * row, row, s->inner}}};
    j.a.at[2] = indices(c, s->cols[1], s->cols[0], s->inner, s->sorted);
    if (s->table) j.a.at[1] = indices(c, rows, s->rows[0], row, s->sorted);
    j.a.x = ck_values_in(c, d, n_x, CK_ANY);
    const int64_t n_y = 2 * rows * s->cols[1] * s->inner;
    ck_case(c, "nearest %lld x %lld to %lld x %lld, inner %lld%s", (long long)s->rows[0], (long long)s->cols[0],
            (long long)rows, (long long)s->cols[1], (long long)s->inner, s->sorted ? ", sorted" : "");
    ck_work(c, 0, (double)(n_x + n_y) * (double)mr_dtype_size(d));
    ck_verify(c, &(ck_call){.run = run_nearest}, &j, &(ck_output){d, n_y, CK_BITS, 0, 0, NULL, 0}, 1);
}

static void check_nearest(ck *c, int size)
{
    static const int64_t lengths[] = {1, 2, 3, 7, 8, 9, 16, 31, 33, 511, 513, 1100};
    if (c->options->bench) {
        ck_sides(c, one_nearest, &(near_shape){size, {56, 112}, {56, 112}, 1, true, true});
        return;
    }
    for (int i = 0; i < 144; i++)
        for (int k = 0; k < 4; k++)
            ck_sides(c, one_nearest,
                     &(near_shape){size,
                                   {1 + i % 5, 1 + i % 7},
                                   {lengths[i % 12], lengths[i / 12]},
                                   i % 5 == 2 ? 3 : 1,
                                   k & 1,
                                   k & 2});
}

void check_resize(ck *c)
{
    for (int i = 0; i < 4; i++)
        if (ck_slot(c, &c->level.resize.resize[ck_floats[i]])) check_type(c, ck_floats[i]);
    for (int i = 0; i < MR_N_SIZES; i++)
        if (ck_slot(c, &c->level.resize.nearest[i])) check_nearest(c, i);
}

/* check_norm.c: standardization by given moments, row by row, over a window of channels. */
#include <math.h>

#include "kernels/cpu/wide.h"
#include "tests/kernels/checker.h"

static double value(mr_dtype d, const void *x, int64_t i)
{
    double v;
    mr_wide_load_f64(d, (const char *)x + (size_t)i * mr_dtype_size(d), 1, &v);
    return v;
}

/* ---- by given moments ---- */

typedef struct affine_shape {
    mr_dtype d;
    int64_t dims[3];
    int64_t ys[3];
} affine_shape;

typedef struct affine_job {
    mr_dtype d;
    mr_affine_args a;
} affine_job;

static void run_affine(ck *c, void *arg, const mr_cpu_fns *t, void *const *y)
{
    const affine_job *j = arg;
    mr_affine_args a = j->a;
    a.y = y[0];
    a.pool = c->pool;
    t->norm.affine[j->d](&a);
}

static void one_affine(ck *c, const void *arg)
{
    const affine_shape *s = arg;
    const int64_t n = s->dims[0] * s->dims[1] * s->dims[2];
    mr_box box = {.rank = 3, .dims = {s->dims[0], s->dims[1], s->dims[2]}, .ys = {s->ys[0], s->ys[1], s->ys[2]}};
    int64_t groups = 1;
    for (int i = 2, step = 1; i >= 0; step *= (int)s->dims[i], i--) {
        box.xs[i] = step;
        groups += s->dims[i] ? (s->dims[i] - 1) * s->ys[i] : 0;
    }
    void *x = ck_values_in(c, s->d, n, CK_UNIT);
    ck_sprinkle(c, s->d, x, n);
    double *slack = ck_in(c, n, sizeof *slack);
    affine_job j = {s->d, {.x = x, .type = s->d, .box = &box}};
    j.a.mean = ck_values_in(c, MR_F64, groups, CK_UNIT);
    j.a.scale = ck_values_in(c, MR_F64, groups, CK_POSITIVE);
    j.a.bias = ck_values_in(c, MR_F64, groups, CK_UNIT);
    mr_walk w = mr_walk_from(&box, 3, 0);
    for (int64_t i = 0; i < n; i++, mr_walk_next(&w))
        slack[i] = 0x1p-22 * (fabs(value(s->d, x, w.x) - j.a.mean[w.y]) * j.a.scale[w.y] + fabs(j.a.bias[w.y]));
    ck_case(c, "affine [%lld, %lld, %lld]", (long long)s->dims[0], (long long)s->dims[1], (long long)s->dims[2]);
    ck_work(c, 0, 2 * (double)n * (double)mr_dtype_size(s->d));
    ck_verify(c, &(ck_call){.run = run_affine}, &j, &(ck_output){s->d, n, CK_NEAR, 1, 0, slack, 0}, 1);
}

static void check_affine(ck *c, mr_dtype d)
{
    if (c->options->bench) {
        ck_sides(c, one_affine, &(affine_shape){d, {1, 64, 1024}, {0, 1, 0}});
        return;
    }
    for (int64_t n = 0; n < 70; n++) {
        ck_sides(c, one_affine, &(affine_shape){d, {2, 3, n}, {0, 1, 0}});
        ck_sides(c, one_affine, &(affine_shape){d, {2, 3, n}, {0, 0, 1}});
        ck_sides(c, one_affine, &(affine_shape){d, {2, 3, n}, {3, 1, 0}});
    }
    ck_sides(c, one_affine, &(affine_shape){d, {2, 3, 33001}, {0, 1, 0}});
    ck_sides(c, one_affine, &(affine_shape){d, {40, 3, 333}, {0, 0, 1}});
}

/* ---- row by row ---- */

typedef struct rows_shape {
    mr_dtype x, y;
    int64_t rows, cols, groups, each; /* each > 1: rows have cols / each scales */
    bool center, scale, bias, saved;
    double offset; /* of all elements */
    int special;   /* 0 none, 1 NaN, 2 infinity */
} rows_shape;

typedef struct rows_job {
    const rows_shape *s;
    mr_rows_args a;
} rows_job;

static void run_rows(ck *c, void *arg, const mr_cpu_fns *t, void *const *y)
{
    const rows_job *j = arg;
    mr_rows_args a = j->a;
    a.y = y[0];
    a.saved_mean = j->s->saved ? y[1] : NULL;
    a.saved_inv = j->s->saved ? y[2] : NULL;
    a.pool = c->pool;
    t->norm.rows[j->s->x][j->s->y](&a);
}

/* Moments come from sums of at most 16 terms in float, of all of the row's magnitude. */
static void rows_slack(const rows_job *j, int64_t row, double *y, double *mean)
{
    const mr_rows_args *a = &j->a;
    double sum = 0, size = 0, squares = 0;
    for (int64_t i = 0; i < a->cols; i++) {
        double v = value(a->x_type, a->x, row * a->cols + i);
        sum += v, size += fabs(v);
    }
    const double m = a->center ? sum / (double)a->cols : 0, n = (double)a->cols;
    for (int64_t i = 0; i < a->cols; i++) squares += pow(value(a->x_type, a->x, row * a->cols + i) - m, 2);
    const double inv = 1 / sqrt(squares / n + a->epsilon);
    mean[row] = 16 * 0x1p-24 * size / n;
    for (int64_t i = 0; i < a->cols; i++) {
        const int64_t k = row % a->period * a->step + i / a->each;
        double s = a->scale ? fabs(value(a->y_type, a->scale, k)) : 1;
        double b = a->bias ? fabs(value(a->y_type, a->bias, k)) : 0,
               far = fabs(value(a->x_type, a->x, row * a->cols + i) - m);
        y[row * a->cols + i] = 0x1p-24 * (inv * s * (24 * far + (a->center ? 16 * size / n : 0)) + 2 * b);
    }
}

static void one_rows(ck *c, const void *arg)
{
    const rows_shape *s = arg;
    const int64_t n = s->rows * s->cols, factors = s->groups * (s->cols / s->each);
    rows_job j = {s,
                  {.x_type = s->x,
                   .y_type = s->y,
                   .saved_type = MR_F32,
                   .rows = s->rows,
                   .cols = s->cols,
                   .period = s->groups,
                   .step = s->cols / s->each,
                   .each = s->each,
                   .epsilon = 1e-5,
                   .center = s->center}};
    char *x = ck_values_in(c, s->x, n, CK_UNIT);
    for (int64_t i = 0; i < n && s->offset != 0; i++) {
        mr_wide w = {.f = {value(s->x, x, i) + s->offset}};
        mr_wide_store(MR_WIDE_F64, &w, 1, s->x, x + (size_t)i * mr_dtype_size(s->x), (mr_wide_rule){0});
    }
    if (s->special && n) {
        mr_wide w = {.f = {s->special == 1 ? NAN : INFINITY}};
        mr_wide_store(MR_WIDE_F64, &w, 1, s->x, x + (size_t)(n - 1) * mr_dtype_size(s->x), (mr_wide_rule){0});
    }
    j.a.x = x;
    if (s->scale) j.a.scale = ck_values_in(c, s->y, factors, CK_UNIT);
    if (s->bias) j.a.bias = ck_values_in(c, s->y, factors, CK_UNIT);
    double *slack = ck_in(c, n, sizeof *slack), *mean = ck_in(c, s->rows, sizeof *mean);
    for (int64_t r = 0; r < s->rows; r++) rows_slack(&j, r, slack, mean);
    ck_case(c, "%lld rows of %lld, each %lld, %s%s%s", (long long)s->rows, (long long)s->cols, (long long)s->each,
            s->center ? "centered" : "not centered", s->scale ? ", scale" : "", s->bias ? ", bias" : "");
    ck_work(c, 0, 2 * (double)n * (double)mr_dtype_size(s->x));
    const ck_output o[3] = {{s->y, n, CK_NEAR, 1, 0, slack, 0},
                            {MR_F32, s->rows, CK_NEAR, 1, 0, mean, 0},
                            {MR_F32, s->rows, CK_NEAR, 32, 0, NULL, 0}};
    ck_verify(c, &(ck_call){.run = run_rows}, &j, o, s->saved ? 3 : 1);
}

static void check_rows(ck *c, mr_dtype x, mr_dtype y)
{
    static const int64_t wide[][2] = {{3, 768}, {2, 4001}, {40, 300}, {1, 40000}, {0, 5}};
    if (c->options->bench) {
        ck_sides(c, one_rows, &(rows_shape){x, y, 64, 768, 1, 1, true, true, true, .offset = 0});
        return;
    }
    for (int64_t n = 1; n < 70; n++)
        for (int k = 0; k < 8; k++)
            ck_sides(c, one_rows,
                     &(rows_shape){x, y, 3, n, 1 + k % 3, n % 3 ? 1 : 3, k & 1, k & 2, k & 4, n & 1, k == 7 ? 10 : 0,
                                   n % 11 == 5 ? 1 + k % 2 : 0});
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        for (int k = 0; k < 8; k++)
            ck_sides(c, one_rows, &(rows_shape){x, y, wide[i][0], wide[i][1], 2, 1, k & 1, k & 2, k & 4, true, k, 0});
}

/* ---- over channels ---- */

typedef struct lrn_shape {
    mr_dtype d;
    int64_t outer, channels, inner, size;
    double alpha, beta, bias;
} lrn_shape;

typedef struct lrn_job {
    mr_dtype d;
    mr_lrn_args a;
} lrn_job;

static void run_lrn(ck *c, void *arg, const mr_cpu_fns *t, void *const *y)
{
    const lrn_job *j = arg;
    mr_lrn_args a = j->a;
    a.y = y[0];
    a.pool = c->pool;
    t->norm.lrn[j->d](&a);
}

/* log and exp have 2.2 ULP each; the logarithm of a base below e^4 makes at most 4 · beta ULP of its own; the sum has a
 * rounding a term, of which the power takes the part beta. */
static void one_lrn(ck *c, const void *arg)
{
    const lrn_shape *s = arg;
    const int64_t n = s->outer * s->channels * s->inner;
    lrn_job j = {s->d,
                 {.outer = s->outer,
                  .channels = s->channels,
                  .inner = s->inner,
                  .size = s->size,
                  .alpha = s->alpha,
                  .beta = s->beta,
                  .bias = s->bias}};
    j.a.x = ck_values_in(c, s->d, n, CK_UNIT);
    ck_case(c, "lrn [%lld, %lld, %lld], size %lld", (long long)s->outer, (long long)s->channels, (long long)s->inner,
            (long long)s->size);
    ck_work(c, 0, 2 * (double)n * (double)mr_dtype_size(s->d));
    ck_output o = {s->d, n, CK_NEAR, s->d == MR_F32 ? 8 + 4 * s->beta + (double)s->size * s->beta : 1, 0, NULL, 0};
    ck_verify(c, &(ck_call){.run = run_lrn}, &j, &o, 1);
}

static void check_lrn(ck *c, mr_dtype d)
{
    if (c->options->bench) {
        ck_sides(c, one_lrn, &(lrn_shape){d, 1, 64, 784, 5, 1e-4, 0.75, 1});
        return;
    }
    for (int64_t n = 0; n < 40; n++)
        for (int64_t size = 1; size < 6; size++)
            ck_sides(c, one_lrn, &(lrn_shape){d, 2, 7, n, size, 0.5, size % 2 ? 0.75 : 1, 1});
    ck_sides(c, one_lrn, &(lrn_shape){d, 1, 3, 3, 7, 1, 0.5, 2});
    ck_sides(c, one_lrn, &(lrn_shape){d, 3, 20, 1000, 5, 1e-4, 0.75, 1});
}

void check_norm(ck *c)
{
    for (int i = 0; i < 4; i++) {
        const mr_dtype d = ck_floats[i];
        if (ck_slot(c, &c->level.norm.affine[d])) check_affine(c, d);
        if (ck_slot(c, &c->level.norm.lrn[d])) check_lrn(c, d);
        for (int k = 0; k < 4; k++)
            if (ck_slot(c, &c->level.norm.rows[d][ck_floats[k]])) check_rows(c, d, ck_floats[k]);
    }
}

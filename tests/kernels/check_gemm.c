/* check_gemm.c: matrix products around the tiles, in all orders, packed and not. */
#include "tests/kernels/checker.h"

typedef struct shape {
    mr_dtype d;
    int64_t m, n, k, batch;
    bool a_turned, b_turned, packed, specials;
    int c; /* 0 none, 1 matrix, 2 row, 3 column, 4 scalar */
    float alpha, beta;
} shape;

typedef struct job {
    const shape *s;
    mr_gemm_args g;
} job;

static void prepare(ck *c, void *arg, const mr_cpu_fns *t)
{
    job *j = arg;
    mr_gemm_args *g = &j->g;
    const mr_dtype d = j->s->d;
    g->pool = c->pool;
    g->packed = g->scratch = NULL;
    if (j->s->packed && t->gemm.pack_size[d]) {
        void *packed = ck_scratch(c, t->gemm.pack_size[d](g));
        t->gemm.pack[d](g, packed);
        g->packed = packed;
    }
    if (t->gemm.scratch[d]) g->scratch = ck_scratch(c, t->gemm.scratch[d](g));
}

static void run(ck *c, void *arg, const mr_cpu_fns *t, void *const *y)
{
    const job *j = arg;
    mr_gemm_args g = j->g;
    (void)c;
    g.y = y[0];
    t->gemm.gemm[j->s->d](&g);
}

/* A sum of k products has at most the error of k roundings of Σ |a b|, in whatever order it is taken. */
static const double *slack_of(ck *c, const job *j, int64_t n_a, int64_t n_b, int64_t n_c)
{
    const shape *s = j->s;
    const int64_t n = s->batch * s->m * s->n;
    double *sum = ck_in(c, n, sizeof *sum);
    mr_gemm_args g = j->g;
    g.a = ck_magnitudes(c, s->d, g.a, n_a);
    g.b = ck_magnitudes(c, s->d, g.b, n_b);
    if (g.c) g.c = ck_magnitudes(c, s->d, g.c, n_c);
    g.alpha = g.alpha < 0 ? -g.alpha : g.alpha, g.beta = g.beta < 0 ? -g.beta : g.beta;
    g.y = sum;
    c->scalar.gemm.gemm[MR_F64](&g);
    return ck_slack(c, n, sum, (double)(s->k + 4) * (s->d == MR_F64 ? 0x1p-52 : 0x1p-24));
}

static void one(ck *c, const void *arg)
{
    const shape *s = arg;
    const bool shared = s->packed || s->batch == 1; /* one B for the batch */
    const int64_t n_a = s->batch * s->m * s->k, n_b = (shared ? 1 : s->batch) * s->k * s->n, n_c = s->m * s->n;
    const int64_t c_row[] = {0, s->n, 0, 1, 0}, c_col[] = {0, 1, 1, 0, 0};
    job j = {s,
             {.p = {.m = s->m,
                    .n = s->n,
                    .k = s->k,
                    .batch_rank = 1,
                    .batch = {s->batch},
                    .a_batch = {s->m * s->k},
                    .b_batch = {shared ? 0 : s->k * s->n}},
              .c_row = c_row[s->c],
              .c_col = c_col[s->c],
              .alpha = s->alpha,
              .beta = s->beta}};
    mr_product *p = &j.g.p;
    p->a_row = s->a_turned ? 1 : s->k, p->a_col = s->a_turned ? s->m : 1;
    p->b_row = s->b_turned ? 1 : s->n, p->b_col = s->b_turned ? s->k : 1;
    void *a = ck_values_in(c, s->d, n_a, CK_UNIT), *b = ck_values_in(c, s->d, n_b, CK_UNIT);
    if (s->specials) ck_sprinkle(c, s->d, a, n_a), ck_sprinkle(c, s->d, b, n_b);
    j.g.a = a, j.g.b = b;
    if (s->c) j.g.c = ck_values_in(c, s->d, n_c, CK_UNIT);
    ck_case(c, "%lld of %lld x %lld x %lld%s%s%s%s, C %d, alpha %g", (long long)s->batch, (long long)s->m,
            (long long)s->n, (long long)s->k, s->a_turned ? ", A turned" : "", s->b_turned ? ", B turned" : "",
            s->packed ? ", packed" : "", s->specials ? ", specials" : "", s->c, (double)s->alpha);
    ck_work(c, 2.0 * (double)n_a * (double)s->n, 0);
    ck_output o = {s->d, s->batch * s->m * s->n, CK_NEAR, 1, 0, NULL, 0};
    if (!c->options->bench) o.slack = slack_of(c, &j, n_a, n_b, n_c);
    ck_verify(c, &(ck_call){prepare, run}, &j, &o, 1);
}

static void check_type(ck *c, mr_dtype d)
{
    static const int64_t edges[] = {1, 2, 5, 6, 7, 11, 12, 13, 15, 16, 17, 31, 32, 33, 65};
    static const int64_t large[][3] = {{0, 3, 4},    {3, 0, 4},      {3, 4, 0},   {1, 300, 70}, {97, 130, 40},
                                       {7, 5, 1000}, {130, 70, 300}, {1, 1, 513}, {200, 1, 33}, {3, 700, 260}};
    if (c->options->bench) {
        ck_sides(c, one, &(shape){d, 128, 128, 128, 1, .packed = true, .alpha = 1});
        return;
    }
    for (int i = 0; i < 15 * 15; i++) {
        const int64_t m = edges[i % 15], n = edges[i / 15], k = edges[(7 * i + i / 15) % 15];
        const float alpha = i % 3 ? 1 : -0.75f;
        ck_sides(c, one, &(shape){d, m, n, k, 1 + i % 3, i & 1, i & 2, i & 4, i % 5 == 0, i % 5, alpha, 0.5f});
    }
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        for (int v = 0; v < 8; v++)
            ck_sides(c, one,
                     &(shape){d, large[i][0], large[i][1], large[i][2], 1 + (v == 7), v & 1, v & 2, v & 4, v == 3,
                              v % 5, 1, 2});
    ck_sides(c, one, &(shape){d, 3, 4, 5, 0, .alpha = 1});
}

void check_gemm(ck *c)
{
    for (int i = 0; i < 4; i++) {
        const mr_dtype d = ck_floats[i];
        ck_serves(c, &c->level.gemm.scratch[d]);
        ck_serves(c, &c->level.gemm.pack_size[d]);
        ck_serves(c, &c->level.gemm.pack[d]);
        if (ck_slot(c, &c->level.gemm.gemm[d])) check_type(c, d);
    }
}

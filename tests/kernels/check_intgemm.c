/* check_intgemm.c: products of 8-bit integers, to the bit. */
#include "tests/kernels/checker.h"

static const mr_dtype of_sign[2] = {MR_U8, MR_I8};

typedef struct shape {
    int a, b; /* 0 uint8, 1 int8 */
    int64_t m, n, k, batch;
    bool a_turned, b_turned, packed;
    int a_zero, b_zero; /* 0 none, 1 one, 2 one a row of A, column of B */
    mr_dtype out;
    int scale; /* 0 one, 1 one a row, 2 one a column */
} shape;

typedef struct job {
    const shape *s;
    mr_intgemm_args g;
} job;

static void prepare(ck *c, void *arg, const mr_cpu_fns *t)
{
    job *j = arg;
    mr_intgemm_args *g = &j->g;
    const int a = j->s->a, b = j->s->b;
    g->pool = c->pool;
    g->packed = g->scratch = NULL;
    if (j->s->packed && t->intgemm.pack_size[a][b]) {
        void *packed = ck_scratch(c, t->intgemm.pack_size[a][b](g));
        t->intgemm.pack[a][b](g, packed);
        g->packed = packed;
    }
    if (t->intgemm.scratch[a][b]) g->scratch = ck_scratch(c, t->intgemm.scratch[a][b](g));
}

static void run(ck *c, void *arg, const mr_cpu_fns *t, void *const *y)
{
    const job *j = arg;
    mr_intgemm_args g = j->g;
    (void)c;
    g.y = y[0];
    t->intgemm.gemm[j->s->a][j->s->b](&g);
}

static mr_requant requant_of(ck *c, const shape *s)
{
    mr_requant r = {.type = s->out};
    if (s->out == MR_I32) return r;
    const int64_t n = s->scale == 1 ? s->m : s->scale == 2 ? s->n : 1;
    double *scale = ck_values_in(c, MR_F64, n, CK_SCALE);
    for (int64_t i = 0; i < n; i++) scale[i] = (double)(float)(scale[i] / (double)(50 * (s->k + 1)));
    if (s->k % 2) scale[0] = 0.5; /* ties */
    r.scale = scale;
    r.scale_row = s->scale == 1, r.scale_col = s->scale == 2;
    r.zero = s->out == MR_U8 ? 100 : -7;
    return r;
}

static void one(ck *c, const void *arg)
{
    const shape *s = arg;
    const bool shared = s->packed || s->batch == 1;
    const int64_t n_a = s->batch * s->m * s->k, n_b = (shared ? 1 : s->batch) * s->k * s->n;
    job j = {s,
             {.p = {.m = s->m,
                    .n = s->n,
                    .k = s->k,
                    .batch_rank = 1,
                    .batch = {s->batch},
                    .a_batch = {s->m * s->k},
                    .b_batch = {shared ? 0 : s->k * s->n}}}};
    mr_intgemm_args *g = &j.g;
    g->p.a_row = s->a_turned ? 1 : s->k, g->p.a_col = s->a_turned ? s->m : 1;
    g->p.b_row = s->b_turned ? 1 : s->n, g->p.b_col = s->b_turned ? s->k : 1;
    g->a = ck_values_in(c, of_sign[s->a], n_a, CK_ANY);
    g->b = ck_values_in(c, of_sign[s->b], n_b, CK_ANY);
    if (s->a_zero) g->a_zero = ck_values_in(c, of_sign[s->a], s->a_zero == 2 ? s->m : 1, CK_ANY);
    if (s->b_zero) g->b_zero = ck_values_in(c, of_sign[s->b], s->b_zero == 2 ? s->n : 1, CK_ANY);
    g->a_zero_row = s->a_zero == 2, g->b_zero_col = s->b_zero == 2;
    g->out = requant_of(c, s);
    ck_case(c, "%lld of %lld x %lld x %lld%s%s%s, zeros %d %d, to %s by %d", (long long)s->batch, (long long)s->m,
            (long long)s->n, (long long)s->k, s->a_turned ? ", A turned" : "", s->b_turned ? ", B turned" : "",
            s->packed ? ", packed" : "", s->a_zero, s->b_zero, mr_dtype_name(s->out), s->scale);
    ck_work(c, 2.0 * (double)n_a * (double)s->n, 0);
    ck_verify(c, &(ck_call){prepare, run}, &j, &(ck_output){s->out, s->batch * s->m * s->n, CK_BITS, 0, 0, NULL, 0}, 1);
}

static void check_types(ck *c, int a, int b)
{
    static const int64_t edges[] = {1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 15, 16, 17, 31, 32, 33, 65};
    static const int64_t large[][3] = {{0, 3, 4},    {3, 0, 4},     {3, 4, 0},      {1, 300, 70}, {97, 130, 40},
                                       {7, 5, 1000}, {500, 40, 20}, {130, 200, 30}, {1, 1, 70000}};
    static const mr_dtype outs[] = {MR_I32, MR_U8, MR_I8};
    if (c->options->bench) {
        ck_sides(c, one, &(shape){a, b, 128, 128, 128, 1, .packed = true, .out = MR_I32});
        return;
    }
    for (int i = 0; i < 18 * 18; i++)
        ck_sides(c, one,
                 &(shape){a, b, edges[i % 18], edges[i / 18], edges[(5 * i + i / 18) % 18], 1 + i % 3, i & 1, i & 2,
                          i & 4, i % 3, i / 3 % 3, outs[i / 9 % 3], i / 27 % 3});
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        for (int v = 0; v < 27; v++)
            ck_sides(c, one,
                     &(shape){a, b, large[i][0], large[i][1], large[i][2], 1, v & 1, v & 2, v & 4, v % 3, v / 3 % 3,
                              outs[v / 9], v % 3});
}

void check_intgemm(ck *c)
{
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) {
            ck_serves(c, &c->level.intgemm.scratch[a][b]);
            ck_serves(c, &c->level.intgemm.pack_size[a][b]);
            ck_serves(c, &c->level.intgemm.pack[a][b]);
            if (ck_slot(c, &c->level.intgemm.gemm[a][b])) check_types(c, a, b);
        }
}

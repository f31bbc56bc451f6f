/* check_dft.c: Fourier transforms; every level has the same bits. */
#include "tests/kernels/checker.h"

typedef enum kind { REAL, HALF, COMPLEX, INVERSE, HERMITIAN, N_KINDS } kind;

typedef struct shape {
    mr_dtype d;
    kind kind;
    int64_t n, taken, outer, inner;
    bool window;
} shape;

typedef struct job {
    mr_dtype d;
    mr_dft_args a;
} job;

static void prepare(ck *c, void *arg, const mr_cpu_fns *t)
{
    job *j = arg;
    j->a.pool = c->pool;
    j->a.scratch = t->dft.scratch[j->d] ? ck_scratch(c, t->dft.scratch[j->d](&j->a)) : NULL;
}

static void run(ck *c, void *arg, const mr_cpu_fns *t, void *const *y)
{
    const job *j = arg;
    mr_dft_args a = j->a;
    (void)c;
    a.y = y[0];
    t->dft.dft[j->d](&a);
}

static void one(ck *c, const void *arg)
{
    static const char *const names[] = {"real", "half of real", "complex", "inverse", "hermitian"};
    const shape *s = arg;
    const int64_t half = s->n / 2 + 1, taken = s->kind == HERMITIAN ? (s->taken < half ? s->taken : half) : s->taken;
    job j = {s->d,
             {.n = s->n,
              .taken = taken,
              .kept = s->kind == HALF ? half : s->n,
              .outer = s->outer,
              .inner = s->inner,
              .inverse = s->kind >= INVERSE,
              .hermitian = s->kind == HERMITIAN}};
    mr_dft_args *a = &j.a;
    a->x_parts = s->kind <= HALF ? 1 : 2, a->y_parts = s->kind == HERMITIAN ? 1 : 2;
    a->x_inner = a->x_parts, a->x_step = s->inner * a->x_parts, a->x_outer = taken * a->x_step;
    a->y_inner = a->y_parts, a->y_step = s->inner * a->y_parts, a->y_outer = a->kept * a->y_step;
    a->x = ck_values_in(c, s->d, s->outer * a->x_outer, CK_UNIT);
    if (s->window) a->window = ck_values_in(c, s->d, s->n, CK_UNIT);
    ck_case(c, "%s, %lld of %lld, %lld x %lld lines%s", names[s->kind], (long long)taken, (long long)s->n,
            (long long)s->outer, (long long)s->inner, s->window ? ", window" : "");
    ck_work(c, 0, (double)(s->outer * (a->x_outer + a->y_outer)) * (double)mr_dtype_size(s->d));
    ck_verify(c, &(ck_call){prepare, run}, &j, &(ck_output){s->d, s->outer * a->y_outer, CK_SAME, 0, 0, NULL, 0}, 1);
}

static void check_type(ck *c, mr_dtype d)
{
    static const int64_t lengths[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,  11,  12,  13,  15,  16,  17,  19,  21,
                                      25, 27, 32, 33, 34, 49, 60, 64, 97, 100, 121, 128, 169, 256, 400, 509, 512, 1000};
    if (c->options->bench) {
        ck_sides(c, one, &(shape){d, COMPLEX, 512, 512, 32, 1, false});
        return;
    }
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (kind k = REAL; k < N_KINDS; k++) {
            const int64_t n = lengths[i];
            ck_sides(c, one, &(shape){d, k, n, n, 2, 1, k < HERMITIAN && i % 2});
            ck_sides(c, one, &(shape){d, k, n, (n + 1) / 2, 1, 5, false});
            ck_sides(c, one, &(shape){d, k, n, n, 2, 9, k < HERMITIAN});
        }
    ck_sides(c, one, &(shape){d, COMPLEX, 8, 8, 0, 3, false});
}

void check_dft(ck *c)
{
    for (int i = 0; i < 4; i++) {
        ck_serves(c, &c->level.dft.scratch[ck_floats[i]]);
        if (ck_slot(c, &c->level.dft.dft[ck_floats[i]])) check_type(c, ck_floats[i]);
    }
}

/* check_move.c: kernels that only move elements, by their size. */
#include "tests/kernels/checker.h"

static const mr_dtype of_size[MR_N_SIZES] = {MR_U8, MR_U16, MR_U32, MR_U64, MR_C128};

typedef enum turn { PLAIN, TRANSPOSED, SPREAD, BACKWARD, INNER, N_TURNS } turn;

typedef struct shape {
    int size;
    turn turn;
    int64_t a, rows, cols;
} shape;

typedef struct job {
    int size;
    mr_copy_args a;
} job;

static void run(ck *c, void *arg, const mr_cpu_fns *t, void *const *y)
{
    const job *j = arg;
    mr_copy_args a = j->a;
    a.y = y[0];
    a.pool = c->pool;
    t->move.copy[j->size](&a);
}

/* y is dense [a, rows, cols]; x's strides by the turn. */
static void one(ck *c, const void *arg)
{
    static const char *const names[] = {"plain", "transposed", "spread", "backward", "inner"};
    const shape *s = arg;
    const int64_t n = s->a * s->rows * s->cols, plane = s->rows * s->cols;
    mr_box box = {.rank = 3, .dims = {s->a, s->rows, s->cols}, .ys = {plane, s->cols, 1}};
    const int64_t strides[N_TURNS][3] = {
        {plane, s->cols, 1}, {plane, 1, s->rows}, {0, 0, 1}, {plane, -s->cols, -1}, {1, s->cols * s->a, s->a}};
    int64_t first = s->turn == BACKWARD && n ? plane - 1 : 0;
    for (int i = 0; i < 3; i++) box.xs[i] = strides[s->turn][i];
    job j = {s->size, {.box = &box}};
    const mr_dtype d = of_size[s->size];
    j.a.x = (const char *)ck_values_in(c, d, n, CK_ANY) + (size_t)first * mr_dtype_size(d);
    ck_case(c, "%s %lld x %lld x %lld", names[s->turn], (long long)s->a, (long long)s->rows, (long long)s->cols);
    ck_work(c, 0, 2 * (double)n * (double)mr_dtype_size(d));
    ck_verify(c, &(ck_call){.run = run}, &j, &(ck_output){d, n, CK_BITS, 0, 0, NULL, 0}, 1);
}

static void check_copy(ck *c, int size)
{
    static const int64_t edges[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33};
    if (c->options->bench) {
        ck_sides(c, one, &(shape){size, TRANSPOSED, 4, 128, 128});
        return;
    }
    for (turn t = PLAIN; t < N_TURNS; t++) {
        for (int i = 0; i < 14; i++)
            for (int k = 0; k < 14; k++) ck_sides(c, one, &(shape){size, t, 1 + (i + k) % 3, edges[i], edges[k]});
        ck_sides(c, one, &(shape){size, t, 3, 301, 203});
        ck_sides(c, one, &(shape){size, t, 40, 3, 1030});
    }
}

void check_move(ck *c)
{
    for (int i = 0; i < MR_N_SIZES; i++)
        if (ck_slot(c, &c->level.move.copy[i])) check_copy(c, i);
}

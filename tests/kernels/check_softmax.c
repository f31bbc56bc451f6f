/* check_softmax.c: softmax and its logarithm along the middle of [outer, n, inner]. */
#include <math.h>

#include "tests/kernels/checker.h"

typedef mr_softmax_fn *softmax_slots[MR_N_DTYPES];

typedef struct shape {
    size_t slots; /* where in the table */
    bool log;
    mr_dtype d;
    int64_t outer, n, inner;
    ck_values values;
} shape;

typedef struct job {
    const shape *s;
    mr_softmax_args a;
} job;

static void run(ck *c, void *arg, const mr_cpu_fns *t, void *const *y)
{
    const job *j = arg;
    mr_softmax_args a = j->a;
    a.y = y[0];
    a.pool = c->pool;
    (*(const softmax_slots *)((const char *)t + j->s->slots))[j->s->d](&a);
}

/* Each share has the 2.2 ULP of exp, their sum, a quotient, and what exp makes of the rounding of x - top. */
static void one(ck *c, const void *arg)
{
    const shape *s = arg;
    const int64_t n = s->outer * s->n * s->inner;
    job j = {s, {.x = ck_values_in(c, s->d, n, s->values), .outer = s->outer, .n = s->n, .inner = s->inner}};
    ck_case(c, "%lld x %lld x %lld", (long long)s->outer, (long long)s->n, (long long)s->inner);
    ck_work(c, 0, 2 * (double)n * (double)mr_dtype_size(s->d));
    ck_output o = {s->d, n, CK_NEAR, 8, 0, NULL, 0x1p-24};
    if (s->log) o.ulps = 4, o.floor = 0x1p-20, o.tail = 0;
    if (s->d != MR_F32) o.ulps = 2;
    if (s->d == MR_F16) o.floor = 0x1p-24;
    if (s->d == MR_BF16 && s->log) o.floor = 0x1p-8;
    if (s->d == MR_F16 && s->log) o.floor = 0x1p-11;
    ck_verify(c, &(ck_call){.run = run}, &j, &o, 1);
}

static void check_type(ck *c, size_t slots, bool log, mr_dtype d)
{
    static const int64_t shapes[][3] = {{0, 3, 1},    {2, 0, 3},    {2, 3, 0},   {3, 4, 1},    {1, 4099, 1},
                                        {2, 9000, 1}, {2, 5, 7},    {3, 100, 8}, {1, 7, 9},    {2, 33, 17},
                                        {40, 64, 40}, {300, 31, 1}, {1, 1, 5},   {64, 128, 1}, {2, 1000, 33},
                                        {2, 4096, 1}, {2, 4095, 1}};
    if (c->options->bench) {
        ck_sides(c, one, &(shape){slots, log, d, 64, 1000, 1, CK_UNIT});
        return;
    }
    for (int64_t n = 1; n < 70; n++) ck_sides(c, one, &(shape){slots, log, d, 2, n, 1, n % 2 ? CK_ANY : CK_UNIT});
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int v = CK_ANY; v <= CK_UNIT; v++)
            ck_sides(c, one, &(shape){slots, log, d, shapes[i][0], shapes[i][1], shapes[i][2], v});
}

void check_softmax(ck *c)
{
    for (int i = 0; i < 4; i++) {
        const mr_dtype d = ck_floats[i];
        if (ck_slot(c, &c->level.softmax.softmax[d])) check_type(c, CK_AT(c, softmax.softmax), false, d);
        if (ck_slot(c, &c->level.softmax.log_softmax[d])) check_type(c, CK_AT(c, softmax.log_softmax), true, d);
        if (ck_slot(c, &c->level.softmax.hardmax[d])) check_type(c, CK_AT(c, softmax.hardmax), false, d);
    }
}

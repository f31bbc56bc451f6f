/* check_quantize.c: numbers as small ones times a scale; every level has the scalar one's bits. */
#include "tests/kernels/checker.h"

static void check_slot(ck *c, const mr_elementwise_fn *slot, mr_dtype from, mr_dtype to)
{
    const mr_quantize_params params = {.from = from, .to = to, .precision = MR_F32};
    for (int n = c->options->bench ? 3 : 2; n <= 3; n++)
        for (ck_freedom f = CK_STEADY; f >= (c->options->bench ? CK_STEADY : CK_BEHIND); f--)
            ck_elementwise(c, &(ck_each){.out = to,
                                         .in = {from, MR_F64, MR_F64},
                                         .n_in = n,
                                         .params = &params,
                                         .values = {CK_ANY, CK_SCALE, CK_WHOLE},
                                         .rule = CK_SAME,
                                         .freedom = f,
                                         .slot = (size_t)((const char *)slot - (const char *)&c->level)});
}

typedef struct bounds_case {
    mr_dtype d;
    mr_bounds_args a;
} bounds_case;

static void run_bounds(ck *c, void *arg, const mr_cpu_fns *t, void *const *y)
{
    const bounds_case *b = arg;
    mr_bounds_args a = b->a;
    (void)c;
    a.min = y[0], a.max = y[1];
    t->quantize.bounds[b->d](&a);
}

typedef struct bounds_shape {
    mr_dtype d;
    int64_t n;
    ck_values values;
} bounds_shape;

static void one_bounds(ck *c, const void *arg)
{
    const bounds_shape *s = arg;
    bounds_case b = {s->d, {.n = s->n}};
    b.a.x = ck_values_in(c, s->d, s->n, s->values);
    ck_case(c, "bounds of %lld", (long long)s->n);
    ck_work(c, 0, (double)s->n * (double)mr_dtype_size(s->d));
    const ck_output o[2] = {{MR_F64, 1, CK_SAME, 0, 0, NULL, 0}, {MR_F64, 1, CK_SAME, 0, 0, NULL, 0}};
    ck_verify(c, &(ck_call){.run = run_bounds}, &b, o, 2);
}

static void check_bounds(ck *c, mr_dtype d)
{
    if (c->options->bench) {
        ck_sides(c, one_bounds, &(bounds_shape){d, 1 << 16, CK_UNIT});
        return;
    }
    for (int64_t n = 0; n < 70; n++)
        for (int v = CK_ANY; v <= CK_POSITIVE; v++) ck_sides(c, one_bounds, &(bounds_shape){d, n, v});
}

void check_quantize(ck *c)
{
    for (mr_dtype from = 0; from < MR_N_DTYPES; from++)
        for (mr_dtype to = 0; to < MR_N_DTYPES; to++) {
            const mr_elementwise_fn *down = &c->level.quantize.quantize[from][to];
            const mr_elementwise_fn *up = &c->level.quantize.dequantize[from][to];
            if (ck_slot(c, down)) check_slot(c, down, from, to);
            if (ck_slot(c, up)) check_slot(c, up, from, to);
        }
    for (mr_dtype d = 0; d < MR_N_DTYPES; d++)
        if (ck_slot(c, &c->level.quantize.bounds[d])) check_bounds(c, d);
}

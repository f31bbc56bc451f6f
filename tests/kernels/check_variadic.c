/* check_variadic.c: functions of several elements. */
#include "tests/kernels/checker.h"

static void check_slot(ck *c, const mr_elementwise_fn *slot, mr_dtype d)
{
    if (!ck_slot(c, slot)) return;
    for (int n = c->options->bench ? 2 : 1; n <= 5; n += 2)
        ck_elementwise(c, &(ck_each){.out = d,
                                     .in = {d, d, d, d, d},
                                     .n_in = n,
                                     .freedom = CK_FREE,
                                     .rule = CK_SAME,
                                     .slot = (size_t)((const char *)slot - (const char *)&c->level)});
}

void check_variadic(ck *c)
{
    const mr_variadic_fns *f = &c->level.variadic;
    for (int i = 0; i < 4; i++) {
        const mr_dtype d = ck_floats[i];
        check_slot(c, &f->sum[d], d);
        check_slot(c, &f->mean[d], d);
        check_slot(c, &f->max[d], d);
        check_slot(c, &f->min[d], d);
    }
}

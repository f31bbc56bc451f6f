/* check_qlinear.c: sums and products of codes, to the bit. */
#include "tests/kernels/checker.h"

static void check_slot(ck *c, const mr_elementwise_fn *slot, mr_dtype d)
{
    /* scales that round, saturate and make ties */
    static const mr_qlinear_params params[] = {
        {128, 3, 100, 0.0137, 0.0211}, {0, -7, 0, 0.5, 0.25}, {-128, 127, -5, 1.5, 3}, {255, 0, 255, 1e-3, 7}};
    if (!ck_slot(c, slot)) return;
    for (int i = 0; i < (c->options->bench ? 1 : 4); i++)
        ck_elementwise(c, &(ck_each){.out = d,
                                     .in = {d, d},
                                     .n_in = 2,
                                     .params = &params[i],
                                     .freedom = CK_FREE,
                                     .rule = CK_BITS,
                                     .slot = (size_t)((const char *)slot - (const char *)&c->level)});
}

void check_qlinear(ck *c)
{
    static const mr_dtype of_sign[2] = {MR_U8, MR_I8};
    for (int i = 0; i < 2; i++) {
        check_slot(c, &c->level.qlinear.add[i], of_sign[i]);
        check_slot(c, &c->level.qlinear.mul[i], of_sign[i]);
    }
}

/* check_binary.c: functions of two elements. */
#include "kernels/cpu/wide.h"
#include "tests/kernels/checker.h"

static void check_pow(ck *c, mr_dtype d)
{
    const mr_binary_params params = {.type = d};
    if (!ck_slot(c, &c->level.binary.pow[MR_F32][d])) return;
    for (ck_freedom f = CK_STEADY; f <= (c->options->bench ? CK_STEADY : CK_FREE); f++)
        ck_elementwise(c, &(ck_each){.out = MR_F32,
                                     .in = {MR_F32, d},
                                     .n_in = 2,
                                     .params = &params,
                                     .freedom = f,
                                     .values = {CK_ANY, CK_EXPONENT},
                                     .rule = CK_NEAR,
                                     .ulps = 2,
                                     .slot = CK_AT(c, binary.pow[MR_F32][d])});
}

void check_binary(ck *c)
{
    const mr_binary_params params = {.alpha = 0.75};
    for (int op = 0; op < MR_N_BINARY; op++)
        for (int i = 0; i < 4; i++) {
            const mr_dtype d = ck_floats[i];
            const bool swiglu = op == MR_SWIGLU;
            if (ck_slot(c, &c->level.binary.fn[op][d]))
                ck_elementwise(c, &(ck_each){.out = d,
                                             .in = {d, d},
                                             .n_in = 2,
                                             .params = &params,
                                             .freedom = CK_FREE,
                                             .values = {CK_ANY, swiglu ? CK_UNIT : CK_ANY},
                                             .rule = swiglu ? CK_NEAR : CK_SAME,
                                             .ulps = d == MR_F32 ? 5 : 1,
                                             .floor = 0x1p-22,
                                             .slot = CK_AT(c, binary.fn[op][d])});
        }
    for (mr_dtype d = 0; d < MR_N_DTYPES; d++) check_pow(c, d);
}

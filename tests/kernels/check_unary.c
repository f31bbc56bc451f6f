/* check_unary.c: functions of one float. */
#include "tests/kernels/checker.h"

typedef struct bound {
    ck_rule rule;
    double ulps;  /* of float */
    double floor; /* where a sum cancels, or a factor is denormal */
    double tail;
} bound;

/* What vmath_avx2.h promises is 2.2 ULP; what multiplies by it adds its rounding. The others are exact. */
static const bound bounds[MR_N_UNARY] = {
    [MR_CELU] = {CK_NEAR, 4.5, 0, 0},
    [MR_COS] = {CK_NEAR, 2.2, 0, 0},
    [MR_ELU] = {CK_NEAR, 3, 0, 0},
    [MR_ERF] = {CK_NEAR, 2.2, 0, 0},
    [MR_EXP] = {CK_NEAR, 2.2, 0, 0},
    [MR_GELU] = {CK_NEAR, 3.5, 0x1p-145, 0},
    [MR_GELU_TANH] = {CK_NEAR, 5, 0x1p-145, 0x1p-22},
    [MR_HARD_SIGMOID] = {CK_NEAR, 1, 0, 0},
    [MR_HARD_SWISH] = {CK_NEAR, 2, 0x1p-22, 0},
    [MR_LOG] = {CK_NEAR, 2.2, 0, 0},
    [MR_MISH] = {CK_NEAR, 6, 0x1p-142, 0},
    [MR_SELU] = {CK_NEAR, 4, 0, 0},
    [MR_SIGMOID] = {CK_NEAR, 2.2, 0, 0},
    [MR_SIN] = {CK_NEAR, 2.2, 0, 0},
    [MR_SOFTPLUS] = {CK_NEAR, 4, 0, 0},
    [MR_SOFTSIGN] = {CK_NEAR, 2, 0, 0},
    [MR_SWISH] = {CK_NEAR, 4, 0x1p-142, 0x1p-24},
    [MR_TANH] = {CK_NEAR, 2.2, 0, 0},
};

void check_unary(ck *c)
{
    const mr_unary_params params = {.alpha = 0.75, .beta = 0.25};
    for (int op = 0; op < MR_N_UNARY; op++)
        for (int i = 0; i < 4; i++) {
            const mr_dtype d = ck_floats[i];
            bound b = bounds[op];
            if (b.rule != CK_NEAR) b.rule = CK_SAME;
            if (d != MR_F32) b.ulps = 1; /* a value that is close to a tie */
            if (ck_slot(c, &c->level.unary.fn[op][d]))
                ck_elementwise(c, &(ck_each){.out = d,
                                             .in = {d},
                                             .n_in = 1,
                                             .params = &params,
                                             .rule = b.rule,
                                             .ulps = b.ulps,
                                             .floor = b.floor,
                                             .tail = b.tail,
                                             .slot = CK_AT(c, unary.fn[op][d])});
        }
}

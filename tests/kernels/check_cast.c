/* check_cast.c: elements as elements of another type. */
#include "tests/kernels/checker.h"

void check_cast(ck *c)
{
    for (mr_dtype from = 0; from < MR_N_DTYPES; from++)
        for (mr_dtype to = 0; to < MR_N_DTYPES; to++) {
            const mr_cast_params params = {.from = from, .to = to};
            if (ck_slot(c, &c->level.cast.cast[from][to]))
                ck_elementwise(c, &(ck_each){.out = to,
                                             .in = {from},
                                             .n_in = 1,
                                             .params = &params,
                                             .rule = CK_SAME,
                                             .slot = CK_AT(c, cast.cast[from][to])});
            if (ck_slot(c, &c->level.cast.bits[from][to]))
                ck_elementwise(c, &(ck_each){.out = to,
                                             .in = {from},
                                             .n_in = 1,
                                             .params = &params,
                                             .rule = CK_BITS,
                                             .slot = CK_AT(c, cast.bits[from][to])});
        }
}

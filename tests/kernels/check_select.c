/* check_select.c: Where by the size of an element, Clip. */
#include <math.h>

#include "kernels/cpu/wide.h"
#include "tests/kernels/checker.h"

static void check_clip(ck *c, mr_dtype d)
{
    static const double bounds[][2] = {{-1, 1}, {0, 6}, {2, -2}, {NAN, 1}, {-1, NAN}, {-0.0, INFINITY}, {0, 0}};
    for (int i = 0; i < 7; i++)
        for (int given = c->options->bench ? 3 : 0; given < 4; given++) {
            char low[8], high[8];
            mr_wide w = {.f = {bounds[i][0], bounds[i][1]}};
            char both[16];
            const size_t size = mr_dtype_size(d);
            mr_wide_store(MR_WIDE_F64, &w, 2, d, both, (mr_wide_rule){0});
            for (size_t k = 0; k < size; k++) low[k] = both[k], high[k] = both[size + k];
            const mr_clip_params params = {given & 1 ? low : NULL, given & 2 ? high : NULL};
            ck_elementwise(c, &(ck_each){.out = d,
                                         .in = {d},
                                         .n_in = 1,
                                         .params = &params,
                                         .rule = CK_SAME,
                                         .slot = CK_AT(c, select.clip[d])});
        }
}

void check_select(ck *c)
{
    static const mr_dtype of_size[MR_N_SIZES] = {MR_U8, MR_U16, MR_U32, MR_U64, MR_C128};
    for (int i = 0; i < MR_N_SIZES; i++)
        if (ck_slot(c, &c->level.select.where[i]))
            ck_elementwise(c, &(ck_each){.out = of_size[i],
                                         .in = {MR_BOOL, of_size[i], of_size[i]},
                                         .n_in = 3,
                                         .freedom = CK_FREE,
                                         .rule = CK_BITS,
                                         .slot = CK_AT(c, select.where[i])});
    for (mr_dtype d = 0; d < MR_N_DTYPES; d++)
        if (ck_slot(c, &c->level.select.clip[d])) check_clip(c, d);
}

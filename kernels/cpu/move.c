/* move.c: moving elements, plain C. */
#include "kernels/cpu/move.h"

#define EDGE(size) 8
#define MR_BODY    "kernels/cpu/micro.inc"
#include "kernels/cpu/each_size.h"
#include "kernels/cpu/copy.h"

#define MR_BODY "kernels/cpu/gather.inc"
#include "kernels/cpu/each_size.h"
#define MR_BODY "kernels/cpu/take.inc"
#include "kernels/cpu/each_size.h"

#define EACH_SIZE(f)                                                                                                   \
    {                                                                                                                  \
        f##_1, f##_2, f##_4, f##_8, f##_16                                                                             \
    }

void mr_move_fill_scalar(mr_move_fns *f)
{
    *f = (mr_move_fns){
        .copy = EACH_SIZE(copy),
        .gather = EACH_SIZE(gather),
        .gather_elements = EACH_SIZE(gather_elements),
        .gather_nd = EACH_SIZE(gather_nd),
        .take = EACH_SIZE(take),
        .one_hot = EACH_SIZE(one_hot),
        .trilu = EACH_SIZE(trilu),
    };
}

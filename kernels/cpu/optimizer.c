/* optimizer.c: optimizers, plain C. */
#include "kernels/cpu/optimizer.h"

#include "kernels/cpu/math.h"
#include "runtime/narrow.h"

enum { GRAIN = 4096 };

#define MR_BODY "kernels/cpu/optimizer.inc"
#include "kernels/cpu/each_float.h"

void mr_optimizer_fill_scalar(mr_optimizer_fns *f)
{
    *f = (mr_optimizer_fns){
        .adagrad = {[MR_F16] = adagrad_f16, [MR_BF16] = adagrad_bf16, [MR_F32] = adagrad_f32, [MR_F64] = adagrad_f64},
        .adam = {[MR_F16] = adam_f16, [MR_BF16] = adam_bf16, [MR_F32] = adam_f32, [MR_F64] = adam_f64},
        .momentum =
            {[MR_F16] = momentum_f16, [MR_BF16] = momentum_bf16, [MR_F32] = momentum_f32, [MR_F64] = momentum_f64},
    };
}

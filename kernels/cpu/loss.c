/* loss.c: the scalar level, which is also the reference. */
#include "kernels/cpu/loss.h"

#include "kernels/cpu/math.h"
#include "kernels/cpu/sizes.h"

enum { LOSS_WIDTH = 256 };

typedef struct loss_job {
    const mr_loss_args *a;
    int64_t blocks; /* of inner */
} loss_job;

typedef struct loss_block {
    int64_t x, sample, n;
} loss_block;

static loss_block block_at(const loss_job *j, int64_t i)
{
    const mr_loss_args *a = j->a;
    int64_t first = i % j->blocks * LOSS_WIDTH, left = a->inner - first, batch = i / j->blocks;
    return (loss_block){batch * a->classes * a->inner + first, batch * a->inner + first,
                        left < LOSS_WIDTH ? left : LOSS_WIDTH};
}

static void each_block(const mr_loss_args *a, int64_t work, void (*fn)(void *, int64_t, int64_t))
{
    loss_job j = {a, (a->inner + LOSS_WIDTH - 1) / LOSS_WIDTH};
    int64_t width = a->inner < LOSS_WIDTH ? a->inner : LOSS_WIDTH;
    mr_parallel_for(a->pool, a->batch * j.blocks, mr_grain(width * work), fn, &j);
}

/* -1: ignored */
static int64_t class_of(const mr_loss_args *a, int64_t i)
{
    int64_t k = mr_index_at(a->target, i, 0);
    return a->ignores && k == a->ignored ? -1 : k;
}

#define MR_BODY "kernels/cpu/loss.inc"
#include "kernels/cpu/each_float.h"

#define EACH_FLOAT(f) [MR_F16] = f##_f16, [MR_BF16] = f##_bf16, [MR_F32] = f##_f32, [MR_F64] = f##_f64

void mr_loss_fill_scalar(mr_loss_fns *f)
{
    *f = (mr_loss_fns){.likelihood = {EACH_FLOAT(likelihood)}, .cross_entropy = {EACH_FLOAT(cross_entropy)}};
}

/* softmax.c: the scalar level, which is also the reference. */
#include "kernels/cpu/softmax.h"

#include "kernels/cpu/math.h"
#include "runtime/narrow.h"
#include "kernels/cpu/sizes.h"

enum { SOFTMAX_WIDTH = 256 };

typedef struct softmax_job {
    const mr_softmax_args *a;
    int64_t blocks; /* of inner */
    bool log;
} softmax_job;

typedef struct softmax_block {
    const mr_softmax_args *a;
    int64_t at, width; /* its first element, its lines */
} softmax_block;

static softmax_block block_at(const softmax_job *j, int64_t i)
{
    const mr_softmax_args *a = j->a;
    int64_t first = i % j->blocks * SOFTMAX_WIDTH, left = a->inner - first;
    return (softmax_block){a, i / j->blocks * a->n * a->inner + first, left < SOFTMAX_WIDTH ? left : SOFTMAX_WIDTH};
}

static void each_block(const mr_softmax_args *a, bool log, void (*fn)(void *, int64_t, int64_t))
{
    softmax_job j = {a, (a->inner + SOFTMAX_WIDTH - 1) / SOFTMAX_WIDTH, log};
    int64_t width = a->inner < SOFTMAX_WIDTH ? a->inner : SOFTMAX_WIDTH;
    if (a->n > 0) mr_parallel_for(a->pool, a->outer * j.blocks, mr_grain(width * a->n * 16), fn, &j);
}

#define MR_BODY "kernels/cpu/softmax.inc"
#include "kernels/cpu/each_float.h"

#define EACH_FLOAT(f) [MR_F16] = f##_f16, [MR_BF16] = f##_bf16, [MR_F32] = f##_f32, [MR_F64] = f##_f64

void mr_softmax_fill_scalar(mr_softmax_fns *f)
{
    *f = (mr_softmax_fns){
        .softmax = {EACH_FLOAT(softmax)},
        .log_softmax = {EACH_FLOAT(log_softmax)},
        .hardmax = {EACH_FLOAT(hardmax)},
    };
}

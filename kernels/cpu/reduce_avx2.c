/* reduce_avx2.c: reductions in float, eight lanes wide; long sums go on in double. How a sum is cut does not depend on
 * the number of threads. */
#include "kernels/cpu/reduce.h"

#include <math.h>

#include "kernels/cpu/simd_avx2.h"
#include "kernels/cpu/part_simd.h"
#include "kernels/cpu/reduce_block.h"
#include "kernels/cpu/total_avx2.h"

enum { PIECE = 1 << 15, MOST_PIECES = 1024 };

/* Each output's run in pieces of `length` elements. */
typedef struct reduce_pieces {
    const reduce_job *job;
    int64_t each, length;
    double sum[MOST_PIECES];
} reduce_pieces;

static bool reduce_in_pieces(reduce_pieces *p, const reduce_job *j)
{
    if (j->kept.rank != 1 || j->runs != 1 || j->rs != 1 || j->n > 16 || j->run < 4 * PIECE) return false;
    p->job = j;
    p->length = PIECE;
    while ((j->run + p->length - 1) / p->length * j->n > MOST_PIECES) p->length *= 2;
    p->each = (j->run + p->length - 1) / p->length;
    return true;
}

static inline vf reduce_square(vf v)
{
    return vf_mul(v, v);
}
static inline vf reduce_canonical(vf v)
{
    return _mm256_blendv_ps(v, vf_set(__builtin_nanf("")), vf_nan(v));
}

#define MR_BODY "kernels/cpu/reduce_avx2.inc"
#include "kernels/cpu/each_float_simd.h"

void mr_reduce_fill_avx2(mr_reduce_fns *f)
{
    fill_f32(f);
    fill_f16(f);
    fill_bf16(f);
}

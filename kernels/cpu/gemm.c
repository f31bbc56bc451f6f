/* gemm.c: the scalar matrix product, which is also the reference. */
#include "kernels/cpu/gemm.h"

#include <math.h>
#include <string.h>

#include "kernels/cpu/math.h"
#include "runtime/narrow.h"
#include "kernels/cpu/sums.h"
#include "kernels/cpu/convert.h"

/* Integers are multiplied by alpha and beta as integers when those are whole. */
static bool whole(const mr_gemm_args *g)
{
    return g->alpha == truncf(g->alpha) && (!g->c || g->beta == truncf(g->beta)) && fabsf(g->alpha) < 0x1p63f &&
           (!g->c || fabsf(g->beta) < 0x1p63f);
}

#define MR_BODY "kernels/cpu/gemm.inc"
#include "kernels/cpu/each_float.h"
#define MR_BODY "kernels/cpu/gemm.inc"
#include "kernels/cpu/each_int.h"

void mr_gemm_fill_scalar(mr_gemm_fns *f)
{
    f->gemm[MR_F16] = gemm_f16;
    f->gemm[MR_BF16] = gemm_bf16;
    f->gemm[MR_F32] = gemm_f32;
    f->gemm[MR_F64] = gemm_f64;
    f->gemm[MR_I8] = gemm_i8;
    f->gemm[MR_I16] = gemm_i16;
    f->gemm[MR_I32] = gemm_i32;
    f->gemm[MR_I64] = gemm_i64;
    f->gemm[MR_U8] = gemm_u8;
    f->gemm[MR_U16] = gemm_u16;
    f->gemm[MR_U32] = gemm_u32;
    f->gemm[MR_U64] = gemm_u64;
}

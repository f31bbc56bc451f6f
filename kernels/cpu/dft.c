/* dft.c: discrete Fourier transforms, the scalar level, which is also the reference. */
#include "kernels/cpu/dft.h"

#include <string.h>

#include "runtime/narrow.h"
#include "kernels/cpu/root.h"

#include "kernels/cpu/fft_plan.inc"

#include "kernels/cpu/dft_run.inc"

#define MR_BODY "kernels/cpu/dft.inc"
#include "kernels/cpu/each_float.h"

void mr_dft_fill_scalar(mr_dft_fns *f)
{
    f->dft[MR_F16] = dft_f16;
    f->dft[MR_BF16] = dft_bf16;
    f->dft[MR_F32] = dft_f32;
    f->dft[MR_F64] = dft_f64;
    f->scratch[MR_F16] = scratch_f16;
    f->scratch[MR_BF16] = scratch_bf16;
    f->scratch[MR_F32] = scratch_f32;
    f->scratch[MR_F64] = scratch_f64;
}

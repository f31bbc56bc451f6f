/* deform.c: see deform.h. */
#include "kernels/cpu/deform.h"

#include <math.h>
#include <string.h>

#include "kernels/cpu/conv_panel.h"
#include "kernels/cpu/math.h"
#include "runtime/narrow.h"
#include "kernels/cpu/sums.h"

#define PANEL   MR_SUMS_PANEL(double)
#define MR_BODY "kernels/cpu/deform.inc"
#include "kernels/cpu/each_float.h"
#define MR_BODY "kernels/cpu/causal.inc"
#include "kernels/cpu/each_float.h"

void mr_deform_fill_scalar(mr_deform_fns *f)
{
    f->deform[MR_F16] = deform_f16;
    f->deform[MR_BF16] = deform_bf16;
    f->deform[MR_F32] = deform_f32;
    f->deform[MR_F64] = deform_f64;
    f->causal[MR_F16] = causal_f16;
    f->causal[MR_BF16] = causal_bf16;
    f->causal[MR_F32] = causal_f32;
    f->causal[MR_F64] = causal_f64;
}

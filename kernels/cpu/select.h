/* select.h: which of several values an element is. */
#ifndef MR_KERNELS_CPU_SELECT_H
#define MR_KERNELS_CPU_SELECT_H

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/sizes.h"

typedef struct mr_clip_params {
    const void *min, *max; /* one element of the type each; NULL: no bound */
} mr_clip_params;

typedef struct mr_select_fns {
    mr_elementwise_fn where[MR_N_SIZES]; /* condition (of a byte), X, Y */
    mr_elementwise_fn clip[MR_N_DTYPES]; /* min(max, max(x, min)); NaN passes, a bound that is NaN makes all NaN */
} mr_select_fns;

void mr_select_fill_scalar(mr_select_fns *f);
void mr_select_fill_avx2(mr_select_fns *f);

#endif

/* deform.h: convolutions that sample x where offsets say, and a causal one that keeps state. */
#ifndef MR_KERNELS_CPU_DEFORM_H
#define MR_KERNELS_CPU_DEFORM_H

#include "kernels/cpu/conv.h"

/* y = Σ_c Σ_t w · mask · x(at(o, t) + offset) + b as in conv.h, x sampled by linear interpolation along each axis;
 * corners outside of x are 0. Every channel of an offset group samples at the same places. */
typedef struct mr_deform_args {
    mr_conv_args conv;
    const void *offset, *mask; /* [batch, offset_groups, taps, axis, outputs], [batch, offset_groups, taps, outputs];
                                  mask NULL: ones */
    int64_t offset_groups;
} mr_deform_args;

/* y[b, c, i] = bias[c] + Σ_t w[c, t] · s[b, c, i + t], s being past and x, one behind the other; then x · sigmoid(x) of
 * the rounded sum, when silu is set. present gets the end of s. */
typedef struct mr_causal_args {
    const void *x, *w, *bias, *past; /* bias, past NULL: zeros */
    void *y, *present;               /* NULL: not wanted */
    int64_t batch, channels, length, taps;
    bool silu;
    mr_pool *pool;
} mr_causal_args;

typedef struct mr_deform_fns {
    void (*deform[MR_N_DTYPES])(const mr_deform_args *a);
    void (*causal[MR_N_DTYPES])(const mr_causal_args *a);
} mr_deform_fns;

void mr_deform_fill_scalar(mr_deform_fns *f);

#endif

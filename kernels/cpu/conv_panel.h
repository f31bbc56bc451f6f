/* conv_panel.h: how the factors of a convolution are found, for every level: the outputs of a block as runs within
 * rows, and the taps one after the other. */
#ifndef MR_KERNELS_CPU_CONV_PANEL_H
#define MR_KERNELS_CPU_CONV_PANEL_H

#include "kernels/cpu/conv.h"

/* Neighbouring outputs along the last axis that stand in one panel. */
typedef struct mr_conv_run {
    int64_t at[MR_CONV_RANK]; /* index of x under tap 0, on each axis */
    int64_t col, n;           /* its place in the block */
    int64_t y;                /* where its first output is in its map */
} mr_conv_run;

/* A channel and a tap. */
typedef struct mr_conv_tap {
    int64_t channel, t[MR_CONV_RANK];
    int64_t w; /* offset in the weights of a map */
} mr_conv_tap;

/* The runs of outputs [pixel, pixel + cols), which are cut at multiples of panel columns. Returns how many: at most
 * cols. */
int mr_conv_runs(const mr_conv_args *v, int64_t pixel, int64_t cols, int64_t panel, mr_conv_run *runs);

/* Factor k of a sum. */
mr_conv_tap mr_conv_tap_at(const mr_conv_args *v, int64_t k);

static inline void mr_conv_tap_next(const mr_conv_args *v, mr_conv_tap *t)
{
    for (int i = v->rank - 1; i >= 0; i--) {
        t->w += v->axis[i].w_step;
        if (++t->t[i] < v->axis[i].taps) return;
        t->w -= v->axis[i].w_step * t->t[i];
        t->t[i] = 0;
    }
    t->channel++;
    t->w += v->w_channel;
}

/* Where the row of x that a run sees under a tap begins in the group's channels; -1: outside of x. */
static inline int64_t mr_conv_row(const mr_conv_args *v, const mr_conv_run *r, const mr_conv_tap *t)
{
    int64_t row = t->channel * v->x_channel;
    for (int i = 0; i < v->rank - 1; i++) {
        const mr_conv_axis *a = &v->axis[i];
        int64_t at = r->at[i] + t->t[i] * a->dilation;
        if (at < 0 || at >= a->in) return -1;
        row += at * a->x_step;
    }
    return row;
}

/* The taps of each axis that meet an input for some output: the others, of a dilation as large as x, add nothing. Of
 * more axes than stand here all taps count. */
typedef struct mr_conv_reach {
    int32_t first[3], taps[3];
} mr_conv_reach;

/* All taps where x is not known yet (its extents are 0). At least one an axis. */
mr_conv_reach mr_conv_reach_of(const mr_conv_args *v);
/* The same sums over those taps alone. */
mr_conv_args mr_conv_within(const mr_conv_args *v, const mr_conv_reach *r);

/* Some maps by some outputs of one group of one batch. */
typedef struct mr_conv_block {
    int64_t batch, group, map, pixel, rows, cols; /* map: counted over all groups */
    int64_t depth;                                /* factors of a sum */
    int64_t x, w, y;                              /* where its factors begin; its first map */
} mr_conv_block;

/* All outputs cut into blocks of up to rows × cols: how many, and which the i-th is; maps first. */
int64_t mr_conv_blocks(const mr_conv_args *v, int64_t rows, int64_t cols);
/* Blocks that one thread takes at a time: enough to be worth it. */
int64_t mr_conv_grain(const mr_conv_args *v, int64_t rows, int64_t cols);
mr_conv_block mr_conv_block_at(const mr_conv_args *v, int64_t i, int64_t rows, int64_t cols);

#endif

/* window.h: how windows lie on spatial axes: kernel_shape, strides, dilations, pads and auto_pad, as convolutions and
 * pools have them. */
#ifndef MR_OPS_WINDOW_H
#define MR_OPS_WINDOW_H

#include "ops/rules.h"

typedef enum mr_auto_pad { MR_PAD_NOTSET, MR_PAD_SAME_UPPER, MR_PAD_SAME_LOWER, MR_PAD_VALID } mr_auto_pad;

typedef struct mr_ints { /* of an attribute; n -1: not given */
    const int64_t *at;
    int n;
} mr_ints;

typedef struct mr_window {
    mr_ints kernel, strides, dilations, pads;
    mr_auto_pad auto_pad;
    bool ceil;
} mr_window;

typedef struct mr_window_axis {
    mr_dim in, out, kernel; /* may be unknown */
    int64_t stride, dilation;
    int64_t pad, pad_end; /* known when in and kernel are */
} mr_window_axis;

mr_ints mr_read_int_list(mr_reader *r, const char *name);
/* Reads the attributes above, as far as the operator has them. */
void mr_window_read(mr_reader *r, mr_window *w);
/* Every attribute that is given has as many values as `axes` axes need, and values that it may have. */
mr_status mr_window_check(mr_call *c, const mr_window *w, int axes);
/* The value for an axis, or what holds when the attribute is not given. */
static inline int64_t mr_ints_at(mr_ints x, int i, int64_t otherwise)
{
    return x.n < 0 ? otherwise : x.at[i];
}
/* The extent of a kernel between its first and last tap. */
mr_dim mr_window_reach(const mr_window_axis *a);
/* Axis i of `axes`: the window's place and how many outputs there are. Fails when the kernel does not fit. */
mr_status mr_window_axis_of(mr_call *c, const mr_window *w, int axes, int i, mr_dim in, mr_dim kernel,
                            mr_window_axis *out);
/* Splits padding in two: the odd one goes to the end for SAME_UPPER, else to the beginning. */
void mr_window_split(mr_auto_pad p, int64_t total, mr_window_axis *a);

#endif

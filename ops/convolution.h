/* convolution.h: what the operators that convolve share: their shapes, and what the kernels want to know of them. */
#ifndef MR_OPS_CONVOLUTION_H
#define MR_OPS_CONVOLUTION_H

#include "kernels/cpu/conv.h"
#include "ops/window.h"

typedef struct mr_conv_params {
    mr_window window;
    int64_t group;
} mr_conv_params;

void mr_conv_read(mr_reader *r, void *params);

/* Shape of Y of a convolution of inputs x and w (and bias b); fails when they do not fit. */
mr_status mr_conv_shape(mr_call *c, const mr_conv_params *p, int x, int w, int b, mr_shape *y);
/* Input b, when it is there, is a vector of n. */
mr_status mr_want_bias(mr_call *c, int b, mr_dim n);

/* Of concrete shapes; pointers are left alone. */
void mr_conv_geometry(mr_call *c, const mr_conv_params *p, int x, int w, mr_conv_args *v);
/* What can be said of the weights alone: enough to pack them. */
void mr_conv_weight_geometry(const mr_call *c, const mr_conv_params *p, int w, mr_conv_args *v);
/* Neighbouring axes that the windows only walk along become one. */
void mr_conv_flatten(mr_conv_args *v);

/* Conv's own row, for what does more behind it: inputs 0 to 2 are X, W and B. */
mr_status mr_conv_infer(mr_call *c);
mr_conv_args mr_conv_args_of(const mr_call *c); /* to run its slot with */
mr_fn mr_conv_have(const mr_call *c);
size_t mr_conv_scratch(const mr_call *c);
mr_status mr_conv_run(mr_call *c);
size_t mr_conv_pack_size(const mr_call *c, int i);
void mr_conv_pack(const mr_call *c, int i, void *dst);
double mr_conv_flops(const mr_call *c);

/* QLinearConv's own row. */
mr_status mr_qconv_infer(mr_call *c);
mr_fn mr_qconv_have(const mr_call *c);
size_t mr_qconv_scratch(const mr_call *c);
mr_status mr_qconv_run(mr_call *c);
size_t mr_qconv_pack_size(const mr_call *c, int i);
void mr_qconv_pack(const mr_call *c, int i, void *dst);
double mr_qconv_flops(const mr_call *c);

#endif

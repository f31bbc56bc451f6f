/* binary.h: what ops/binary.c and ops/binary_infer.c share. */
#ifndef MR_OPS_BINARY_H
#define MR_OPS_BINARY_H

#include "kernels/cpu/binary.h"
#include "ops/rules.h"

typedef struct binary_params {
    mr_binary_op op;
    mr_binary_params k;
    bool legacy;    /* opset 1 to 6: B is aligned by attributes */
    bool broadcast; /* likewise */
    bool has_axis;
    int64_t axis;
} binary_params;

/* The output, of the type of A or bool, has the shape that both broadcast to; before opset 7 that of A. */
mr_status mr_infer_binary(mr_call *c);
mr_status mr_infer_compare(mr_call *c);
/* The shape is A's: PRelu's slope broadcasts to it, before opset 7 along the channels; SwiGLU's operands are alike. */
mr_status mr_infer_prelu(mr_call *c);
mr_status mr_infer_swiglu(mr_call *c);

/* Which axis of A the first one of B stands at, before opset 7; B has no more axes than A. */
int mr_binary_axis(const binary_params *p, int rank_a, int rank_b);

#endif

/* fused_attention.h: an attention that reads Q, K and V where they stand, however their axes are ordered. */
#ifndef MR_OPS_FUSED_ATTENTION_H
#define MR_OPS_FUSED_ATTENTION_H

#include "runtime/op.h"

/* Which axes of an operand are batch, head and row (-1: there is no such one); the last one is the vectors'. */
typedef struct mr_attention_axes {
    int batch, head, row;
} mr_attention_axes;

typedef struct mr_fused_attention {
    mr_attention_axes q, k, v, y;
    double scale;
    bool zeros; /* a query that sees no key gives zeros; else NaN, as softmax does */
    mr_dtype type;
    mr_shape shape; /* of the output */
} mr_fused_attention;

#endif

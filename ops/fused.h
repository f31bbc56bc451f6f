/* fused.h: nodes that the rewriter makes: what ops/rewrite_chain.c says and ops/fused.c runs. */
#ifndef MR_OPS_FUSED_H
#define MR_OPS_FUSED_H

#include "kernels/cpu/chain.h"
#include "runtime/op.h"

#define MR_FUSED_DOMAIN   "minirt"
#define MR_FUSED_OPERANDS 8
#define MR_FUSED_LINKS    MR_CHAIN_LINKS

/* Elementwise functions behind a node. Its inputs are n_own of the operator in front (of a chain alone one, which the
 * first link reads), then the operands; link.operand is the input less n_own, plus 1. */
typedef struct mr_fused {
    mr_chain_link link[MR_FUSED_LINKS];
    int n, n_own;
    bool again; /* input 0 is an operand, too: the output is not computed over it */
    mr_dtype type;
    mr_shape shape; /* of the output */
} mr_fused;

#endif

/* unary.h: functions of one element. */
#ifndef MR_KERNELS_CPU_UNARY_H
#define MR_KERNELS_CPU_UNARY_H

#include "kernels/cpu/elementwise.h"

typedef enum mr_unary_op {
#define UNARY(OP, name) MR_##OP,
#include "kernels/cpu/unary_ops.inc"
    MR_N_UNARY
} mr_unary_op;

/* ONNX's attributes, whichever the operator has. */
typedef struct mr_unary_params {
    double alpha, beta;      /* Selu: beta is gamma. Shrink: alpha is lambd, beta is bias */
    bool negative, positive; /* IsInf: which infinities */
} mr_unary_params;

typedef struct mr_unary_fns {
    mr_elementwise_fn fn[MR_N_UNARY][MR_N_DTYPES];
    mr_elementwise_fn is_inf[MR_N_DTYPES], is_nan[MR_N_DTYPES]; /* to bool */
    mr_elementwise_fn bit_not[MR_N_DTYPES];                     /* of bool: the logical one */
} mr_unary_fns;

void mr_unary_fill_scalar(mr_unary_fns *f);
void mr_unary_fill_avx2(mr_unary_fns *f);
void mr_unary_fill_avx512(mr_unary_fns *f);

#endif

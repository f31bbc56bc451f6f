/* variadic.h: functions of the elements of one or more operands. */
#ifndef MR_KERNELS_CPU_VARIADIC_H
#define MR_KERNELS_CPU_VARIADIC_H

#include "kernels/cpu/elementwise.h"

/* Sums are taken in the order of the operands, and rounded once. A NaN anywhere makes the result NaN. */
typedef struct mr_variadic_fns {
    mr_elementwise_fn sum[MR_N_DTYPES], mean[MR_N_DTYPES], max[MR_N_DTYPES], min[MR_N_DTYPES];
} mr_variadic_fns;

void mr_variadic_fill_scalar(mr_variadic_fns *f);
void mr_variadic_fill_avx2(mr_variadic_fns *f);

#endif

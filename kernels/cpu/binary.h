/* binary.h: functions of two elements. */
#ifndef MR_KERNELS_CPU_BINARY_H
#define MR_KERNELS_CPU_BINARY_H

#include "kernels/cpu/elementwise.h"

typedef enum mr_binary_op {
#define BINARY(OP, name)  MR_##OP,
#define FLOAT(OP, name)   MR_##OP,
#define INT(OP, name)     MR_##OP,
#define COMPARE(OP, name) MR_##OP,
#include "kernels/cpu/binary_ops.inc"
    MR_N_BINARY
} mr_binary_op;

typedef struct mr_binary_params {
    double alpha;  /* SwiGLU */
    mr_dtype type; /* Pow: of the exponents */
} mr_binary_params;

typedef struct mr_binary_fns {
    /* Of two operands of one type, to that type, comparisons to bool. Integers wrap, divisors aren't 0; MOD has the
     * sign of the divisor, FMOD that of the dividend. MR_BOOL: the bitwise ones are the logical ones. */
    mr_elementwise_fn fn[MR_N_BINARY][MR_N_DTYPES];
    /* Base × exponent, to the type of the base. Of integers: exact, wraps; 0 isn't raised to a negative power. */
    mr_elementwise_fn pow[MR_N_DTYPES][MR_N_DTYPES];
} mr_binary_fns;

/* The scalar kernel of floats to any power. */
void mr_pow_f32(const mr_part *p);

void mr_binary_fill_scalar(mr_binary_fns *f);
void mr_binary_fill_avx2(mr_binary_fns *f);

#endif

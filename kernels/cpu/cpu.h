/* cpu.h: the table of CPU kernels. Each family declares its slots in its own header and fills them level by level;
 * families.inc is the list of families and of the levels that each has. Every slot is a function pointer, nothing else,
 * so that the checker can walk the table as an array. */
#ifndef MR_CPU_H
#define MR_CPU_H

#include "kernels/cpu/families.h"

typedef struct mr_cpu_fns {
#define FAMILY(name, B, A2, A5) mr_##name##_fns name;
#include "kernels/cpu/families.inc"
#undef FAMILY
} mr_cpu_fns;

enum { MR_ISA_SCALAR = 0, MR_ISA_BLAS = 1, MR_ISA_AVX2 = 2, MR_ISA_AVX512 = 4 };

unsigned mr_cpu_isa(void);                     /* what this machine has, masked by MINIRT_ISA */
void mr_cpu_fill(mr_cpu_fns *f, unsigned isa); /* scalar fills all; better levels override */

#endif

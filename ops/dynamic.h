/* dynamic.h: numbers as uint8 by a scale and a zero point that are found in themselves, as DynamicQuantizeLinear does.
 */
#ifndef MR_OPS_DYNAMIC_H
#define MR_OPS_DYNAMIC_H

#include "kernels/cpu/cpu.h"

typedef struct mr_dynamic {
    mr_dtype dtype; /* of the numbers */
    int64_t n;
    double scale, zero;
} mr_dynamic;

/* The slots that are needed are there. */
bool mr_dynamic_have(const mr_cpu_fns *cpu, mr_dtype d);
mr_dynamic mr_dynamic_of(const mr_cpu_fns *cpu, mr_dtype d, const void *x, int64_t n);
/* y = saturate(round(x / scale) + zero) of the n numbers */
void mr_dynamic_quantize(const mr_cpu_fns *cpu, mr_pool *pool, const mr_dynamic *q, const void *x, uint8_t *y);

#endif

/* einsum.h: operands of sums of products, on their way in and out. Floats are widened to double, so that a chain of
 * products rounds once; integers keep their type, where sums wrap. */
#ifndef MR_KERNELS_CPU_EINSUM_H
#define MR_KERNELS_CPU_EINSUM_H

#include "kernels/cpu/box.h"
#include "runtime/threads.h"

/* y is dense over the first `kept` dimensions of the box; x is strided by xs. */
typedef struct mr_einsum_args {
    const void *x;
    void *y;
    mr_box box;
    int kept;
    mr_pool *pool;
} mr_einsum_args;

typedef struct mr_einsum_fns {
    void (*load[MR_N_DTYPES])(const mr_einsum_args *e); /* wide y = Σ x over the other dimensions, in row-major order */
    void (*store[MR_N_DTYPES])(const mr_einsum_args *e); /* y = wide x; there are no other dimensions */
} mr_einsum_fns;

void mr_einsum_fill_scalar(mr_einsum_fns *f);

#endif

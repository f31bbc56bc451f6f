/* optimizer.h: one step of an optimizer for one tensor, elementwise, in the order of ONNX's pseudo code. */
#ifndef MR_KERNELS_CPU_OPTIMIZER_H
#define MR_KERNELS_CPU_OPTIMIZER_H

#include <stdbool.h>

#include "runtime/dtype.h"
#include "runtime/threads.h"

/* regularized = decay · x + gradient stands in place of the gradient. Outputs may be NULL; none lies over an input. */
typedef struct mr_optimizer_args {
    const void *x, *gradient, *momentum, *squares; /* those that the method has */
    void *x_new, *momentum_new, *squares_new;
    int64_t n;
    double rate; /* of this step, corrections included */
    double decay, decay_after, alpha, beta, epsilon;
    bool nesterov;
    mr_pool *pool;
} mr_optimizer_args;

typedef struct mr_optimizer_fns {
    void (*adagrad[MR_N_DTYPES])(const mr_optimizer_args *);
    void (*adam[MR_N_DTYPES])(const mr_optimizer_args *);
    void (*momentum[MR_N_DTYPES])(const mr_optimizer_args *);
} mr_optimizer_fns;

#endif

/* loss.h: the negative log likelihood of given classes. x is [batch, classes, inner], the rest [batch, inner]. */
#ifndef MR_KERNELS_CPU_LOSS_H
#define MR_KERNELS_CPU_LOSS_H

#include "kernels/cpu/index.h"
#include "runtime/threads.h"

/* sample = -log p of the target's class, not yet rounded; 0 where the target is ignored. */
typedef struct mr_loss_args {
    const void *x;
    mr_index target; /* each in [0, classes), or ignored */
    double *sample;
    void *log_prob; /* cross_entropy: log softmax of x; NULL: not wanted */
    int64_t batch, classes, inner;
    bool ignores;
    int64_t ignored;
    mr_pool *pool;
} mr_loss_args;

typedef struct mr_loss_fns {
    void (*likelihood[MR_N_DTYPES])(const mr_loss_args *);    /* x is log p */
    void (*cross_entropy[MR_N_DTYPES])(const mr_loss_args *); /* p is the softmax of x */
} mr_loss_fns;

#endif

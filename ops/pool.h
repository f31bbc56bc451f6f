/* pool.h: what pools of all domains share. */
#ifndef MR_OPS_POOL_H
#define MR_OPS_POOL_H

#include "kernels/cpu/pool.h"
#include "ops/window.h"

typedef struct mr_pool_params {
    mr_window window;
    bool count_include_pad, column_major;
    double p;
} mr_pool_params;

void mr_pool_read(mr_reader *r, void *params);
mr_status mr_pool_infer(mr_call *c);
double mr_pool_flops(const mr_call *c); /* one a tap of each output */
/* What the kernels read of the call. */
mr_pool_args mr_pool_args_of(const mr_call *c);

/* The rows of pools with a window; MaxPool's have. */
size_t mr_pool_scratch(const mr_call *c);
mr_status mr_pool_run(mr_call *c);
mr_fn mr_max_pool_have(const mr_call *c);

#endif

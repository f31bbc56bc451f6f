/* cuda.h: what the CUDA rows of operators share. Their kernels take the arguments of the CPU's, with data on the
 * device. */
#ifndef MR_OPS_CUDA_H
#define MR_OPS_CUDA_H

#include "kernels/cuda/cuda.h"
#include "ops/rules.h"

/* The slot of a dtype in an array of the device's table. */
#define MR_CUDA_SLOT(c, array, d) ((c)->cuda ? MR_SLOT((c)->cuda->array, d) : NULL)

/* What a launch gave, as the status of the row. */
static inline mr_status mr_launched(mr_call *c, int result)
{
    return result ? mr_call_fail(c, MR_E_DEVICE, "%s", c->cuda->error(result)) : MR_OK;
}

#endif

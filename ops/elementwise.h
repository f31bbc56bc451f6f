/* elementwise.h: elementwise kernels over whole tensors. */
#ifndef MR_OPS_ELEMENTWISE_H
#define MR_OPS_ELEMENTWISE_H

#include "kernels/cpu/elementwise.h"
#include "ops/rules.h"

/* Runs the call's slot: output 0 from the first n inputs (at most MR_FEW_OPERANDS), each broadcast to it. */
#define MR_FEW_OPERANDS 3
void mr_run_elementwise(mr_call *c, int n, const void *params);

/* The same by hand: a job for output 0, and its operands. */
mr_elementwise mr_elementwise_to(const mr_tensor *out, mr_operand *in, int n, const void *params);
mr_operand mr_operand_broadcast(const mr_tensor *t, const mr_tensor *out);
/* t's dimensions stand at out's from `axis` on, and are repeated along the others. */
mr_operand mr_operand_at_axis(const mr_tensor *t, const mr_tensor *out, int axis);
void mr_run_job(mr_call *c, mr_elementwise *j);

/* Both on the device, for CUDA rows. */
mr_status mr_launch_elementwise(mr_call *c, int n, const void *params);
mr_status mr_launch_job(mr_call *c, const mr_elementwise *j);

#endif

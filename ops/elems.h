/* elems.h: small integer tensors while shapes are inferred: their elements, some of them symbols or not known. */
#ifndef MR_OPS_ELEMS_H
#define MR_OPS_ELEMS_H

#include "ops/rules.h"

#define MR_MAX_ELEMS 64

/* How many elements integer input i has; -1: not a scalar or vector, of unknown length, or longer than MR_MAX_ELEMS. */
int mr_elems_count(const mr_call *c, int i);
/* Element k as a dimension; a negative one is none, and so unknown. */
mr_dim mr_elem(const mr_call *c, int i, int k);
/* Room for the n elements of output o, all unknown; NULL: out of memory, error set. */
mr_dim *mr_elems_new(mr_call *c, int o, int n);
/* Output 0 has the elements of input 0, under another shape of rank 0 or 1. */
void mr_elems_pass(mr_call *c);

#endif

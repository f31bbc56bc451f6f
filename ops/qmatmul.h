/* qmatmul.h: products of 8-bit integers, wherever an operator has its inputs. */
#ifndef MR_OPS_QMATMUL_H
#define MR_OPS_QMATMUL_H

#include "kernels/cpu/cpu.h"
#include "ops/product.h"

/* Which inputs are the factors and their zero points. */
typedef struct mr_int_places {
    int a, a_zero, b, b_zero;
} mr_int_places;

/* The call's product, to int32 in output 0; scratch is the call's. */
mr_intgemm_args mr_int_args(const mr_call *c, mr_int_places at);
/* What a slot says; 0 where it is empty. A that is not int8 counts as uint8. */
size_t mr_int_size(const mr_call *c, mr_int_places at, mr_intgemm_size_fn *const slots[2][2], const mr_intgemm_args *g);
/* The kernel of the factors' types, NULL where one is no 8-bit integer. */
mr_fn mr_int_slot(const mr_call *c, mr_int_places at);
size_t mr_int_pack_size(const mr_call *c, mr_int_places at, int i);
void mr_int_pack(const mr_call *c, mr_int_places at, int i, void *dst);

#endif

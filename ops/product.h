/* product.h: matrix products as numpy.matmul has them: shapes, and what the kernels want to know. */
#ifndef MR_OPS_PRODUCT_H
#define MR_OPS_PRODUCT_H

#include "kernels/cpu/product.h"
#include "ops/rules.h"

/* The shape of matmul(input a, input b). */
mr_status mr_product_shape(mr_call *c, int a, int b, mr_shape *out);
/* The product of concrete shapes, with one batch dimension for each of the result's. */
void mr_product_of(const mr_shape *a, const mr_shape *b, mr_product *p);
/* Where B is the same for all of the batch and A's matrices lie one behind the other, they are one taller matrix. */
void mr_product_flatten(mr_product *p);
/* "the shapes do not fit", the inputs and where they come from, and the rule. */
mr_status mr_fail_fit(mr_call *c, const char *rule, ...) __attribute__((format(printf, 2, 3)));

#endif

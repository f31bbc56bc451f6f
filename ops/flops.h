/* flops.h: how many operations on numbers a node does.
 *
 * What is counted is what the definition asks for, whatever a kernel does: adding, subtracting, multiplying, dividing,
 * comparing and choosing the larger are one each, so a multiply and an add are two; an elementary function or a whole
 * activation of an element is one. Integers count like floats. Elements of padding and masked scores count as if they
 * were computed. Moving, converting (casts, quantizing), indexing and what happens once a row do not count. */
#ifndef MR_OPS_FLOPS_H
#define MR_OPS_FLOPS_H

#include "ops/attention.h"

double mr_count(const mr_shape *s); /* elements; NAN where dims are unknown */

/* flops of rows; the call's shapes are known. */
double mr_flops_each(const mr_call *c);           /* one an element of output 0 */
double mr_flops_two_each(const mr_call *c);       /* two: a scale and an offset, two bounds */
double mr_flops_variadic(const mr_call *c);       /* one less than there are inputs */
double mr_flops_over_input(const mr_call *c);     /* one an element of input 0: sums, maxima */
double mr_flops_two_over_input(const mr_call *c); /* two: sums of squares */
/* Five an element: the largest, less it, its exponential, their sum, and the quotient. */
double mr_flops_softmax(const mr_call *c);
/* Seven: the mean; less it; the sum of squares (two); times 1 / deviation, times scale, plus bias. */
double mr_flops_standardize(const mr_call *c);
double mr_flops_rms(const mr_call *c);    /* four: the sum of squares (two); times 1 / root, times scale */
double mr_flops_matmul(const mr_call *c); /* inputs 0 and 1 as numpy.matmul has them */
/* 2 m n k, output 0 having m · n elements. */
double mr_flops_product(const mr_call *c, mr_dim k);
/* Input w's taps on each element of output 0, with bias b where that is there. */
double mr_flops_conv_of(const mr_call *c, int w, int b);
/* Of both products and the softmax between them. */
double mr_flops_attention_of(const mr_attention_dims *d);

#endif

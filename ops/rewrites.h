/* rewrites.h: what rules look for. */
#ifndef MR_OPS_REWRITES_H
#define MR_OPS_REWRITES_H

#include "runtime/rewrite.h"

/* The nodes that a match takes, in any order; the first is the one that the new node is named after. */
typedef struct mr_taken {
    int at[16], n;
} mr_taken;

/* Of a value that only one node reads: the position of its maker, which is an operator `op` of ONNX, and which is
 * taken. -1: there is no such one. */
int mr_take(const mr_rewrite *r, mr_taken *t, int id, const char *op);
/* The node at a position has a number as one of two operands: which is the other one's id. -1: not so. Sub and Div want
 * it as the second. */
int mr_beside_number(const mr_rewrite *r, int at, double *number);
/* The other operand of two. -1: id is none of them. */
int mr_beside(const mr_node *n, int id);
/* Is `have` the number `want`, as exactly as type d has it? */
bool mr_is_number(mr_dtype d, double have, double want);
/* The one of two operands that is made by `op`, taken; *other is the other's id. */
int mr_take_operand(const mr_rewrite *r, mr_taken *t, int at, const char *op, int *other);

#endif

/* gradient.h: what the rules of Gradient share. */
#ifndef MR_OPS_GRADIENT_H
#define MR_OPS_GRADIENT_H

#include "runtime/expansion.h"

enum { MR_GRADIENT_ARGS = 64 }; /* inputs or outputs that a rule can have */

/* A node that is differentiated, with the values it is differentiated at. Absent ones are -1. */
typedef struct mr_step_back {
    mr_expansion *x;
    const mr_node *node;
    const int *in, *out;
    const int *dy; /* by output: the gradient that comes back; -1: none does */
    int *dx;       /* by input: what the rule gives; left -1: it has none */
} mr_step_back;

typedef void (*mr_gradient_rule)(mr_step_back *s);

/* NULL: the operator has none, or not for this version. */
mr_gradient_rule mr_gradient_rule_of(const mr_node *n);

/* One node of one output; -1 stands for an absent argument. */
int mr_gradient_op(mr_expansion *x, const char *op, int a, int b, int c);
int mr_gradient_ints(mr_expansion *x, const int64_t *v, int n); /* a constant, int64 [n] */
int mr_gradient_number(mr_expansion *x, double v, int like);    /* a scalar of the type of a value */
int mr_gradient_zeros(mr_expansion *x, int like);               /* of type and shape */
int mr_gradient_ones(mr_expansion *x, int like);
/* g, of a shape that `like` was broadcast to, summed over what was repeated. */
int mr_gradient_sum_to(mr_expansion *x, int g, int like);
int mr_gradient_reshape(mr_expansion *x, int g, int like); /* to the shape of a value */
/* The attribute, its default, or the fallback. */
int64_t mr_gradient_int(const mr_node *n, const char *name, int64_t fallback);
float mr_gradient_float(const mr_node *n, const char *name, float fallback);

/* Rules of a family of operators; the list ends with an entry without a name. since: the first version it holds for. */
typedef struct mr_gradient_entry {
    const char *op;
    int since;
    mr_gradient_rule rule;
} mr_gradient_entry;

extern const mr_gradient_entry mr_gradient_math[], mr_gradient_shapes[], mr_gradient_sums[];

#endif

/* equation.h: the equation of Einsum, read and matched with the shapes of its operands. */
#ifndef MR_OPS_EQUATION_H
#define MR_OPS_EQUATION_H

#include "ops/rules.h"

/* A label is a letter, or a dimension of the ellipsis, counted from the last one. */
enum { MR_LABELS = 52 + MR_MAX_RANK, MR_ELLIPSIS = 52, MR_NO_LABEL = -1 };

/* Labels in order; MR_ELLIPSIS stands for all of its dimensions. */
typedef struct mr_term {
    int n;
    int8_t label[MR_MAX_RANK + 1];
} mr_term;

typedef struct mr_equation {
    int n_in;
    mr_term *in, out;
    bool has_out; /* "->" is there */
} mr_equation;

/* A label for each dimension, or a set of labels. */
typedef struct mr_labels {
    int n;
    int8_t at[MR_LABELS];
} mr_labels;

void mr_equation_read(mr_reader *r, mr_equation *e);
/* The labels of operand i, of rank `rank`; fails when they do not fit. */
mr_status mr_equation_operand(mr_call *c, const mr_equation *e, int i, int rank, mr_labels *out);
/* The labels of the result, when the ellipsis has `ellipsis` dimensions. */
mr_status mr_equation_result(mr_call *c, const mr_equation *e, int ellipsis, mr_labels *out);

#endif

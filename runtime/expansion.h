/* expansion.h: an operator that becomes other nodes when the model is loaded. Its row's expand gets the node and makes
 * nodes in its place, which are checked, inferred and resolved as those of a file.
 *
 * Functions that make something return -1 or NULL when memory is exhausted, take such results as absent arguments and
 * leave the error in e: only the end has to look. */
#ifndef MR_EXPANSION_H
#define MR_EXPANSION_H

#include "op.h"

typedef struct mr_expansion {
    mr_node *call; /* the node */
    mr_graph *graph;
    mr_node **made;
    int n_made, cap;
    mr_error *e; /* what ends the load: memory */
} mr_expansion;

/* A node of ONNX's own operators in their newest version; its outputs are new values. Inputs below 0 are absent. */
mr_node *mr_expansion_node(mr_expansion *x, const char *op, int n_in, const int *in, int n_out);
/* The same operator with the same attributes over other inputs, as many outputs. */
mr_node *mr_expansion_copy(mr_expansion *x, const mr_node *from, const int *in, int n_out);
/* Sets an attribute of a node that was made; ints and value live as long as the model from then on. */
void mr_expansion_int(mr_expansion *x, mr_node *n, const char *name, int64_t v);
void mr_expansion_float(mr_expansion *x, mr_node *n, const char *name, float v);
void mr_expansion_string(mr_expansion *x, mr_node *n, const char *name, const char *v);
void mr_expansion_ints(mr_expansion *x, mr_node *n, const char *name, const int64_t *v, int count);
void mr_expansion_value(mr_expansion *x, mr_node *n, const char *name, mr_value *v); /* takes v over */

/* Calls the row's expand. What it refuses stands at the node, which stays. */
mr_status mr_expand(mr_node *call, mr_error *e);

#endif

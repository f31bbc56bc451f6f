/* control.h: what operators that run subgraphs share. */
#ifndef MR_CONTROL_H
#define MR_CONTROL_H

#include "ops/rules.h"
#include "ops/stack.h"

/* Index of the graph attribute among the node's subgraphs, -1 when it is not given (a violation of its own). */
int mr_read_graph(mr_reader *r, const char *name);
/* What two shapes (of two branches, or of two rounds) have in common: dims that differ become unknown. */
void mr_shape_merge(mr_shape *a, const mr_shape *b);
/* The typed shape of input i; unknown when it is absent. */
mr_typed_shape mr_in_typed(const mr_call *c, int i);
/* The engine runs these itself: every type that the schema allows. */
mr_fn mr_have_control(const mr_call *c);
/* The declared type and shape of output o of subgraph k, for results that no round made. */
const mr_typed_shape *mr_subgraph_output(const mr_call *c, int k, int o);

#endif

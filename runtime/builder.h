/* builder.h: a plan while it is built; what plan.c, fold.c and steps.c share. */
#ifndef MR_BUILDER_H
#define MR_BUILDER_H

#include "engine.h"

typedef struct mr_builder {
    mr_plan *p;
    mr_session *s;
    const mr_graph *g;
    mr_error *e;
    bool all; /* every node, for check; else those that the outputs need */
    const mr_plan
        *draft;  /* of the graph before it was rewritten: values that are known; NULL: this is the file's graph */
    bool sketch; /* a draft: no steps */
    bool *need;  /* by node */
    int cap_steps;
    mr_exec exec;
    const int *
        out; /* ids of the present node's outputs: those of the graph, or of narrower floats that a step then carries */
} mr_builder;

/* The value is known: v takes over the reference. */
void mr_pvalue_set_known(mr_pvalue *v, mr_value *known);
bool mr_builder_call(mr_builder *b, const mr_node *n, mr_call *c,
                     mr_error *e);           /* as it is known now. false: no memory */
bool mr_call_shapes_known(const mr_call *c); /* of all inputs and outputs; only tensors */
mr_status mr_builder_no_memory(mr_error *e);

/* declared.c: are the outputs, as they are inferred, what the file says of them? Only check refuses; else the session
 * takes note. */
mr_status mr_declared_check(mr_builder *b, mr_call *c);

/* fold.c: nodes whose outputs can be known now. */
bool mr_may_fold(const mr_builder *b, const mr_call *c);
/* Computes the node's outputs. false: it keeps its step, and fails there with a message of its own if it must. */
bool mr_fold_node(mr_builder *b, mr_call *c, const mr_impl *impl);
bool mr_fold_view(mr_builder *b, const mr_call *c);
bool mr_fold_constant(mr_builder *b, const mr_node *n);

/* pack.c: the weights that the row wants packed, in st->packed. false: out of memory. */
bool mr_pack_weights(mr_builder *b, mr_call *c, const mr_impl *impl, mr_step *st);

/* rewrite.c: the graph that runs in the place of the draft's, NULL: out of memory. It is freed by itself. */
mr_graph *mr_rewrite_graph(const mr_builder *draft);
void mr_rewritten_free(mr_graph *g);

/* steps.c */
mr_status mr_add_step(mr_builder *b, mr_call *c, const mr_impl *impl); /* impl NULL: a view, or chosen while running */
mr_status mr_add_view(mr_builder *b, mr_call *c);
/* A new value like id, but of this element type, for outputs that are carried afterwards. -1: out of memory. */
int mr_narrow_twin(mr_builder *b, int id, mr_dtype d);
mr_status mr_add_carry(mr_builder *b, const mr_node *n, int from, int to);
bool mr_outputs_to_host(mr_builder *b); /* the caller gets outputs in host memory */

#endif

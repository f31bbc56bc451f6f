/* rewrite.h: what a rule may ask of the graph that it changes, and do to it.
 *
 * Rules see a graph whose values have types, shapes and, where they hang on nothing that is given, values: those of one
 * plan. A rule looks at the node at a position and, if what it knows stands around it, puts one node in the place of
 * several. Values that somebody else reads, outputs, and those that the caller wants to see stay. */
#ifndef MR_REWRITE_H
#define MR_REWRITE_H

#include "op.h"

typedef struct mr_rewrite mr_rewrite;

typedef struct mr_rule {
    const char *name, *text; /* "norm", "ReduceMean … Div become LayerNormalization" */
    int level;               /* of --optimize, from which on it is used: 1 keeps every bit */
    bool (*match)(mr_rewrite *r, int at);
} mr_rule;

/* Walks all rules in the order in which they are used: i from 0 until NULL. */
const mr_rule *mr_rule_at(int i);

int mr_rewrite_size(const mr_rewrite *r);                        /* positions are in topological order */
const mr_node *mr_rewrite_node(const mr_rewrite *r, int at);     /* NULL: gone, or at is -1 */
bool mr_rewrite_is(const mr_rewrite *r, int at, const char *op); /* an operator of ONNX of that name */
/* The node that makes a value, or that made it before it was known. NULL: none, or what makes it now is another. */
const mr_node *mr_rewrite_source(const mr_rewrite *r, int id);
int mr_rewrite_maker(const mr_rewrite *r, int id); /* the position of the node that makes a value, or -1 */
/* The position of the only node that reads the value, and reads it once; -1: nobody, several, or it has to stay. */
int mr_rewrite_user(const mr_rewrite *r, int id);
bool mr_rewrite_reads(const mr_rewrite *r, int id, const int *at, int count); /* nobody but these reads the value */
const mr_tensor *mr_rewrite_known(const mr_rewrite *r, int id);               /* NULL: it hangs on what is given */
bool mr_rewrite_number(const mr_rewrite *r, int id, double *v);               /* known, of one element */
const mr_shape *mr_rewrite_shape(const mr_rewrite *r, int id);                /* NULL: not known, or no tensor */
mr_dtype mr_rewrite_dtype(const mr_rewrite *r, int id);
/* The row that runs a node, and the call as it is known now. NULL: none is known. */
const mr_impl *mr_rewrite_row(mr_rewrite *r, const mr_node *n, mr_call *c);
void *mr_rewrite_alloc(mr_rewrite *r, size_t bytes); /* lives as long as the rewritten graph */

/* A new constant, which takes v over; -1: out of memory. */
int mr_rewrite_constant(mr_rewrite *r, mr_value *v, const char *name);
/* A new node with absent inputs, and one output. version: of the operator at most. NULL: there is no such operator. */
mr_node *mr_rewrite_make(mr_rewrite *r, const char *domain, const char *op, int version, int n_in);
void mr_rewrite_int(mr_rewrite *r, mr_node *n, const char *name, int64_t v);
void mr_rewrite_float(mr_rewrite *r, mr_node *n, const char *name, float v);
void mr_rewrite_ints(mr_rewrite *r, mr_node *n, const char *name, int count, const int64_t *v);
void mr_rewrite_text(mr_rewrite *r, mr_node *n, const char *name, const char *v);
/* Puts n in the place of the nodes at these positions, the last of which makes n's output; the first is the one that n
 * is named after. false, and nothing is changed: no row runs n, or it gives another type or shape. */
bool mr_rewrite_replace(mr_rewrite *r, mr_node *n, const int *at, int count);
/* Takes the node at a position away, whose one output is id: what reads that reads value other from now on. false: it
 * has to stay. */
bool mr_rewrite_merge(mr_rewrite *r, int at, int id, int other);

#endif

/* info.h: what is in a model file, as `info` shows it in words and in JSON. */
#ifndef MR_TOOLS_INFO_H
#define MR_TOOLS_INFO_H

#include <jansson.h>

#include "runtime/engine.h"

/* One version of an operator, or a function of the model. */
typedef struct mr_op_count {
    const char *op;       /* "Conv-11" */
    const mr_node *first; /* a node of it */
    int main, subgraphs;  /* nodes of the main graph and of subgraphs */
    int functions;        /* nodes in the bodies that calls in the main graph became */
    int expanded;         /* of calls: nodes that they became */
    bool counted;         /* its operations are */
    double flops;         /* of those in the main graph, with what they hold; NAN: not known */
} mr_op_count;

typedef struct mr_param_count {
    mr_dtype dtype;
    int tensors;
    double elements, bytes; /* as in the file */
} mr_param_count;

typedef struct mr_facts {
    const mr_graph_model *model;
    mr_op_count *ops; /* in the order of the file */
    int n_ops;
    mr_param_count params[MR_N_DTYPES], all; /* by dtype, and summed: initializers */
    mr_param_count constants;                /* of nodes that are constants */
    double flops;                            /* of what is known */
    const char **open;                       /* what the rest hangs on: names of dims, or "values" */
    int n_open;
    bool unnamed;        /* it hangs on dims of inputs that have no name */
    double mapped_bytes; /* of weights that are read where they stand in a file */
    mr_region *r;        /* what it hangs on */
} mr_facts;

/* facts.c. judged: the plan of mr_session_judge, or NULL: operations are not known. */
mr_status mr_facts_collect(const mr_graph_model *m, mr_plan *judged, mr_region *r, mr_facts *f, mr_error *e);

/* "float32[N,1,8,8]", "seq(tensor(float))"; in r. */
const char *mr_typed_text(mr_region *r, const mr_graph_model *m, mr_type t, const mr_shape *s);
json_t *mr_shape_json(const mr_graph_model *m, const mr_shape *s); /* null: rank unknown; a dim: number, name or null */

/* info_plan.c: the plan that a run would follow. */
void mr_info_plan_print(FILE *f, const mr_plan *p, const mr_facts *facts);
json_t *mr_info_plan_json(const mr_plan *p, const mr_facts *facts);

#endif

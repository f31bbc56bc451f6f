/* graph.h: a model as minirt works on it: graphs of nodes and values, names resolved to indices.
 *
 * model.c builds it from protobuf; schema.c checks it against ONNX; nobody changes it after that but the rewriter,
 * which works on a copy. Everything hangs on the model's region and dies with it. */
#ifndef MR_GRAPH_H
#define MR_GRAPH_H

#include "error.h"
#include "region.h"
#include "schema_types.h"
#include "value.h"

typedef struct mr_graph mr_graph;
typedef struct mr_node mr_node;
typedef struct mr_op mr_op;
typedef struct mr_graph_model mr_graph_model;

/* AttributeProto.AttributeType */
typedef enum mr_attr_kind {
    MR_ATTR_NONE = 0,
    MR_ATTR_FLOAT = 1,
    MR_ATTR_INT = 2,
    MR_ATTR_STRING = 3,
    MR_ATTR_TENSOR = 4,
    MR_ATTR_GRAPH = 5,
    MR_ATTR_FLOATS = 6,
    MR_ATTR_INTS = 7,
    MR_ATTR_STRINGS = 8,
    MR_ATTR_TENSORS = 9,
    MR_ATTR_GRAPHS = 10,
    MR_ATTR_SPARSE_TENSOR = 11,
    MR_ATTR_SPARSE_TENSORS = 12,
    MR_ATTR_TYPE_PROTO = 13,
    MR_ATTR_TYPE_PROTOS = 14
} mr_attr_kind;

typedef struct mr_attr {
    const char *name;
    mr_attr_kind kind;
    bool ignored; /* the operator knows it, and it makes no difference there */
    int64_t n;    /* elements of the list kinds */
    union {
        int64_t i;
        float f;
        mr_string s;
        const int64_t *ints;
        const float *floats;
        const mr_string *strings;
        mr_value **values;                  /* TENSOR, TENSORS, SPARSE_TENSOR(S): n of them (1 for the single kinds) */
        mr_graph **graphs;                  /* GRAPH, GRAPHS */
        const struct mr_typed_shape *types; /* TYPE_PROTO(S) */
    };
} mr_attr;

/* What is declared of a value: its type and its shape. */
typedef struct mr_typed_shape {
    mr_type type;
    mr_shape shape;
} mr_typed_shape;

/* One named value of a graph. */
typedef struct mr_vinfo {
    const char *name;
    mr_typed_shape
        decl;         /* from inputs, outputs, value_info or the initializer; kind MR_NONE when nothing declares it */
    int producer;     /* position in the graph's nodes of the one that makes it, or -1 */
    int producer_out; /* which of its outputs */
    int outer;        /* id in the parent graph of the value that this one refers to, or -1 */
    bool is_input;    /* a formal input of the graph */
    bool is_output;
    mr_value *init; /* initializer (also the default of an input), or NULL */
} mr_vinfo;

struct mr_node {
    int index;        /* among the nodes of its graph, in the order of the file; unique within the graph */
    const char *name; /* "" when the file gives none */
    const char *op_type;
    const char *domain; /* "" is ai.onnx */
    const char *overload;
    int opset;               /* version of the domain that is imported where the node stands; 0: not imported */
    const mr_schema *schema; /* NULL: unknown operator */
    const mr_op *op;         /* what minirt does, NULL when it does nothing */
    void *params;            /* filled by op->read */
    int *in, *out;           /* value ids in the node's graph; -1: absent */
    int n_in, n_out;
    mr_attr *attrs;
    int n_attrs;
    mr_graph **subgraphs; /* all graphs of its attributes, in the order of the schema's attributes */
    int n_subgraphs;
    mr_graph *graph;
    const mr_node *origin;   /* the node of the file that this one came from, NULL: itself */
    const char *origin_path; /* for nodes from function bodies: "Outer/Inner", else NULL */
    const mr_node **origins; /* of a node that the rewriter made: those of the graph before that it stands for */
    int n_origins;
    const void *fused; /* what an operator of the rewriter's own knows of itself */
    mr_error refusal;  /* what the schema stage found against it; status MR_OK: nothing */
};

struct mr_graph {
    const char *name;
    mr_graph_model *model;
    mr_graph *parent;     /* NULL for the main graph */
    const mr_node *owner; /* the control-flow node that holds it … */
    const char *attr;     /* … as this attribute */
    int id;               /* unique within the model: index into plan caches */
    mr_node **nodes;      /* in topological order */
    int n_nodes;
    mr_vinfo *values;
    int n_values, cap_values;
    int *inputs, *outputs; /* value ids */
    int n_inputs, n_outputs;
    int *captures; /* value ids with outer >= 0 */
    int n_captures;
};

typedef struct mr_opset {
    const char *domain;
    int64_t version;
} mr_opset;

struct mr_graph_model {
    mr_region region;
    const char *path, *dir; /* as given; NULL when from memory */
    int64_t ir_version, model_version;
    const char *producer_name, *producer_version, *domain, *doc;
    mr_opset *opsets;
    int n_opsets;
    const char **meta_keys, **meta_values;
    int n_meta;
    mr_graph *main;
    int n_graphs;         /* ids run from 0 to n_graphs - 1 */
    const char **symbols; /* names of symbolic dims: dim value -(2 + k) is symbols[k] */
    int n_symbols, cap_symbols;
    mr_error *invalid; /* further violations of ONNX, beyond those that stand at nodes */
    int n_invalid, cap_invalid;
    const struct mr_customs *customs; /* the operators that were registered when it was loaded, or NULL */
    struct mr_map **maps;             /* files mapped for weights */
    int n_maps;
    struct mr_owned *owned; /* values and errors that are freed with the model */
};

/* Loads from a file or from memory. MR_OK also for models with nodes that are unknown or malformed (they carry their
 * refusal); any other status: there is no graph to speak of. */
mr_status mr_graph_load(const char *path, const struct mr_customs *customs, mr_graph_model **out, mr_error *e);
mr_status mr_graph_load_memory(const void *bytes, size_t n, const char *dir, const struct mr_customs *customs,
                               mr_graph_model **out, mr_error *e);
void mr_graph_free(mr_graph_model *m);
/* Bytes of the tensors of the file: those read where they stand in it, or those that had to be copied. */
size_t mr_graph_weight_bytes(const mr_graph_model *m, bool mapped);

int mr_graph_find_value(const mr_graph *g, const char *name);     /* id or -1 */
int mr_graph_add_value(mr_graph *g, const char *name);            /* for inlining and rewriting */
mr_dim mr_model_symbol(mr_graph_model *m, const char *name);      /* the dim that stands for the name */
const char *mr_model_dim_name(const mr_graph_model *m, mr_dim d); /* NULL when d is no symbol */
const mr_node *mr_node_file(const mr_node *n);                    /* the node of the file: its origin, or itself */
/* The i-th node of the graph, as it was before it was rewritten, that n stands for, the one that it is named after
 * first; of any other node itself. NULL: there are no more. */
const mr_node *mr_node_of(const mr_node *n, int i);
/* "node 17 'conv1' (Conv-11)"; with the function path or the subgraph for inner nodes. buf is returned. */
const char *mr_node_where(const mr_node *n, char *buf, size_t size);
const char *mr_attr_kind_name(mr_attr_kind k);                   /* "FLOAT", "INTS" … */
const mr_attr *mr_node_attr(const mr_node *n, const char *name); /* as the file gives it; NULL when absent */
mr_status mr_model_invalid(mr_graph_model *m, mr_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* schema.c: the schema of an operator in an opset, of ONNX or (NULL: none) of customs; NULL when there is none. */
const mr_schema *mr_schema_find(const struct mr_customs *customs, const char *domain, const char *op, int opset);
/* Do the types of a node's inputs (kind MR_NONE: absent) fit its schema? */
mr_status mr_schema_types(const mr_node *n, const mr_type *in, int n_in, mr_error *e);
/* Every type of a set, in the order of the kinds; returns how many, at most cap are written. */
int mr_typeset_list(const mr_typeset *s, mr_type *out, int cap);
/* The type of output o as far as the schema fixes it. */
bool mr_schema_out_type(const mr_node *n, const mr_type *in, int n_in, int o, mr_type *out);
const mr_schema_attr *mr_schema_attr_find(const mr_schema *s, const char *name); /* NULL: none */
/* The attribute that stands for one that is not given; false when it has no default. */
bool mr_schema_default(mr_region *r, const mr_schema_attr *a, mr_attr *out);
/* Checks every node against its schema, finds its op and reads its attributes; what is found stands at the nodes. Nodes
 * that were checked before are left alone. mr_graph_load does it. */
void mr_schema_check(mr_graph_model *m);
void mr_schema_check_node(mr_node *n); /* with its subgraphs */

/* The body in ONNX's own operators that fits the node's opset, NULL when the schema has none. */
const mr_schema_body *mr_function_body(const mr_node *n);
/* Puts a function's body, a FunctionProto, in the place of a node of a graph; the nodes stay in topological order. n is
 * the origin of the new nodes, or its own origin is. */
mr_status mr_function_inline(mr_node *n, const void *bytes, size_t size, mr_error *e);

#endif

/* model.h: what the loader's files share. A load is one pass over the unpacked protobuf message, which is freed at its
 * end: names and attributes are copied into the model's region, weights are mapped or copied. */
#ifndef MR_MODEL_H
#define MR_MODEL_H

#include "graph.h"
#include "map.h"
#include "names.h"
#include "onnx.pb-c.h"
#include "wire.h"

/* Where the bytes of TensorProtos are. */
typedef struct mr_source {
    mr_graph_model *model; /* NULL: external data is refused */
    const mr_map *map;     /* may be borrowed from: lives as long as the model. NULL: data is copied */
    const uint8_t *bytes;  /* what raw_data refers to */
} mr_source;

/* model_tensor.c: values of protobuf messages that mr_wire_unpack made. what names the tensor when it has no name. */
mr_value *mr_tensor_load(const mr_source *s, const Onnx__TensorProto *p, const char *what, mr_error *e);
mr_value *mr_sparse_load(const mr_source *s, const Onnx__SparseTensorProto *p, const char *what, mr_error *e);
/* external.c: the mapped file, which the model keeps. */
bool mr_model_add_map(mr_graph_model *m, mr_map *map); /* false: out of memory */
const mr_map *mr_external_map(mr_graph_model *m, const char *tensor, const char *location, mr_error *e);

typedef struct mr_loader {
    mr_source source;
    mr_graph_model *model;
    mr_region scratch; /* for the time of the load */
    Onnx__FunctionProto **functions;
    int n_functions;
    mr_names function_ids; /* of "domain:name:overload" */
    int64_t n_nodes;       /* made so far: functions can multiply them without end */
    int depth;             /* of functions within functions */
    mr_error *e;           /* what ends the load: memory, limits */
} mr_loader;

/* A graph while it is built. */
typedef struct mr_build {
    mr_graph *graph;
    mr_names taken; /* all names of values, those of inlined functions too */
    int next_index; /* of inlined nodes */
} mr_build;

/* A function's body being put in the place of a node. */
typedef struct mr_body {
    const char *name; /* "my:Block" */
    const struct mr_body *around;
    const Onnx__FunctionProto *function;
    const Onnx__NodeProto *call; /* attributes that the body refers to: those of a node of the file … */
    struct mr_scope *call_scope; /* … which stands there */
    const mr_node *node;         /* … or, when call is NULL, of a node of the graph */
    const mr_node *origin;       /* the node of the file */
    const char *path, *prefix;   /* "Outer/Inner"; of the names of its values */
    mr_opset *opsets;
    int n_opsets;
} mr_body;

/* Where names are looked up: a graph, or a function's body within one. A name's id is -1 for an absent argument. */
typedef struct mr_scope {
    mr_names names;
    mr_names results; /* formal outputs of an inlined function: the caller's ids */
    mr_build *build;
    struct mr_scope *parent; /* of the graph around; NULL in the main graph and in function bodies */
    const mr_body *body;     /* NULL outside of functions */
    bool inlined;            /* the body itself, not a subgraph in it */
} mr_scope;

enum { MR_UNDEFINED_NAME = -2 };

/* Everything below returns false (NULL) when the load cannot go on; l->e says why. */

/* model_graph.c */
mr_graph *mr_graph_build(mr_loader *l, const Onnx__GraphProto *p, mr_scope *parent, const mr_node *owner,
                         const char *attr);
/* Nodes in two steps, since all outputs must have a name before the inputs are looked up. */
mr_node **mr_nodes_declare(mr_loader *l, mr_scope *s, Onnx__NodeProto *const *nodes, size_t n);
bool mr_nodes_build(mr_loader *l, mr_scope *s, Onnx__NodeProto *const *nodes, mr_node *const *made, size_t n);
bool mr_node_append(mr_loader *l, mr_node *n);
bool mr_name_value(mr_loader *l, mr_scope *s, const char *name, int id); /* id is what the scope calls name */
int mr_scope_find(mr_loader *l, mr_scope *s, const char *name); /* captures it from a graph around where needed */
int mr_value_new(mr_loader *l, mr_scope *s, const char *name);  /* a value with a fresh name, or -1 */
const char *mr_loader_string(mr_loader *l, const char *s);
bool mr_loader_memory(mr_loader *l); /* fails for lack of memory */

/* model_attr.c */
bool mr_attr_check(mr_node *n, const Onnx__NodeProto *p, size_t i); /* says what is wrong with the message */
bool mr_attrs_build(mr_loader *l, mr_scope *s, const Onnx__NodeProto *p, mr_node *n);
/* model_type.c: kind MR_NONE for what is not declared. what: of which value. */
mr_typed_shape mr_type_build(mr_loader *l, const Onnx__TypeProto *p, const char *what);

/* model_order.c: puts the nodes in topological order and notes which makes what. */
bool mr_graph_order(mr_loader *l, mr_graph *g);

/* model_function.c */
bool mr_functions_check(mr_loader *l);
const Onnx__FunctionProto *mr_function_of(const mr_loader *l, const Onnx__NodeProto *p); /* NULL: none */
bool mr_function_expand(mr_loader *l, mr_scope *s, const Onnx__NodeProto *p, const Onnx__FunctionProto *f,
                        mr_node *call);
/* "" for ai.onnx, else the domain. */
const char *mr_domain_of(const char *domain);

/* graph.c: a violation of ONNX at a node: stands there, or with the model's when the node has one already. */
void mr_node_invalid(mr_node *n, mr_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void mr_model_invalid_as(mr_graph_model *m, mr_error *why); /* takes why over */
/* The model frees them. False: out of memory (the value is released). */
bool mr_model_own_value(mr_graph_model *m, mr_value *v);
bool mr_model_own_error(mr_graph_model *m, mr_error *e);
/* sniff.c: what bytes that are no model look like, NULL when there is nothing to say. */
const char *mr_sniff(const uint8_t *bytes, size_t n);

#endif

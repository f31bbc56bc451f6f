/* What ONNX allows of an operator: the shape of the tables in ops/schema.inc, which tools/gen_schema.py writes. */

#ifndef MR_SCHEMA_TYPES_H
#define MR_SCHEMA_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The map types that occur in schemas, as bits of mr_typeset.map and .seq_map. map(K,tensor(V)) is map(K,V). */
typedef enum {
    MR_MAP_INT64_STRING,
    MR_MAP_INT64_FLOAT,
    MR_MAP_INT64_DOUBLE,
    MR_MAP_STRING_INT64,
    MR_MAP_STRING_FLOAT,
    MR_MAP_STRING_DOUBLE,
} mr_map_type;

/* A set of value types. In all but the maps, bit d stands for element type d of ONNX's TensorProto.DataType. */
typedef struct {
    uint32_t tensor, seq, opt, opt_seq, sparse;
    uint32_t map, seq_map;
} mr_typeset;

typedef enum { MR_PARAM_SINGLE, MR_PARAM_OPTIONAL, MR_PARAM_VARIADIC } mr_param_option;

/* One formal input or output. */
typedef struct {
    const char *name, *type; /* `type` is the type variable's name, or a concrete type such as "tensor(int64)" */
    int var;                 /* index in the schema's vars, -1 for a concrete type */
    mr_typeset types;
    mr_param_option option;
    bool homogeneous; /* variadic only: all arguments have the same type */
    int min_arity;    /* variadic only: the fewest arguments */
} mr_schema_param;

/* One type variable and what it may be bound to. */
typedef struct {
    const char *name;
    mr_typeset types;
} mr_schema_var;

/* One attribute. The default is in the field of its kind; lists and strings have n elements, n is 0 otherwise. */
typedef struct {
    const char *name;
    int kind; /* AttributeProto.AttributeType */
    bool required, has_default;
    int64_t i;
    float f;
    const char *s;
    const int64_t *ints;
    const float *floats;
    const char *const *strings;
    int n;
} mr_schema_attr;

/* A function body as data: a serialized FunctionProto written in the operators of `opset`, which it also imports. */
typedef struct {
    int opset;
    const unsigned char *data;
    size_t len;
} mr_schema_body;

/* One version of one operator. */
typedef struct {
    const char *name, *domain; /* the domain ai.onnx is "" */
    int since;
    bool deprecated;
    const char *successor;                /* of a deprecated operator: what took its place; NULL: no other one */
    int min_in, max_in, min_out, max_out; /* INT_MAX: no limit */
    const mr_schema_param *in, *out;
    int n_in, n_out;
    const mr_schema_attr *attrs;
    int n_attrs;
    const mr_schema_var *vars;
    int n_vars;
    const mr_schema_body *bodies; /* by opset, ascending */
    int n_bodies;
    bool context_body;      /* ONNX builds the body from types and attributes: no data to give */
    bool non_deterministic; /* values may come from chance, of the operator itself or of the subgraphs that it runs */
} mr_schema;

extern const mr_schema mr_schemas[]; /* sorted by domain, name, since */
extern const int mr_n_schemas;

/* A domain that ONNX defines, and the opset versions it has had. */
typedef struct {
    const char *domain;
    int min, max;
} mr_schema_domain;

extern const mr_schema_domain mr_schema_domains[];
extern const int mr_n_schema_domains;

/* A release of ONNX: the newest IR version and opsets (of ai.onnx and ai.onnx.ml) that it knows. Oldest first. */
typedef struct {
    const char *version;
    int ir, opset, opset_ml;
} mr_onnx_release;

extern const mr_onnx_release mr_onnx_releases[];
extern const int mr_n_onnx_releases;
extern const int mr_onnx_max_ir;

/* The newest opset version of a domain ("" is ai.onnx), 0 for a domain that ONNX does not define. */
int mr_opset_max(const char *domain);

#endif

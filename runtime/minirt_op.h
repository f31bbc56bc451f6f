/* minirt_op.h: custom operators, written against this header alone.
 *
 * An operator is data: what it is called, what it takes and gives, and functions. A set of operators is registered with
 * mr_env_register, or comes in a shared library that exports it as `mr_custom_ops_v1` (mr_env_load_plugin, --plugin):
 *
 *     const mr_custom_ops mr_custom_ops_v1 = {MR_ABI_VERSION, (const mr_custom_op *const[]){&my_op, NULL}};
 *
 * A library needs no symbol of minirt: all that an operator may ask is in the table that comes with a call. From then
 * on the operator is one like ONNX's own: checked against its schema, inferred, chosen by type, folded, reported.
 *
 * Everything that is registered must live as long as the environment. Functions may be called from any thread, on
 * several calls at once: they keep no state of their own. examples/custom_op is a whole plugin. */
#ifndef MINIRT_OP_H
#define MINIRT_OP_H

#include "minirt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mr_custom_option { MR_CUSTOM_SINGLE, MR_CUSTOM_OPTIONAL, MR_CUSTOM_VARIADIC } mr_custom_option;

/* A formal input or output. type: "tensor(float)", or the name of a constraint. */
typedef struct mr_custom_param {
    const char *name, *type;
    mr_custom_option option;
    int min_arity; /* of a variadic one */
} mr_custom_param;

/* A type variable: within a node, all that has it is of one type. */
typedef struct mr_custom_constraint {
    const char *name;
    const char *const *types; /* "tensor(float)" …, then NULL */
} mr_custom_constraint;

/* With the numbers of ONNX's AttributeProto.AttributeType. */
typedef enum mr_custom_kind {
    MR_CUSTOM_FLOAT = 1,
    MR_CUSTOM_INT = 2,
    MR_CUSTOM_STRING = 3,
    MR_CUSTOM_TENSOR = 4, /* has no default */
    MR_CUSTOM_FLOATS = 6,
    MR_CUSTOM_INTS = 7,
    MR_CUSTOM_STRINGS = 8
} mr_custom_kind;

typedef struct mr_custom_attr {
    const char *name;
    mr_custom_kind kind;
    int required, has_default; /* neither: it may be absent. The default is in the field of its kind: */
    int64_t i;
    float f;
    const char *s;
    const int64_t *ints;
    const float *floats;
    const char *const *strings;
    int n; /* elements of the lists */
} mr_custom_attr;

typedef struct mr_custom_call mr_custom_call;

/* What computes the operator, for these element types of its inputs; MR_UNDEFINED: any. The first that fits runs. */
typedef struct mr_custom_kernel {
    mr_status (*run)(mr_custom_call *c);
    mr_dtype types[8];
} mr_custom_kernel;

/* Each list ends with an entry of zeros; NULL: none. */
typedef struct mr_custom_op {
    const char *domain, *name;
    int since_version; /* of the domain's opset: holds until the next one that is registered */
    const mr_custom_param *inputs, *outputs;
    const mr_custom_constraint *constraints;
    const mr_custom_attr *attrs;
    /* Sets type and shape of each output. Called while the model is looked at, when dims may be unknown and most values
     * are; and again before the kernel when the shapes hang on values: then with everything. */
    mr_status (*infer)(mr_custom_call *c);
    const mr_custom_kernel *kernels;
    int random; /* 1: another result each time, so that it is never computed beforehand */
} mr_custom_op;

typedef struct mr_custom_ops {
    int abi; /* MR_ABI_VERSION */
    const mr_custom_op *const *ops;
} mr_custom_ops;

/* A dim below 0 is not known yet. It may be handed on to an output: there it's the same unknown. */
typedef struct mr_custom_tensor {
    mr_dtype dtype;
    int rank;            /* -1: not known yet */
    const int64_t *dims; /* of the call */
    void *data; /* row-major; of inputs only to be read. NULL: not known yet, or strings. Types under a byte: one a byte
                 */
} mr_custom_tensor;

/* What infer and run may ask. Strings that are returned live as long as the model, or the call. */
typedef struct mr_custom_api {
    int (*input_count)(const mr_custom_call *c);
    int (*output_count)(const mr_custom_call *c);
    int (*input)(const mr_custom_call *c, int i, mr_custom_tensor *t);  /* 0: absent */
    int (*output)(const mr_custom_call *c, int o, mr_custom_tensor *t); /* 0: not wanted; with data in run */
    mr_status (*set_output)(mr_custom_call *c, int o, mr_dtype dtype, int rank, const int64_t *dims); /* in infer */
    const char *(*input_string)(const mr_custom_call *c, int i, int64_t k, size_t *len);              /* no final 0 */
    mr_status (*put_string)(mr_custom_call *c, int o, int64_t k, const char *s, size_t len); /* a copy, in run */
    /* The attribute as given, else its default. 0 (NULL): neither, or of another kind. */
    int (*attr_int)(const mr_custom_call *c, const char *name, int64_t *value);
    int (*attr_float)(const mr_custom_call *c, const char *name, float *value);
    const char *(*attr_string)(const mr_custom_call *c, const char *name, size_t *len);
    const int64_t *(*attr_ints)(const mr_custom_call *c, const char *name, int64_t *n);
    const float *(*attr_floats)(const mr_custom_call *c, const char *name, int64_t *n);
    const char *(*attr_strings)(const mr_custom_call *c, const char *name, int64_t k, size_t *len); /* element k */
    int (*attr_tensor)(const mr_custom_call *c, const char *name, mr_custom_tensor *t);
    /* Says why: the text stands in the error, which names the node. Returns what the function should return. */
    mr_status (*fail)(mr_custom_call *c, const char *fmt, ...);
    /* fn for disjoint ranges that cover [0, n), on the threads of the run. */
    void (*parallel_for)(mr_custom_call *c, int64_t n, int64_t grain, void (*fn)(void *arg, int64_t begin, int64_t end),
                         void *arg);
} mr_custom_api;

struct mr_custom_call {
    const mr_custom_api *api;
};

/* All of the set or, when one is refused, none. Models that are loaded from then on have them. A model-local function
 * of the same name comes before. */
mr_status mr_env_register(mr_env *env, const mr_custom_ops *ops, mr_error *e);
mr_status mr_env_load_plugin(mr_env *env, const char *path, mr_error *e);

#ifdef __cplusplus
}
#endif

#endif

/* op.h: what an operator is to the engine: a row of function pointers.
 *
 * ops/ declares them, one family a file; the engine finds them through mr_op_find and knows none by name. What minirt
 * supports is exactly what these pointers and the slots of the kernel tables say; there's no other list.
 *
 * One struct, mr_call, is what every function of a row gets. It grows along the pipeline:
 *   have       types only (shapes are unknown, no values): which slot computes this? NULL: not with these types
 *   infer      types, shapes (dims may be unknown or symbols), values where known: fills type and shape of the outputs
 *   conds      like infer, outputs inferred
 *   count      every input's value; for rows whose output sizes hang on values: completes out[i].shape
 *   scratch    shapes are concrete: bytes of scratch that run wants
 *   run        everything; fills out[i].t->data (or calls mr_call_set_value)
 */
#ifndef MR_OP_H
#define MR_OP_H

#include "graph.h"
#include "threads.h"

typedef enum mr_device_kind { MR_CPU = 0, MR_CUDA = 1, MR_N_DEVICES } mr_device_kind;

typedef void (*mr_fn)(void); /* a slot; the row's run casts it to its family's type */

/* One input or output of a node. */
typedef struct mr_arg {
    mr_type type;   /* kind MR_NONE: absent (or, before it is inferred, unknown) */
    mr_shape shape; /* of tensors; of the dense shape for sparse ones */
    mr_tensor *t;   /* tensors: the value. While inferring NULL unless it is known; while running never NULL */
    mr_value *v;    /* while running: the value of everything that is not a tensor */
    mr_dim *elems;  /* while inferring: elements of an integer tensor of rank 0 or 1, some of them symbols or unknown;
                       NULL when nothing is known or when t has it all */
} mr_arg;

typedef struct mr_call {
    const mr_node *node;
    const void *params;
    int n_in, n_out; /* as the node has them; trailing absent ones are dropped */
    mr_arg *in, *out;
    mr_fn fn;                       /* what have() returned */
    const struct mr_cpu_fns *cpu;   /* the kernels of this mode */
    const struct mr_cuda_fns *cuda; /* of the device, for MR_CUDA rows */
    void *stream;                   /* likewise */
    mr_pool *pool;
    void *scratch; /* as many bytes as scratch() asked for, 64-byte aligned */
    void **packed; /* packed[i]: input i as the row's pack made it, or NULL */
    void *state;   /* what count leaves for run, of mr_call_alloc */
    mr_error *error;
    struct mr_exec *exec; /* the engine's */
} mr_call;

/* A condition of a row. The text is the expression that is evaluated, so that a refusal shows what does not hold.
 * needs says what it reads: MR_NEEDS_SHAPE(i): the rank and dims of input i, MR_NEEDS_VALUE(i): its value. When one of
 * those is not known yet the answer is "depends on …". */
typedef struct mr_cond {
    const char *text;
    bool (*test)(const mr_call *c, const void *params);
    uint64_t needs;
    /* writes "mode = cubic, antialias = 1" for the report; may be NULL */
    void (*show)(const mr_call *c, const void *params, char *buf, size_t size);
} mr_cond;
#define MR_NEEDS_RANK(i)  (UINT64_C(1) << (i))
#define MR_NEEDS_SHAPE(i) (UINT64_C(1) << (16 + (i)))
#define MR_NEEDS_VALUE(i) (UINT64_C(1) << (32 + (i)))

/* MR_COND(rank_3_to_5, pool_params, MR_NEEDS_RANK(0), c->in[0].shape.rank >= 3 && c->in[0].shape.rank <= 5);
 * inside the expression: c, the call, and p, the parameters. */
#define MR_COND(NAME, PARAMS, NEEDS, EXPR)                                                                             \
    static bool NAME##_test(const mr_call *c, const void *params_)                                                     \
    {                                                                                                                  \
        const PARAMS *p = params_;                                                                                     \
        (void)c, (void)p;                                                                                              \
        return EXPR;                                                                                                   \
    }                                                                                                                  \
    static const mr_cond NAME = {#EXPR, NAME##_test, NEEDS, NULL}
#define MR_WHEN(...) ((const mr_cond *const[]){__VA_ARGS__, NULL})

struct mr_expansion;

/* One way to compute an operator on a device. Rows of a device run from special to general; the first match wins. */
typedef struct mr_impl {
    const char *name; /* as profiles print it */
    mr_device_kind dev;
    mr_fn (*have)(const mr_call *c);
    const mr_cond *const *conds; /* NULL: none */
    mr_status (*run)(mr_call *c);
    mr_status (*count)(mr_call *c);      /* NULL: infer gives all shapes once the inputs' values are known */
    size_t (*scratch)(const mr_call *c); /* NULL: none */
    uint32_t inplace;                    /* bit i: output 0 may be computed over input i (same bytes, same shape) */
    uint32_t host_in;                    /* MR_CUDA rows: inputs that are read on the host (shapes, axes …) */
    uint32_t pack_in;                    /* inputs that are packed when they're constant */
    size_t (*pack_size)(const mr_call *c, int i); /* 0: not in this case */
    void (*pack)(const mr_call *c, int i, void *dst);
    /* A row for all devices, alone and without have: the operator becomes other nodes when the model is loaded. */
    void (*expand)(struct mr_expansion *x);
    /* The slot is an mr_elementwise_fn of the first *n inputs (1 or 2), all of the output's type and broadcast to it,
     * with the parameters that are given; they live as long as the call's region. NULL: not so, or no such call. */
    const void *(*each)(mr_call *c, int *n);
} mr_impl;

typedef struct mr_reader mr_reader;

enum {
    MR_OP_VIEW = 1,        /* output 0 is input 0 under another shape or name: no kernel, no bytes moved */
    MR_OP_SHAPE_ONLY = 2,  /* reads its inputs' shapes, not their values */
    MR_OP_RANDOM = 4,      /* another result each time: never folded or merged */
    MR_OP_CONTROL = 8,     /* runs subgraphs */
    MR_OP_STATEFUL = 16,   /* never folded for another reason */
    MR_OP_FLOAT_CAST = 64, /* between floats it only changes the type: nothing, when both are carried in double */
    MR_OP_OWN_OUTPUT = 32  /* its rows make their output values themselves (mr_call_set_value), tensors too */
};

/* One behaviour of an operator, over a range of schema versions (since ≤ version of the schema ≤ until). */
struct mr_op {
    const char *domain, *name;
    int since, until;   /* until 0: the newest */
    size_t params_size; /* 0: no attributes */
    void (*read)(mr_reader *r, void *params);
    mr_status (*infer)(mr_call *c);
    const mr_impl *impls; /* ends with {0}; NULL for views and constants */
    unsigned flags;
    mr_value *(*constant)(const mr_node *n, const void *params); /* the value of a node without inputs, retained by the
                                                                    model; NULL: this op is no constant */
    /* Operations on numbers, of shapes that are known (of subgraphs, too); NAN when it hangs on values that aren't.
     * NULL: not counted. ops/flops.h has the rules. */
    double (*flops)(const mr_call *c);
};

const mr_op *mr_op_find(const char *domain, const char *name, int version); /* version: of the schema */
/* Walks all rows: i from 0 until NULL. */
const mr_op *mr_op_at(int i);

/* ---- attributes: each read marks the attribute; what is given and never read is refused (E0413) ---- */

/* The value in the node, else the schema's default, else the fallback. A value of the wrong kind was refused before. */
int64_t mr_read_int(mr_reader *r, const char *name, int64_t fallback);
float mr_read_float(mr_reader *r, const char *name, float fallback);
mr_string mr_read_string(mr_reader *r, const char *name, const char *fallback);
int mr_read_ints(mr_reader *r, const char *name, const int64_t **out);      /* count, -1 when absent */
int mr_read_floats(mr_reader *r, const char *name, const float **out);      /* count, -1 when absent */
int mr_read_strings(mr_reader *r, const char *name, const mr_string **out); /* count, -1 when absent */
const mr_tensor *mr_read_tensor(mr_reader *r, const char *name);            /* NULL when absent */
mr_value *mr_read_value(mr_reader *r, const char *name); /* tensor or sparse tensor; NULL when absent */
const mr_typed_shape *mr_read_type(mr_reader *r, const char *name);
bool mr_read_has(mr_reader *r, const char *name); /* given in the node; counts as read */
/* The index of a string attribute's value in names (NULL-terminated); a value outside is an error of the model:
 * "attribute mode \"foo\" unknown: one of …". */
int mr_read_enum(mr_reader *r, const char *name, const char *const *names, int fallback);
void mr_read_ignore(mr_reader *r, const char *name); /* irrelevant here, and known to be: accepted */
int mr_read_version(const mr_reader *r);             /* since_version of the node's schema */
const mr_node *mr_read_node(const mr_reader *r);
void *mr_read_alloc(mr_reader *r, size_t bytes); /* lives as long as the model, zeroed */
void mr_read_fail(mr_reader *r, mr_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* ---- while inferring and running ---- */

static inline bool mr_in_has(const mr_call *c, int i)
{
    return i < c->n_in && c->in[i].type.kind != MR_NONE;
}
static inline bool mr_out_wanted(const mr_call *c, int o)
{
    return o < c->n_out && c->node->out[o] >= 0;
}
static inline mr_dtype mr_in_dtype(const mr_call *c, int i)
{
    return mr_in_has(c, i) ? (mr_dtype)c->in[i].type.elem : MR_UNDEFINED;
}
static inline mr_dtype mr_out_dtype(const mr_call *c, int o)
{
    return o < c->n_out ? (mr_dtype)c->out[o].type.elem : MR_UNDEFINED;
}
const char *mr_in_name(const mr_call *c, int i); /* ONNX's name of the input: "X", "sizes" … */
int mr_call_version(const mr_call *c);           /* since_version of the schema */
bool mr_call_carried(const mr_call *c); /* --precision f64: no rounding to a narrower float, whatever asks for it */
/* Sets the error and returns its status. Names the input when i >= 0: "input 1 'W' float32[64,3,7]: …". */
mr_status mr_call_fail(mr_call *c, mr_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
mr_status mr_call_fail_in(mr_call *c, mr_code code, int i, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void mr_call_hint(mr_call *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Bytes that live until the end of inference (infer) or of the run (run: strings and the like). NULL: out of memory,
 * error set. */
void *mr_call_alloc(mr_call *c, size_t bytes);
/* For outputs that are not tensors, or whose tensor was made by the row itself: takes v over. */
mr_status mr_call_set_value(mr_call *c, int o, mr_value *v);
/* Runs subgraph k of the node with in[] as its formal inputs; out[] receives retained values. */
mr_status mr_call_subgraph(mr_call *c, int k, int n_in, mr_value *const *in, int n_out, mr_value **out);
/* Infers subgraph k from the types and shapes of its formal inputs; fills out. certain: it runs whenever the node does;
 * otherwise a conflict of shapes inside it counts only if it is reached. */
mr_status mr_infer_subgraph(mr_call *c, int k, bool certain, int n_in, const mr_typed_shape *in, int n_out,
                            mr_typed_shape *out);
/* Operations of one run of subgraph k, as it was inferred last; NAN when they are not known. For flops. */
double mr_subgraph_flops(const mr_call *c, int k);
/* A retained value of input i, to be put into a sequence or given to a subgraph (copies an arena tensor). */
mr_value *mr_call_take(mr_call *c, int i);
/* What inference says of output o, while the node runs; kind MR_NONE: nothing. */
mr_typed_shape mr_out_planned(const mr_call *c, int o);
uint64_t mr_call_entropy(mr_call *c); /* for random operators without a seed: another number each time */

#endif

/* engine.h: what the engine's files share: environment, loaded model, session, plan, frame.
 *
 *   mr_env       pool, kernel tables, plugins                  shared by everything
 *   mr_model     the graph, its packed weights                 shared by sessions, from any thread
 *   mr_session   a model with options and a cache of plans     one thread at a time
 *   mr_plan      one graph, typed, resolved and laid out for one signature of inputs; immutable once built
 *   mr_frame     the memory in which a plan runs
 */
#ifndef MR_ENGINE_H
#define MR_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>

#include "device.h"
#include "op.h"

typedef enum mr_mode { MR_MODE_FAST, MR_MODE_REFERENCE } mr_mode;
typedef enum mr_log_level { MR_LOG_ERROR, MR_LOG_WARNING, MR_LOG_INFO, MR_LOG_DEBUG } mr_log_level;

struct mr_env {
    struct mr_cpu_fns *cpu[2];  /* by mr_mode */
    struct mr_device *devices;  /* loaded plugins */
    struct mr_customs *customs; /* operators that were registered, the newest table */
    pthread_mutex_t lock;
    mr_pool *pool;
    int threads;
    void (*log)(void *arg, mr_log_level level, const char *text);
    void *log_arg;
    mr_log_level log_level;
    int refs;
};

typedef struct mr_packed {
    const mr_value *weight;
    const mr_impl *impl;
    uint64_t key; /* of the shapes that the packing depends on */
    void *data;
    size_t bytes;
    int readers;              /* plans that have a record of it; atomic */
    struct mr_packed *shared; /* of a plan's record: the model's own */
    struct mr_packed *next;
} mr_packed;

struct mr_model {
    mr_env *env;
    mr_graph_model *g;
    mr_packed *packed;
    size_t packed_bytes, weight_bytes; /* the latter: of weights that could not be mapped */
    pthread_mutex_t lock;
    int refs;
    struct mr_session *checked; /* of the refusals that the API was asked for last */
    struct mr_plan *verdict;
    const mr_node *invalid_node; /* the first one that breaks a rule of ONNX; NULL: none */
};

/* What stands against a node, or (node NULL) against the model. */
typedef enum mr_refusal_kind {
    MR_REFUSE_INVALID,
    MR_REFUSE_UNKNOWN_OP,
    MR_REFUSE_NOT_IN_OPSET,
    MR_REFUSE_UNSUPPORTED,
    MR_REFUSE_DEPENDS
} mr_refusal_kind;

typedef struct mr_refusal {
    mr_refusal_kind kind;
    mr_error error;      /* its strings belong to the refusal */
    const mr_node *node; /* as inlined; mr_node_file(node) is the file's */
    mr_type *in_types;   /* of the node's n_in inputs, kind MR_NONE where unknown */
    int n_in;
    char *shown;   /* "mode = cubic, antialias = 1", or NULL */
    int graph;     /* id of the graph it stands in */
    bool needed;   /* by an output that is wanted */
    bool declared; /* the file declares of an output what is not so */
} mr_refusal;

typedef struct mr_refusals {
    mr_refusal *at;
    int n, cap;
    int dependents; /* nodes that can't be judged because a refused node feeds them */
} mr_refusals;

mr_refusal_kind mr_refusal_kind_of(mr_code c);
bool mr_is_shape_conflict(mr_code c);                /* hangs on the extents that are given */
bool mr_is_conflict(mr_code c);                      /* likewise, or on values */
const char *mr_refusal_kind_name(mr_refusal_kind k); /* "invalid", "unknown_op" … as in JSON */
mr_refusal *mr_refusals_add(mr_refusals *r, const mr_error *e, const mr_call *c); /* copies; c may be NULL */
mr_refusal *mr_refusals_copy(mr_refusals *r, const mr_refusal *from);
void mr_refusals_free(mr_refusals *r);

typedef struct mr_event { /* after each step of a run, and once for each folded node when observing */
    const mr_node *node;
    const char *kernel;  /* NULL: a view, a constant or control flow */
    const mr_call *call; /* in and out as they were run; out[i].t or out[i].v */
    int64_t begin_ns, end_ns;
    int depth; /* 0 in the main graph */
} mr_event;

typedef struct mr_options {
    mr_mode mode;
    bool f64;                                           /* --precision f64 */
    int optimize;                                       /* 0, 1, 2 */
    const char *device;                                 /* NULL: cpu; cuda, cuda:1, cuda-host, cuda,cpu */
    size_t memory_limit;                                /* bytes; 0: none */
    double timeout_s;                                   /* 0: none */
    void (*observe)(void *arg, const mr_event *e);      /* NULL: nobody looks */
    bool (*keep)(void *observe_arg, const char *value); /* has it to be there to be looked at? NULL: none has */
    void *observe_arg;
    const atomic_bool *cancel; /* set from elsewhere to stop the run; may be NULL */
    /* The outputs of a node that can't run, taken from elsewhere, retained; NULL: none. */
    mr_value *(*assume)(void *arg, const char *name);
    void *assume_arg;
} mr_options;

/* Where a value of a plan lives. */
typedef enum mr_place {
    MR_AT_NONE,   /* absent, or never computed */
    MR_AT_CONST,  /* known: an initializer or folded */
    MR_AT_INPUT,  /* given by the caller: a formal input or a capture */
    MR_AT_ARENA,  /* at offset of the frame's arena */
    MR_AT_OUTPUT, /* in a buffer that the caller gets */
    MR_AT_OWNED   /* allocated while running: sizes hang on values, or it's no tensor */
} mr_place;

typedef struct mr_pvalue {
    mr_type type;      /* kind MR_NONE: not known (fed by a refused node) or absent */
    mr_dtype declared; /* under --precision f64: the element type that checks see; else MR_UNDEFINED */
    mr_shape shape;
    mr_value *known; /* retained */
    mr_dim *elems;
    mr_place place;
    mr_device_kind dev;
    int root; /* the value whose memory this one is; itself when it has its own */
    size_t offset, bytes;
    int first, last; /* steps; of a root over all that share it */
    int twin;        /* id of the same value in the other memory, host or device; -1: none */
} mr_pvalue;

typedef enum mr_step_kind {
    MR_STEP_RUN,     /* shapes known: call the kernel */
    MR_STEP_VIEW,    /* another name for the same bytes */
    MR_STEP_DYNAMIC, /* infer, resolve and allocate first */
    MR_STEP_COPY,    /* from one device's memory to another's */
    MR_STEP_CARRY    /* from a narrower float to the double that carries it */
} mr_step_kind;

typedef struct mr_step {
    mr_step_kind kind;
    bool view; /* output 0 is input 0 under another shape or name */
    const mr_node *node;
    const mr_impl *impl; /* NULL: dynamic, view, copy */
    mr_fn fn;
    const int *in, *out; /* ids of plan values; -1: absent */
    int n_in, n_out;
    size_t scratch;
    void **packed;
    int *drop; /* owned values whose last use this step is */
    int n_drop;
} mr_step;

typedef struct mr_key { /* what a plan was made for: one per formal input, then per capture */
    mr_type type;
    mr_shape shape;
    mr_value *known;   /* retained */
    mr_dtype declared; /* as in mr_pvalue */
} mr_key;

typedef struct mr_plan {
    struct mr_session *session;
    const mr_graph *graph;
    mr_graph *rewritten; /* graph, when it is not the file's */
    mr_key *keys;
    int n_keys;
    mr_pvalue *values; /* the graph's values by id, then copies */
    int n_values;
    mr_step *steps;
    int n_steps;
    const int *outputs; /* value ids asked for, in host memory */
    int n_outputs;
    const mr_node **folded; /* nodes that need no step since their outputs are known */
    int n_folded;
    size_t arena[MR_N_DEVICES], scratch /* on either */, output_bytes, packed_bytes;
    size_t const_bytes;   /* folded values */
    size_t carried_bytes; /* inputs in double, under --precision f64 */
    mr_packed *packed;    /* a record of each packed weight that the steps read */
    mr_refusals refusals;
    mr_region region, drafted; /* drafted: of the plan before rewriting, which holds the strings of folded values */
    struct mr_frame *frame;
    struct mr_plan *next;
} mr_plan;

typedef struct mr_slot {
    mr_tensor t;
    mr_value
        *v; /* owner of what t points into, or the value itself when it is no tensor; NULL: the arena or a caller */
} mr_slot;

typedef struct mr_frame {
    mr_plan *plan;
    mr_slot *slots;
    mr_call *calls; /* one a step, arguments pointing into slots */
    struct mr_exec *exec;
    char *arena[MR_N_DEVICES], *scratch[MR_N_DEVICES]; /* by memory */
    size_t bytes;                                      /* of both on the host */
    mr_region region;                                  /* strings and small things of the run */
} mr_frame;

/* Does what the file declares of values hold? A plan may raise doubts; check decides. */
typedef enum mr_declared { MR_DECLARED_UNSEEN, MR_DECLARED_DOUBTED, MR_DECLARED_HOLDS } mr_declared;

typedef struct mr_session {
    mr_model *model;
    mr_options options;
    const struct mr_cpu_fns *cpu;
    struct mr_device *device; /* NULL: CPU only */
    bool device_falls_back;   /* cuda,cpu */
    mr_plan **plans;          /* by graph id: a list, most recent first */
    int *outputs;             /* value ids of the main graph that are wanted */
    int n_outputs;
    struct mr_spares *spares;        /* buffers of outputs */
    size_t frame_bytes, const_bytes; /* host memory of the frames and of the folded values of all plans */
    size_t peak;                     /* host memory that the last run held at most */
    int64_t deadline_ns;
    bool lean;     /* nothing is packed: the limit leaves no room for it */
    bool checking; /* plans are made to be judged, not to run */
    mr_declared declared;
    /* By graph id: what check planned last for each subgraph, when somebody wants to know; else NULL. */
    mr_plan **judged;
} mr_session;

/* What a call knows of the engine around it. */
typedef struct mr_exec {
    mr_session *session;
    mr_plan *plan;
    mr_frame *frame; /* NULL while planning */
    mr_region *region;
    const mr_step *step;
    int depth;
} mr_exec;

mr_env *mr_env_new(int threads);
void mr_env_free(mr_env *e);
void mr_log(mr_env *e, mr_log_level level, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

mr_status mr_model_open(mr_env *env, const char *path, mr_model **out, mr_error *e);
mr_status mr_model_open_memory(mr_env *env, const void *bytes, size_t n, mr_model **out, mr_error *e);
mr_model *mr_model_ref(mr_model *m);
void mr_model_close(mr_model *m);
void mr_model_forget_verdict(mr_model *m); /* api.c */

/* outputs: value ids of the main graph; NULL: the graph's outputs. */
mr_status mr_session_new(mr_model *m, const mr_options *o, const int *outputs, int n_outputs, mr_session **out,
                         mr_error *e);
void mr_session_free(mr_session *s);
/* Runs. in: one per formal input of the main graph, NULL for those left to their initializer. out: n_outputs retained
 * values. inputs.c checks the inputs first. */
mr_status mr_session_run(mr_session *s, mr_value *const *in, mr_value **out, mr_error *e);
/* The plan for these inputs, with its refusals as an error when a needed node can't run. */
mr_status mr_session_prepare(mr_session *s, mr_value *const *in, mr_plan **out, mr_error *e);
/* Everything that stands against the model on this device, all nodes, from the declared shapes alone. shapes: declared
 * overrides (NULL: none), one per formal input. The plan belongs to the session. */
mr_plan *mr_session_check(mr_session *s, const mr_typed_shape *inputs, mr_error *e);

/* The same plan, and those of its subgraphs kept in s->judged: for counting what nodes do. */
mr_plan *mr_session_judge(mr_session *s, const mr_typed_shape *inputs, mr_error *e);
/* The plan that a run would follow: of these inputs or, when in is NULL, of the shapes that are declared or given, dims
 * unknown where they are. Refuses as mr_session_prepare does. */
mr_status mr_session_plan(mr_session *s, mr_value *const *in, const mr_typed_shape *shapes, mr_plan **out, mr_error *e);
/* Host memory that a run of the plan will hold at most, unless sizes hang on values. */
size_t mr_plan_bytes(const mr_plan *p);
size_t mr_session_held_bytes(const mr_session *s); /* host memory that it holds whatever runs */

/* pack.c */
void mr_packed_leave(mr_plan *p); /* the plan reads its packed weights no more */
void mr_packed_drop(mr_model *m); /* frees those that no plan reads */
/* flops.c: operations of a node of the plan's graph, NAN when they hang on what is not known. */
double mr_node_flops(mr_plan *p, const mr_node *n);
double mr_call_flops(const mr_call *c); /* of a call that was run; 0: not counted, or of subgraphs */

const char *mr_node_in_name(const mr_node *n, int i); /* ONNX's name of the input: "X", "sizes" …; "?" of no schema */

/* operands.c: "\n  A float32[2,3]  input x\n  B …": the inputs of the call and where their shapes come from; "" when no
 * plan knows. buf is returned. */
const char *mr_operands_string(const mr_call *c, char *buf, size_t size);

/* inputs.c: do the caller's values fit the model's declared inputs? */
mr_status mr_inputs_check(const mr_graph *g, mr_value *const *in, mr_error *e);

/* resolve.c: the row that runs the call on the device, its slot in c->fn. NULL: e has the refusal (E0420 when it hangs
 * on a value that isn't known yet). */
const mr_impl *mr_resolve(mr_call *c, mr_device_kind dev, mr_error *e, char *shown, size_t shown_size);

/* plan.c */
mr_plan *mr_plan_get(mr_session *s, const mr_graph *g, const mr_key *keys, int n_keys, mr_error *e);
mr_plan *mr_plan_build(mr_session *s, const mr_graph *g, const mr_key *keys, int n_keys, bool all_nodes, mr_error *e);
void mr_plan_free(mr_plan *p);
/* The keys of a subgraph's captures, as the call's plan (or, while it runs, its frame) has them. */
void mr_capture_keys(const mr_call *c, const mr_graph *sub, mr_key *keys);
/* layout.c: places, lifetimes and offsets of a plan whose steps are known. */
mr_status mr_plan_layout(mr_plan *p, mr_error *e);

/* peak.c: who holds a plan's memory when it is fullest. */
typedef struct mr_holder {
    const char *name;       /* of the value that has the bytes at that time … */
    const mr_pvalue *value; /* … and the value */
    size_t bytes;
} mr_holder;
/* The step at which the values that are alive in the arena are largest, -1: none has any; they, largest first, are
 * allocated. *n < 0: out of memory. */
int mr_plan_peak(const mr_plan *p, mr_holder **holders, int *n);
/* The refusal of a run that would hold so much, with what makes it so much. */
mr_status mr_plan_over_limit(const mr_plan *p, size_t peak, size_t limit, mr_error *e);
/* In the place of an error of memory: the account refused it; what the frame holds. */
void mr_frame_over_limit(const mr_frame *f, const struct mr_account *a, mr_error *e);
const char *mr_bytes_string(size_t bytes, char *buf, size_t size); /* "38.2 MiB"; buf is returned */

/* exec.c */
/* in: one per formal input, NULL for those left to their initializer; parent: the frame that captures refer to. */
mr_status mr_plan_run(mr_plan *p, mr_value *const *in, const mr_frame *parent, mr_value **out, int depth, mr_error *e);
void mr_frame_free(mr_frame *f);
/* Runs one call whose inputs are known, while planning; outs gets retained values. */
mr_status mr_fold(mr_call *c, const mr_impl *impl, mr_value **outs);
int64_t mr_now_ns(void);

#endif

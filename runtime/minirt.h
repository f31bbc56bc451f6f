/* minirt.h: the C API of minirt, the only header that its users include.
 *
 *     mr_error *e = mr_error_new();
 *     mr_env *env = mr_env_create(NULL, e);
 *     mr_model *model = mr_model_load(env, "model.onnx", e);
 *     mr_run *run = mr_run_create(model, NULL, e);
 *     mr_run_bind(run, "x", x, e);                       // x: mr_value_wrap(MR_F32, 2, (int64_t[]){1, 3}, data)
 *     if (mr_run_execute(run, e) != MR_OK) puts(mr_error_get(e).text);
 *     const mr_value *y = mr_run_output(run, 0);
 *
 * Ownership: what a function named …_create, …_load, …_new, mr_value_tensor or mr_value_wrap returns is the caller's,
 * to be given back to the …_destroy, …_free or …_release of its type. Everything else that a function returns is
 * borrowed: it lives as long as the object it was asked of, or until the next call that the function's text names. An
 * environment outlives its models by itself, and a model its runs: they hold references.
 *
 * Threads: an mr_env and an mr_model may be used from any number of threads at once; an mr_run, an mr_value that's
 * being written and an mr_error by one at a time. Runs of one model share its weights.
 *
 * Strings are UTF-8 and end with 0 unless a length is given. No function prints, exits or aborts. e may be NULL
 * wherever a function takes an mr_error. */
#ifndef MINIRT_H
#define MINIRT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MR_ABI_VERSION 1

/* What a call came to; also the exit status of the commands. */
typedef enum mr_status {
    MR_OK = 0,
    MR_EUSAGE = 2,       /* the call or command line is wrong */
    MR_EINVALID = 3,     /* not a valid model */
    MR_EUNSUPPORTED = 4, /* valid ONNX that minirt lacks */
    MR_EINPUT = 5,       /* the caller's tensors do not fit */
    MR_ENODE = 6,        /* a node failed while running */
    MR_EDEVICE = 7,      /* the device cannot be used */
    MR_EMEMORY = 8,      /* out of memory, or over a limit */
    MR_EIO = 9,          /* a file could not be read or written */
    MR_EINTERNAL = 70,   /* a bug in minirt */
    MR_ETIMEOUT = 75,
    MR_ECANCELLED = 130
} mr_status;

/* The element types, with the numbers of ONNX's TensorProto.DataType. */
typedef enum mr_dtype {
    MR_UNDEFINED = 0,
    MR_F32 = 1,
    MR_U8 = 2,
    MR_I8 = 3,
    MR_U16 = 4,
    MR_I16 = 5,
    MR_I32 = 6,
    MR_I64 = 7,
    MR_STRING = 8,
    MR_BOOL = 9,
    MR_F16 = 10,
    MR_F64 = 11,
    MR_U32 = 12,
    MR_U64 = 13,
    MR_C64 = 14,
    MR_C128 = 15,
    MR_BF16 = 16,
    MR_F8E4M3FN = 17,
    MR_F8E4M3FNUZ = 18,
    MR_F8E5M2 = 19,
    MR_F8E5M2FNUZ = 20,
    MR_U4 = 21,
    MR_I4 = 22,
    MR_F4E2M1 = 23,
    MR_F8E8M0 = 24,
    MR_U2 = 25,
    MR_I2 = 26,
    MR_F6E2M3 = 27,
    MR_F6E3M2 = 28,
    MR_N_DTYPES = 29 /* none: how many there are */
} mr_dtype;

typedef enum mr_kind {
    MR_NONE = 0, /* not known, or an absent input */
    MR_TENSOR,
    MR_SEQUENCE,     /* of tensors */
    MR_OPTIONAL,     /* of a tensor */
    MR_OPTIONAL_SEQ, /* of a sequence of tensors */
    MR_SPARSE,
    MR_MAP,    /* key → elem */
    MR_SEQ_MAP /* sequence of maps */
} mr_kind;

typedef struct mr_env mr_env;
typedef struct mr_model mr_model;
typedef struct mr_run mr_run;
typedef struct mr_value mr_value;
typedef struct mr_error mr_error;

int mr_abi_version(void); /* of the library that is loaded: must equal MR_ABI_VERSION */
const char *mr_version(void);

/* ---- errors ---- */

typedef struct mr_error_info {
    mr_status status;
    int code;          /* 521 of "E0521"; `minirt explain E0521` has the long text. 0: no error */
    int node;          /* index of the file's node, or -1 */
    const char *where; /* "node 17 'conv1' (Conv-11)", or NULL */
    const char *text;  /* NULL: no error */
    const char *hint;  /* NULL: none */
} mr_error_info;

mr_error *mr_error_new(void);
void mr_error_free(mr_error *e);
mr_error_info mr_error_get(const mr_error *e); /* the strings live until e is used again or freed */

/* ---- environments: threads and loaded devices, shared by models ---- */

typedef struct mr_env_options {
    int threads; /* 0: all that the machine, or the container's CPU quota, gives; 1024 at most */
    void (*log)(void *arg, int level, const char *text); /* level: 0 error … 3 debug. NULL: nothing is logged */
    void *log_arg;
    int log_level;
} mr_env_options;

mr_env *mr_env_create(const mr_env_options *o, mr_error *e); /* o NULL: the defaults */
void mr_env_destroy(mr_env *env);

/* ---- models ---- */

/* A model with nodes that cannot run does load: ask for its refusals. NULL: not a model, or no memory; e says. */
mr_model *mr_model_load(mr_env *env, const char *path, mr_error *e);
/* The bytes are not used after the call. External data is refused. */
mr_model *mr_model_load_memory(mr_env *env, const void *bytes, size_t size, mr_error *e);
void mr_model_destroy(mr_model *m);

typedef struct mr_io_info {
    const char *name;
    mr_kind kind;
    mr_dtype dtype;          /* of the tensor, or of what the sequence, optional or map holds */
    int rank;                /* -1: not declared */
    int64_t dims[16];        /* -1: symbolic or unknown */
    const char *symbols[16]; /* the name of a symbolic dim, else NULL */
    int optional;            /* an input that has a default */
} mr_io_info;

int mr_model_input_count(const mr_model *m);
int mr_model_output_count(const mr_model *m);
mr_status mr_model_input(const mr_model *m, int i, mr_io_info *info);
mr_status mr_model_output(const mr_model *m, int i, mr_io_info *info);
const char *mr_model_metadata(const mr_model *m, const char *key); /* NULL: not there. "producer_name" … too */

/* What cannot run on a device (NULL: cpu), all of it, from the model alone: the report of `minirt check`. */
int mr_model_refusal_count(mr_model *m, const char *device, mr_error *e); /* -1: e says */
typedef struct mr_refusal_info {
    mr_error_info error;
    const char *kind;               /* "invalid", "unknown_op", "not_in_opset", "unsupported", "depends_on_value" */
    const char *op, *domain, *name; /* of the node; NULL when it stands against the model as a whole */
    int version;
} mr_refusal_info;
/* i below the last count that was asked for; the strings live until a count is asked for again. */
mr_status mr_model_refusal(mr_model *m, int i, mr_refusal_info *info);

/* ---- runs ---- */

typedef struct mr_run_options {
    int reference;       /* 1: reference mode */
    int optimize;        /* 0, 1, 2; -1: the default */
    const char *device;  /* NULL: cpu */
    size_t memory_limit; /* bytes; 0: none */
    double timeout;      /* seconds; 0: none */
} mr_run_options;

mr_run *mr_run_create(mr_model *m, const mr_run_options *o, mr_error *e); /* o NULL: the defaults */
void mr_run_destroy(mr_run *r);
/* The value of an input in the next executions; it is retained. NULL: unbound again. */
mr_status mr_run_bind(mr_run *r, const char *input, mr_value *v, mr_error *e);
mr_status mr_run_execute(mr_run *r, mr_error *e);
/* Of the last execution; lives until the next one. NULL: none. */
const mr_value *mr_run_output(const mr_run *r, int i);
mr_value *mr_run_take_output(mr_run *r, int i); /* the caller's, to keep */
/* The same on a thread of its own: start returns at once, wait gives what execute would have. Between them the run has
 * no outputs, and refuses to be bound or executed. */
mr_status mr_run_start(mr_run *r, mr_error *e);
mr_status mr_run_wait(mr_run *r, mr_error *e);
void mr_run_cancel(mr_run *r); /* from any thread; the run ends with MR_ECANCELLED after its current node */

/* ---- values ---- */

/* A tensor of its own memory, zeroed. NULL: out of memory, or no such type, rank or dims. */
mr_value *mr_value_tensor(mr_dtype dtype, int rank, const int64_t *dims);
/* A tensor over the caller's memory, which must stay until the value is released. Row-major. NULL: as above, or
 * strings. */
mr_value *mr_value_wrap(mr_dtype dtype, int rank, const int64_t *dims, void *data);
mr_value *mr_value_retain(mr_value *v);
void mr_value_release(mr_value *v); /* NULL is allowed */

mr_kind mr_value_kind(const mr_value *v);
mr_dtype mr_value_dtype(const mr_value *v);
int mr_value_rank(const mr_value *v);
const int64_t *mr_value_dims(const mr_value *v);
int64_t mr_value_count(const mr_value *v);    /* elements of a tensor; items of a sequence, optional or map */
const void *mr_value_data(const mr_value *v); /* of a tensor that holds no strings; types under a byte: one a byte */
void *mr_value_data_mut(mr_value *v);
const char *mr_value_string(const mr_value *v, int64_t i, size_t *len); /* element i of a string tensor; no final 0 */
int mr_value_put_string(mr_value *v, int64_t i, const char *s, size_t len); /* 0: out of memory */
const mr_value *mr_value_item(const mr_value *v, int64_t i); /* of a sequence or optional; a map has keys, values */

#ifdef __cplusplus
}
#endif

#endif

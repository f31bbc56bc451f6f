/* ml_scale.c: Scaler, Normalizer, Binarizer, Imputer: features made ready for a model. */
#include "kernels/cpu/cpu.h"
#include "ops/ml.h"

#include <math.h>
#include <string.h>

/* One number for all features, or one for each of them. */
static mr_status want_each_feature(mr_call *c, const char *attribute, int64_t n)
{
    const mr_shape *x = &c->in[0].shape;
    mr_dim features = x->rank > 0 ? x->d[x->rank - 1] : x->rank == 0 ? 1 : MR_DIM_UNKNOWN;
    if (n == 1 || features < 0 || n == features) return MR_OK;
    return mr_call_fail_in(c, MR_E_SHAPES, 0, "has %lld features, attribute %s has %lld numbers", (long long)features,
                           attribute, (long long)n);
}

/* The last axis is that of the features; a scalar is one. */
static mr_feature_args args_of(mr_call *c)
{
    const mr_tensor *x = c->in[0].t;
    int64_t n = x->rank ? x->dims[x->rank - 1] : 1;
    return (mr_feature_args){.x = x->data,
                             .y = c->out[0].t->data,
                             .rows = n ? mr_tensor_count(x) / n : 0,
                             .n = n,
                             .to = c->out[0].t->dtype,
                             .pool = c->pool};
}

static mr_status run_with(mr_call *c, const mr_feature_args *a)
{
    ((mr_feature_fn *)c->fn)(a);
    return MR_OK;
}

/* ---- Scaler ---- */

typedef struct scaler_params {
    const double *offset, *scale;
    int64_t n_offset, n_scale;
} scaler_params;

/* Either may be absent: nothing is subtracted, or all is multiplied by 1. */
static void scaler_read(mr_reader *r, void *params)
{
    static const double zero = 0, one = 1;
    scaler_params *p = params;
    p->offset = mr_read_doubles(r, "offset", NULL, &p->n_offset);
    p->scale = mr_read_doubles(r, "scale", NULL, &p->n_scale);
    if (p->n_offset > 0 && p->n_scale > 0 && p->n_offset != p->n_scale)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attributes offset and scale have %lld and %lld numbers, expected as many",
                     (long long)p->n_offset, (long long)p->n_scale);
    if (p->n_offset <= 0) p->offset = &zero, p->n_offset = 1;
    if (p->n_scale <= 0) p->scale = &one, p->n_scale = 1;
}

static mr_status scaler_infer(mr_call *c)
{
    const scaler_params *p = c->params;
    mr_status st = want_each_feature(c, "offset", p->n_offset);
    if (!st) st = want_each_feature(c, "scale", p->n_scale);
    return st ? st : mr_out_tensor(c, 0, mr_score_dtype(c), &c->in[0].shape);
}

static mr_fn scaler_have(const mr_call *c)
{
    return MR_SLOT(c->cpu->feature.scaler, mr_in_dtype(c, 0));
}

static mr_status scaler_run(mr_call *c)
{
    const scaler_params *p = c->params;
    mr_feature_args a = args_of(c);
    a.offset = p->offset, a.offset_stride = p->n_offset > 1;
    a.scale = p->scale, a.scale_stride = p->n_scale > 1;
    return run_with(c, &a);
}

/* ---- Normalizer ---- */

typedef struct normalizer_params {
    mr_row_norm norm;
} normalizer_params;

/* MAX divides by the largest element, as ONNX says, not by the largest magnitude, as onnx.reference does. L1 and L2 are
 * the norms of these names: with the text's formulas taken literally, L1 would have no magnitudes and L2 no signs. */
static void normalizer_read(mr_reader *r, void *params)
{
    static const char *const norms[] = {"MAX", "L1", "L2", NULL};
    ((normalizer_params *)params)->norm = (mr_row_norm)mr_read_enum(r, "norm", norms, MR_NORM_MAX);
}

static mr_status normalizer_infer(mr_call *c)
{
    mr_status st = mr_want_rank(c, 0, 1, 2);
    return st ? st : mr_out_tensor(c, 0, mr_score_dtype(c), &c->in[0].shape);
}

static mr_fn normalizer_have(const mr_call *c)
{
    return MR_SLOT(c->cpu->feature.normalizer, mr_in_dtype(c, 0));
}

static mr_status normalizer_run(mr_call *c)
{
    mr_feature_args a = args_of(c);
    a.norm = ((const normalizer_params *)c->params)->norm;
    return run_with(c, &a);
}

/* ---- Binarizer ---- */

typedef struct binarizer_params {
    double threshold;
    int64_t bound;
} binarizer_params;

static void binarizer_read(mr_reader *r, void *params)
{
    binarizer_params *p = params;
    double t = p->threshold = (double)mr_read_float(r, "threshold", 0);
    p->bound = t >= -0x1p63 && t < 0x1p63 ? (int64_t)floor(t) : 0;
}

static mr_fn binarizer_have(const mr_call *c)
{
    return MR_SLOT(c->cpu->feature.binarizer, mr_in_dtype(c, 0));
}

static mr_status binarizer_run(mr_call *c)
{
    const binarizer_params *p = c->params;
    mr_feature_args a = args_of(c);
    a.threshold = p->threshold;
    a.bound = p->bound;
    return run_with(c, &a);
}

/* ---- Imputer ---- */

/* A number as an element of each type that it may be one of. */
typedef struct filling {
    const float *f32;
    double *f64;
    const int64_t *i64;
    int32_t *i32;
    int64_t n;
} filling;

typedef struct imputer_params {
    filling floats, ints; /* what is put in; n is 0 where the attribute is absent */
    bool wide;            /* one of ints is beyond int32 */
    float missing_f32;
    double missing_f64;
    int64_t missing_i64;
    int32_t missing_i32;
    bool missing_wide;
} imputer_params;

static void imputer_read(mr_reader *r, void *params)
{
    imputer_params *p = params;
    int n_floats = mr_read_floats(r, "imputed_value_floats", &p->floats.f32),
        n_ints = mr_read_ints(r, "imputed_value_int64s", &p->ints.i64);
    if ((n_floats > 0) == (n_ints > 0)) {
        mr_read_fail(r, MR_E_ATTRIBUTE, "expected one of the attributes imputed_value_floats and imputed_value_int64s");
        return;
    }
    p->floats.n = n_floats > 0 ? n_floats : 0;
    p->ints.n = n_ints > 0 ? n_ints : 0;
    p->floats.f64 = mr_read_alloc(r, sizeof(double) * (size_t)(p->floats.n + 1));
    p->ints.i32 = mr_read_alloc(r, sizeof(int32_t) * (size_t)(p->ints.n + 1));
    if (!p->floats.f64 || !p->ints.i32) {
        mr_read_fail(r, MR_E_MEMORY, "no memory for the imputed values");
        return;
    }
    for (int64_t i = 0; i < p->floats.n; i++) p->floats.f64[i] = (double)p->floats.f32[i];
    for (int64_t i = 0; i < p->ints.n; i++) {
        p->ints.i32[i] = (int32_t)p->ints.i64[i];
        p->wide |= p->ints.i32[i] != p->ints.i64[i];
    }
    p->missing_f64 = (double)(p->missing_f32 = mr_read_float(r, "replaced_value_float", 0));
    p->missing_i32 = (int32_t)(p->missing_i64 = mr_read_int(r, "replaced_value_int64", 0));
    p->missing_wide = p->missing_i32 != p->missing_i64;
}

static mr_status imputer_infer(mr_call *c)
{
    const imputer_params *p = c->params;
    mr_dtype d = mr_in_dtype(c, 0);
    bool floats = mr_dtype_in(d, MR_FLOATS);
    const char *name = floats ? "imputed_value_floats" : "imputed_value_int64s";
    int64_t n = floats ? p->floats.n : p->ints.n;
    bool read = p->floats.n || p->ints.n; /* else the node is refused, and only its types are asked for */
    if (n == 0 && read) return mr_call_fail_in(c, MR_E_ATTRIBUTE, 0, "needs the attribute %s", name);
    if (d == MR_I32 && p->wide)
        return mr_call_fail_in(c, MR_E_ATTRIBUTE, 0, "attribute %s has a number that int32 does not hold", name);
    mr_status st = want_each_feature(c, name, n);
    return st ? st : mr_out_like(c, 0, 0);
}

static mr_fn imputer_have(const mr_call *c)
{
    return MR_SLOT(c->cpu->feature.imputer, mr_in_dtype(c, 0));
}

static mr_status imputer_run(mr_call *c)
{
    const imputer_params *p = c->params;
    mr_feature_args a = args_of(c);
    switch (c->in[0].t->dtype) {
    case MR_F32:
        a.missing = &p->missing_f32, a.imputed = p->floats.f32;
        break;
    case MR_F64:
        a.missing = &p->missing_f64, a.imputed = p->floats.f64;
        break;
    case MR_I32:
        a.missing = &p->missing_i32, a.imputed = p->ints.i32;
        break;
    default:
        a.missing = &p->missing_i64, a.imputed = p->ints.i64;
    }
    a.imputed_stride = p->floats.n + p->ints.n > 1;
    if (c->in[0].t->dtype != MR_I32 || !p->missing_wide) return run_with(c, &a);
    memcpy(a.y, a.x, mr_tensor_bytes(c->in[0].t)); /* no int32 is the number that is missing */
    return MR_OK;
}

#define ROW(label)                                                                                                     \
    static const mr_impl label##_impls[] = {{.name = #label "_cpu", .have = label##_have, .run = label##_run}, {0}}
ROW(scaler);
ROW(normalizer);
ROW(binarizer);
ROW(imputer);

const mr_op mr_ops_ml_scale[] = {
    {MR_ML, "Scaler", 1, 0, sizeof(scaler_params), scaler_read, scaler_infer, scaler_impls, 0, NULL, NULL},
    {MR_ML, "Normalizer", 1, 0, sizeof(normalizer_params), normalizer_read, normalizer_infer, normalizer_impls, 0, NULL,
     NULL},
    {MR_ML, "Binarizer", 1, 0, sizeof(binarizer_params), binarizer_read, mr_infer_like, binarizer_impls, 0, NULL, NULL},
    {MR_ML, "Imputer", 1, 0, sizeof(imputer_params), imputer_read, imputer_infer, imputer_impls, 0, NULL, NULL},
    {0},
};

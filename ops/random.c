/* random.c: RandomNormal, RandomUniform, their …Like, Bernoulli and Multinomial. ONNX asks for no particular generator:
 * with a seed the numbers are those of the reference implementation. */
#include "kernels/cpu/convert.h"
#include "kernels/cpu/cpu.h"
#include "ops/rules.h"

typedef struct random_params {
    mr_dtype dtype; /* MR_UNDEFINED: that of the input */
    bool uniform, seeded;
    float seed;
    double scale, offset;
    mr_shape shape;  /* of those without an input */
    int64_t samples; /* Multinomial */
} random_params;

static void read_chance(mr_reader *r, random_params *p, mr_dtype dtype)
{
    p->dtype = (mr_dtype)mr_read_int(r, "dtype", dtype);
    p->seeded = mr_read_has(r, "seed");
    p->seed = mr_read_float(r, "seed", 0);
    if (p->seed != p->seed) p->seeded = false; /* NaN: as the reference implementation has it */
}

static void read_like_normal(mr_reader *r, void *params)
{
    random_params *p = params;
    read_chance(r, p, MR_UNDEFINED);
    p->scale = (double)mr_read_float(r, "scale", 1);
    p->offset = (double)mr_read_float(r, "mean", 0);
}

static void read_like_uniform(mr_reader *r, void *params)
{
    random_params *p = params;
    read_chance(r, p, MR_UNDEFINED);
    p->uniform = true;
    p->offset = (double)mr_read_float(r, "low", 0);
    p->scale = (double)mr_read_float(r, "high", 1) - p->offset;
}

static void read_shape(mr_reader *r, random_params *p)
{
    const int64_t *dims;
    int n = mr_read_ints(r, "shape", &dims);
    if (!p->dtype) p->dtype = MR_F32;
    if (n > MR_MAX_RANK)
        mr_read_fail(r, MR_E_RANK_LIMIT, "attribute shape has %d dimensions; minirt's tensors have at most %d", n,
                     MR_MAX_RANK);
    p->shape.rank = n < 0 || n > MR_MAX_RANK ? 0 : n;
    for (int i = 0; i < p->shape.rank; i++) {
        p->shape.d[i] = dims[i];
        if (dims[i] < 0)
            mr_read_fail(r, MR_E_ATTRIBUTE, "attribute shape has %lld at position %d", (long long)dims[i], i);
    }
}

static void read_normal(mr_reader *r, void *params)
{
    read_like_normal(r, params);
    read_shape(r, params);
}

static void read_uniform(mr_reader *r, void *params)
{
    read_like_uniform(r, params);
    read_shape(r, params);
}

static void read_bernoulli(mr_reader *r, void *params)
{
    read_chance(r, params, MR_UNDEFINED);
}

static void read_multinomial(mr_reader *r, void *params)
{
    random_params *p = params;
    read_chance(r, p, MR_I32);
    p->samples = mr_read_int(r, "sample_size", 1);
    if (p->samples < 0)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute sample_size = %lld is negative", (long long)p->samples);
}

/* ---- types and shapes ---- */

static mr_status infer_as(mr_call *c, const mr_shape *shape)
{
    const random_params *p = c->params;
    mr_dtype d = p->dtype ? p->dtype : mr_in_dtype(c, 0);
    if (mr_dtype_in(d, c->node->schema->out[0].types.tensor)) return mr_out_tensor(c, 0, d, shape);
    if (p->dtype)
        return mr_call_fail(c, MR_E_ATTRIBUTE, "attribute dtype = %s is not among the types of %s-%d", mr_dtype_name(d),
                            c->node->op_type, mr_call_version(c));
    return mr_call_fail_in(c, MR_E_ATTRIBUTE, 0,
                           "attribute dtype is absent, and %s is not among the output types of %s-%d", mr_dtype_name(d),
                           c->node->op_type, mr_call_version(c));
}

static mr_status infer(mr_call *c)
{
    return infer_as(c, &((const random_params *)c->params)->shape);
}

static mr_status infer_like(mr_call *c)
{
    return infer_as(c, &c->in[0].shape);
}

/* Each row is the logarithms of probabilities, up to a constant: -inf is a class that never comes. */
static mr_status want_logarithms(mr_call *c)
{
    const mr_tensor *x = c->in[0].t;
    for (int64_t row = 0; row < x->dims[0]; row++) {
        bool possible = false;
        for (int64_t i = row * x->dims[1]; i < (row + 1) * x->dims[1]; i++) {
            double v = mr_tensor_real(x, i);
            if (!(v <= 0x1.fffffffffffffp1023))
                return mr_call_fail_in(c, MR_E_NODE_VALUE, 0, "%g at element %lld is no logarithm of a probability", v,
                                       (long long)i);
            possible |= v >= -0x1.fffffffffffffp1023;
        }
        if (!possible)
            return mr_call_fail_in(c, MR_E_NODE_VALUE, 0, "row %lld has no class that can come", (long long)row);
    }
    return MR_OK;
}

static mr_status infer_multinomial(mr_call *c)
{
    mr_shape s = mr_shape_of_rank(2);
    mr_status st = mr_want_rank(c, 0, 2, 2);
    if (st) return st;
    s.d[1] = ((const random_params *)c->params)->samples;
    if (c->in[0].shape.rank < 0) return infer_as(c, &s);
    s.d[0] = c->in[0].shape.d[0];
    if (c->in[0].shape.d[1] == 0 && s.d[0] > 0) return mr_call_fail_in(c, MR_E_SHAPES, 0, "has no classes");
    if (c->in[0].t && (st = want_logarithms(c))) return st;
    return infer_as(c, &s);
}

/* ---- the generator ---- */

/* What of the seed is a fraction is cut off; of an integer beyond 32 bits the low ones count. */
static void start(mr_call *c, mr_random *r)
{
    const random_params *p = c->params;
    mr_random_seed(r, (uint32_t)(p->seeded ? mr_int_from_f64((double)p->seed) : mr_call_entropy(c)));
}

/* ---- RandomNormal, RandomUniform ---- */

static mr_fn have_draw(const mr_call *c)
{
    const random_params *p = c->params;
    return p->uniform ? MR_SLOT(c->cpu->draw.uniform, mr_out_dtype(c, 0))
                      : MR_SLOT(c->cpu->draw.normal, mr_out_dtype(c, 0));
}

static mr_status run_draw(mr_call *c)
{
    const random_params *p = c->params;
    mr_random random;
    start(c, &random);
    mr_draw_args a = {.y = c->out[0].t->data,
                      .n = mr_tensor_count(c->out[0].t),
                      .scale = p->scale,
                      .offset = p->offset,
                      .random = &random};
    ((void (*)(const mr_draw_args *))c->fn)(&a);
    return MR_OK;
}

/* ---- Bernoulli ---- */

static mr_fn have_bernoulli(const mr_call *c)
{
    return MR_SLOT(c->cpu->draw.bernoulli, mr_in_dtype(c, 0));
}

static mr_status want_probabilities(mr_call *c)
{
    const mr_tensor *x = c->in[0].t;
    for (int64_t i = 0, n = mr_tensor_count(x); i < n; i++) {
        double p = mr_tensor_real(x, i);
        if (!(p >= 0 && p <= 1))
            return mr_call_fail_in(c, MR_E_NODE_VALUE, 0, "probability %g at element %lld is outside [0,1]", p,
                                   (long long)i);
    }
    return MR_OK;
}

static mr_status infer_bernoulli(mr_call *c)
{
    mr_status st = c->in[0].t ? want_probabilities(c) : MR_OK;
    return st ? st : infer_like(c);
}

static mr_status run_bernoulli(mr_call *c)
{
    const mr_tensor *x = c->in[0].t;
    mr_status st = want_probabilities(c);
    if (st) return st;
    mr_random random;
    start(c, &random);
    mr_draw_bernoulli_args a = {.x = x->data,
                                .y = c->out[0].t->data,
                                .type = x->dtype,
                                .to = c->out[0].t->dtype,
                                .n = mr_tensor_count(x),
                                .random = &random};
    ((void (*)(const mr_draw_bernoulli_args *))c->fn)(&a);
    return MR_OK;
}

/* ---- Multinomial ---- */

static mr_fn have_multinomial(const mr_call *c)
{
    return MR_SLOT(c->cpu->draw.multinomial, mr_in_dtype(c, 0));
}

static size_t multinomial_scratch(const mr_call *c)
{
    return (size_t)c->in[0].shape.d[1] * sizeof(double);
}

static mr_status run_multinomial(mr_call *c)
{
    const random_params *p = c->params;
    const mr_tensor *x = c->in[0].t;
    mr_status st = want_logarithms(c);
    if (st) return st;
    mr_random random;
    start(c, &random);
    mr_draw_multinomial_args a = {.x = x->data,
                                  .y = c->out[0].t->data,
                                  .type = x->dtype,
                                  .to = c->out[0].t->dtype,
                                  .batch = x->dims[0],
                                  .classes = x->dims[1],
                                  .samples = p->samples,
                                  .sums = c->scratch,
                                  .random = &random};
    ((void (*)(const mr_draw_multinomial_args *))c->fn)(&a);
    return MR_OK;
}

/* ---- rows ---- */

static const mr_impl draw_impls[] = {{.name = "draw_cpu", .have = have_draw, .run = run_draw}, {0}};
static const mr_impl bernoulli_impls[] = {{.name = "bernoulli_cpu", .have = have_bernoulli, .run = run_bernoulli}, {0}};
static const mr_impl multinomial_impls[] = {
    {.name = "multinomial_cpu", .have = have_multinomial, .run = run_multinomial, .scratch = multinomial_scratch}, {0}};

#define RANDOM(NAME, SINCE, READ, INFER, IMPLS, FLAGS)                                                                 \
    {                                                                                                                  \
        .domain = "", .name = NAME, .since = SINCE, .params_size = sizeof(random_params), .read = READ,                \
        .infer = INFER, .impls = IMPLS, .flags = MR_OP_RANDOM | (FLAGS)                                                \
    }

const mr_op mr_ops_random[] = {
    RANDOM("RandomNormal", 1, read_normal, infer, draw_impls, 0),
    RANDOM("RandomNormalLike", 1, read_like_normal, infer_like, draw_impls, MR_OP_SHAPE_ONLY),
    RANDOM("RandomUniform", 1, read_uniform, infer, draw_impls, 0),
    RANDOM("RandomUniformLike", 1, read_like_uniform, infer_like, draw_impls, MR_OP_SHAPE_ONLY),
    RANDOM("Bernoulli", 15, read_bernoulli, infer_bernoulli, bernoulli_impls, 0),
    RANDOM("Multinomial", 7, read_multinomial, infer_multinomial, multinomial_impls, 0),
    {0},
};

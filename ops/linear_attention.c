/* linear_attention.c: LinearAttention. */
#include <math.h>

#include "kernels/cpu/cpu.h"
#include "ops/attention.h"

typedef struct linear_params {
    int64_t heads, kv_heads;
    double scale; /* 0: 1 / √k_size */
    bool gated, delta;
} linear_params;

enum { QUERY, KEY, VALUE, PAST, DECAY, BETA };
enum { OUTPUT, PRESENT };

static void linear_read(mr_reader *r, void *params)
{
    static const char *const rules[] = {"linear", "gated", "delta", "gated_delta", NULL};
    linear_params *p = params;
    p->heads = mr_read_int(r, "q_num_heads", 0);
    p->kv_heads = mr_read_int(r, "kv_num_heads", 0);
    p->scale = (double)mr_read_float(r, "scale", 0);
    int rule = mr_read_enum(r, "update_rule", rules, 3);
    p->gated = rule & 1;
    p->delta = rule >= 2;
    mr_read_ignore(r, "chunk_size"); /* a hint for the speed */
    if (p->heads < 1 || p->kv_heads < 1 || p->heads % p->kv_heads)
        mr_read_fail(r, MR_E_ATTRIBUTE, "q_num_heads = %lld must be a positive multiple of kv_num_heads = %lld",
                     (long long)p->heads, (long long)p->kv_heads);
}

typedef struct linear_dims {
    mr_dim batch, length, k_size, v_size;
} linear_dims;

/* [batch, length, heads · size] */
static mr_status want_tokens(mr_call *c, int i, linear_dims *d, int64_t heads, mr_dim *size, const char *what)
{
    if (!mr_in_has(c, i)) return MR_OK;
    mr_status st = mr_want_rank(c, i, 3, 3);
    if (!st) st = mr_attention_want(c, i, 0, &d->batch, "batch_size");
    if (!st) st = mr_attention_want(c, i, 1, &d->length, "the number of tokens");
    mr_dim last = !st && c->in[i].shape.rank == 3 ? c->in[i].shape.d[2] : MR_DIM_UNKNOWN;
    if (last < 0) return st;
    if (last % heads || (*size >= 0 && last / heads != *size))
        return mr_call_fail_in(c, MR_E_SHAPES, i, "dim 2 is %lld, not %lld heads of %s", (long long)last,
                               (long long)heads, what);
    *size = last / heads;
    return MR_OK;
}

/* Is an input given exactly when the rule has it? */
static mr_status want_given(mr_call *c, int i, bool wanted)
{
    if (mr_in_has(c, i) == wanted) return MR_OK;
    return mr_call_fail(c, MR_E_ARITY, "input %d '%s' is %s, which the update_rule %s", i, mr_in_name(c, i),
                        wanted ? "missing" : "given", wanted ? "needs" : "does not have");
}

static mr_status want_last(mr_call *c, int i, mr_dim a, mr_dim b)
{
    mr_dim last = mr_in_has(c, i) && c->in[i].shape.rank == 3 ? c->in[i].shape.d[2] : MR_DIM_UNKNOWN;
    if (last < 0 || a < 0 || b < 0 || last == a || last == b) return MR_OK;
    return mr_call_fail_in(c, MR_E_SHAPES, i, "dim 2 is %lld, must be %lld or %lld", (long long)last, (long long)a,
                           (long long)b);
}

static mr_status dims_of(mr_call *c, linear_dims *d)
{
    const linear_params *p = c->params;
    const mr_dim u = MR_DIM_UNKNOWN;
    *d = (linear_dims){u, u, u, u};
    mr_dim any = u, heads = p->kv_heads;
    mr_status st = want_given(c, DECAY, p->gated);
    if (!st) st = want_given(c, BETA, p->delta);
    if (!st) st = want_tokens(c, QUERY, d, p->heads, &d->k_size, "k_size");
    if (!st) st = want_tokens(c, KEY, d, p->kv_heads, &d->k_size, "k_size");
    if (!st) st = want_tokens(c, VALUE, d, p->kv_heads, &d->v_size, "v_size");
    if (!st) st = want_tokens(c, DECAY, d, 1, &any, "decay");
    any = u;
    if (!st) st = want_tokens(c, BETA, d, 1, &any, "beta");
    if (!st) st = want_last(c, DECAY, p->kv_heads, mr_dim_mul(p->kv_heads, d->k_size));
    if (!st) st = want_last(c, BETA, 1, p->kv_heads);
    if (st || !mr_in_has(c, PAST)) return st;
    if ((st = mr_want_rank(c, PAST, 4, 4)) || (st = mr_attention_want(c, PAST, 0, &d->batch, "batch_size")) ||
        (st = mr_attention_want(c, PAST, 1, &heads, "kv_num_heads")) ||
        (st = mr_attention_want(c, PAST, 2, &d->k_size, "the size of a key")))
        return st;
    return mr_attention_want(c, PAST, 3, &d->v_size, "the size of a value");
}

static mr_status linear_infer(mr_call *c)
{
    const linear_params *p = c->params;
    linear_dims d;
    mr_status st = dims_of(c, &d);
    if (st) return st;
    mr_shape y = {.rank = 3, .d = {d.batch, d.length, mr_dim_mul(d.v_size, p->heads)}};
    mr_shape state = {.rank = 4, .d = {d.batch, p->kv_heads, d.k_size, d.v_size}};
    mr_out_tensor(c, OUTPUT, mr_in_dtype(c, QUERY), &y);
    /* Without a past state nothing says the type of the present one: the query's. */
    return mr_out_tensor(c, PRESENT, mr_in_dtype(c, mr_in_has(c, PAST) ? PAST : QUERY), &state);
}

static const void *data_of(const mr_call *c, int i)
{
    return mr_in_has(c, i) ? c->in[i].t->data : NULL;
}

static mr_status linear_run(mr_call *c)
{
    const linear_params *p = c->params;
    linear_dims d;
    mr_status st = dims_of(c, &d);
    if (st) return st;
    mr_linear_attention_args a = {.q = data_of(c, QUERY), .k = data_of(c, KEY), .v = data_of(c, VALUE)};
    a.decay = data_of(c, DECAY), a.beta = data_of(c, BETA), a.past = data_of(c, PAST);
    a.y = c->out[OUTPUT].t ? c->out[OUTPUT].t->data : NULL;
    a.present = mr_out_wanted(c, PRESENT) ? c->out[PRESENT].t->data : NULL;
    a.state = mr_in_dtype(c, mr_in_has(c, PAST) ? PAST : QUERY);
    a.batch = d.batch, a.length = d.length, a.k_size = d.k_size, a.v_size = d.v_size;
    a.heads = p->heads, a.kv_heads = p->kv_heads;
    a.decay_per_key = p->gated && c->in[DECAY].t->dims[2] != p->kv_heads;
    a.beta_heads = p->delta ? c->in[BETA].t->dims[2] : 0;
    a.scale = p->scale != 0 ? p->scale : 1 / sqrt((double)d.k_size);
    a.pool = c->pool;
    a.scratch = c->scratch;
    ((void (*)(const mr_linear_attention_args *))c->fn)(&a);
    return MR_OK;
}

static size_t linear_scratch(const mr_call *c)
{
    const linear_params *p = c->params;
    linear_dims d;
    mr_call call = *c;
    if (dims_of(&call, &d)) return 0;
    return sizeof(double) * (size_t)(d.batch * p->kv_heads * (d.k_size + 1) * d.v_size);
}

static mr_fn have_linear(const mr_call *c)
{
    return MR_SLOT(c->cpu->attention.linear, mr_in_dtype(c, QUERY));
}

static const mr_impl linear_rows[] = {
    {.name = "linear_attention", .dev = MR_CPU, .have = have_linear, .run = linear_run, .scratch = linear_scratch},
    {0}};

const mr_op mr_ops_linear_attention[] = {
    {"", "LinearAttention", 27, 0, sizeof(linear_params), linear_read, linear_infer, linear_rows, 0, NULL, NULL},
    {0},
};

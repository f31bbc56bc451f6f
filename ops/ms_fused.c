/* ms_fused.c: com.microsoft's elementwise chains: BiasGelu, FastGelu, BiasAdd, and SkipLayerNormalization and
 * SkipSimplifiedLayerNormalization. Each sum is rounded to its type before it goes on, as its parts alone would be. */
#include "kernels/cpu/cpu.h"
#include "ops/elementwise.h"
#include "ops/flops.h"

static mr_elementwise_fn add_slot(const mr_call *c)
{
    return mr_in_dtype(c, 0) < MR_N_DTYPES ? c->cpu->binary.fn[MR_ADD][mr_in_dtype(c, 0)] : NULL;
}

/* y = x + input i, which broadcasts to y; y may be x. */
static void add(mr_call *c, const mr_tensor *x, int i, const mr_tensor *y)
{
    const mr_binary_params k = {0};
    mr_operand in[] = {mr_operand_broadcast(x, y), mr_operand_broadcast(c->in[i].t, y)};
    mr_elementwise j = mr_elementwise_to(y, in, 2, &k);
    mr_elementwise_run(&j, add_slot(c), c->pool);
}

/* Input i broadcasts to input 0, which stays as it is. */
static mr_status want_fits(mr_call *c, int i)
{
    mr_shape both = c->in[0].shape;
    if (!mr_in_has(c, i) || both.rank < 0 || c->in[i].shape.rank < 0) return MR_OK;
    mr_status st = mr_broadcast_into(c, &both, &c->in[i].shape, i);
    bool fits = both.rank == c->in[0].shape.rank;
    for (int d = 0; fits && d < both.rank; d++)
        fits = both.d[d] < 0 || c->in[0].shape.d[d] < 0 || both.d[d] == c->in[0].shape.d[d];
    return st || fits ? st : mr_call_fail_in(c, MR_E_SHAPES, i, "does not broadcast to %s", mr_in_name(c, 0));
}

static mr_status chain_infer(mr_call *c)
{
    mr_status st = MR_OK;
    for (int i = 1; !st && i < c->n_in; i++) st = want_fits(c, i);
    return st ? st : mr_infer_like(c);
}

/* ---- Gelu of a sum ---- */

static mr_status gelu_run(mr_call *c)
{
    const mr_tensor *x = c->in[0].t, *y = c->out[0].t;
    const mr_unary_params k = {0};
    if (mr_in_has(c, 1)) add(c, x, 1, y), x = y;
    mr_operand in = mr_operand_broadcast(x, y);
    mr_elementwise j = mr_elementwise_to(y, &in, 1, &k);
    mr_run_job(c, &j);
    return MR_OK;
}

static mr_fn have_gelu(const mr_call *c)
{
    return add_slot(c) ? (mr_fn)c->cpu->unary.fn[MR_GELU][mr_in_dtype(c, 0)] : NULL;
}

static mr_fn have_gelu_tanh(const mr_call *c)
{
    return add_slot(c) ? (mr_fn)c->cpu->unary.fn[MR_GELU_TANH][mr_in_dtype(c, 0)] : NULL;
}

static const mr_impl bias_gelu_rows[] = {{.name = "bias_gelu", .have = have_gelu, .run = gelu_run, .inplace = 1}, {0}};
static const mr_impl fast_gelu_rows[] = {{.name = "fast_gelu", .have = have_gelu_tanh, .run = gelu_run, .inplace = 1},
                                         {0}};

/* ---- BiasAdd: X + bias + skip ---- */

static mr_status bias_add_run(mr_call *c)
{
    add(c, c->in[0].t, 1, c->out[0].t);
    add(c, c->out[0].t, 2, c->out[0].t);
    return MR_OK;
}

static mr_fn have_add(const mr_call *c)
{
    return (mr_fn)add_slot(c);
}

static const mr_impl bias_add_rows[] = {{.name = "bias_add", .have = have_add, .run = bias_add_run, .inplace = 1}, {0}};

/* ---- the norm of input + skip + bias ---- */

typedef struct skip_params {
    double epsilon;
    bool center;
    int beta, bias; /* inputs; center alone has a beta */
} skip_params;

enum { INPUT, SKIP, GAMMA };
enum { OUTPUT, MEAN, INV_STD_VAR, SUM };

static void skip_read(mr_reader *r, void *params)
{
    *(skip_params *)params = (skip_params){mr_read_float(r, "epsilon", 1e-12f), true, 3, 4};
}

static void simplified_read(mr_reader *r, void *params)
{
    *(skip_params *)params = (skip_params){mr_read_float(r, "epsilon", 1e-12f), false, -1, 3};
}

static mr_status want_row(mr_call *c, int i)
{
    const mr_shape *x = &c->in[INPUT].shape, *s = &c->in[i].shape;
    if (!mr_in_has(c, i)) return MR_OK;
    mr_status st = mr_want_rank(c, i, 1, 1);
    if (st || x->rank < 1 || s->rank < 1) return st;
    return mr_want_dim(c, s->d[0], x->d[x->rank - 1], "the last dim of input", NULL);
}

static mr_status skip_infer(mr_call *c)
{
    mr_shape saved = c->in[INPUT].shape;
    mr_status st = mr_want_rank(c, INPUT, 2, 3);
    if (!st) st = want_fits(c, SKIP);
    for (int i = GAMMA; !st && i < c->n_in; i++) st = want_row(c, i);
    if (st) return st;
    if (saved.rank > 0) saved.d[saved.rank - 1] = 1;
    const mr_dtype moments = mr_call_carried(c) ? MR_F64 : MR_F32;
    mr_out_tensor(c, MEAN, moments, &saved);
    mr_out_tensor(c, INV_STD_VAR, moments, &saved);
    mr_out_tensor(c, SUM, mr_in_dtype(c, INPUT), &c->in[INPUT].shape);
    return mr_infer_like(c);
}

static mr_status skip_run(mr_call *c)
{
    const skip_params *p = c->params;
    const mr_tensor *x = c->in[INPUT].t, *y = c->out[OUTPUT].t;
    const mr_tensor *sum = mr_out_wanted(c, SUM) ? c->out[SUM].t : y;
    add(c, x, SKIP, sum);
    if (mr_in_has(c, p->bias)) add(c, sum, p->bias, sum);
    const int64_t cols = x->dims[x->rank - 1];
    mr_rows_args a = {.x = sum->data,
                      .y = y->data,
                      .scale = c->in[GAMMA].t->data,
                      .bias = p->center && mr_in_has(c, p->beta) ? c->in[p->beta].t->data : NULL,
                      .x_type = x->dtype,
                      .y_type = y->dtype,
                      .rows = cols ? mr_tensor_count(x) / cols : 0,
                      .cols = cols,
                      .period = 1,
                      .each = 1,
                      .epsilon = p->epsilon,
                      .center = p->center,
                      .pool = c->pool};
    if (mr_out_wanted(c, MEAN)) a.saved_mean = c->out[MEAN].t->data, a.saved_type = c->out[MEAN].t->dtype;
    if (mr_out_wanted(c, INV_STD_VAR))
        a.saved_inv = c->out[INV_STD_VAR].t->data, a.saved_type = c->out[INV_STD_VAR].t->dtype;
    ((void (*)(const mr_rows_args *))c->fn)(&a);
    return MR_OK;
}

static mr_fn have_skip(const mr_call *c)
{
    const mr_dtype d = mr_in_dtype(c, INPUT);
    return add_slot(c) ? (mr_fn)c->cpu->norm.rows[d][d] : NULL;
}

static const mr_impl skip_rows[] = {{.name = "skip_norm", .have = have_skip, .run = skip_run}, {0}};

static double fast_gelu_flops(const mr_call *c)
{
    return (1 + mr_in_has(c, 1)) * mr_flops_each(c);
}
static double sums_of(const mr_call *c)
{
    const skip_params *p = c->params;
    return (1 + mr_in_has(c, p->bias)) * mr_flops_each(c);
}
static double skip_flops(const mr_call *c)
{
    return mr_flops_standardize(c) + sums_of(c);
}
static double simplified_flops(const mr_call *c)
{
    return mr_flops_rms(c) + sums_of(c);
}

#define OP(name, size, read, infer, rows, flops)                                                                       \
    {                                                                                                                  \
        "com.microsoft", name, 1, 0, size, read, infer, rows, 0, NULL, flops                                           \
    }

const mr_op mr_ops_ms_fused[] = {
    OP("BiasGelu", 0, NULL, chain_infer, bias_gelu_rows, mr_flops_two_each),
    OP("FastGelu", 0, NULL, chain_infer, fast_gelu_rows, fast_gelu_flops),
    OP("BiasAdd", 0, NULL, chain_infer, bias_add_rows, mr_flops_two_each),
    OP("SkipLayerNormalization", sizeof(skip_params), skip_read, skip_infer, skip_rows, skip_flops),
    OP("SkipSimplifiedLayerNormalization", sizeof(skip_params), simplified_read, skip_infer, skip_rows,
       simplified_flops),
    {0},
};

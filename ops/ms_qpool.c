/* ms_qpool.c: com.microsoft's means of 8-bit codes: QLinearGlobalAveragePool, QLinearReduceMean, QLinearAveragePool.
 * Sums are exact in double, where the means are taken. */
#include "kernels/cpu/cpu.h"
#include "ops/boxes.h"
#include "ops/channels_last.h"
#include "ops/flops.h"
#include "ops/ms_quant.h"
#include "ops/pool.h"

enum { X, X_SCALE, X_ZERO, Y_SCALE, Y_ZERO };

static mr_status want_ones(mr_call *c)
{
    mr_status st = MR_OK;
    for (int i = X_SCALE; !st && i <= Y_ZERO; i++) st = mr_want_one(c, i);
    return st;
}

/* ---- codes to doubles, and back; scratch holds x, then y, then what the kernel between them wants ---- */

static size_t doubles(int64_t n)
{
    return ((size_t)n * sizeof(double) + 63) / 64 * 64;
}

static double *decode(const mr_call *c)
{
    const mr_tensor *x = c->in[X].t;
    const int64_t n = mr_tensor_count(x), cols = x->rank ? x->dims[x->rank - 1] : 1;
    double table[256], zero = mr_zero_of(c, X_ZERO);
    for (int code = 0; code < 256; code++) table[code] = mr_code_value(x->dtype, code);
    mr_decode_args d = {.x = x->data,
                        .y = c->scratch,
                        .table = table,
                        .zero = &zero,
                        .rows = cols ? n / cols : 0,
                        .cols = cols,
                        .pool = c->pool};
    c->cpu->intgemm.decode(&d);
    return c->scratch;
}

static void encode(const mr_call *c, const double *y)
{
    const mr_tensor *t = c->out[0].t;
    double scale = mr_scale_of(c, X_SCALE) / mr_scale_of(c, Y_SCALE), zero = mr_zero_of(c, Y_ZERO);
    mr_encode_args e = {
        .x = y, .scale = &scale, .zero = &zero, .y = t->data, .rows = 1, .cols = mr_tensor_count(t), .pool = c->pool};
    c->cpu->intgemm.encode[t->dtype](&e);
}

static int64_t count_of(const mr_shape *s)
{
    return mr_dims_product(s->d, 0, s->rank);
}

static size_t mean_scratch(const mr_call *c)
{
    return doubles(count_of(&c->in[X].shape)) + doubles(count_of(&c->out[0].shape));
}

/* gone[d]: the mean is over dimension d. */
static mr_status run_mean(mr_call *c, const bool *gone)
{
    mr_box kept, reduced;
    mr_tensor x = *c->in[X].t;
    x.dtype = MR_F64;
    mr_reduce_boxes(&x, gone, &kept, &reduced);
    double *y = (double *)((char *)c->scratch + doubles(mr_tensor_count(&x)));
    mr_reduce_args a = {decode(c), y, &kept, &reduced, c->pool};
    ((void (*)(const mr_reduce_args *))c->fn)(&a);
    encode(c, y);
    return MR_OK;
}

static mr_fn have_mean(const mr_call *c)
{
    return c->cpu->intgemm.encode[mr_in_dtype(c, X)] ? (mr_fn)c->cpu->reduce.reduce[MR_REDUCE_MEAN][MR_F64] : NULL;
}

/* ---- QLinearGlobalAveragePool ---- */

static void global_read(mr_reader *r, void *channels_last)
{
    *(bool *)channels_last = mr_read_int(r, "channels_last", 0) != 0;
}

static int first_axis(const mr_call *c)
{
    return *(const bool *)c->params ? 1 : 2;
}

static mr_status global_infer(mr_call *c)
{
    mr_shape y = c->in[X].shape;
    mr_status st = mr_want_rank(c, X, 3, MR_MAX_RANK);
    for (int i = 0; i < y.rank - 2; i++) y.d[first_axis(c) + i] = 1;
    if (!st) st = want_ones(c);
    return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, X), &y);
}

static mr_status global_run(mr_call *c)
{
    bool gone[MR_MAX_RANK] = {false};
    for (int i = 0; i < c->in[X].t->rank - 2; i++) gone[first_axis(c) + i] = true;
    return run_mean(c, gone);
}

static const mr_impl global_rows[] = {
    {.name = "qlinear_global_average_pool", .have = have_mean, .run = global_run, .scratch = mean_scratch}, {0}};

/* ---- QLinearReduceMean ---- */

typedef struct mean_params {
    bool keepdims;
    const int64_t *axes;
    int n;
} mean_params;

static void mean_read(mr_reader *r, void *params)
{
    mean_params *p = params;
    p->keepdims = mr_read_int(r, "keepdims", 1);
    p->n = mr_read_ints(r, "axes", &p->axes);
}

static mr_status mean_infer(mr_call *c)
{
    const mean_params *p = c->params;
    const mr_shape *x = &c->in[X].shape;
    bool gone[MR_MAX_RANK];
    mr_status st = want_ones(c);
    mr_shape y = {.rank = 0};
    if (x->rank < 0)
        y = mr_shape_unknown();
    else if (!st)
        st = mr_want_axes(c, p->axes, p->n, x->rank, "attribute axes", gone);
    for (int d = 0; !st && d < x->rank; d++)
        if (!gone[d] || p->keepdims) y.d[y.rank++] = gone[d] ? 1 : x->d[d];
    return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, X), &y);
}

static mr_status mean_run(mr_call *c)
{
    const mean_params *p = c->params;
    bool gone[MR_MAX_RANK];
    mr_status st = mr_want_axes(c, p->axes, p->n, c->in[X].t->rank, "attribute axes", gone);
    return st ? st : run_mean(c, gone);
}

static const mr_impl mean_rows[] = {
    {.name = "qlinear_reduce_mean", .have = have_mean, .run = mean_run, .scratch = mean_scratch}, {0}};

/* ---- QLinearAveragePool ---- */

typedef struct average_params {
    mr_pool_params pool; /* first: pool's own functions read it */
    bool last;
} average_params;

static void average_read(mr_reader *r, void *params)
{
    mr_pool_read(r, params);
    ((average_params *)params)->last = mr_read_int(r, "channels_last", 0) != 0;
}

static bool last(const mr_call *c)
{
    return ((const average_params *)c->params)->last;
}

static mr_status average_infer(mr_call *c)
{
    mr_status st = want_ones(c);
    if (st) return st;
    return last(c) ? mr_channels_last_infer(c, 1 << X, mr_pool_infer) : mr_pool_infer(c);
}

static size_t first_scratch(const mr_call *c)
{
    mr_pool_args a = mr_pool_args_of(c);
    return mean_scratch(c) + (c->cpu->pool.scratch[MR_F64] ? c->cpu->pool.scratch[MR_F64](&a) : 0);
}

static mr_status first_run(mr_call *c)
{
    mr_pool_args a = mr_pool_args_of(c);
    double *y = (double *)((char *)c->scratch + doubles(mr_tensor_count(c->in[X].t)));
    a.x = decode(c), a.y = y, a.scratch = (char *)c->scratch + mean_scratch(c);
    ((mr_pool_fn *)c->fn)(&a);
    encode(c, y);
    return MR_OK;
}

static size_t average_scratch(const mr_call *c)
{
    return last(c) ? mr_channels_last_scratch(c, 1 << X, first_scratch) : first_scratch(c);
}
static mr_status average_run(mr_call *c)
{
    return last(c) ? mr_channels_last_run(c, 1 << X, first_run) : first_run(c);
}

static mr_fn have_average(const mr_call *c)
{
    return c->cpu->intgemm.encode[mr_in_dtype(c, X)] ? (mr_fn)c->cpu->pool.average[MR_F64] : NULL;
}

static const mr_impl average_rows[] = {
    {.name = "qlinear_average_pool", .have = have_average, .run = average_run, .scratch = average_scratch}, {0}};

const mr_op mr_ops_ms_qpool[] = {
    {MR_MS, "QLinearGlobalAveragePool", 1, 0, sizeof(bool), global_read, global_infer, global_rows, 0, NULL,
     mr_flops_over_input},
    {MR_MS, "QLinearReduceMean", 1, 0, sizeof(mean_params), mean_read, mean_infer, mean_rows, 0, NULL,
     mr_flops_over_input},
    {MR_MS, "QLinearAveragePool", 1, 0, sizeof(average_params), average_read, average_infer, average_rows, 0, NULL,
     mr_pool_flops},
    {0},
};

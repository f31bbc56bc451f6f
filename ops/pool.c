/* pool.c: AveragePool, MaxPool, LpPool, their global forms, and MaxUnpool. */
#include "kernels/cpu/pool.h"

#include <string.h>

#include "kernels/cpu/cpu.h"
#include "ops/cuda.h"
#include "ops/flops.h"
#include "ops/pool.h"
#include "ops/sizes.h"

static double read_p(mr_reader *r, int until)
{
    return mr_read_version(r) <= until ? (double)mr_read_float(r, "p", 2) : (double)mr_read_int(r, "p", 2);
}

void mr_pool_read(mr_reader *r, void *params)
{
    mr_pool_params *p = params;
    mr_window_read(r, &p->window);
    p->count_include_pad = mr_read_int(r, "count_include_pad", 0) != 0;
    p->column_major = mr_read_int(r, "storage_order", 0) != 0;
    if (p->window.kernel.n < 0) mr_read_fail(r, MR_E_ATTRIBUTE, "attribute kernel_shape is missing");
}

static void lp_read(mr_reader *r, void *params)
{
    mr_pool_read(r, params);
    ((mr_pool_params *)params)->p = read_p(r, 1);
}

static void global_lp_read(mr_reader *r, void *params)
{
    ((mr_pool_params *)params)->p = read_p(r, 1);
}

/* ---- windows ---- */

mr_status mr_pool_infer(mr_call *c)
{
    const mr_pool_params *p = c->params;
    const mr_shape *x = &c->in[0].shape;
    int axes = p->window.kernel.n;
    mr_status st;
    if ((st = mr_window_check(c, &p->window, x->rank >= 0 ? x->rank - 2 : axes)) ||
        (st = mr_want_rank(c, 0, 3, MR_MAX_RANK)))
        return st;
    mr_shape y = mr_shape_of_rank(axes + 2);
    if (x->rank > 0) y.d[0] = x->d[0], y.d[1] = x->d[1];
    for (int i = 0; i < axes; i++) {
        mr_window_axis a;
        mr_dim in = x->rank > 0 ? x->d[2 + i] : MR_DIM_UNKNOWN;
        if ((st = mr_window_axis_of(c, &p->window, axes, i, in, p->window.kernel.at[i], &a))) return st;
        y.d[2 + i] = a.out;
    }
    mr_out_tensor(c, 1, MR_I64, &y);
    return mr_out_tensor(c, 0, mr_in_dtype(c, 0), &y);
}

mr_pool_args mr_pool_args_of(const mr_call *c)
{
    const mr_pool_params *p = c->params;
    const mr_shape *x = &c->in[0].shape;
    mr_pool_args a = {.planes = x->d[0] * x->d[1], .rank = x->rank - 2, .pool = c->pool, .scratch = c->scratch};
    a.x = c->in[0].t ? c->in[0].t->data : NULL;
    a.y = c->out[0].t ? c->out[0].t->data : NULL;
    a.indices = mr_out_wanted(c, 1) && c->out[1].t ? c->out[1].t->data : NULL;
    a.count_pads = p->count_include_pad;
    a.column_major = p->column_major;
    a.p = p->p;
    for (int i = 0; i < a.rank; i++) {
        mr_window_axis w;
        mr_window_axis_of((mr_call *)(uintptr_t)c, &p->window, a.rank, i, x->d[2 + i], p->window.kernel.at[i], &w);
        a.axis[i] = (mr_pool_axis){w.in, w.out, w.kernel, w.stride, w.dilation, w.pad, w.pad_end};
    }
    return a;
}

size_t mr_pool_scratch(const mr_call *c)
{
    mr_pool_args a = mr_pool_args_of(c);
    size_t (*size)(const mr_pool_args *) = c->cpu->pool.scratch[mr_in_dtype(c, 0)];
    return size ? size(&a) : 0;
}

mr_status mr_pool_run(mr_call *c)
{
    mr_pool_args a = mr_pool_args_of(c);
    ((mr_pool_fn *)c->fn)(&a);
    return MR_OK;
}

static mr_status pool_launch(mr_call *c)
{
    mr_pool_args a = mr_pool_args_of(c);
    return mr_launched(c, ((mr_cuda_pool_fn)c->fn)(c->stream, &a));
}

/* ---- global: one window over everything ---- */

static mr_status global_infer(mr_call *c)
{
    mr_shape y = c->in[0].shape;
    mr_status st = mr_want_rank(c, 0, 3, MR_MAX_RANK);
    for (int i = 2; i < y.rank; i++) y.d[i] = 1;
    return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, 0), &y);
}

static mr_status global_run(mr_call *c)
{
    const mr_tensor *x = c->in[0].t;
    int64_t plane = mr_dims_product(x->dims, 2, x->rank);
    mr_pool_args a = {
        .x = x->data, .y = c->out[0].t->data, .planes = x->dims[0] * x->dims[1], .rank = 1, .pool = c->pool};
    a.axis[0] = (mr_pool_axis){.in = plane, .out = 1, .taps = plane, .stride = 1, .dilation = 1};
    if (c->params) a.p = ((const mr_pool_params *)c->params)->p;
    ((mr_pool_fn *)c->fn)(&a);
    return MR_OK;
}

/* On the device: a reduction of each plane. */
static mr_status global_launch(mr_call *c)
{
    const mr_tensor *x = c->in[0].t;
    int64_t plane = mr_dims_product(x->dims, 2, x->rank);
    mr_box kept = {.rank = 1, .dims = {x->dims[0] * x->dims[1]}, .xs = {plane}, .ys = {1}};
    mr_box reduced = {.rank = 1, .dims = {plane}, .xs = {1}, .ys = {1}};
    mr_reduce_args a = {x->data, c->out[0].t->data, &kept, &reduced, c->pool};
    return mr_launched(c, ((mr_cuda_reduce_fn)c->fn)(c->stream, &a));
}

static mr_fn have_average(const mr_call *c)
{
    return MR_SLOT(c->cpu->pool.average, mr_in_dtype(c, 0));
}
mr_fn mr_max_pool_have(const mr_call *c)
{
    return MR_SLOT(c->cpu->pool.max, mr_in_dtype(c, 0));
}
static mr_fn have_lp(const mr_call *c)
{
    return MR_SLOT(c->cpu->pool.lp, mr_in_dtype(c, 0));
}

static mr_fn have_average_cuda(const mr_call *c)
{
    return MR_CUDA_SLOT(c, average_pool, mr_in_dtype(c, 0));
}
static mr_fn have_max_cuda(const mr_call *c)
{
    return MR_CUDA_SLOT(c, max_pool, mr_in_dtype(c, 0));
}
static mr_fn have_lp_cuda(const mr_call *c)
{
    return MR_CUDA_SLOT(c, lp_pool, mr_in_dtype(c, 0));
}
static mr_fn have_mean_cuda(const mr_call *c)
{
    return MR_CUDA_SLOT(c, reduce[MR_REDUCE_MEAN], mr_in_dtype(c, 0));
}
static mr_fn have_largest_cuda(const mr_call *c)
{
    return MR_CUDA_SLOT(c, reduce[MR_REDUCE_MAX], mr_in_dtype(c, 0));
}

MR_COND(rank_3_to_5, mr_pool_params, MR_NEEDS_RANK(0), c->in[0].shape.rank >= 3 && c->in[0].shape.rank <= 5);
#define ON_CUDA(NAME, HAVE)                                                                                            \
    {                                                                                                                  \
        .name = NAME, .dev = MR_CUDA, .have = HAVE, .conds = MR_WHEN(&rank_3_to_5), .run = pool_launch                 \
    }

static const mr_impl average_rows[] = {
    ON_CUDA("average_pool_cuda", have_average_cuda),
    {.name = "average_pool", .dev = MR_CPU, .have = have_average, .run = mr_pool_run, .scratch = mr_pool_scratch},
    {0}};
static const mr_impl max_rows[] = {
    ON_CUDA("max_pool_cuda", have_max_cuda),
    {.name = "max_pool", .dev = MR_CPU, .have = mr_max_pool_have, .run = mr_pool_run, .scratch = mr_pool_scratch},
    {0}};
static const mr_impl lp_rows[] = {ON_CUDA("lp_pool_cuda", have_lp_cuda),
                                  {.name = "lp_pool", .dev = MR_CPU, .have = have_lp, .run = mr_pool_run},
                                  {0}};
static const mr_impl global_average_rows[] = {
    {.name = "global_average_pool_cuda", .dev = MR_CUDA, .have = have_mean_cuda, .run = global_launch},
    {.name = "global_average_pool", .dev = MR_CPU, .have = have_average, .run = global_run},
    {0}};
static const mr_impl global_max_rows[] = {
    {.name = "global_max_pool_cuda", .dev = MR_CUDA, .have = have_largest_cuda, .run = global_launch},
    {.name = "global_max_pool", .dev = MR_CPU, .have = mr_max_pool_have, .run = global_run},
    {0}};
static const mr_impl global_lp_rows[] = {{.name = "global_lp_pool", .dev = MR_CPU, .have = have_lp, .run = global_run},
                                         {0}};

/* ---- MaxUnpool ---- */

enum { X, I, OUTPUT_SHAPE };

static void unpool_read(mr_reader *r, void *params)
{
    mr_window_read(r, &((mr_pool_params *)params)->window);
}

/* The shape that the indices count in: that of the MaxPool's input, as far as its attributes tell. */
static mr_status pooled_shape(mr_call *c, mr_shape *s)
{
    const mr_window *w = &((const mr_pool_params *)c->params)->window;
    int axes = w->kernel.n;
    *s = mr_shape_of_rank(axes + 2);
    if (c->in[X].shape.rank < 0) return MR_OK;
    s->d[0] = c->in[X].shape.d[0], s->d[1] = c->in[X].shape.d[1];
    for (int i = 0; i < axes; i++) {
        mr_dim d = c->in[X].shape.d[2 + i];
        if (d < 0) continue;
        s->d[2 + i] = (d - 1) * mr_ints_at(w->strides, i, 1) + w->kernel.at[i] - mr_ints_at(w->pads, i, 0) -
                      mr_ints_at(w->pads, axes + i, 0);
        if (s->d[2 + i] < 0)
            return mr_call_fail(c, MR_E_SHAPES, "spatial axis %d: the pads cut off more than the output has", i);
    }
    return MR_OK;
}

/* Each index must lie in the pooled shape, and its element in the output, as far as that is known. */
static mr_status want_indices(mr_call *c, const mr_shape *box, const mr_shape *y)
{
    const int64_t *indices = c->in[I].t->data, size = mr_dims_product(box->d, 0, box->rank);
    for (int64_t i = 0, n = mr_tensor_count(c->in[I].t); i < n; i++) {
        int64_t index = indices[i];
        if (index < 0 || index >= size)
            return mr_call_fail_in(c, MR_E_NODE_VALUE, I, "index %lld at position %lld out of range [0,%lld]",
                                   (long long)index, (long long)i, (long long)size - 1);
        for (int d = box->rank - 1; d >= 0; index /= box->d[d], d--)
            if (y->d[d] >= 0 && index % box->d[d] >= y->d[d])
                return mr_call_fail_in(
                    c, MR_E_NODE_VALUE, I, "index %lld at position %lld is %lld on axis %d, output_shape has %lld",
                    (long long)indices[i], (long long)i, (long long)(index % box->d[d]), d, (long long)y->d[d]);
    }
    return MR_OK;
}

static mr_status unpool_infer(mr_call *c)
{
    const mr_window *w = &((const mr_pool_params *)c->params)->window;
    mr_shape y, box;
    mr_status st;
    if ((st = mr_window_check(c, w, c->in[X].shape.rank >= 0 ? c->in[X].shape.rank - 2 : w->kernel.n)) ||
        (st = mr_want_rank(c, X, 3, MR_MAX_RANK)) || (st = pooled_shape(c, &box)))
        return st;
    if (c->in[I].shape.rank >= 0 && c->in[X].shape.rank >= 0 && !mr_shape_equal(&c->in[I].shape, &c->in[X].shape) &&
        mr_shape_known(&c->in[I].shape) && mr_shape_known(&c->in[X].shape))
        return mr_call_fail_in(c, MR_E_SHAPES, I, "must have the shape of X");
    y = box;
    if (mr_in_has(c, OUTPUT_SHAPE)) {
        int n;
        y = mr_shape_of_rank(box.rank);
        if ((st = mr_want_rank(c, OUTPUT_SHAPE, 0, 1)) || (st = mr_in_dims(c, OUTPUT_SHAPE, y.d, &n))) return st;
        if (n >= 0 && n != box.rank)
            return mr_call_fail_in(c, MR_E_SHAPES, OUTPUT_SHAPE, "has %d elements, must have %d", n, box.rank);
        for (int d = 0; c->in[OUTPUT_SHAPE].t && d < n; d++)
            if (y.d[d] < 0)
                return mr_call_fail_in(c, MR_E_NODE_VALUE, OUTPUT_SHAPE, "dimension %d is %lld", d, (long long)y.d[d]);
    }
    for (int d = 0; d < y.rank && mr_shape_some(&c->in[X].shape); d++)
        if (y.d[d] == 0) return mr_call_fail_in(c, MR_E_SHAPES, X, "has elements, the output has none");
    if (c->in[I].t && mr_shape_known(&box) && (st = want_indices(c, &box, &y))) return st;
    return mr_out_tensor(c, 0, mr_in_dtype(c, X), &y);
}

static mr_status unpool_run(mr_call *c)
{
    mr_shape box;
    const mr_tensor *y = c->out[0].t;
    mr_status st = pooled_shape(c, &box);
    if (st) return st;
    mr_unpool_args a = {.x = c->in[X].t->data,
                        .indices = c->in[I].t->data,
                        .y = y->data,
                        .n = mr_tensor_count(c->in[X].t),
                        .rank = y->rank};
    memcpy(a.box, box.d, sizeof a.box);
    memcpy(a.dims, y->dims, sizeof a.dims);
    if ((st = want_indices(c, &box, &c->out[0].shape))) return st;
    ((void (*)(const mr_unpool_args *))c->fn)(&a);
    return MR_OK;
}

static mr_fn have_unpool(const mr_call *c)
{
    return MR_SLOT_BY_SIZE(c->cpu->pool.unpool, mr_in_dtype(c, X));
}

static const mr_impl unpool_rows[] = {{.name = "max_unpool", .dev = MR_CPU, .have = have_unpool, .run = unpool_run},
                                      {0}};

double mr_pool_flops(const mr_call *c)
{
    const mr_pool_params *p = c->params;
    double taps = 1;
    for (int i = 0; i < p->window.kernel.n; i++) taps *= (double)p->window.kernel.at[i];
    return taps * mr_flops_each(c);
}
static double lp_flops(const mr_call *c)
{
    return 2 * mr_pool_flops(c);
}

#define POOL(op, from, READ, INFER, ROWS, FLOPS)                                                                       \
    {                                                                                                                  \
        .name = op, .domain = "", .since = from, .params_size = sizeof(mr_pool_params), .read = READ, .infer = INFER,  \
        .impls = ROWS, .flops = FLOPS                                                                                  \
    }

const mr_op mr_ops_pool[] = {
    POOL("AveragePool", 1, mr_pool_read, mr_pool_infer, average_rows, mr_pool_flops),
    POOL("MaxPool", 1, mr_pool_read, mr_pool_infer, max_rows, mr_pool_flops),
    POOL("LpPool", 1, lp_read, mr_pool_infer, lp_rows, lp_flops),
    {.name = "GlobalAveragePool",
     .domain = "",
     .since = 1,
     .infer = global_infer,
     .impls = global_average_rows,
     .flops = mr_flops_over_input},
    {.name = "GlobalMaxPool",
     .domain = "",
     .since = 1,
     .infer = global_infer,
     .impls = global_max_rows,
     .flops = mr_flops_over_input},
    POOL("GlobalLpPool", 1, global_lp_read, global_infer, global_lp_rows, mr_flops_two_over_input),
    POOL("MaxUnpool", 9, unpool_read, unpool_infer, unpool_rows, NULL),
    {0},
};

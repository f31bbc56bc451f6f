/* reduce.c: ReduceL1 … ReduceSumSquare. The axes are an attribute, later an input. */
#include "kernels/cpu/cpu.h"
#include "ops/boxes.h"
#include "ops/cuda.h"
#include "ops/flops.h"

#include <string.h>

typedef struct reduce_params {
    bool keepdims, noop_with_empty_axes, axes_in; /* axes_in: the axes are input 1 */
    int n_axes;                                   /* 0: none given */
    const int64_t *axes;
} reduce_params;

static void read_attribute_axes(mr_reader *r, void *params)
{
    reduce_params *p = params;
    p->keepdims = mr_read_int(r, "keepdims", 1);
    p->n_axes = mr_read_ints(r, "axes", &p->axes);
    if (p->n_axes < 0) p->n_axes = 0;
}

static void read_input_axes(mr_reader *r, void *params)
{
    reduce_params *p = params;
    p->keepdims = mr_read_int(r, "keepdims", 1);
    p->noop_with_empty_axes = mr_read_int(r, "noop_with_empty_axes", 0);
    p->axes_in = true;
}

/* The axes of this call: false when they aren't known yet; then n, when not -1, is how many. */
static bool axes_of(mr_call *c, int64_t *axes, int *n)
{
    const reduce_params *p = c->params;
    if (p->axes_in && mr_in_has(c, 1)) {
        if (mr_in_ints(c, 1, axes, n)) return true;
        const mr_shape *s = &c->in[1].shape;
        *n = s->rank == 0 ? 1 : s->rank == 1 && s->d[0] > 0 ? (int)s->d[0] : -1;
        return false;
    }
    *n = p->n_axes;
    for (int i = 0; i < *n && i < MR_MAX_RANK; i++) axes[i] = p->axes[i];
    return true;
}

/* gone[d]: dimension d is reduced. */
static mr_status gone_dims(mr_call *c, const int64_t *axes, int n, int rank, bool *gone)
{
    const reduce_params *p = c->params;
    mr_status st = mr_want_axes(c, axes, n, rank, p->axes_in ? "input axes" : "attribute axes", gone);
    for (int d = 0; d < rank && n == 0; d++) gone[d] = !p->noop_with_empty_axes;
    return st;
}

static mr_status infer_open_axes(mr_call *c, int n)
{
    const reduce_params *p = c->params;
    int rank = c->in[0].shape.rank;
    mr_shape s = mr_shape_unknown();
    if (p->keepdims || rank <= 0)
        s = mr_shape_of_rank(rank);
    else if (n >= 0 && n <= rank)
        s = mr_shape_of_rank(rank - n);
    return mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
}

static mr_status infer(mr_call *c)
{
    const reduce_params *p = c->params;
    const mr_shape *x = &c->in[0].shape;
    int64_t axes[MR_MAX_RANK];
    bool gone[MR_MAX_RANK];
    int n;
    mr_status st;
    if (p->axes_in && mr_in_has(c, 1) && (st = mr_want_rank(c, 1, 0, 1))) return st;
    bool known = axes_of(c, axes, &n);
    if (x->rank >= 0 && n > x->rank) return mr_call_fail(c, MR_E_SHAPES, "%d axes for a tensor of rank %d", n, x->rank);
    if (x->rank < 0 && known && n == 0 && !p->keepdims && !p->noop_with_empty_axes) {
        mr_shape scalar = mr_shape_scalar();
        return mr_out_tensor(c, 0, mr_in_dtype(c, 0), &scalar);
    }
    if (x->rank < 0 || !known) return infer_open_axes(c, n);
    if ((st = gone_dims(c, axes, n, x->rank, gone))) return st;
    mr_shape s = {.rank = 0};
    for (int d = 0; d < x->rank; d++) {
        if (!gone[d])
            s.d[s.rank++] = x->d[d];
        else if (p->keepdims)
            s.d[s.rank++] = 1;
    }
    return mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
}

static mr_status boxes_of(mr_call *c, mr_box *kept, mr_box *reduced)
{
    const mr_tensor *x = c->in[0].t;
    int64_t axes[MR_MAX_RANK];
    bool gone[MR_MAX_RANK];
    int n;
    axes_of(c, axes, &n);
    mr_status st = gone_dims(c, axes, n, x->rank, gone);
    if (!st) mr_reduce_boxes(x, gone, kept, reduced);
    return st;
}

static mr_status run(mr_call *c)
{
    mr_box kept, reduced;
    mr_status st = boxes_of(c, &kept, &reduced);
    if (st) return st;
    mr_reduce_args a = {c->in[0].t->data, c->out[0].t->data, &kept, &reduced, c->pool};
    ((void (*)(const mr_reduce_args *))c->fn)(&a);
    return MR_OK;
}

static mr_status launch(mr_call *c)
{
    mr_box kept, reduced;
    mr_status st = boxes_of(c, &kept, &reduced);
    if (st) return st;
    mr_reduce_args a = {c->in[0].t->data, c->out[0].t->data, &kept, &reduced, c->pool};
    return mr_launched(c, ((mr_cuda_reduce_fn)c->fn)(c->stream, &a));
}

#define ROW(op, OP)                                                                                                    \
    static mr_fn have_##op(const mr_call *c)                                                                           \
    {                                                                                                                  \
        return MR_SLOT(c->cpu->reduce.reduce[MR_REDUCE_##OP], mr_in_dtype(c, 0));                                      \
    }                                                                                                                  \
    static mr_fn have_##op##_cuda(const mr_call *c)                                                                    \
    {                                                                                                                  \
        return MR_CUDA_SLOT(c, reduce[MR_REDUCE_##OP], mr_in_dtype(c, 0));                                             \
    }                                                                                                                  \
    static const mr_impl op##_impls[] = {                                                                              \
        {.name = "reduce_" #op "_cuda", .dev = MR_CUDA, .have = have_##op##_cuda, .run = launch, .host_in = 1 << 1},   \
        {.name = "reduce_" #op "_cpu", .have = have_##op, .run = run},                                                 \
        {0}}
ROW(l1, L1);
ROW(l2, L2);
ROW(log_sum, LOG_SUM);
ROW(log_sum_exp, LOG_SUM_EXP);
ROW(max, MAX);
ROW(mean, MEAN);
ROW(min, MIN);
ROW(prod, PROD);
ROW(sum, SUM);
ROW(sum_square, SUM_SQUARE);

#define ATTRIBUTE(op, until, impls, flops)                                                                             \
    {                                                                                                                  \
        "", op, 1, until, sizeof(reduce_params), read_attribute_axes, infer, impls, 0, NULL, flops                     \
    }
#define INPUT(op, since, impls, flops)                                                                                 \
    {                                                                                                                  \
        "", op, since, 0, sizeof(reduce_params), read_input_axes, infer, impls, 0, NULL, flops                         \
    }
#define BOTH(op, since, impls, flops) ATTRIBUTE(op, since - 1, impls, flops), INPUT(op, since, impls, flops)

const mr_op mr_ops_reduce[] = {
    BOTH("ReduceL1", 18, l1_impls, mr_flops_two_over_input),
    BOTH("ReduceL2", 18, l2_impls, mr_flops_two_over_input),
    BOTH("ReduceLogSum", 18, log_sum_impls, mr_flops_over_input),
    BOTH("ReduceLogSumExp", 18, log_sum_exp_impls, mr_flops_two_over_input),
    BOTH("ReduceMax", 18, max_impls, mr_flops_over_input),
    BOTH("ReduceMean", 18, mean_impls, mr_flops_over_input),
    BOTH("ReduceMin", 18, min_impls, mr_flops_over_input),
    BOTH("ReduceProd", 18, prod_impls, mr_flops_over_input),
    BOTH("ReduceSum", 13, sum_impls, mr_flops_over_input),
    BOTH("ReduceSumSquare", 18, sum_square_impls, mr_flops_two_over_input),
    {0},
};

/* deform.c: DeformConv and CausalConvWithState. */
#include "ops/convolution.h"
#include "ops/flops.h"

#include <string.h>

#include "kernels/cpu/cpu.h"

/* ---- DeformConv ---- */

enum { X, W, OFFSET, B, MASK };

typedef struct deform_params {
    mr_conv_params conv;
    int64_t offset_group;
} deform_params;

static void deform_read(mr_reader *r, void *params)
{
    deform_params *p = params;
    mr_conv_read(r, &p->conv);
    p->offset_group = mr_read_int(r, "offset_group", 1);
    if (p->offset_group < 1)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute offset_group is %lld, must be 1 or more",
                     (long long)p->offset_group);
}

/* offset and mask: [N, offset_group · taps · each, outputs …] */
static mr_status want_places(mr_call *c, int i, int64_t each, const mr_shape *y)
{
    const deform_params *p = c->params;
    const mr_shape *s = &c->in[i].shape, *w = &c->in[W].shape;
    mr_status st = mr_in_has(c, i) ? mr_want_rank(c, i, y->rank, y->rank) : MR_OK;
    if (st || !mr_in_has(c, i) || s->rank < 0) return st;
    mr_dim want[MR_MAX_RANK];
    memcpy(want, y->d, sizeof want);
    want[1] = p->offset_group * each;
    for (int k = 2; k < y->rank; k++) want[1] = w->rank > 0 ? mr_dim_mul(want[1], w->d[k]) : MR_DIM_UNKNOWN;
    for (int k = 0; k < s->rank; k++)
        if (s->d[k] >= 0 && want[k] >= 0 && s->d[k] != want[k])
            return mr_call_fail_in(c, MR_E_SHAPES, i, "axis %d has %lld, must have %lld", k, (long long)s->d[k],
                                   (long long)want[k]);
    return MR_OK;
}

static mr_status deform_infer(mr_call *c)
{
    const deform_params *p = c->params;
    const mr_shape *x = &c->in[X].shape;
    mr_shape y;
    mr_status st = mr_conv_shape(c, &p->conv, X, W, B, &y);
    if (!st && y.rank > 0) {
        if ((st = want_places(c, OFFSET, y.rank - 2, &y)) || (st = want_places(c, MASK, 1, &y))) return st;
        if (x->rank > 1 && x->d[1] >= 0 && x->d[1] % p->offset_group)
            return mr_call_fail_in(c, MR_E_SHAPES, X, "has %lld channels, which %lld offset groups do not divide",
                                   (long long)x->d[1], (long long)p->offset_group);
    }
    return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, X), &y);
}

static mr_fn deform_have(const mr_call *c)
{
    return MR_SLOT(c->cpu->deform.deform, mr_in_dtype(c, X));
}

static mr_status deform_run(mr_call *c)
{
    const deform_params *p = c->params;
    mr_deform_args d = {.offset = c->in[OFFSET].t->data, .offset_groups = p->offset_group};
    mr_conv_geometry(c, &p->conv, X, W, &d.conv);
    d.conv.x = c->in[X].t->data, d.conv.w = c->in[W].t->data, d.conv.y = c->out[0].t->data;
    if (mr_in_has(c, B)) d.conv.b = c->in[B].t->data;
    if (mr_in_has(c, MASK)) d.mask = c->in[MASK].t->data;
    d.conv.pool = c->pool;
    ((void (*)(const mr_deform_args *))c->fn)(&d);
    return MR_OK;
}

static const mr_impl deform_rows[] = {{.name = "deform_conv", .dev = MR_CPU, .have = deform_have, .run = deform_run},
                                      {0}};

/* ---- CausalConvWithState ---- */

enum { INPUT, WEIGHT, BIAS, PAST };

typedef struct causal_params {
    int activation;
} causal_params;

static void causal_read(mr_reader *r, void *params)
{
    static const char *const names[] = {"none", "silu", "swish", NULL};
    ((causal_params *)params)->activation = mr_read_enum(r, "activation", names, 0);
}

static mr_status causal_infer(mr_call *c)
{
    const mr_shape *x = &c->in[INPUT].shape, *w = &c->in[WEIGHT].shape, *past = &c->in[PAST].shape;
    mr_shape y = mr_shape_of_rank(3), state = mr_shape_of_rank(3);
    mr_status st;
    if ((st = mr_want_rank(c, INPUT, 3, 3)) || (st = mr_want_rank(c, WEIGHT, 3, 3))) return st;
    if (x->rank == 3) y = *x;
    if (w->rank == 3 && w->d[1] >= 0 && w->d[1] != 1)
        return mr_call_fail_in(c, MR_E_SHAPES, WEIGHT, "axis 1 has %lld, must have 1", (long long)w->d[1]);
    if ((st = mr_want_dim(c, y.d[1], w->rank == 3 ? w->d[0] : MR_DIM_UNKNOWN, "channels of input = channels of weight",
                          &y.d[1])) ||
        (st = mr_want_bias(c, BIAS, y.d[1])))
        return st;
    state.d[0] = y.d[0], state.d[1] = y.d[1];
    if (w->rank == 3 && w->d[2] == 0) return mr_call_fail_in(c, MR_E_SHAPES, WEIGHT, "has no taps");
    state.d[2] = w->rank == 3 && w->d[2] > 0 ? w->d[2] - 1 : MR_DIM_UNKNOWN;
    if (mr_in_has(c, PAST)) {
        if ((st = mr_want_rank(c, PAST, 3, 3))) return st;
        for (int k = 0; past->rank == 3 && k < 3; k++)
            if ((st = mr_want_dim(c, state.d[k], past->d[k], "past_state is [batch, channels, k - 1]", &state.d[k])))
                return st;
    }
    mr_out_tensor(c, 1, mr_in_dtype(c, INPUT), &state);
    return mr_out_tensor(c, 0, mr_in_dtype(c, INPUT), &y);
}

static mr_fn causal_have(const mr_call *c)
{
    return MR_SLOT(c->cpu->deform.causal, mr_in_dtype(c, INPUT));
}

static mr_status causal_run(mr_call *c)
{
    const int64_t *x = c->in[INPUT].t->dims;
    mr_causal_args a = {.x = c->in[INPUT].t->data,
                        .w = c->in[WEIGHT].t->data,
                        .batch = x[0],
                        .channels = x[1],
                        .length = x[2],
                        .taps = c->in[WEIGHT].t->dims[2],
                        .pool = c->pool};
    a.silu = ((const causal_params *)c->params)->activation != 0;
    a.bias = mr_in_has(c, BIAS) ? c->in[BIAS].t->data : NULL;
    a.past = mr_in_has(c, PAST) ? c->in[PAST].t->data : NULL;
    a.y = mr_out_wanted(c, 0) ? c->out[0].t->data : NULL;
    a.present = mr_out_wanted(c, 1) ? c->out[1].t->data : NULL;
    ((void (*)(const mr_causal_args *))c->fn)(&a);
    return MR_OK;
}

static const mr_impl causal_rows[] = {{.name = "causal_conv", .dev = MR_CPU, .have = causal_have, .run = causal_run},
                                      {0}};

/* Of the products; finding the elements between pixels is moving. */
static double deform_flops(const mr_call *c)
{
    return mr_flops_conv_of(c, W, B);
}

static double causal_flops(const mr_call *c)
{
    const causal_params *p = c->params;
    return mr_flops_conv_of(c, WEIGHT, BIAS) + (p->activation != 0) * mr_flops_each(c);
}

const mr_op mr_ops_deform[] = {
    {.name = "DeformConv",
     .domain = "",
     .since = 19,
     .params_size = sizeof(deform_params),
     .read = deform_read,
     .infer = deform_infer,
     .impls = deform_rows,
     .flops = deform_flops},
    {.name = "CausalConvWithState",
     .domain = "",
     .since = 27,
     .params_size = sizeof(causal_params),
     .read = causal_read,
     .infer = causal_infer,
     .impls = causal_rows,
     .flops = causal_flops},
    {0},
};

/* norm.c: what is standardized row by row: Instance-, Layer-, Group- and RMSNormalization. */
#include "kernels/cpu/cpu.h"
#include "ops/flops.h"
#include "ops/rules.h"
#include "ops/sizes.h"

typedef struct norm_params {
    double epsilon;
    int64_t axis, num_groups;
    bool by_group; /* GroupNormalization 18: one scale for each group */
    mr_dtype stash;
} norm_params;

/* The text wants the first stage in stash_type or better: here it's always double. */
static void read_stash(mr_reader *r, norm_params *p)
{
    int64_t stash = mr_read_int(r, "stash_type", MR_F32);
    p->stash = (mr_dtype)stash;
    if (stash != MR_F32 && stash != MR_BF16 && stash != MR_F16 && stash != MR_F64)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute stash_type = %lld is not the number of a float type",
                     (long long)stash);
}

static void read_instance(mr_reader *r, void *params)
{
    norm_params *p = params;
    p->epsilon = mr_read_float(r, "epsilon", 1e-5f);
    mr_read_ignore(r, "consumed_inputs");
}

static void read_rows(mr_reader *r, void *params)
{
    norm_params *p = params;
    p->epsilon = mr_read_float(r, "epsilon", 1e-5f);
    p->axis = mr_read_int(r, "axis", -1);
    read_stash(r, p);
}

static void read_group(mr_reader *r, void *params)
{
    norm_params *p = params;
    p->epsilon = mr_read_float(r, "epsilon", 1e-5f);
    p->num_groups = mr_read_int(r, "num_groups", 0);
    p->by_group = mr_read_version(r) == 18;
    if (!p->by_group) read_stash(r, p);
    if (p->num_groups < 1)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute num_groups = %lld is not positive", (long long)p->num_groups);
}

/* ---- one scale and bias for each channel or group ---- */

static mr_status want_channels(mr_call *c, mr_dim n)
{
    for (int i = 1; i <= 2; i++) {
        mr_status st = mr_want_rank(c, i, 1, 1);
        if (st) return st;
        mr_dim d = c->in[i].shape.rank == 1 ? c->in[i].shape.d[0] : MR_DIM_UNKNOWN;
        if (d >= 0 && n >= 0 && d != n)
            return mr_call_fail_in(c, MR_E_SHAPES, i, "expected %lld elements, got %lld", (long long)n, (long long)d);
    }
    return MR_OK;
}

static mr_dim channels_of(const mr_call *c)
{
    return c->in[0].shape.rank >= 2 ? c->in[0].shape.d[1] : MR_DIM_UNKNOWN;
}

static mr_status infer_instance(mr_call *c)
{
    mr_status st = mr_want_rank(c, 0, 2, MR_MAX_RANK);
    if (!st) st = want_channels(c, channels_of(c));
    return st ? st : mr_infer_like(c);
}

static mr_status infer_group(mr_call *c)
{
    const norm_params *p = c->params;
    mr_status st = mr_want_rank(c, 0, 2, MR_MAX_RANK);
    mr_dim channels = channels_of(c);
    if (!st && channels >= 0 && channels % p->num_groups)
        st = mr_call_fail_in(c, MR_E_SHAPES, 0, "%lld channels do not make %lld groups of one size",
                             (long long)channels, (long long)p->num_groups);
    if (!st) st = want_channels(c, p->by_group ? p->num_groups : channels);
    return st ? st : mr_infer_like(c);
}

static mr_fn have(const mr_call *c)
{
    mr_dtype x = mr_in_dtype(c, 0), y = mr_in_dtype(c, 1);
    return (unsigned)x < MR_N_DTYPES ? MR_SLOT(c->cpu->norm.rows[x], y) : NULL;
}

static mr_rows_args rows_of(const mr_call *c, int64_t rows)
{
    const norm_params *p = c->params;
    const mr_tensor *x = c->in[0].t, *y = c->out[0].t;
    return (mr_rows_args){.x = x->data,
                          .y = y->data,
                          .scale = c->in[1].t->data,
                          .bias = mr_in_has(c, 2) ? c->in[2].t->data : NULL,
                          .x_type = x->dtype,
                          .y_type = y->dtype,
                          .rows = rows,
                          .cols = rows ? mr_tensor_count(x) / rows : 0,
                          .period = 1,
                          .each = 1,
                          .epsilon = p->epsilon,
                          .center = true,
                          .pool = c->pool};
}

static mr_status run_instance(mr_call *c)
{
    const mr_tensor *x = c->in[0].t;
    mr_rows_args a = rows_of(c, x->dims[0] * x->dims[1]);
    a.period = x->dims[1], a.step = 1, a.each = a.cols;
    ((void (*)(const mr_rows_args *))c->fn)(&a);
    return MR_OK;
}

static mr_status run_group(mr_call *c)
{
    const norm_params *p = c->params;
    const mr_tensor *x = c->in[0].t;
    mr_rows_args a = rows_of(c, x->dims[0] * p->num_groups);
    const int64_t channels = x->dims[1] / p->num_groups;
    a.period = p->num_groups;
    a.step = p->by_group ? 1 : channels;
    a.each = p->by_group || !channels ? a.cols : a.cols / channels;
    ((void (*)(const mr_rows_args *))c->fn)(&a);
    return MR_OK;
}

/* ---- from an axis on: scale and bias broadcast to X ---- */

static mr_status want_broadcast(mr_call *c, int i)
{
    if (!mr_in_has(c, i) || c->in[0].shape.rank < 0 || c->in[i].shape.rank < 0) return MR_OK;
    mr_shape both = c->in[0].shape;
    mr_status st = mr_broadcast_into(c, &both, &c->in[i].shape, i);
    if (st) return st;
    bool fits = both.rank == c->in[0].shape.rank;
    for (int d = 0; fits && d < both.rank; d++)
        fits = both.d[d] < 0 || c->in[0].shape.d[d] < 0 || both.d[d] == c->in[0].shape.d[d];
    return fits ? MR_OK : mr_call_fail_in(c, MR_E_SHAPES, i, "does not broadcast to X, which would have to grow");
}

static mr_status infer_rows(mr_call *c)
{
    const norm_params *p = c->params;
    mr_shape saved = c->in[0].shape;
    int axis = 0;
    mr_status st = saved.rank < 0 ? MR_OK : mr_want_axis(c, p->axis, saved.rank, "attribute axis", &axis);
    if (!st) st = want_broadcast(c, 1);
    if (!st) st = want_broadcast(c, 2);
    if (st) return st;
    mr_out_tensor(c, 0, mr_in_dtype(c, 1), &c->in[0].shape);
    for (int d = axis; d < saved.rank; d++) saved.d[d] = 1;
    for (int o = 1; o < c->n_out; o++) {
        if (mr_out_wanted(c, o) && p->stash != MR_F32 && p->stash != MR_BF16)
            return mr_call_fail(c, MR_E_TYPE_INVALID, "output %d would be %s, by stash_type: it is float32 or bfloat16",
                                o, mr_dtype_name(p->stash));
        mr_out_tensor(c, o, mr_call_carried(c) ? MR_F64 : p->stash, &saved);
    }
    return MR_OK;
}

static int axis_of(const mr_call *c)
{
    const norm_params *p = c->params;
    return (int)(p->axis < 0 ? p->axis + c->in[0].shape.rank : p->axis);
}

/* From which dim of X on scale and bias must be spelled out; its rank: they have one element for each of a row. */
static int spread_from(const mr_call *c)
{
    const mr_shape *x = &c->in[0].shape;
    const int axis = axis_of(c);
    int from = x->rank;
    for (int i = 1; i < c->n_in; i++) {
        const mr_shape *s = &c->in[i].shape;
        for (int k = 1; k <= x->rank && mr_in_has(c, i); k++) {
            int d = x->rank - k;
            int64_t extent = k <= s->rank ? s->d[s->rank - k] : 1;
            if (d < axis && extent != 1) return 0; /* they differ from row to row */
            if (d >= axis && extent != x->d[d]) from = axis;
        }
    }
    return from;
}

/* Bytes that one of them takes then. */
static size_t spread_bytes(const mr_call *c)
{
    const mr_shape *x = &c->in[0].shape;
    int from = spread_from(c);
    if (from == x->rank) return 0;
    return ((size_t)mr_dims_product(x->d, from, x->rank) * mr_dtype_size(mr_in_dtype(c, 1)) + 63) / 64 * 64;
}

static size_t scratch(const mr_call *c)
{
    return 2 * spread_bytes(c);
}

static const void *spread(const mr_call *c, int i, int from, void *room)
{
    const mr_tensor *t = c->in[i].t, *x = c->in[0].t;
    mr_box b = {.rank = x->rank - from};
    int64_t strides[MR_MAX_RANK], stride = 1;
    mr_broadcast_strides(t, x->dims, x->rank, strides);
    for (int d = x->rank - 1; d >= from; d--) {
        b.dims[d - from] = x->dims[d], b.xs[d - from] = strides[d], b.ys[d - from] = stride;
        stride *= x->dims[d];
    }
    mr_copy_args a = {t->data, room, &b, c->pool};
    c->cpu->move.copy[mr_size_index(mr_dtype_size(t->dtype))](&a);
    return room;
}

static void fill_rows(mr_call *c, mr_rows_args *a)
{
    const int rank = c->in[0].t->rank, from = spread_from(c);
    if (from < rank) {
        a->scale = spread(c, 1, from, c->scratch);
        if (a->bias) a->bias = spread(c, 2, from, (char *)c->scratch + spread_bytes(c));
    }
    if (from == 0 && axis_of(c) > 0) a->period = a->rows, a->step = a->cols;
    if (mr_out_wanted(c, 1)) a->saved_mean = c->out[1].t->data, a->saved_type = c->out[1].t->dtype;
    if (mr_out_wanted(c, 2)) a->saved_inv = c->out[2].t->data, a->saved_type = c->out[2].t->dtype;
}

static mr_status run_layer(mr_call *c)
{
    mr_rows_args a = rows_of(c, mr_dims_product(c->in[0].t->dims, 0, axis_of(c)));
    fill_rows(c, &a);
    ((void (*)(const mr_rows_args *))c->fn)(&a);
    return MR_OK;
}

static mr_status run_rms(mr_call *c)
{
    mr_rows_args a = rows_of(c, mr_dims_product(c->in[0].t->dims, 0, axis_of(c)));
    fill_rows(c, &a);
    a.center = false;
    ((void (*)(const mr_rows_args *))c->fn)(&a);
    return MR_OK;
}

static const mr_impl instance[] = {{.name = "instance_norm_cpu", .have = have, .run = run_instance, .inplace = 1}, {0}};
static const mr_impl group[] = {{.name = "group_norm_cpu", .have = have, .run = run_group, .inplace = 1}, {0}};
static const mr_impl layer[] = {
    {.name = "layer_norm_cpu", .have = have, .run = run_layer, .scratch = scratch, .inplace = 1}, {0}};
static const mr_impl rms[] = {{.name = "rms_norm_cpu", .have = have, .run = run_rms, .scratch = scratch, .inplace = 1},
                              {0}};

#define NORM(op, since, read, infer, impls, flops)                                                                     \
    {                                                                                                                  \
        "", op, since, 0, sizeof(norm_params), read, infer, impls, 0, NULL, flops                                      \
    }

const mr_op mr_ops_norm[] = {
    NORM("InstanceNormalization", 1, read_instance, infer_instance, instance, mr_flops_standardize),
    NORM("GroupNormalization", 18, read_group, infer_group, group, mr_flops_standardize),
    NORM("LayerNormalization", 17, read_rows, infer_rows, layer, mr_flops_standardize),
    NORM("RMSNormalization", 23, read_rows, infer_rows, rms, mr_flops_rms),
    {0},
};

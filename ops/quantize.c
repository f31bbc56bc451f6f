/* quantize.c: QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/wide.h"
#include "ops/dynamic.h"
#include "ops/element.h"
#include "ops/elementwise.h"

#include <string.h>

typedef struct linear_params {
    int64_t axis, block;       /* block 0: scales for the whole tensor, or along the axis */
    int64_t output, precision; /* MR_UNDEFINED: as the other inputs say */
    bool saturate;
} linear_params;

static void linear_read(mr_reader *r, void *params)
{
    linear_params *p = params;
    p->axis = mr_read_int(r, "axis", 1);
    p->block = mr_read_int(r, "block_size", 0);
    p->output = mr_read_int(r, "output_dtype", MR_UNDEFINED);
    p->precision = mr_read_int(r, "precision", MR_UNDEFINED);
    p->saturate = mr_read_int(r, "saturate", 1);
    if (p->block < 0)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute block_size is %lld, must be positive", (long long)p->block);
    if (p->precision && !mr_dtype_in((mr_dtype)p->precision, MR_FLOATS))
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute precision = %lld is no float type", (long long)p->precision);
}

/* ---- shapes: x, its scale and its zero point ---- */

static bool one_number(const mr_shape *s)
{
    return s->rank == 0 || (s->rank == 1 && s->d[0] == 1);
}

static bool may_be_one(const mr_shape *s)
{
    return one_number(s) || (s->rank == 1 && s->d[0] < 0);
}

/* A vector of scales, one for each index of an axis of x. A vector x has one axis, whatever the attribute says. */
static mr_status want_per_axis(mr_call *c, const linear_params *p)
{
    const mr_shape *x = &c->in[0].shape;
    int axis = 0;
    mr_status st = mr_want_rank(c, 1, 0, 1);
    if (!st && x->rank != 1) st = mr_want_axis(c, p->axis, x->rank, "attribute axis", &axis);
    if (st) return st;
    mr_dim n = x->d[axis], scales = c->in[1].shape.d[0];
    if (n >= 0 && scales >= 0 && n != scales)
        return mr_call_fail_in(c, MR_E_SHAPES, 1, "axis %d of %s, along which it runs, has %lld", axis,
                               mr_in_name(c, 0), (long long)n);
    return MR_OK;
}

static mr_status want_blocks(mr_call *c, const linear_params *p)
{
    const mr_shape *x = &c->in[0].shape, *s = &c->in[1].shape;
    int axis;
    mr_status st = mr_want_axis(c, p->axis, x->rank, "attribute axis", &axis);
    if (!st) st = mr_want_rank(c, 1, x->rank, x->rank);
    for (int d = 0; !st && d < x->rank; d++) {
        mr_dim want = d == axis && x->d[d] >= 0 ? (x->d[d] + p->block - 1) / p->block : x->d[d];
        if (want >= 0 && s->d[d] >= 0 && want != s->d[d])
            st = mr_call_fail_in(c, MR_E_SHAPES, 1, "axis %d must have %lld, for %lld elements in blocks of %lld", d,
                                 (long long)want, (long long)x->d[d], (long long)(d == axis ? p->block : 1));
    }
    return st;
}

static mr_status want_same_shape(mr_call *c)
{
    const mr_shape *s = &c->in[1].shape, *z = &c->in[2].shape;
    if (s->rank < 0 || z->rank < 0 || (may_be_one(s) && may_be_one(z))) return MR_OK;
    bool same = s->rank == z->rank;
    for (int d = 0; same && d < s->rank; d++) same = s->d[d] < 0 || z->d[d] < 0 || s->d[d] == z->d[d];
    return same ? MR_OK : mr_call_fail_in(c, MR_E_SHAPES, 2, "its shape must be that of %s", mr_in_name(c, 1));
}

/* A scale for each block, not one for all, which a vector x may have, too. */
static bool in_blocks(const linear_params *p, int x_rank, int scale_rank)
{
    return p->block && x_rank > 0 && scale_rank == x_rank;
}

static mr_status want_granularity(mr_call *c)
{
    const linear_params *p = c->params;
    const mr_shape *x = &c->in[0].shape, *s = &c->in[1].shape;
    mr_status st = mr_in_has(c, 2) ? want_same_shape(c) : MR_OK;
    if (st || s->rank < 0 || x->rank < 0) return st;
    if (in_blocks(p, x->rank, s->rank)) return want_blocks(c, p);
    return one_number(s) ? MR_OK : p->block ? want_blocks(c, p) : want_per_axis(c, p);
}

/* A type that comes of an attribute, or of a scale that no output can have; the schema says the rest. */
static mr_status want_output(mr_call *c, mr_dtype d)
{
    const linear_params *p = c->params;
    if ((!p->output && d != MR_F8E8M0) || mr_dtype_in(d, c->node->schema->out[0].types.tensor)) return MR_OK;
    return mr_call_fail(c, MR_E_ATTRIBUTE, "output type %s is not among the types of %s-%d", mr_dtype_name(d),
                        c->node->op_type, mr_call_version(c));
}

/* ---- running: scales and zero points as double, one job for what is whole blocks and one for the rest ---- */

static size_t linear_scratch(const mr_call *c)
{
    size_t n = 0, bytes = 0;
    for (int i = 1; i < c->n_in; i++)
        if (mr_in_has(c, i) && mr_shape_bytes(&c->in[i].shape, MR_F64, &n)) bytes += n;
    return bytes;
}

static void widen(const mr_tensor *t, double *to)
{
    const size_t size = mr_dtype_size(t->dtype);
    for (int64_t i = 0, n = mr_tensor_count(t); i < n; i += MR_TILE)
        mr_wide_load_f64(t->dtype, (const char *)t->data + (size_t)i * size, n - i < MR_TILE ? n - i : MR_TILE, to + i);
}

/* A job over elements [first, first + n·of) of the axis, as n groups that share a scale; scales count from `scale`. */
typedef struct {
    int64_t outer, axis, inner, scales; /* extents, the last one of the scale's axis */
    int64_t first, n, of, scale;
} span;

static void run_span(mr_call *c, const span *s, const double *const *factors, int n_in, const mr_quantize_params *k)
{
    const mr_tensor *x = c->in[0].t, *y = c->out[0].t;
    const int64_t begin = s->first * s->inner, factor = s->scale * s->inner;
    const int64_t strides[4] = {s->axis * s->inner, s->of * s->inner, s->inner, 1};
    const int64_t shared[4] = {s->scales * s->inner, s->inner, 0, 1};
    const size_t x_size = mr_dtype_size(x->dtype), y_size = mr_dtype_size(y->dtype);
    mr_operand in[3] = {{.data = (char *)x->data + (size_t)begin * x_size, .size = x_size}};
    mr_elementwise j = {.rank = 4, .dims = {s->outer, s->n, s->of, s->inner}, .n_in = n_in, .in = in, .params = k};
    j.out = (mr_operand){.data = (char *)y->data + (size_t)begin * y_size, .size = y_size};
    memcpy(j.out.strides, strides, sizeof strides);
    memcpy(in[0].strides, strides, sizeof strides);
    for (int i = 1; i < n_in; i++) {
        in[i] = (mr_operand){.data = factors[i] + factor, .size = sizeof(double)};
        memcpy(in[i].strides, shared, sizeof shared);
    }
    mr_run_job(c, &j);
}

static void run_blocks(mr_call *c, const linear_params *p, const double *const *factors, int n_in,
                       const mr_quantize_params *k)
{
    const mr_tensor *x = c->in[0].t;
    const int axis = (int)(p->axis < 0 ? p->axis + x->rank : p->axis);
    const int64_t whole = x->dims[axis] / p->block, rest = x->dims[axis] % p->block;
    span s = {mr_dims_product(x->dims, 0, axis),
              x->dims[axis],
              mr_dims_product(x->dims, axis + 1, x->rank),
              c->in[1].t->dims[axis],
              0,
              whole,
              p->block,
              0};
    run_span(c, &s, factors, n_in, k);
    if (!rest) return;
    s.first = whole * p->block, s.n = 1, s.of = rest, s.scale = whole;
    run_span(c, &s, factors, n_in, k);
}

static mr_operand factor_operand(const mr_call *c, const linear_params *p, const double *data)
{
    const mr_tensor *x = c->in[0].t, *s = c->in[1].t;
    mr_operand o = {.data = data, .size = sizeof(double)};
    int axis = x->rank == 1 ? 0 : (int)(p->axis < 0 ? p->axis + x->rank : p->axis);
    if (mr_tensor_count(s) != 1) o.strides[axis] = 1;
    return o;
}

static mr_status run_linear(mr_call *c, const linear_params *p, mr_quantize_params *k)
{
    const mr_tensor *x = c->in[0].t, *s = c->in[1].t;
    const int n_in = mr_in_has(c, 2) ? 3 : 2;
    double *factors = c->scratch;
    const double *const at[3] = {NULL, factors, factors + mr_tensor_count(s)};
    widen(s, factors);
    mr_quantize_round(k->precision, mr_tensor_count(s), factors);
    if (n_in == 3) widen(c->in[2].t, factors + mr_tensor_count(s));
    k->from = x->dtype, k->to = c->out[0].t->dtype;
    if (in_blocks(p, x->rank, s->rank)) {
        run_blocks(c, p, at, n_in, k);
        return MR_OK;
    }
    mr_operand in[3] = {mr_operand_broadcast(x, c->out[0].t)};
    for (int i = 1; i < n_in; i++) in[i] = factor_operand(c, p, at[i]);
    mr_elementwise j = mr_elementwise_to(c->out[0].t, in, n_in, k);
    mr_run_job(c, &j);
    return MR_OK;
}

/* ---- QuantizeLinear ---- */

static mr_status quantize_infer(mr_call *c)
{
    const linear_params *p = c->params;
    mr_dtype d = mr_in_has(c, 2) ? mr_in_dtype(c, 2) : p->output ? (mr_dtype)p->output : MR_U8;
    if (p->output && d != (mr_dtype)p->output)
        return mr_call_fail_in(c, MR_E_ATTRIBUTE, 2, "attribute output_dtype is %s",
                               mr_dtype_name((mr_dtype)p->output));
    mr_status st = want_output(c, d);
    if (!st) st = want_granularity(c);
    return st ? st : mr_out_tensor(c, 0, d, &c->in[0].shape);
}

static mr_fn quantize_have(const mr_call *c)
{
    mr_dtype x = mr_in_dtype(c, 0);
    if (x >= MR_N_DTYPES || !mr_wide_kind_of(mr_in_dtype(c, 1))) return NULL;
    return MR_SLOT(c->cpu->quantize.quantize[x], mr_out_dtype(c, 0));
}

/* "The type of y_scale determines the precision of the division operation between x and y_scale, unless the precision
 * attribute is specified." An int32 scale has none, and a power of two (float8e8m0) needs none: the quotient is x's. */
static mr_dtype division_precision(const mr_call *c, const linear_params *p)
{
    mr_dtype scale = c->in[1].t->dtype, x = c->in[0].t->dtype;
    if (p->precision) return (mr_dtype)p->precision;
    if (mr_dtype_in(scale, MR_FLOATS)) return scale;
    return scale == MR_F8E8M0 && mr_dtype_in(x, MR_FLOATS) ? x : MR_F64;
}

static mr_status quantize_run(mr_call *c)
{
    const linear_params *p = c->params;
    mr_quantize_params k = {.precision = division_precision(c, p), .saturate = p->saturate};
    return run_linear(c, p, &k);
}

static const mr_impl quantize_impls[] = {
    {.name = "quantize_cpu", .have = quantize_have, .run = quantize_run, .scratch = linear_scratch, .inplace = 1}, {0}};

/* ---- DequantizeLinear ---- */

static mr_status dequantize_infer(mr_call *c)
{
    const linear_params *p = c->params;
    mr_dtype d = p->output ? (mr_dtype)p->output : mr_in_dtype(c, 1);
    mr_status st = want_output(c, d);
    if (!st) st = want_granularity(c);
    return st ? st : mr_out_tensor(c, 0, d, &c->in[0].shape);
}

static mr_fn dequantize_have(const mr_call *c)
{
    mr_dtype x = mr_in_dtype(c, 0);
    if (x >= MR_N_DTYPES || !mr_wide_kind_of(mr_in_dtype(c, 1))) return NULL;
    return MR_SLOT(c->cpu->quantize.dequantize[x], mr_out_dtype(c, 0));
}

static mr_status dequantize_run(mr_call *c)
{
    mr_quantize_params k = {0};
    return run_linear(c, c->params, &k);
}

static const mr_impl dequantize_impls[] = {
    {.name = "dequantize_cpu", .have = dequantize_have, .run = dequantize_run, .scratch = linear_scratch, .inplace = 1},
    {0}};

/* ---- DynamicQuantizeLinear ---- */

static mr_status dynamic_infer(mr_call *c)
{
    mr_shape scalar = mr_shape_scalar();
    mr_out_tensor(c, 0, MR_U8, &c->in[0].shape);
    mr_out_tensor(c, 1, mr_in_dtype(c, 0), &scalar);
    return mr_out_tensor(c, 2, MR_U8, &scalar);
}

static mr_fn dynamic_have(const mr_call *c)
{
    mr_dtype x = mr_in_dtype(c, 0);
    return mr_dynamic_have(c->cpu, x) ? (mr_fn)c->cpu->quantize.bounds[x] : NULL;
}

static mr_status dynamic_run(mr_call *c)
{
    const mr_tensor *x = c->in[0].t;
    mr_dynamic q = mr_dynamic_of(c->cpu, x->dtype, x->data, mr_tensor_count(x));
    if (mr_out_wanted(c, 1)) mr_element_set(c->out[1].t->dtype, q.scale, c->out[1].t->data);
    if (mr_out_wanted(c, 2)) mr_element_set(c->out[2].t->dtype, q.zero, c->out[2].t->data);
    if (mr_out_wanted(c, 0)) mr_dynamic_quantize(c->cpu, c->pool, &q, x->data, c->out[0].t->data);
    return MR_OK;
}

static const mr_impl dynamic_impls[] = {{.name = "dynamic_quantize_cpu", .have = dynamic_have, .run = dynamic_run},
                                        {0}};

const mr_op mr_ops_quantize[] = {
    {.domain = "",
     .name = "QuantizeLinear",
     .since = 10,
     .params_size = sizeof(linear_params),
     .read = linear_read,
     .infer = quantize_infer,
     .impls = quantize_impls},
    {.domain = "",
     .name = "DequantizeLinear",
     .since = 10,
     .params_size = sizeof(linear_params),
     .read = linear_read,
     .infer = dequantize_infer,
     .impls = dequantize_impls},
    {.domain = "", .name = "DynamicQuantizeLinear", .since = 11, .infer = dynamic_infer, .impls = dynamic_impls},
    {.domain = "com.microsoft",
     .name = "QuantizeLinear",
     .since = 1,
     .params_size = sizeof(linear_params),
     .read = linear_read,
     .infer = quantize_infer,
     .impls = quantize_impls},
    {.domain = "com.microsoft",
     .name = "DequantizeLinear",
     .since = 1,
     .params_size = sizeof(linear_params),
     .read = linear_read,
     .infer = dequantize_infer,
     .impls = dequantize_impls},
    {0},
};

/* conv.c: Conv, ConvInteger and QLinearConv. */
#include "ops/convolution.h"

#include "kernels/cpu/cpu.h"
#include "ops/cuda.h"
#include "ops/flops.h"

static const void *data_of(const mr_call *c, int i)
{
    return mr_in_has(c, i) && c->in[i].t ? c->in[i].t->data : NULL;
}

static mr_conv_args args_of(const mr_call *c, int x, int w, int b)
{
    mr_conv_args v = {.pool = c->pool, .scratch = c->scratch};
    mr_conv_geometry((mr_call *)(uintptr_t)c, c->params, x, w, &v);
    mr_conv_flatten(&v);
    v.x = data_of(c, x), v.w = data_of(c, w), v.b = data_of(c, b);
    v.y = c->out[0].t ? c->out[0].t->data : NULL;
    v.packed = c->packed ? c->packed[w] : NULL;
    return v;
}

/* ---- Conv ---- */

mr_conv_args mr_conv_args_of(const mr_call *c)
{
    return args_of(c, 0, 1, 2);
}

mr_status mr_conv_infer(mr_call *c)
{
    mr_shape y;
    mr_status st = mr_conv_shape(c, c->params, 0, 1, 2, &y);
    return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, 0), &y);
}

mr_fn mr_conv_have(const mr_call *c)
{
    return MR_SLOT(c->cpu->conv.conv, mr_in_dtype(c, 0));
}

size_t mr_conv_scratch(const mr_call *c)
{
    mr_conv_args v = args_of(c, 0, 1, 2);
    mr_conv_size_fn *size = c->cpu->conv.scratch[mr_in_dtype(c, 0)];
    return size ? size(&v) : 0;
}

mr_status mr_conv_run(mr_call *c)
{
    mr_conv_args v = args_of(c, 0, 1, 2);
    ((mr_conv_fn *)c->fn)(&v);
    return MR_OK;
}

static mr_conv_args weight_of(const mr_call *c, int w)
{
    mr_conv_args v = {.w = data_of(c, w)};
    mr_conv_weight_geometry(c, c->params, w, &v);
    return v;
}

/* How weights are packed may hang on the shape of X, when that is known. */
static mr_conv_args conv_weight(const mr_call *c)
{
    return mr_shape_known(&c->in[0].shape) ? args_of(c, 0, 1, 2) : weight_of(c, 1);
}

size_t mr_conv_pack_size(const mr_call *c, int i)
{
    mr_conv_size_fn *size = c->cpu->conv.pack_size[mr_in_dtype(c, i)];
    mr_conv_args v = conv_weight(c);
    return size ? size(&v) : 0;
}

void mr_conv_pack(const mr_call *c, int i, void *dst)
{
    mr_conv_args v = conv_weight(c);
    c->cpu->conv.pack[mr_in_dtype(c, i)](&v, dst);
}

static mr_fn conv_have_cuda(const mr_call *c)
{
    return MR_CUDA_SLOT(c, conv, mr_in_dtype(c, 0));
}

static mr_status conv_launch(mr_call *c)
{
    mr_conv_args v = args_of(c, 0, 1, 2);
    return mr_launched(c, ((mr_cuda_conv_fn)c->fn)(c->stream, &v));
}

MR_COND(rank_3_to_5, mr_conv_params, MR_NEEDS_RANK(0), c->in[0].shape.rank >= 3 && c->in[0].shape.rank <= 5);

static const mr_impl conv_rows[] = {
    {.name = "conv_cuda", .dev = MR_CUDA, .have = conv_have_cuda, .conds = MR_WHEN(&rank_3_to_5), .run = conv_launch},
    {.name = "conv",
     .dev = MR_CPU,
     .have = mr_conv_have,
     .run = mr_conv_run,
     .scratch = mr_conv_scratch,
     .pack_in = 1 << 1,
     .pack_size = mr_conv_pack_size,
     .pack = mr_conv_pack},
    {0}};

/* ---- ConvInteger ---- */

enum { X, W, X_ZERO, W_ZERO };

/* A scalar, or a vector of one element. */
static mr_status want_one(mr_call *c, int i)
{
    const mr_shape *s = &c->in[i].shape;
    mr_status st = mr_in_has(c, i) ? mr_want_rank(c, i, 0, 1) : MR_OK;
    if (st || !mr_in_has(c, i) || s->rank < 1 || s->d[0] < 0 || s->d[0] == 1) return st;
    return mr_call_fail_in(c, MR_E_SHAPES, i, "has %lld elements, must be one for all", (long long)s->d[0]);
}

/* One for all, or one a map of w. */
static mr_status want_one_or_map(mr_call *c, int i, int w)
{
    const mr_shape *s = &c->in[i].shape;
    if (mr_in_has(c, i) && s->rank == 1 && s->d[0] != 1 && c->in[w].shape.rank > 0)
        return mr_want_bias(c, i, c->in[w].shape.d[0]);
    return want_one(c, i);
}

static mr_status integer_infer(mr_call *c)
{
    mr_shape y;
    mr_status st;
    if ((st = mr_conv_shape(c, c->params, X, W, c->n_in, &y)) || (st = want_one(c, X_ZERO)) ||
        (st = want_one_or_map(c, W_ZERO, W)))
        return st;
    return mr_out_tensor(c, 0, MR_I32, &y);
}

static mr_fn int_slot(const mr_call *c, int x, int w)
{
    mr_dtype dx = mr_in_dtype(c, x), dw = mr_in_dtype(c, w);
    bool integer = (dx == MR_U8 || dx == MR_I8) && (dw == MR_U8 || dw == MR_I8);
    return integer ? (mr_fn)c->cpu->conv.integer[dx == MR_I8][dw == MR_I8] : NULL;
}

static bool one_a_map(const mr_call *c, int i)
{
    return mr_in_has(c, i) && c->in[i].shape.rank == 1 && c->in[i].shape.d[0] != 1;
}

static mr_intconv_args int_args(const mr_call *c, int x, int x_zero, int w, int w_zero, int b)
{
    mr_intconv_args q = {.conv = args_of(c, x, w, b), .out.type = MR_I32, .w_zero = data_of(c, w_zero)};
    q.x_zero = data_of(c, x_zero) ? (int32_t)mr_tensor_int(c->in[x_zero].t, 0) : 0;
    q.w_zero_step = one_a_map(c, w_zero);
    return q;
}

static size_t int_size(const mr_call *c, int x, int w, mr_intconv_size_fn *const slots[2][2], const mr_intconv_args *q)
{
    mr_intconv_size_fn *size = slots[mr_in_dtype(c, x) == MR_I8][mr_in_dtype(c, w) == MR_I8];
    return size ? size(q) : 0;
}

static size_t int_pack_size(const mr_call *c, int x, int w)
{
    mr_intconv_args q = {.conv = weight_of(c, w)};
    return int_size(c, x, w, c->cpu->conv.integer_pack_size, &q);
}

static void int_pack(const mr_call *c, int x, int w, void *dst)
{
    mr_intconv_args q = {.conv = weight_of(c, w)};
    c->cpu->conv.integer_pack[mr_in_dtype(c, x) == MR_I8][mr_in_dtype(c, w) == MR_I8](&q, dst);
}

static mr_fn integer_have(const mr_call *c)
{
    return int_slot(c, X, W);
}
static size_t integer_pack_size(const mr_call *c, int i)
{
    return int_pack_size(c, X, i);
}
static void integer_pack(const mr_call *c, int i, void *dst)
{
    int_pack(c, X, i, dst);
}

static size_t integer_scratch(const mr_call *c)
{
    mr_intconv_args q = int_args(c, X, X_ZERO, W, W_ZERO, c->n_in);
    return int_size(c, X, W, c->cpu->conv.integer_scratch, &q);
}

static mr_status integer_run(mr_call *c)
{
    mr_intconv_args q = int_args(c, X, X_ZERO, W, W_ZERO, c->n_in);
    ((mr_intconv_fn *)c->fn)(&q);
    return MR_OK;
}

static const mr_impl integer_rows[] = {{.name = "conv_integer",
                                        .dev = MR_CPU,
                                        .have = integer_have,
                                        .run = integer_run,
                                        .scratch = integer_scratch,
                                        .pack_in = 1 << W,
                                        .pack_size = integer_pack_size,
                                        .pack = integer_pack},
                                       {0}};

/* ---- QLinearConv ---- */

enum { Q_X, Q_X_SCALE, Q_X_ZERO, Q_W, Q_W_SCALE, Q_W_ZERO, Q_Y_SCALE, Q_Y_ZERO, Q_B };

mr_status mr_qconv_infer(mr_call *c)
{
    mr_shape y;
    mr_status st;
    if ((st = mr_conv_shape(c, c->params, Q_X, Q_W, Q_B, &y)) || (st = want_one(c, Q_X_SCALE)) ||
        (st = want_one(c, Q_X_ZERO)) || (st = want_one_or_map(c, Q_W_SCALE, Q_W)) ||
        (st = want_one_or_map(c, Q_W_ZERO, Q_W)) || (st = want_one(c, Q_Y_SCALE)) || (st = want_one(c, Q_Y_ZERO)))
        return st;
    return mr_out_tensor(c, 0, mr_in_dtype(c, Q_Y_ZERO), &y);
}

mr_fn mr_qconv_have(const mr_call *c)
{
    mr_dtype y = mr_in_dtype(c, Q_Y_ZERO);
    return y == MR_U8 || y == MR_I8 ? int_slot(c, Q_X, Q_W) : NULL;
}

static size_t scale_bytes(const mr_call *c)
{
    int64_t n = one_a_map(c, Q_W_SCALE) ? c->in[Q_W_SCALE].shape.d[0] : 1;
    return ((size_t)n * sizeof(double) + 63) / 64 * 64;
}

/* Scratch begins with the scales. */
static mr_intconv_args qlinear_args(const mr_call *c)
{
    mr_intconv_args q = int_args(c, Q_X, Q_X_ZERO, Q_W, Q_W_ZERO, Q_B);
    if (c->scratch) q.conv.scratch = (char *)c->scratch + scale_bytes(c);
    return q;
}

size_t mr_qconv_scratch(const mr_call *c)
{
    mr_intconv_args q = qlinear_args(c);
    return scale_bytes(c) + int_size(c, Q_X, Q_W, c->cpu->conv.integer_scratch, &q);
}

size_t mr_qconv_pack_size(const mr_call *c, int i)
{
    return int_pack_size(c, Q_X, i);
}
void mr_qconv_pack(const mr_call *c, int i, void *dst)
{
    int_pack(c, Q_X, i, dst);
}

mr_status mr_qconv_run(mr_call *c)
{
    mr_intconv_args q = qlinear_args(c);
    double *scale = c->scratch, x = mr_tensor_real(c->in[Q_X_SCALE].t, 0), y = mr_tensor_real(c->in[Q_Y_SCALE].t, 0);
    for (int64_t i = 0; i < mr_tensor_count(c->in[Q_W_SCALE].t); i++)
        scale[i] = x * mr_tensor_real(c->in[Q_W_SCALE].t, i) / y;
    q.out = (mr_requant){.type = mr_in_dtype(c, Q_Y_ZERO),
                         .scale = scale,
                         .scale_row = one_a_map(c, Q_W_SCALE),
                         .zero = (int32_t)mr_tensor_int(c->in[Q_Y_ZERO].t, 0)};
    ((mr_intconv_fn *)c->fn)(&q);
    return MR_OK;
}

static const mr_impl qlinear_rows[] = {{.name = "qlinear_conv",
                                        .dev = MR_CPU,
                                        .have = mr_qconv_have,
                                        .run = mr_qconv_run,
                                        .scratch = mr_qconv_scratch,
                                        .pack_in = 1 << Q_W,
                                        .pack_size = mr_qconv_pack_size,
                                        .pack = mr_qconv_pack},
                                       {0}};

double mr_conv_flops(const mr_call *c)
{
    return mr_flops_conv_of(c, 1, 2);
}
static double integer_flops(const mr_call *c)
{
    return mr_flops_conv_of(c, W, c->n_in);
}
double mr_qconv_flops(const mr_call *c)
{
    return mr_flops_conv_of(c, Q_W, Q_B);
}

#define CONV(op, from, INFER, ROWS, FLOPS)                                                                             \
    {                                                                                                                  \
        .name = op, .domain = "", .since = from, .params_size = sizeof(mr_conv_params), .read = mr_conv_read,          \
        .infer = INFER, .impls = ROWS, .flops = FLOPS                                                                  \
    }

const mr_op mr_ops_conv[] = {
    CONV("Conv", 1, mr_conv_infer, conv_rows, mr_conv_flops),
    CONV("ConvInteger", 10, integer_infer, integer_rows, integer_flops),
    CONV("QLinearConv", 10, mr_qconv_infer, qlinear_rows, mr_qconv_flops),
    {0},
};

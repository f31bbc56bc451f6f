/* convtranspose.c: ConvTranspose, as one convolution for each residue of the output index modulo the strides. */
#include "ops/convolution.h"

#include "kernels/cpu/cpu.h"
#include "ops/flops.h"

typedef struct transpose_params {
    mr_conv_params conv;
    mr_ints output_padding, output_shape;
} transpose_params;

static void transpose_read(mr_reader *r, void *params)
{
    transpose_params *p = params;
    mr_conv_read(r, &p->conv);
    p->output_padding = mr_read_int_list(r, "output_padding");
    p->output_shape = mr_read_int_list(r, "output_shape");
}

static mr_status want_list(mr_call *c, const char *name, mr_ints x, int axes, int64_t least)
{
    if (x.n < 0) return MR_OK;
    if (x.n != axes) return mr_call_fail(c, MR_E_ATTRIBUTE, "attribute %s has %d values, needs %d", name, x.n, axes);
    for (int i = 0; i < x.n; i++)
        if (x.at[i] < least || x.at[i] > INT32_MAX)
            return mr_call_fail(c, MR_E_ATTRIBUTE, "attribute %s has %lld at position %d, must be %lld or more", name,
                                (long long)x.at[i], i, (long long)least);
    return MR_OK;
}

/* ONNX: output_padding "must be less than the corresponding stride/dilation dimension". */
static mr_status want_output_padding(mr_call *c, const transpose_params *p, int axes)
{
    mr_status st = want_list(c, "output_padding", p->output_padding, axes, 0);
    for (int i = 0; i < p->output_padding.n && !st; i++) {
        int64_t stride = mr_ints_at(p->conv.window.strides, i, 1),
                dilation = mr_ints_at(p->conv.window.dilations, i, 1);
        if (p->output_padding.at[i] >= stride && p->output_padding.at[i] >= dilation)
            st = mr_call_fail(
                c, MR_E_ATTRIBUTE,
                "attribute output_padding has %lld at position %d, must be less than the stride %lld or the "
                "dilation %lld",
                (long long)p->output_padding.at[i], i, (long long)stride, (long long)dilation);
    }
    return st;
}

static mr_window_axis axis_of(const transpose_params *p, int axes, int i, mr_dim in, mr_dim kernel)
{
    const mr_window *w = &p->conv.window;
    mr_window_axis a = {.in = in, .out = MR_DIM_UNKNOWN, .kernel = kernel};
    a.stride = mr_ints_at(w->strides, i, 1);
    a.dilation = mr_ints_at(w->dilations, i, 1);
    a.pad = mr_ints_at(w->pads, i, 0);
    a.pad_end = mr_ints_at(w->pads, axes + i, 0);
    bool same = w->auto_pad == MR_PAD_SAME_UPPER || w->auto_pad == MR_PAD_SAME_LOWER;
    mr_dim reach = mr_window_reach(&a), whole = MR_DIM_UNKNOWN; /* the output before padding is cut off */
    if (in >= 0 && reach >= 0) whole = a.stride * (in - 1) + mr_ints_at(p->output_padding, i, 0) + reach;
    if (p->output_shape.n >= 0)
        a.out = p->output_shape.at[i];
    else if (same)
        a.out = mr_dim_mul(in, a.stride);
    else if (whole >= 0)
        a.out = whole - a.pad - a.pad_end;
    if ((same || p->output_shape.n >= 0) && whole >= 0) mr_window_split(w->auto_pad, whole - a.out, &a);
    return a;
}

static mr_status want_channels(mr_call *c)
{
    const transpose_params *p = c->params;
    const mr_shape *x = &c->in[0].shape, *w = &c->in[1].shape;
    mr_dim have = x->rank > 1 ? x->d[1] : MR_DIM_UNKNOWN, want = w->rank > 1 ? w->d[0] : MR_DIM_UNKNOWN;
    if (have >= 0 && want >= 0 && have != want)
        return mr_call_fail_in(c, MR_E_SHAPES, 1, "takes %lld channels, but X has %lld", (long long)want,
                               (long long)have);
    mr_dim channels = have >= 0 ? have : want;
    if (channels >= 0 && channels % p->conv.group)
        return mr_call_fail_in(c, MR_E_SHAPES, 0, "has %lld channels, which %lld groups do not divide",
                               (long long)channels, (long long)p->conv.group);
    return mr_want_bias(c, 2, w->rank > 1 ? mr_dim_mul(w->d[1], p->conv.group) : MR_DIM_UNKNOWN);
}

static mr_status transpose_infer(mr_call *c)
{
    const transpose_params *p = c->params;
    const mr_shape *x = &c->in[0].shape, *w = &c->in[1].shape;
    int rank = x->rank >= 0 ? x->rank : w->rank, axes = rank - 2;
    mr_shape unknown = mr_shape_unknown();
    mr_status st = mr_want_rank(c, 0, 3, MR_MAX_RANK);
    if (st) return st;
    if (rank < 0) return mr_out_tensor(c, 0, mr_in_dtype(c, 0), &unknown);
    if ((st = mr_want_rank(c, 1, rank, rank)) || (st = mr_window_check(c, &p->conv.window, axes)) ||
        (st = want_output_padding(c, p, axes)) || (st = want_list(c, "output_shape", p->output_shape, axes, 1)) ||
        (st = want_channels(c)))
        return st;
    mr_shape y = mr_shape_of_rank(rank);
    if (x->rank > 0) y.d[0] = x->d[0];
    if (w->rank > 0) y.d[1] = mr_dim_mul(w->d[1], p->conv.group);
    for (int i = 0; i < axes; i++) {
        mr_dim of_w = w->rank > 0 ? w->d[2 + i] : MR_DIM_UNKNOWN, kernel = mr_ints_at(p->conv.window.kernel, i, of_w);
        if (of_w >= 0 && kernel != of_w)
            return mr_call_fail_in(c, MR_E_SHAPES, 1,
                                   "has a kernel of %lld on spatial axis %d, but attribute kernel_shape "
                                   "says %lld",
                                   (long long)of_w, i, (long long)kernel);
        mr_dim in = x->rank > 0 ? x->d[2 + i] : MR_DIM_UNKNOWN;
        y.d[2 + i] = axis_of(p, axes, i, in, kernel).out;
        if (in >= 0 && kernel >= 0 && y.d[2 + i] < 0)
            return mr_call_fail(c, MR_E_SHAPES, "spatial axis %d: the pads cut off more than the output has", i);
    }
    return mr_out_tensor(c, 0, mr_in_dtype(c, 0), &y);
}

static int64_t gcd(int64_t a, int64_t b)
{
    return b ? gcd(b, a % b) : a;
}

/* Outputs phase, phase + stride, … of an axis: x at o + (phase + pad - tap · dilation) / stride for the taps that
 * divide. */
static void set_phase(const mr_window_axis *a, int64_t phase, mr_conv_axis *k, mr_conv_args *v)
{
    int64_t common = gcd(a->stride, a->dilation), tap = 0, step = a->stride / common;
    while (tap < step && (phase + a->pad - tap * a->dilation) % a->stride) tap++;
    k->in = a->in;
    k->out = (a->out - phase + a->stride - 1) / a->stride;
    k->taps = tap < step && tap < a->kernel ? (a->kernel - tap + step - 1) / step : 0;
    k->stride = 1;
    k->offset = (phase + a->pad - tap * a->dilation) / a->stride;
    k->dilation = -(a->dilation / common);
    v->w_first += tap * k->w_step;
    v->y_first += phase * k->y_step;
    k->w_step *= step;
    k->y_step *= a->stride;
}

/* The convolution of one residue, counted through all axes. */
static mr_conv_args args_of(const mr_call *c, int64_t phase)
{
    const transpose_params *p = c->params;
    const mr_shape *x = &c->in[0].shape, *w = &c->in[1].shape;
    mr_conv_args v = {.rank = x->rank - 2, .batch = x->d[0], .groups = p->conv.group, .pool = c->pool};
    int64_t x_step = 1, w_step = 1, y_step = 1;
    for (int i = v.rank - 1; i >= 0; i--) {
        mr_window_axis a = axis_of(p, v.rank, i, x->d[2 + i], w->d[2 + i]);
        v.axis[i] = (mr_conv_axis){.x_step = x_step, .w_step = w_step, .y_step = y_step};
        set_phase(&a, phase % a.stride, &v.axis[i], &v);
        phase /= a.stride;
        x_step *= a.in, w_step *= a.kernel, y_step *= a.out;
    }
    v.channels = x->d[1] / p->conv.group;
    v.maps = w->d[1];
    v.x_channel = x_step;
    v.y_map = y_step;
    v.w_map = w_step;
    v.w_channel = v.maps * w_step;
    v.w_group = v.channels * v.w_channel;
    v.x = c->in[0].t ? c->in[0].t->data : NULL;
    v.w = c->in[1].t ? c->in[1].t->data : NULL;
    v.b = mr_in_has(c, 2) && c->in[2].t ? c->in[2].t->data : NULL;
    v.y = c->out[0].t ? c->out[0].t->data : NULL;
    v.scratch = c->scratch;
    return v;
}

static int64_t phases(const mr_call *c)
{
    const transpose_params *p = c->params;
    int64_t n = 1;
    for (int i = 0; i < c->in[0].shape.rank - 2; i++) n *= mr_ints_at(p->conv.window.strides, i, 1);
    return n;
}

static mr_fn transpose_have(const mr_call *c)
{
    return MR_SLOT(c->cpu->conv.conv, mr_in_dtype(c, 0));
}

static size_t size_of(const mr_call *c, mr_conv_size_fn *const *slots, const mr_conv_args *v)
{
    mr_conv_size_fn *size = slots[mr_in_dtype(c, 0)];
    return size ? (size(v) + 63) / 64 * 64 : 0;
}

/* The weights of each residue, one behind the other. An output_shape makes the residues' taps hang on the shape of X.
 */
static size_t transpose_pack_size(const mr_call *c, int i)
{
    const transpose_params *p = c->params;
    size_t sum = 0;
    if (i != 1 || !mr_shape_known(&c->in[0].shape) || p->output_shape.n >= 0) return 0;
    for (int64_t k = 0; k < phases(c); k++) {
        mr_conv_args v = args_of(c, k);
        sum += size_of(c, c->cpu->conv.pack_size, &v);
    }
    return sum;
}

static void transpose_pack(const mr_call *c, int i, void *dst)
{
    (void)i;
    for (int64_t k = 0; k < phases(c); k++) {
        mr_conv_args v = args_of(c, k);
        size_t bytes = size_of(c, c->cpu->conv.pack_size, &v);
        if (bytes) c->cpu->conv.pack[mr_in_dtype(c, 0)](&v, dst);
        dst = (char *)dst + bytes;
    }
}

/* The convolution of residue k with its weights; *packed: where they are, or NULL, moves on to the next. */
static mr_conv_args next_phase(const mr_call *c, int64_t k, const char **packed)
{
    mr_conv_args v = args_of(c, k);
    if (!*packed) return v;
    size_t bytes = size_of(c, c->cpu->conv.pack_size, &v);
    if (bytes) v.packed = *packed;
    *packed += bytes;
    return v;
}

static size_t transpose_scratch(const mr_call *c)
{
    const char *packed = c->packed ? c->packed[1] : NULL;
    size_t most = 0;
    for (int64_t k = 0; k < phases(c); k++) {
        mr_conv_args v = next_phase(c, k, &packed);
        size_t bytes = size_of(c, c->cpu->conv.scratch, &v);
        if (bytes > most) most = bytes;
    }
    return most;
}

static mr_status transpose_run(mr_call *c)
{
    const char *packed = c->packed ? c->packed[1] : NULL;
    for (int64_t k = 0; k < phases(c); k++) {
        mr_conv_args v = next_phase(c, k, &packed);
        ((mr_conv_fn *)c->fn)(&v);
    }
    return MR_OK;
}

static const mr_impl transpose_rows[] = {{.name = "conv_transpose",
                                          .dev = MR_CPU,
                                          .have = transpose_have,
                                          .run = transpose_run,
                                          .scratch = transpose_scratch,
                                          .pack_in = 1 << 1,
                                          .pack_size = transpose_pack_size,
                                          .pack = transpose_pack},
                                         {0}};

/* Each element of X goes through the taps of its channel. */
static double transpose_flops(const mr_call *c)
{
    const mr_shape *w = &c->in[1].shape;
    double taps = w->d[0] > 0 ? mr_count(w) / (double)w->d[0] : 0;
    return 2 * taps * mr_count(&c->in[0].shape) + (mr_in_has(c, 2) ? mr_flops_each(c) : 0);
}

const mr_op mr_ops_convtranspose[] = {
    {.name = "ConvTranspose",
     .domain = "",
     .since = 1,
     .params_size = sizeof(transpose_params),
     .read = transpose_read,
     .infer = transpose_infer,
     .impls = transpose_rows,
     .flops = transpose_flops},
    {0},
};

/* signal.c: DFT, STFT, the window functions and MelWeightMatrix. */
#include "kernels/cpu/cpu.h"
#include "ops/rules.h"

#include <string.h>

/* ---- scalar inputs ---- */

static mr_status want_scalar(mr_call *c, int i)
{
    if (!mr_in_has(c, i)) return MR_OK;
    mr_status st = mr_want_rank(c, i, 0, 1);
    const mr_shape *s = &c->in[i].shape;
    if (!st && s->rank == 1 && s->d[0] >= 0 && s->d[0] != 1)
        st = mr_call_fail_in(c, MR_E_SHAPES, i, "expected a scalar");
    return st;
}

/* False: its value is not known yet. */
static bool scalar_in(const mr_call *c, int i, int64_t *v)
{
    const mr_arg *a = &c->in[i];
    if (!a->t && !(a->elems && a->elems[0] >= 0)) return false;
    *v = a->t ? mr_tensor_int(a->t, 0) : a->elems[0];
    return true;
}

/* A scalar that counts something, as a dimension. */
static mr_status count_in(mr_call *c, int i, int64_t least, mr_dim *d)
{
    int64_t v;
    mr_status st = want_scalar(c, i);
    *d = MR_DIM_UNKNOWN;
    if (st || !scalar_in(c, i, &v)) return st;
    if (v < least)
        return mr_call_fail_in(c, MR_E_NODE_VALUE, i, "is %lld, must be at least %lld", (long long)v, (long long)least);
    *d = v;
    return MR_OK;
}

/* Bins of a spectrum of length n. */
static mr_dim bins_of(mr_dim n, bool onesided)
{
    return !onesided ? n : n >= 0 ? n / 2 + 1 : MR_DIM_UNKNOWN;
}

/* 1 or 2 numbers an element; onesided is of real ones only. */
static mr_status want_parts(mr_call *c, int i, mr_dim parts)
{
    if (parts < 0 || parts == 1 || parts == 2) return MR_OK;
    return mr_call_fail_in(c, MR_E_SHAPES, i, "last dim must be 1 (real) or 2 (complex), got %lld", (long long)parts);
}

/* ---- DFT ---- */

typedef struct dft_params {
    bool inverse, onesided, axis_is_input;
    int64_t axis;
} dft_params;

static void dft_read(mr_reader *r, void *params)
{
    dft_params *p = params;
    p->inverse = mr_read_int(r, "inverse", 0) != 0;
    p->onesided = mr_read_int(r, "onesided", 0) != 0;
    p->axis_is_input = mr_read_version(r) >= 20;
    p->axis = p->axis_is_input ? -2 : mr_read_int(r, "axis", 1);
}

/* *axis is -1 while its value is not known. */
static mr_status dft_axis(mr_call *c, int *axis)
{
    const dft_params *p = c->params;
    const int rank = c->in[0].shape.rank;
    int64_t v = p->axis;
    mr_status st = MR_OK;
    *axis = -1;
    if (p->axis_is_input && mr_in_has(c, 2)) {
        if ((st = want_scalar(c, 2)) || !scalar_in(c, 2, &v)) return st;
    }
    st = mr_want_axis(c, v, rank, "axis", axis);
    if (!st && *axis == rank - 1)
        st = mr_call_fail(c, MR_E_SHAPES, "axis = %lld is the last one, of real and imaginary parts", (long long)v);
    return st;
}

static mr_status dft_parts(mr_call *c, mr_dim parts)
{
    const dft_params *p = c->params;
    mr_status st = want_parts(c, 0, parts);
    if (!st && p->onesided && parts == (p->inverse ? 1 : 2))
        st = mr_call_fail_in(c, MR_E_SHAPES, 0, "onesided=1 with inverse=%d needs %s input: last dim %d", p->inverse,
                             p->inverse ? "complex" : "real", p->inverse ? 2 : 1);
    return st;
}

/* The length of the transform. */
static mr_status dft_length(mr_call *c, mr_dim have, mr_dim *n)
{
    const dft_params *p = c->params;
    if (mr_in_has(c, 1)) return count_in(c, 1, 1, n);
    *n = have;
    if (p->inverse && p->onesided) *n = have > 0 ? 2 * (have - 1) : have;
    return MR_OK;
}

static mr_status dft_infer(mr_call *c)
{
    const dft_params *p = c->params;
    mr_shape s = c->in[0].shape;
    int axis;
    mr_dim n;
    mr_status st = mr_want_rank(c, 0, 2, MR_MAX_RANK);
    if (!st && s.rank >= 0) st = dft_parts(c, s.d[s.rank - 1]);
    if (!st && s.rank >= 0) st = dft_axis(c, &axis);
    if (!st && s.rank >= 0) st = dft_length(c, axis < 0 ? MR_DIM_UNKNOWN : s.d[axis], &n);
    if (st || s.rank < 0) return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
    if (axis < 0)
        s = mr_shape_of_rank(s.rank);
    else
        s.d[axis] = bins_of(n, p->onesided && !p->inverse);
    s.d[s.rank - 1] = p->onesided && p->inverse ? 1 : 2;
    return mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static mr_status dft_args(mr_call *c, mr_dft_args *a)
{
    const dft_params *p = c->params;
    const mr_shape *x = &c->in[0].shape, *y = &c->out[0].shape;
    int axis;
    mr_status st = dft_axis(c, &axis);
    if (!st) st = dft_length(c, x->d[axis], &a->n);
    if (st) return st;
    a->x_parts = (int)x->d[x->rank - 1];
    a->y_parts = (int)y->d[y->rank - 1];
    a->inverse = p->inverse;
    a->hermitian = p->inverse && p->onesided;
    a->taken = least(x->d[axis], a->hermitian ? a->n / 2 + 1 : a->n);
    a->kept = y->d[axis];
    a->outer = mr_dims_product(x->d, 0, axis);
    a->inner = mr_dims_product(x->d, axis + 1, x->rank - 1);
    a->x_inner = a->x_parts, a->x_step = a->inner * a->x_parts, a->x_outer = x->d[axis] * a->x_step;
    a->y_inner = a->y_parts, a->y_step = a->inner * a->y_parts, a->y_outer = a->kept * a->y_step;
    return MR_OK;
}

/* A spectrum without elements may be of any length, one that nothing else could hold. */
static bool is_empty(const mr_call *c)
{
    const mr_shape *y = &c->out[0].shape;
    return mr_dims_product(y->d, 0, y->rank) == 0;
}

static size_t scratch_of(const mr_call *c, const mr_dft_args *a)
{
    return c->cpu->dft.scratch[mr_in_dtype(c, 0)](a);
}

static mr_status run_dft(mr_call *c, mr_dft_args *a)
{
    a->x = c->in[0].t->data;
    a->y = c->out[0].t->data;
    a->pool = c->pool;
    a->scratch = c->scratch;
    /* No sample at all: the sums are empty. */
    if (a->n == 0) memset(a->y, 0, mr_tensor_bytes(c->out[0].t));
    ((void (*)(const mr_dft_args *))c->fn)(a);
    return MR_OK;
}

static mr_status dft_run(mr_call *c)
{
    mr_dft_args a = {0};
    if (is_empty(c)) return MR_OK;
    mr_status st = dft_args(c, &a);
    return st ? st : run_dft(c, &a);
}

static size_t dft_scratch(const mr_call *c)
{
    mr_dft_args a = {0};
    mr_call call = *c;
    return is_empty(c) || dft_args(&call, &a) ? 0 : scratch_of(c, &a);
}

static mr_fn have_dft(const mr_call *c)
{
    return MR_SLOT(c->cpu->dft.dft, mr_in_dtype(c, 0));
}

static const mr_impl dft_rows[] = {
    {.name = "dft", .dev = MR_CPU, .have = have_dft, .run = dft_run, .scratch = dft_scratch}, {0}};

/* ---- STFT ---- */

typedef struct stft_params {
    bool onesided;
} stft_params;

enum { SIGNAL, FRAME_STEP, WINDOW, FRAME_LENGTH };

static void stft_read(mr_reader *r, void *params)
{
    ((stft_params *)params)->onesided = mr_read_int(r, "onesided", 1) != 0;
}

typedef struct stft_dims {
    mr_dim batch, length, parts, step, frame, frames;
} stft_dims;

static mr_status stft_frame(mr_call *c, stft_dims *d)
{
    const mr_shape *window = &c->in[WINDOW].shape;
    mr_status st = MR_OK;
    bool windowed = mr_in_has(c, WINDOW);
    if (windowed && (st = mr_want_rank(c, WINDOW, 1, 1))) return st;
    mr_dim width = windowed && window->rank == 1 ? window->d[0] : MR_DIM_UNKNOWN;
    d->frame = windowed ? width : d->length;
    if (!mr_in_has(c, FRAME_LENGTH)) return MR_OK;
    st = count_in(c, FRAME_LENGTH, 1, &d->frame);
    if (!st && windowed) st = mr_want_dim(c, d->frame, width, "frame_length = length of window", &d->frame);
    return st;
}

/* A signal of rank 2 is real. */
static mr_status stft_dims_of(mr_call *c, stft_dims *d)
{
    const stft_params *p = c->params;
    const mr_shape *s = &c->in[SIGNAL].shape;
    *d = (stft_dims){MR_DIM_UNKNOWN, MR_DIM_UNKNOWN, MR_DIM_UNKNOWN, MR_DIM_UNKNOWN, MR_DIM_UNKNOWN, MR_DIM_UNKNOWN};
    mr_status st = mr_want_rank(c, SIGNAL, 2, 3);
    if (st) return st;
    if (s->rank > 0) d->batch = s->d[0], d->length = s->d[1], d->parts = s->rank == 3 ? s->d[2] : 1;
    if ((st = want_parts(c, SIGNAL, d->parts))) return st;
    if (p->onesided && d->parts == 2)
        return mr_call_fail_in(c, MR_E_SHAPES, SIGNAL, "onesided=1 needs a real signal: last dim 1");
    if ((st = count_in(c, FRAME_STEP, 1, &d->step)) || (st = stft_frame(c, d))) return st;
    if (d->length >= 0 && d->frame >= 0 && d->step > 0)
        d->frames = d->length < d->frame ? 0 : (d->length - d->frame) / d->step + 1;
    return MR_OK;
}

static mr_status stft_infer(mr_call *c)
{
    const stft_params *p = c->params;
    stft_dims d;
    mr_status st = stft_dims_of(c, &d);
    if (st) return st;
    mr_shape y = {.rank = 4, .d = {d.batch, d.frames, bins_of(d.frame, p->onesided), 2}};
    return mr_out_tensor(c, 0, mr_in_dtype(c, SIGNAL), &y);
}

static mr_status stft_args(mr_call *c, mr_dft_args *a)
{
    stft_dims d;
    mr_status st = stft_dims_of(c, &d);
    if (st) return st;
    *a = (mr_dft_args){
        .n = d.frame, .taken = d.frame, .kept = c->out[0].shape.d[2], .outer = d.batch, .inner = d.frames};
    a->x_parts = (int)d.parts, a->x_step = d.parts, a->x_outer = d.length * d.parts;
    if (d.frames > 1) a->x_inner = d.step * d.parts; /* a single frame may have any step */
    a->y_parts = 2, a->y_step = 2, a->y_inner = a->kept * 2, a->y_outer = d.frames * a->y_inner;
    return MR_OK;
}

static mr_status stft_run(mr_call *c)
{
    mr_dft_args a;
    if (is_empty(c)) return MR_OK;
    mr_status st = stft_args(c, &a);
    if (st) return st;
    a.window = mr_in_has(c, WINDOW) ? c->in[WINDOW].t->data : NULL;
    return run_dft(c, &a);
}

static size_t stft_scratch(const mr_call *c)
{
    mr_dft_args a;
    mr_call call = *c;
    return is_empty(c) || stft_args(&call, &a) ? 0 : scratch_of(c, &a);
}

static const mr_impl stft_rows[] = {
    {.name = "stft", .dev = MR_CPU, .have = have_dft, .run = stft_run, .scratch = stft_scratch}, {0}};

/* ---- windows ---- */

typedef struct window_params {
    mr_window_kind kind;
    bool periodic;
    mr_dtype dtype;
} window_params;

static void window_read_as(mr_reader *r, window_params *p, mr_window_kind kind)
{
    p->kind = kind;
    p->periodic = mr_read_int(r, "periodic", 1) != 0;
    p->dtype = (mr_dtype)mr_read_int(r, "output_datatype", MR_F32);
}

static void hann_read(mr_reader *r, void *params)
{
    window_read_as(r, params, MR_WINDOW_HANN);
}
static void hamming_read(mr_reader *r, void *params)
{
    window_read_as(r, params, MR_WINDOW_HAMMING);
}
static void blackman_read(mr_reader *r, void *params)
{
    window_read_as(r, params, MR_WINDOW_BLACKMAN);
}

static mr_status window_infer(mr_call *c)
{
    const window_params *p = c->params;
    mr_shape s = {.rank = 1};
    mr_status st = count_in(c, 0, 0, &s.d[0]);
    return st ? st : mr_out_tensor(c, 0, p->dtype, &s);
}

static mr_fn have_window(const mr_call *c)
{
    const window_params *p = c->params;
    return MR_SLOT(c->cpu->window.window, p->dtype);
}

static mr_status window_run(mr_call *c)
{
    const window_params *p = c->params;
    const int64_t n = c->out[0].shape.d[0];
    mr_window_args a = {p->kind, n, p->periodic ? n : n - 1, c->out[0].t->dtype, c->out[0].t->data};
    ((void (*)(const mr_window_args *))c->fn)(&a);
    return MR_OK;
}

static const mr_impl window_rows[] = {{.name = "window", .dev = MR_CPU, .have = have_window, .run = window_run}, {0}};

/* ---- MelWeightMatrix ---- */

typedef struct mel_params {
    mr_dtype dtype;
} mel_params;

enum { BANDS, LENGTH, SAMPLE_RATE, LOWER, UPPER };

static void mel_read(mr_reader *r, void *params)
{
    ((mel_params *)params)->dtype = (mr_dtype)mr_read_int(r, "output_datatype", MR_F32);
}

static mr_status mel_infer(mr_call *c)
{
    const mel_params *p = c->params;
    mr_shape s = {.rank = 2};
    mr_dim length, rate;
    mr_status st = count_in(c, BANDS, 0, &s.d[1]);
    if (!st) st = count_in(c, LENGTH, 0, &length);
    if (!st) st = count_in(c, SAMPLE_RATE, 1, &rate);
    if (!st) st = want_scalar(c, LOWER);
    if (!st) st = want_scalar(c, UPPER);
    if (st) return st;
    s.d[0] = bins_of(length, true);
    return mr_out_tensor(c, 0, p->dtype, &s);
}

static mr_fn have_mel(const mr_call *c)
{
    const mel_params *p = c->params;
    return MR_SLOT(c->cpu->window.mel, p->dtype);
}

static size_t mel_scratch(const mr_call *c)
{
    return sizeof(int64_t) * (size_t)(c->out[0].shape.d[1] + 2);
}

static mr_status mel_run(mr_call *c)
{
    const int64_t *y = c->out[0].shape.d;
    mr_mel_args a = {.bands = y[1],
                     .length = mr_tensor_int(c->in[LENGTH].t, 0),
                     .rows = y[0],
                     .sample_rate = mr_tensor_int(c->in[SAMPLE_RATE].t, 0),
                     .lower = mr_tensor_real(c->in[LOWER].t, 0),
                     .upper = mr_tensor_real(c->in[UPPER].t, 0),
                     .dtype = c->out[0].t->dtype,
                     .y = c->out[0].t->data,
                     .edges = c->scratch};
    ((void (*)(const mr_mel_args *))c->fn)(&a);
    return MR_OK;
}

static const mr_impl mel_rows[] = {
    {.name = "mel", .dev = MR_CPU, .have = have_mel, .run = mel_run, .scratch = mel_scratch}, {0}};

const mr_op mr_ops_signal[] = {
    {"", "DFT", 17, 0, sizeof(dft_params), dft_read, dft_infer, dft_rows, 0, NULL, NULL},
    {"", "STFT", 17, 0, sizeof(stft_params), stft_read, stft_infer, stft_rows, 0, NULL, NULL},
    {"", "HannWindow", 17, 0, sizeof(window_params), hann_read, window_infer, window_rows, 0, NULL, NULL},
    {"", "HammingWindow", 17, 0, sizeof(window_params), hamming_read, window_infer, window_rows, 0, NULL, NULL},
    {"", "BlackmanWindow", 17, 0, sizeof(window_params), blackman_read, window_infer, window_rows, 0, NULL, NULL},
    {"", "MelWeightMatrix", 17, 0, sizeof(mel_params), mel_read, mel_infer, mel_rows, 0, NULL, NULL},
    {0},
};

/* check_conv.c: convolutions of all the ways: by outputs, by maps, depthwise, Winograd, of integers. */
#include <string.h>

#include "tests/kernels/checker.h"

typedef struct geometry {
    int rank;
    int64_t in[3], taps[3], stride[3], dilation[3], pad[3], pad_end[3];
    int64_t batch, groups, channels, maps;
} geometry;

/* Each axis: extent, taps, stride, dilation, pads. */
#define A1(i, t, s, d, p, q)                                                                                           \
    1, {i}, {t}, {s}, {d}, {p},                                                                                        \
    {                                                                                                                  \
        q                                                                                                              \
    }
#define A2(h, w, t, u, s, d, p, q)                                                                                     \
    2, {h, w}, {t, u}, {s, s}, {d, d}, {p, p},                                                                         \
    {                                                                                                                  \
        q, q                                                                                                           \
    }
#define A3(e, t, s, d, p)                                                                                              \
    3, {e, e + 1, e + 2}, {t, t, t}, {s, s, s}, {d, d, d}, {p, p, p},                                                  \
    {                                                                                                                  \
        p, p, p                                                                                                        \
    }

static const geometry geometries[] = {
    {A1(1, 1, 1, 1, 0, 0), 1, 1, 1, 1},
    {A1(17, 3, 1, 1, 1, 1), 2, 1, 3, 5},
    {A1(40, 5, 2, 2, 4, 3), 1, 2, 4, 7},
    {A1(100, 7, 3, 1, 0, 6), 1, 1, 2, 13},
    {A1(33, 3, 1, 1, 1, 1), 3, 5, 1, 1},
    {A2(1, 1, 1, 1, 1, 1, 0, 0), 1, 1, 7, 9},
    {A2(7, 9, 1, 1, 1, 1, 0, 0), 2, 1, 16, 12},
    {A2(14, 14, 1, 1, 1, 1, 0, 0), 1, 1, 33, 33},
    {A2(9, 11, 1, 1, 2, 1, 0, 0), 1, 1, 8, 6},
    {A2(8, 8, 3, 3, 1, 1, 1, 1), 1, 1, 3, 4},
    {A2(8, 9, 3, 3, 1, 1, 1, 1), 1, 2, 5, 6},
    {A2(13, 13, 3, 3, 2, 1, 1, 1), 2, 1, 4, 13},
    {A2(16, 17, 3, 3, 1, 2, 2, 2), 1, 1, 6, 17},
    {A2(15, 20, 5, 5, 1, 1, 2, 2), 1, 1, 3, 8},
    {A2(15, 20, 7, 3, 2, 1, 3, 0), 1, 3, 2, 5},
    {A2(30, 30, 7, 7, 2, 1, 3, 3), 1, 1, 3, 16},
    {A2(12, 12, 3, 3, 1, 1, 1, 1), 2, 1, 16, 16},
    {A2(20, 15, 3, 3, 1, 1, 1, 1), 1, 1, 19, 35},
    {A2(14, 15, 3, 3, 1, 1, 0, 1), 1, 2, 16, 17},
    {A2(30, 29, 3, 3, 1, 1, 1, 0), 1, 1, 32, 32},
    {A2(9, 9, 3, 3, 1, 1, 1, 1), 1, 7, 1, 1},
    {A2(7, 7, 3, 3, 1, 1, 1, 1), 2, 37, 1, 1}, /* a channel in each lane: the last block is not full */
    {A2(14, 14, 5, 5, 1, 1, 2, 2), 1, 24, 1, 1},
    {A2(57, 56, 3, 3, 2, 1, 1, 0), 1, 17, 1, 1},
    {A2(5, 31, 3, 5, 1, 2, 3, 1), 2, 16, 1, 1},
    {A2(30, 19, 3, 3, 3, 1, 0, 4), 1, 33, 1, 1},
    {A2(3, 2, 5, 3, 1, 1, 6, 3), 1, 16, 1, 1},
    {A2(130, 40, 3, 3, 1, 1, 1, 1), 1, 16, 1, 1},
    {A2(9, 8, 1, 1, 1, 1, 0, 0), 1, 18, 1, 1},
    {A2(14, 14, 3, 3, 1, 12, 12, 12), 1, 16, 1, 1},
    {A1(50, 9, 2, 1, 4, 4), 2, 21, 1, 1},
    {A1(3, 2, 1, 1, 0, 0), 1, 64, 1, 1},
    {A2(28, 28, 3, 3, 1, 1, 1, 1), 1, 16, 1, 1},
    {A2(28, 27, 3, 3, 2, 1, 1, 1), 1, 9, 1, 1},
    {A2(20, 40, 5, 5, 1, 1, 2, 2), 1, 4, 1, 2},
    {A2(20, 40, 5, 5, 2, 2, 4, 4), 2, 3, 1, 1},
    {A2(6, 5, 3, 3, 3, 1, 4, 4), 1, 3, 1, 1},
    {A2(3, 3, 3, 3, 1, 1, 0, 0), 1, 5, 1, 1},
    {A2(5, 5, 5, 5, 1, 1, 0, 0), 3, 1, 24, 10},
    {A2(3, 4, 3, 3, 1, 3, 7, 7), 1, 1, 2, 3},
    {A2(40, 6, 3, 3, 1, 1, 1, 1), 1, 1, 8, 64},
    {A2(14, 14, 3, 3, 1, 12, 12, 12), 1, 1, 20, 33}, /* taps that few outputs see, or none */
    {A2(9, 11, 3, 3, 1, 10, 10, 10), 2, 1, 16, 13},
    {A2(9, 8, 5, 3, 2, 9, 18, 17), 1, 5, 1, 1},
    {A1(6, 4, 1, 7, 14, 7), 1, 2, 3, 5},
    {A3(5, 3, 1, 1, 1), 1, 1, 3, 4},
    {A3(6, 2, 2, 1, 0), 2, 2, 2, 3},
    {A3(7, 3, 1, 2, 2), 1, 3, 1, 1},
    {A2(4, 4, 3, 3, 1, 1, 1, 1), 0, 1, 2, 2},
    {A2(4, 4, 1, 1, 1, 1, 0, 0), 1, 1, 2, 0},
    {A2(4, 4, 3, 3, 1, 1, 1, 1), 1, 1, 0, 3},
    {A1(9, 0, 1, 1, 0, 0), 1, 1, 3, 4},
    {A2(6, 7, 0, 2, 1, 1, 0, 0), 1, 2, 3, 17},
    {A2(56, 56, 3, 3, 1, 1, 1, 1), 1, 1, 64, 64},
};
enum { N_GEOMETRIES = sizeof geometries / sizeof *geometries, LAST = N_GEOMETRIES - 1 };

/* How a convolution lies: as Conv makes it; with a gap behind each output; as a transposed convolution has it, which
 * also takes its taps backwards through x, and has weights by channels, then maps. */
typedef enum layout { DENSE, APART, TRANSPOSED } layout;

static mr_conv_args conv_of(const geometry *g, layout l)
{
    mr_conv_args v = {
        .rank = g->rank, .batch = g->batch, .groups = g->groups, .channels = g->channels, .maps = g->maps};
    int64_t x = 1, w = 1, y = 1;
    for (int i = g->rank - 1; i >= 0; i--) {
        const int64_t reach = (g->taps[i] - 1) * g->dilation[i] + 1, all = g->in[i] + g->pad[i] + g->pad_end[i];
        const int64_t out = (all - reach) / g->stride[i] + 1;
        const bool back = l == TRANSPOSED;
        v.axis[i] = (mr_conv_axis){.in = g->in[i],
                                   .out = out,
                                   .taps = g->taps[i],
                                   .offset = (back ? reach - 1 : 0) - g->pad[i],
                                   .stride = g->stride[i],
                                   .dilation = back ? -g->dilation[i] : g->dilation[i],
                                   .x_step = x,
                                   .w_step = w,
                                   .y_step = l == DENSE ? y : 2 * y};
        if (l != DENSE) v.y_first += y;
        x *= g->in[i], w *= g->taps[i], y *= l == DENSE ? out : 2 * out;
    }
    v.x_channel = x, v.y_map = y;
    v.w_channel = l == TRANSPOSED ? g->maps * w : w;
    v.w_map = l == TRANSPOSED ? w : g->channels * w;
    v.w_group = g->maps * g->channels * w;
    return v;
}

typedef struct sizes {
    int64_t x, w, b, y;
} sizes;

static sizes sizes_of(const mr_conv_args *v)
{
    const int64_t maps = v->groups * v->maps;
    return (sizes){v->batch * v->groups * v->channels * v->x_channel, v->groups * v->w_group, maps,
                   v->batch * maps * v->y_map};
}

typedef struct shape {
    const geometry *g;
    mr_dtype d;
    layout layout;
    bool bias, packed, specials;
    int x, w, w_zero, scale; /* integers: see mr_conv_fns; 0 none, 1 one, 2 one a map */
    mr_dtype out;
} shape;

typedef struct job {
    const shape *s;
    sizes n;
    mr_intconv_args v; /* floats: its conv alone */
} job;

static void name_case(ck *c, const shape *s)
{
    const geometry *g = s->g;
    ck_case(c, "geometry %d (rank %d), %lld x %lld groups of %lld to %lld%s%s%s%s", (int)(g - geometries), g->rank,
            (long long)g->batch, (long long)g->groups, (long long)g->channels, (long long)g->maps,
            s->bias ? ", bias" : "", s->packed ? ", packed" : "",
            s->layout == APART        ? ", apart"
            : s->layout == TRANSPOSED ? ", transposed"
                                      : "",
            s->specials ? ", specials" : "");
}

static double flops_of(const mr_conv_args *v)
{
    return 2.0 * (double)(v->batch * v->groups * v->maps * v->channels) * (double)(mr_conv_pixels(v) * mr_conv_taps(v));
}

/* ---- floats ---- */

/* Is it of the kind that packed weights may turn into Winograd's tiles? */
static bool tiles(const mr_conv_args *v)
{
    const mr_conv_axis *a = v->axis;
    return v->rank == 2 && a[0].taps == 3 && a[1].taps == 3 && a[0].stride == 1 && a[1].stride == 1 &&
           a[0].dilation == 1 && a[1].dilation == 1;
}

static void prepare(ck *c, void *arg, const mr_cpu_fns *t)
{
    job *j = arg;
    mr_conv_args *v = &j->v.conv;
    const mr_dtype d = j->s->d;
    v->pool = c->pool;
    v->packed = v->scratch = NULL;
    size_t bytes = j->s->packed && t->conv.pack_size[d] ? t->conv.pack_size[d](v) : 0;
    if (bytes) {
        void *packed = ck_scratch(c, bytes);
        t->conv.pack[d](v, packed);
        v->packed = packed;
    }
    if (t->conv.scratch[d]) v->scratch = ck_scratch(c, t->conv.scratch[d](v));
}

static void run(ck *c, void *arg, const mr_cpu_fns *t, void *const *y)
{
    const job *j = arg;
    mr_conv_args v = j->v.conv;
    (void)c;
    v.y = y[0];
    if (j->s->layout != DENSE) memset(y[0], 0, (size_t)j->n.y * mr_dtype_size(j->s->d));
    t->conv.conv[j->s->d](&v);
}

/* As a product's; Winograd's transforms bring in all that a tile sees, and enlarge its error. */
static const double *slack_of(ck *c, const job *j)
{
    enum { WINOGRAD = 48 };
    const mr_dtype d = j->s->d;
    double *sum = ck_in(c, j->n.y, sizeof *sum), most = 0;
    mr_conv_args v = j->v.conv;
    v.x = ck_magnitudes(c, d, v.x, j->n.x);
    v.w = ck_magnitudes(c, d, v.w, j->n.w);
    if (v.b) v.b = ck_magnitudes(c, d, v.b, j->n.b);
    v.y = sum;
    memset(sum, 0, (size_t)j->n.y * sizeof *sum);
    c->scalar.conv.conv[MR_F64](&v);
    const double terms = (double)(v.channels * mr_conv_taps(&v) + 4), unit = d == MR_F64 ? 0x1p-52 : 0x1p-24;
    for (int64_t i = 0; i < j->n.y; i++) most = sum[i] > most ? sum[i] : most;
    double *slack = ck_slack(c, j->n.y, sum, terms * unit);
    if (j->s->packed && d != MR_F64 && tiles(&v))
        for (int64_t i = 0; i < j->n.y; i++) slack[i] += WINOGRAD * unit * most;
    return slack;
}

static void one(ck *c, const void *arg)
{
    const shape *s = arg;
    job j = {.s = s, .v = {.conv = conv_of(s->g, s->layout)}};
    mr_conv_args *v = &j.v.conv;
    j.n = sizes_of(v);
    void *x = ck_values_in(c, s->d, j.n.x, CK_UNIT);
    /* Winograd spreads what is not finite over the outputs of a tile. */
    if (s->specials && !tiles(v)) ck_sprinkle(c, s->d, x, j.n.x);
    v->x = x;
    v->w = ck_values_in(c, s->d, j.n.w, CK_UNIT);
    v->b = s->bias ? ck_values_in(c, s->d, j.n.b, CK_UNIT) : NULL;
    name_case(c, s);
    ck_work(c, flops_of(v), 0);
    ck_output o = {s->d, j.n.y, CK_NEAR, 1, 0, NULL, 0};
    if (!c->options->bench) o.slack = slack_of(c, &j);
    ck_verify(c, &(ck_call){prepare, run}, &j, &o, 1);
}

static void check_type(ck *c, mr_dtype d)
{
    if (c->options->bench) {
        ck_sides(c, one, &(shape){.g = &geometries[LAST], .d = d, .bias = true, .packed = true});
        return;
    }
    for (int i = 0; i < LAST; i++)
        for (int k = 0; k < 12; k++)
            ck_sides(c, one,
                     &(shape){.g = &geometries[i],
                              .d = d,
                              .bias = k & 1,
                              .packed = k & 2,
                              .layout = (i + k) % 3,
                              .specials = k >= 10});
}

/* ---- integers ---- */

static void prepare_integer(ck *c, void *arg, const mr_cpu_fns *t)
{
    job *j = arg;
    mr_conv_args *v = &j->v.conv;
    const int x = j->s->x, w = j->s->w;
    v->pool = c->pool;
    v->packed = v->scratch = NULL;
    size_t bytes = j->s->packed && t->conv.integer_pack_size[x][w] ? t->conv.integer_pack_size[x][w](&j->v) : 0;
    if (bytes) {
        void *packed = ck_scratch(c, bytes);
        t->conv.integer_pack[x][w](&j->v, packed);
        v->packed = packed;
    }
    if (t->conv.integer_scratch[x][w]) v->scratch = ck_scratch(c, t->conv.integer_scratch[x][w](&j->v));
}

static void run_integer(ck *c, void *arg, const mr_cpu_fns *t, void *const *y)
{
    const job *j = arg;
    mr_intconv_args v = j->v;
    (void)c;
    v.conv.y = y[0];
    t->conv.integer[j->s->x][j->s->w](&v);
}

static void one_integer(ck *c, const void *arg)
{
    static const mr_dtype of_sign[2] = {MR_U8, MR_I8};
    const shape *s = arg;
    job j = {.s = s, .v = {.conv = conv_of(s->g, DENSE)}};
    mr_conv_args *v = &j.v.conv;
    j.n = sizes_of(v);
    v->x = ck_values_in(c, of_sign[s->x], j.n.x, CK_ANY);
    v->w = ck_values_in(c, of_sign[s->w], j.n.w, CK_ANY);
    v->b = s->bias ? ck_values_in(c, MR_I32, j.n.b, CK_UNIT) : NULL;
    j.v.x_zero = s->x ? -3 : 131;
    if (s->w_zero) j.v.w_zero = ck_values_in(c, of_sign[s->w], s->w_zero == 2 ? j.n.b : 1, CK_ANY);
    j.v.w_zero_step = s->w_zero == 2;
    j.v.out = (mr_requant){.type = s->out};
    if (s->out != MR_I32) {
        double *scale = ck_values_in(c, MR_F64, s->scale == 2 ? j.n.b : 1, CK_SCALE);
        for (int64_t i = 0; i < (s->scale == 2 ? j.n.b : 1); i++) scale[i] /= 4096;
        j.v.out.scale = scale, j.v.out.scale_row = s->scale == 2, j.v.out.zero = s->out == MR_U8 ? 100 : -7;
    }
    name_case(c, s);
    ck_work(c, flops_of(v), 0);
    ck_output o = {s->out, j.n.y, CK_BITS, 0, 0, NULL, 0};
    ck_verify(c, &(ck_call){prepare_integer, run_integer}, &j, &o, 1);
}

static void check_integer(ck *c, int x, int w)
{
    static const mr_dtype outs[] = {MR_I32, MR_U8, MR_I8};
    if (c->options->bench) {
        ck_sides(c, one_integer, &(shape){.g = &geometries[LAST], .x = x, .w = w, .packed = true, .out = MR_I32});
        return;
    }
    for (int i = 0; i < LAST; i++)
        for (int k = 0; k < 12; k++)
            ck_sides(c, one_integer,
                     &(shape){.g = &geometries[i],
                              .x = x,
                              .w = w,
                              .w_zero = k % 3,
                              .bias = k & 1,
                              .packed = k & 2,
                              .scale = k % 3,
                              .out = outs[k / 4]});
}

void check_conv(ck *c)
{
    for (int i = 0; i < 4; i++) {
        const mr_dtype d = ck_floats[i];
        ck_serves(c, &c->level.conv.scratch[d]);
        ck_serves(c, &c->level.conv.pack_size[d]);
        ck_serves(c, &c->level.conv.pack[d]);
        if (ck_slot(c, &c->level.conv.conv[d])) check_type(c, d);
    }
    for (int x = 0; x < 2; x++)
        for (int w = 0; w < 2; w++) {
            ck_serves(c, &c->level.conv.integer_scratch[x][w]);
            ck_serves(c, &c->level.conv.integer_pack_size[x][w]);
            ck_serves(c, &c->level.conv.integer_pack[x][w]);
            if (ck_slot(c, &c->level.conv.integer[x][w])) check_integer(c, x, w);
        }
}

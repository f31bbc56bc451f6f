/* ms_lstm.c: com.microsoft's DynamicQuantizeLSTM: an LSTM whose W and R are 8-bit integers. X as a whole, and H of all
 * sequences at each step, are quantized as DynamicQuantizeLinear does; the products are exact. A sequence that is over
 * counts as zeros there. */
#include <string.h>

#include "kernels/cpu/cpu.h"
#include "ops/dynamic.h"
#include "ops/product.h"
#include "ops/rnn.h"

enum { X = MR_RNN_X, W = MR_RNN_W, R = MR_RNN_R, W_SCALE = 8, W_ZERO, R_SCALE, R_ZERO };

static void lstm_read(mr_reader *r, void *params)
{
    mr_lstm_read(r, params);
    ((mr_rnn_params *)params)->transposed = true;
}

/* A scale or zero point: one of a direction, or one of each of its columns. */
static mr_status want_factor(mr_call *c, int i)
{
    const mr_rnn_params *p = c->params;
    const mr_shape *s = &c->in[i].shape, *r = &c->in[R].shape;
    mr_status st = mr_want_rank(c, i, 1, 2);
    if (!st && s->rank > 0) st = mr_want_dim(c, s->d[0], p->directions, "num_directions", NULL);
    if (!st && s->rank == 2 && r->rank == 3) st = mr_want_dim(c, s->d[1], r->d[2], "4 * hidden_size", NULL);
    return st;
}

static mr_status lstm_infer(mr_call *c)
{
    mr_status st = mr_rnn_infer(c);
    for (int i = W_SCALE; !st && i <= R_ZERO; i++) st = want_factor(c, i);
    return st;
}

/* ---- products with W and R ---- */

static int sign_of(const mr_call *c, int i)
{
    return mr_in_dtype(c, i) == MR_I8;
}

static int64_t columns(const mr_call *c, int i)
{
    return c->in[i].shape.d[2];
}

/* rows × depth by the weights of one direction. */
static mr_intgemm_args product(const mr_call *c, int i, int64_t rows)
{
    const int64_t depth = c->in[i].shape.d[1];
    mr_shape a = {.rank = 2, .d = {rows, depth}}, b = {.rank = 2, .d = {depth, columns(c, i)}};
    mr_intgemm_args g = {.out.type = MR_I32};
    mr_product_of(&a, &b, &g.p);
    return g;
}

static size_t pack_bytes(const mr_call *c, int i)
{
    mr_intgemm_args g = product(c, i, 1);
    mr_intgemm_size_fn *size = c->cpu->intgemm.pack_size[0][sign_of(c, i)];
    return size ? (size(&g) + 63) / 64 * 64 : 0;
}

static size_t lstm_pack_size(const mr_call *c, int i)
{
    return pack_bytes(c, i) * (size_t)c->in[i].shape.d[0];
}

static const char *weights_of(const mr_call *c, int i, int64_t direction)
{
    return (const char *)c->in[i].t->data + direction * c->in[i].shape.d[1] * columns(c, i);
}

static void lstm_pack(const mr_call *c, int i, void *dst)
{
    mr_intgemm_args g = product(c, i, 1);
    for (int64_t d = 0; d < c->in[i].shape.d[0]; d++) {
        g.b = weights_of(c, i, d);
        c->cpu->intgemm.pack[0][sign_of(c, i)](&g, (char *)dst + (size_t)d * pack_bytes(c, i));
    }
}

static size_t product_scratch(const mr_call *c, int i, int64_t rows)
{
    mr_intgemm_args g = product(c, i, rows);
    mr_intgemm_size_fn *size = c->cpu->intgemm.scratch[0][sign_of(c, i)];
    return size ? size(&g) : 0;
}

static void multiply(const mr_call *c, int i, int64_t direction, int64_t rows, const uint8_t *a, double zero,
                     int32_t *sums, mr_pool *pool, void *scratch)
{
    mr_intgemm_args g = product(c, i, rows);
    const mr_tensor *b_zero = c->in[i == W ? W_ZERO : R_ZERO].t;
    const uint8_t a_zero = (uint8_t)zero;
    g.b_zero_col = b_zero->rank == 2;
    g.b_zero = (const char *)b_zero->data + direction * (b_zero->rank == 2 ? columns(c, i) : 1);
    g.a = a, g.a_zero = &a_zero, g.y = sums;
    g.b = c->in[i].t ? weights_of(c, i, direction) : NULL;
    if (c->packed && c->packed[i]) g.packed = (char *)c->packed[i] + (size_t)direction * pack_bytes(c, i);
    g.pool = pool, g.scratch = scratch;
    c->cpu->intgemm.gemm[0][sign_of(c, i)](&g);
}

/* ---- running: scratch is what all directions share, then what each has ---- */

typedef struct lstm {
    const mr_call *c;
    mr_rnn_args a;
    mr_dtype dtype;
    mr_dynamic x;
    /* shared */
    uint8_t *x_codes;
    void *x_scratch;
    char *directions;
    size_t direction_bytes, bytes;
} lstm;

typedef struct direction {
    int32_t *x_sums, *h_sums;
    const int32_t **rows;
    double *w_scale, *r_scale;
    uint8_t *h_codes;
    char *h, *cell;
    void *scratch;
} direction;

static void *take(char **at, size_t bytes)
{
    void *p = *at;
    *at += (bytes + 63) / 64 * 64;
    return p;
}

static size_t row_bytes(const lstm *l)
{
    return (size_t)l->a.hidden * mr_dtype_size(l->dtype);
}

/* at: where direction i begins; returns where it ends. */
static char *lay_direction(const lstm *l, char *at, direction *d)
{
    const size_t wide = 4 * (size_t)l->a.hidden, batch = (size_t)l->a.batch, length = (size_t)l->a.length;
    d->x_sums = take(&at, length * batch * wide * sizeof *d->x_sums);
    d->h_sums = take(&at, batch * wide * sizeof *d->h_sums);
    d->rows = take(&at, batch * sizeof *d->rows);
    d->w_scale = take(&at, wide * sizeof(double));
    d->r_scale = take(&at, wide * sizeof(double));
    d->h_codes = take(&at, batch * (size_t)l->a.hidden);
    d->h = take(&at, batch * row_bytes(l));
    d->cell = take(&at, batch * row_bytes(l));
    d->scratch = take(&at, product_scratch(l->c, R, l->a.batch));
    return at;
}

/* Laid out from `base` on, which may be NULL where only the bytes are wanted. */
static lstm lay(const mr_call *c, char *base)
{
    lstm l = {.c = c, .a = mr_rnn_args_of(c), .dtype = mr_in_dtype(c, X)};
    const int64_t rows = l.a.length * l.a.batch;
    char *at = base;
    l.x_codes = take(&at, (size_t)(rows * l.a.input));
    l.x_scratch = take(&at, product_scratch(c, W, rows));
    l.directions = at;
    direction d;
    l.direction_bytes = (size_t)(lay_direction(&l, at, &d) - at);
    l.bytes = (size_t)(at - base) + l.direction_bytes * (size_t)l.a.directions;
    return l;
}

static size_t lstm_scratch(const mr_call *c)
{
    static char origin[64];
    return lay(c, origin).bytes;
}

static void load_scales(const mr_call *c, int i, int64_t d, int64_t n, double *to)
{
    const mr_tensor *t = c->in[i].t;
    for (int64_t j = 0; j < n; j++) to[j] = mr_tensor_real(t, t->rank == 2 ? d * n + j : d);
}

static void load_state(const lstm *l, const void *from, int64_t d, char *to)
{
    const size_t bytes = (size_t)l->a.batch * row_bytes(l);
    if (from)
        memcpy(to, (const char *)from + (size_t)d * bytes, bytes);
    else
        memset(to, 0, bytes);
}

static int64_t length_of(const lstm *l, int64_t n)
{
    return l->a.lengths ? l->a.lengths[n] : l->a.length;
}

/* Y of row n at this step, and Y_h when it is the last; then H counts no longer. */
static void put_row(const lstm *l, const direction *k, int64_t d, int64_t n, int64_t step, int64_t time)
{
    const size_t size = mr_dtype_size(l->dtype), bytes = row_bytes(l);
    const int64_t length = length_of(l, n);
    char *y =
        l->a.y ? (char *)l->a.y + (size_t)(time * l->a.y_time + d * l->a.y_direction + n * l->a.y_batch) * size : NULL;
    if (step >= length) {
        if (y) memset(y, 0, bytes);
        return;
    }
    char *h = k->h + (size_t)n * bytes;
    if (y) memcpy(y, h, bytes);
    if (step + 1 < length) return;
    if (l->a.yh) memcpy((char *)l->a.yh + (size_t)(d * l->a.batch + n) * bytes, h, bytes);
    memset(h, 0, bytes);
}

static void run_step(const lstm *l, const direction *k, int64_t d, int64_t step)
{
    const mr_cpu_fns *cpu = l->c->cpu;
    const bool back = l->a.reverse || d == 1;
    mr_dynamic q = mr_dynamic_of(cpu, l->dtype, k->h, l->a.batch * l->a.hidden);
    mr_dynamic_quantize(cpu, NULL, &q, k->h, k->h_codes);
    multiply(l->c, R, d, l->a.batch, k->h_codes, q.zero, k->h_sums, NULL, k->scratch);
    for (int64_t n = 0; n < l->a.batch; n++) {
        int64_t length = length_of(l, n), time = back ? length - 1 - step : step;
        k->rows[n] = step < length ? k->x_sums + (time * l->a.batch + n) * 4 * l->a.hidden : NULL;
    }
    mr_lstm_cell_args cell = {.lstm = &l->a,
                              .direction = (int)d,
                              .x_sums = k->rows,
                              .h_sums = k->h_sums,
                              .x_scale = l->x.scale,
                              .h_scale = q.scale,
                              .w_scale = k->w_scale,
                              .r_scale = k->r_scale,
                              .h = k->h,
                              .c = k->cell,
                              .rows = l->a.batch};
    cpu->rnn.lstm_cell[l->dtype](&cell);
    for (int64_t n = 0; n < l->a.batch; n++) {
        int64_t length = length_of(l, n);
        put_row(l, k, d, n, step, back && step < length ? length - 1 - step : step);
    }
}

static direction direction_at(const lstm *l, int64_t d)
{
    direction k;
    lay_direction(l, l->directions + (size_t)d * l->direction_bytes, &k);
    return k;
}

static void run_directions(void *arg, int64_t begin, int64_t end)
{
    const lstm *l = arg;
    const int64_t wide = 4 * l->a.hidden;
    for (int64_t d = begin; d < end; d++) {
        direction k = direction_at(l, d);
        load_scales(l->c, W_SCALE, d, wide, k.w_scale);
        load_scales(l->c, R_SCALE, d, wide, k.r_scale);
        load_state(l, l->a.h0, d, k.h);
        load_state(l, l->a.c0, d, k.cell);
        const size_t bytes = (size_t)l->a.batch * row_bytes(l);
        if (l->a.yh) memcpy((char *)l->a.yh + (size_t)d * bytes, k.h, bytes);
        for (int64_t step = 0; step < l->a.length; step++) run_step(l, &k, d, step);
        if (l->a.yc) memcpy((char *)l->a.yc + (size_t)d * bytes, k.cell, bytes);
    }
}

/* X is quantized as far as the longest sequence goes. */
static int64_t counted_rows(const lstm *l)
{
    int64_t longest = 0;
    for (int64_t n = 0; n < l->a.batch; n++)
        if (length_of(l, n) > longest) longest = length_of(l, n);
    return longest * l->a.batch;
}

static mr_status lstm_run(mr_call *c)
{
    lstm l = lay(c, c->scratch);
    mr_status st = mr_rnn_want_lengths(c, l.a.length);
    if (st) return st;
    const int64_t rows = counted_rows(&l);
    l.x = mr_dynamic_of(c->cpu, l.dtype, l.a.x, rows * l.a.input);
    mr_dynamic_quantize(c->cpu, c->pool, &l.x, l.a.x, l.x_codes);
    for (int64_t d = 0; d < l.a.directions; d++)
        multiply(c, W, d, rows, l.x_codes, l.x.zero, direction_at(&l, d).x_sums, c->pool, l.x_scratch);
    mr_parallel_for(c->pool, l.a.directions, 1, run_directions, &l);
    return MR_OK;
}

static mr_fn have_lstm(const mr_call *c)
{
    const mr_dtype x = mr_in_dtype(c, X);
    bool have =
        mr_dynamic_have(c->cpu, x) && c->cpu->intgemm.gemm[0][sign_of(c, W)] && c->cpu->intgemm.gemm[0][sign_of(c, R)];
    return have ? MR_SLOT(c->cpu->rnn.lstm_cell, x) : NULL;
}

static const mr_impl lstm_rows[] = {{.name = "dynamic_quantize_lstm",
                                     .dev = MR_CPU,
                                     .have = have_lstm,
                                     .run = lstm_run,
                                     .scratch = lstm_scratch,
                                     .pack_in = 1 << W | 1 << R,
                                     .pack_size = lstm_pack_size,
                                     .pack = lstm_pack},
                                    {0}};

const mr_op mr_ops_ms_lstm[] = {
    {"com.microsoft", "DynamicQuantizeLSTM", 1, 0, sizeof(mr_rnn_params), lstm_read, lstm_infer, lstm_rows, 0, NULL,
     mr_rnn_flops},
    {0},
};

/* attention.c: scalar attention, which is also the reference. Whatever the types, it computes in double. */
#include "kernels/cpu/attention.h"

#include <math.h>
#include <string.h>

#include "kernels/cpu/math.h"
#include "kernels/cpu/sums.h"
#include "kernels/cpu/wide.h"

enum { ROWS = 16, COLS = MR_SUMS_COLS, DEPTH = MR_SUMS_DEPTH, PANEL = MR_SUMS_PANEL(double), RANGES = 64 };

/* ---- types ---- */

#define MR_BODY "kernels/cpu/attention_type.inc"
#include "kernels/cpu/each_float.h"

/* Rounds n numbers to a type. */
static void round_to(mr_dtype d, double *x, int64_t n)
{
    static void (*const fn[MR_N_DTYPES])(double *, int64_t) = {
        [MR_F16] = round_f16, [MR_BF16] = round_bf16, [MR_F32] = round_f32, [MR_F64] = round_f64};
    fn[d](x, n);
}

static void store(mr_dtype d, const double *x, int64_t n, void *y)
{
    static void (*const fn[MR_N_DTYPES])(const double *, int64_t, void *) = {
        [MR_F16] = store_f16, [MR_BF16] = store_bf16, [MR_F32] = store_f32, [MR_F64] = store_f64};
    fn[d](x, n, y);
}

static void load(mr_dtype d, const void *x, int64_t n, double *y)
{
    const char *from = x;
    for (int64_t i = 0; i < n; i += MR_TILE)
        mr_wide_load_f64(d, from + i * (int64_t)mr_dtype_size(d), n - i < MR_TILE ? n - i : MR_TILE, y + i);
}

static const void *row_at(const mr_attention_rows *x, int64_t batch, int64_t head, int64_t row, int64_t element)
{
    int64_t at = batch * x->batch + head * x->head + row * x->row + element;
    return (const char *)x->data + at * (int64_t)mr_dtype_size(x->dtype);
}

/* Key or value j, from the past or the present. */
static const void *joined_at(const mr_attention_args *a, const mr_attention_rows *past, const mr_attention_rows *now,
                             int64_t batch, int64_t head, int64_t j, int64_t element)
{
    return j < a->past ? row_at(past, batch, head, j, element) : row_at(now, batch, head, j - a->past, element);
}

/* ---- blocks of queries ---- */

typedef struct block {
    int64_t batch, head, kv_head, row, rows;
} block;

static int64_t blocks(const mr_attention_args *a)
{
    return a->batch * a->heads * ((a->queries + ROWS - 1) / ROWS);
}

static block block_at(const mr_attention_args *a, int64_t i)
{
    int64_t n = (a->queries + ROWS - 1) / ROWS, head = i / n % a->heads;
    block b = {.batch = i / n / a->heads, .head = head, .row = i % n * ROWS};
    b.kv_head = head / (a->heads / a->kv_heads);
    b.rows = a->queries - b.row < ROWS ? a->queries - b.row : ROWS;
    return b;
}

static void load_queries(const mr_attention_args *a, const block *b, int64_t element, int64_t n, double *dst)
{
    for (int64_t i = 0; i < b->rows; i++, dst += DEPTH) {
        load(a->q.dtype, row_at(&a->q, b->batch, b->head, b->row + i, element), n, dst);
        for (int64_t d = 0; d < n; d++) dst[d] *= a->q_scale;
        round_to(a->q.dtype, dst, n);
    }
}

/* Keys become the columns of panels. */
static void load_keys(const mr_attention_args *a, const block *b, int64_t key, int64_t keys, int64_t element, int64_t n,
                      double *dst)
{
    double x[DEPTH];
    for (int64_t j = 0; j < keys; j++) {
        load(a->k.dtype, joined_at(a, &a->k_past, &a->k, b->batch, b->kv_head, key + j, element), n, x);
        for (int64_t d = 0; d < n; d++) x[d] *= a->k_scale;
        round_to(a->k.dtype, x, n);
        double *to = dst + j / PANEL * PANEL * n + j % PANEL;
        for (int64_t d = 0; d < n; d++) to[d * PANEL] = x[d];
    }
}

static void load_values(const mr_attention_args *a, const block *b, int64_t key, int64_t keys, int64_t element,
                        int64_t n, mr_dtype precision, double *dst)
{
    double x[COLS];
    for (int64_t j = 0; j < keys; j++) {
        load(a->v.dtype, joined_at(a, &a->v_past, &a->v, b->batch, b->kv_head, key + j, element), n, x);
        round_to(precision, x, n);
        for (int64_t e = 0; e < n; e++) dst[(e / PANEL * keys + j) * PANEL + e % PANEL] = x[e];
    }
}

/* Scores of all keys, rounded to Q's type; a row of s has ld elements. */
static void score_block(const mr_attention_args *a, const block *b, double *s, int64_t ld)
{
    const int64_t total = a->past + a->keys;
    double q[ROWS * DEPTH], k[DEPTH * COLS] = {0}, acc[ROWS * COLS];
    for (int64_t j = 0; j < total; j += COLS) {
        int64_t keys = total - j < COLS ? total - j : COLS;
        memset(acc, 0, sizeof acc);
        for (int64_t d = 0; d < a->size; d += DEPTH) {
            int64_t n = a->size - d < DEPTH ? a->size - d : DEPTH;
            load_queries(a, b, d, n, q);
            load_keys(a, b, j, keys, d, n, k);
            mr_sums_f64(b->rows, keys, n, q, k, acc);
        }
        for (int64_t i = 0; i < b->rows; i++) {
            memcpy(s + i * ld + j, acc + i * COLS, sizeof *s * (size_t)keys);
            round_to(a->q.dtype, s + i * ld + j, keys);
        }
    }
}

static char *y_at(const mr_attention_args *a, const block *b, int64_t i, int64_t element)
{
    int64_t at = b->batch * a->y_batch + b->head * a->y_head + (b->row + i) * a->y_row + element;
    return (char *)a->y + at * (int64_t)mr_dtype_size(a->q.dtype);
}

/* Y of a block from the rows of its probabilities; values and sums are rounded to a precision first. */
static void mix_block(const mr_attention_args *a, const block *b, const mr_attention_rows *p, mr_dtype precision)
{
    const int64_t total = a->past + a->keys;
    double q[ROWS * DEPTH], v[DEPTH * COLS] = {0}, acc[ROWS * COLS];
    for (int64_t e = 0; e < a->v_size; e += COLS) {
        int64_t n = a->v_size - e < COLS ? a->v_size - e : COLS;
        memset(acc, 0, sizeof acc);
        for (int64_t j = 0; j < total; j += DEPTH) {
            int64_t keys = total - j < DEPTH ? total - j : DEPTH;
            for (int64_t i = 0; i < b->rows; i++) load(p->dtype, row_at(p, 0, 0, i, j), keys, q + i * DEPTH);
            load_values(a, b, j, keys, e, n, precision, v);
            mr_sums_f64(b->rows, n, keys, q, v, acc);
        }
        for (int64_t i = 0; i < b->rows; i++) {
            round_to(precision, acc + i * COLS, n);
            store(a->q.dtype, acc + i * COLS, n, y_at(a, b, i, e));
        }
    }
}

/* ---- a row of scores ---- */

static void cap(const mr_attention_args *a, double *s, int64_t n)
{
    for (int64_t j = 0; j < n; j++) s[j] /= a->cap;
    round_to(a->q.dtype, s, n);
    for (int64_t j = 0; j < n; j++) s[j] = mr_tanh(s[j]);
    round_to(a->q.dtype, s, n);
    for (int64_t j = 0; j < n; j++) s[j] *= a->cap;
    round_to(a->q.dtype, s, n);
}

static void load_mask(const mr_attention_args *a, int64_t batch, int64_t head, int64_t query, int64_t n, double *bias)
{
    const int64_t *stride = a->mask_strides, at = batch * stride[0] + head * stride[1] + query * stride[2];
    const char *from = (const char *)a->mask.data + at * (int64_t)mr_dtype_size(a->mask.dtype);
    if (n > a->mask_keys) n = a->mask_keys;
    load(a->mask.dtype, from, stride[3] ? n : 1, bias);
    for (int64_t j = 0; !stride[3] && j < n; j++) bias[j] = bias[0];
    if (a->mask.dtype == MR_BOOL)
        for (int64_t j = 0; j < n; j++) bias[j] = bias[j] != 0 ? 0 : -INFINITY;
    else
        round_to(a->q.dtype, bias, n);
}

/* False: no key is seen. */
static bool load_bias(const mr_attention_args *a, int64_t batch, int64_t head, int64_t query, double *bias)
{
    const int64_t n = a->past + a->keys;
    int64_t from, to;
    bool seen = false;
    memset(bias, 0, sizeof *bias * (size_t)n);
    if (a->mask.data && n) load_mask(a, batch, head, query, n, bias);
    mr_attention_range(a, batch, query, &from, &to);
    for (int64_t j = 0; j < n; j++) {
        if (j < from || j >= to) bias[j] += -INFINITY;
        seen |= bias[j] != -INFINITY;
    }
    return seen;
}

/* As ONNX has it, by Sub, Exp, ReduceSum and Div. */
static void softmax_row(mr_dtype precision, double *s, int64_t n)
{
    double top = -INFINITY, sum = 0;
    round_to(precision, s, n);
    for (int64_t j = 0; j < n; j++) top = s[j] > top ? s[j] : top;
    for (int64_t j = 0; j < n; j++) s[j] -= top;
    round_to(precision, s, n);
    for (int64_t j = 0; j < n; j++) s[j] = mr_exp(s[j]);
    round_to(precision, s, n);
    for (int64_t j = 0; j < n; j++) sum += s[j];
    round_to(precision, &sum, 1);
    for (int64_t j = 0; j < n; j++) s[j] /= sum;
    round_to(precision, s, n);
}

static void keep_scores(const mr_attention_args *a, mr_attention_stage stage, int64_t row, const double *s)
{
    const int64_t n = a->past + a->keys;
    if (a->scores && a->stage == stage)
        store(a->q.dtype, s, n, (char *)a->scores + row * n * (int64_t)mr_dtype_size(a->q.dtype));
}

/* Scores become probabilities. False: no key is seen. */
static bool attend_row(const mr_attention_args *a, const block *b, int64_t i, double *s, double *bias)
{
    const int64_t n = a->past + a->keys, query = b->row + i, row = (b->batch * a->heads + b->head) * a->queries + query;
    keep_scores(a, MR_QK_RAW, row, s);
    if (a->cap != 0) cap(a, s, n);
    keep_scores(a, MR_QK_CAPPED, row, s);
    bool seen = load_bias(a, b->batch, b->head, query, bias);
    for (int64_t j = 0; j < n; j++) s[j] += bias[j];
    round_to(a->q.dtype, s, n);
    keep_scores(a, MR_QK_BIASED, row, s);
    softmax_row(a->precision, s, n);
    round_to(a->q.dtype, s, n);
    if (!seen) memset(s, 0, sizeof *s * (size_t)n);
    keep_scores(a, MR_QK_SOFTMAX, row, s);
    return seen;
}

/* ---- the whole ---- */

static int64_t grain(const mr_attention_args *a)
{
    return (blocks(a) + RANGES - 1) / RANGES;
}

static void attention_blocks(void *arg, int64_t begin, int64_t end)
{
    const mr_attention_args *a = arg;
    const int64_t n = a->past + a->keys;
    double *s = (double *)a->scratch + begin / grain(a) * (ROWS + 1) * n, *bias = s + ROWS * n;
    for (int64_t t = begin; t < end; t++) {
        block b = block_at(a, t);
        mr_attention_rows p = {.data = s, .dtype = MR_F64, .row = n};
        bool seen[ROWS];
        score_block(a, &b, s, n);
        for (int64_t i = 0; i < b.rows; i++) seen[i] = attend_row(a, &b, i, s + i * n, bias);
        mix_block(a, &b, &p, MR_F64);
        /* "A fully-masked query row produces a zero output row", whatever the values are that nobody sees. */
        for (int64_t i = 0; i < b.rows; i++)
            if (!seen[i]) memset(y_at(a, &b, i, 0), 0, (size_t)a->v_size * mr_dtype_size(a->q.dtype));
    }
}

void mr_attention_plain(const mr_attention_args *a)
{
    mr_parallel_for(mr_attention_pool(a), blocks(a), grain(a), attention_blocks, (void *)a);
}

size_t mr_attention_plain_scratch(const mr_attention_args *a)
{
    return sizeof(double) * RANGES * (size_t)((ROWS + 1) * (a->past + a->keys));
}

/* ---- its parts ---- */

static mr_attention_rows scores_of(const mr_attention_args *a)
{
    return (mr_attention_rows){a->scores, a->precision, a->heads * a->queries * a->keys, a->queries * a->keys, a->keys};
}

static void scores_blocks(void *arg, int64_t begin, int64_t end)
{
    const mr_attention_args *a = arg;
    const mr_attention_rows to = scores_of(a);
    double *s = (double *)a->scratch + begin / grain(a) * ROWS * a->keys;
    for (int64_t t = begin; t < end; t++) {
        block b = block_at(a, t);
        score_block(a, &b, s, a->keys);
        for (int64_t i = 0; i < b.rows; i++)
            store(to.dtype, s + i * a->keys, a->keys, (void *)row_at(&to, b.batch, b.head, b.row + i, 0));
    }
}

static void scores(const mr_attention_args *a)
{
    mr_parallel_for(mr_attention_pool(a), blocks(a), grain(a), scores_blocks, (void *)a);
}

static void mix_blocks(void *arg, int64_t begin, int64_t end)
{
    const mr_attention_args *a = arg;
    const mr_attention_rows all = scores_of(a);
    for (int64_t t = begin; t < end; t++) {
        block b = block_at(a, t);
        mr_attention_rows p = {row_at(&all, b.batch, b.head, b.row, 0), all.dtype, 0, 0, all.row};
        mix_block(a, &b, &p, a->precision);
    }
}

static void mix(const mr_attention_args *a)
{
    mr_parallel_for(mr_attention_pool(a), blocks(a), 1, mix_blocks, (void *)a);
}

static void join_heads(void *arg, int64_t begin, int64_t end)
{
    const mr_attention_join *j = arg;
    for (int64_t i = begin; i < end; i++) {
        char *y = (char *)j->y + (size_t)(i * (j->n_past + j->n)) * j->bytes;
        const char *x = (const char *)j->rows.data +
                        (i / j->heads * j->rows.batch + i % j->heads * j->rows.head) * (int64_t)j->size;
        if (j->n_past)
            memcpy(y, (const char *)j->past + (size_t)(i * j->n_past) * j->bytes, (size_t)j->n_past * j->bytes);
        y += (size_t)j->n_past * j->bytes;
        for (int64_t r = 0; r < j->n; r++, y += j->bytes) memcpy(y, x + r * j->rows.row * (int64_t)j->size, j->bytes);
    }
}

static void join(const mr_attention_join *j)
{
    mr_parallel_for(j->pool, j->batch * j->heads, 1, join_heads, (void *)j);
}

#define MR_BODY "kernels/cpu/attention.inc"
#include "kernels/cpu/each_float.h"

void mr_attention_fill_scalar(mr_attention_fns *f)
{
    static const mr_dtype types[] = {MR_F16, MR_BF16, MR_F32, MR_F64};
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            f->attention[types[i]][types[j]] = mr_attention_plain;
            f->scratch[types[i]][types[j]] = mr_attention_plain_scratch;
        }
        f->scores[types[i]] = scores;
        f->mix[types[i]] = mix;
    }
    f->join = join;
    fill_f16(f);
    fill_bf16(f);
    fill_f32(f);
    fill_f64(f);
}

/* rotary.c: RotaryEmbedding, of ai.onnx and of com.microsoft. */
#include "kernels/cpu/cpu.h"
#include "ops/attention.h"

typedef struct rotary_params {
    int64_t heads, rotary; /* 0: not given; the whole head */
    bool interleaved;
} rotary_params;

enum { X, COS, SIN, POSITIONS };

static void rotary_read(mr_reader *r, void *params)
{
    rotary_params *p = params;
    p->heads = mr_read_int(r, "num_heads", 0);
    p->rotary = mr_read_int(r, "rotary_embedding_dim", 0);
    p->interleaved = mr_read_int(r, "interleaved", 0) != 0;
    if (p->rotary < 0 || p->rotary % 2)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute rotary_embedding_dim = %lld is not an even count",
                     (long long)p->rotary);
}

/* [batch, heads, length, size] of X */
static mr_status rotary_dims(mr_call *c, mr_dim d[4])
{
    const rotary_params *p = c->params;
    const mr_shape *x = &c->in[X].shape;
    mr_status st = mr_want_rank(c, X, 3, 4);
    for (int k = 0; k < 4; k++) d[k] = x->rank == 4 ? x->d[k] : MR_DIM_UNKNOWN;
    if (st || x->rank < 0) return st;
    if (x->rank == 3) {
        if (p->heads < 1) return mr_call_fail(c, MR_E_ATTRIBUTE, "an input of rank 3 needs attribute num_heads");
        d[0] = x->d[0], d[1] = p->heads, d[2] = x->d[1];
        if (x->d[2] >= 0 && x->d[2] % p->heads)
            return mr_call_fail_in(c, MR_E_SHAPES, X, "dim 2 is no multiple of %lld heads", (long long)p->heads);
        if (x->d[2] >= 0) d[3] = x->d[2] / p->heads;
    }
    if (d[3] < 0) return MR_OK;
    if (p->rotary > d[3])
        return mr_call_fail_in(c, MR_E_SHAPES, X, "rotary_embedding_dim = %lld is larger than a head: %lld",
                               (long long)p->rotary, (long long)d[3]);
    if (!p->rotary && d[3] % 2)
        return mr_call_fail_in(c, MR_E_SHAPES, X, "head size %lld is not even", (long long)d[3]);
    return MR_OK;
}

static mr_status want_caches(mr_call *c, mr_dim d[4])
{
    const rotary_params *p = c->params;
    const bool placed = mr_in_has(c, POSITIONS);
    mr_dim rows = MR_DIM_UNKNOWN, half = p->rotary ? p->rotary / 2 : d[3] >= 0 ? d[3] / 2 : MR_DIM_UNKNOWN;
    mr_status st = MR_OK;
    for (int i = COS; !st && i <= SIN; i++) {
        st = mr_want_rank(c, i, placed ? 2 : 3, placed ? 2 : 3);
        if (!st && !placed) st = mr_attention_want(c, i, 0, &d[0], "batch_size");
        if (!st && !placed) st = mr_attention_want(c, i, 1, &d[2], "sequence_length");
        if (!st) st = mr_attention_want(c, i, placed ? 1 : 2, &half, "half of the rotated elements");
    }
    for (int i = COS; !st && placed && i <= SIN; i++) st = mr_attention_want(c, i, 0, &rows, "that of cos_cache");
    if (!st && placed) st = mr_want_rank(c, POSITIONS, 2, 2);
    if (!st && placed) st = mr_attention_want(c, POSITIONS, 0, &d[0], "batch_size");
    if (!st && placed) st = mr_attention_want(c, POSITIONS, 1, &d[2], "sequence_length");
    if (!st && placed && rows == 0 && mr_shape_some(&c->in[POSITIONS].shape))
        st = mr_call_fail_in(c, MR_E_SHAPES, COS, "has no rows for position_ids");
    return st;
}

static mr_status want_positions(mr_call *c)
{
    const mr_tensor *t = c->in[POSITIONS].t;
    const int64_t n = mr_tensor_count(t), rows = c->in[COS].shape.d[0];
    for (int64_t i = 0; i < n; i++) {
        int64_t at = mr_tensor_int(t, i);
        if (at < 0 || at >= rows)
            return mr_call_fail(c, MR_E_NODE_VALUE, "position_ids[%lld,%lld]=%lld outside cache of %lld",
                                (long long)(i / t->dims[1]), (long long)(i % t->dims[1]), (long long)at,
                                (long long)rows);
    }
    return MR_OK;
}

static mr_status rotary_infer(mr_call *c)
{
    mr_dim d[4];
    mr_status st = rotary_dims(c, d);
    if (!st) st = want_caches(c, d);
    bool known =
        mr_in_has(c, POSITIONS) && c->in[POSITIONS].t && c->in[COS].shape.rank >= 0 && c->in[COS].shape.d[0] >= 0;
    if (!st && known) st = want_positions(c);
    return st ? st : mr_out_like(c, 0, X);
}

/* All but the caches and positions. */
static mr_rotary_args rotary_args(const mr_call *c, const mr_dim d[4])
{
    const rotary_params *p = c->params;
    mr_rotary_args a = {.x = c->in[X].t->data, .y = c->out[0].t->data};
    a.batch = d[0], a.heads = d[1], a.length = d[2], a.size = d[3];
    a.rotary = p->rotary ? p->rotary : d[3];
    a.interleaved = p->interleaved;
    a.x_batch = d[1] * d[2] * d[3];
    a.x_head = c->in[X].t->rank == 4 ? d[2] * d[3] : d[3];
    a.x_row = c->in[X].t->rank == 4 ? d[3] : d[1] * d[3];
    a.pool = c->pool;
    return a;
}

static mr_status rotary_run(mr_call *c)
{
    mr_dim d[4];
    mr_status st = rotary_dims(c, d);
    const bool placed = mr_in_has(c, POSITIONS);
    if (!st && placed) st = want_positions(c);
    if (st) return st;
    mr_rotary_args a = rotary_args(c, d);
    a.cos = c->in[COS].t->data, a.sin = c->in[SIN].t->data;
    a.positions = placed ? c->in[POSITIONS].t->data : NULL;
    ((void (*)(const mr_rotary_args *))c->fn)(&a);
    return MR_OK;
}

static mr_fn have_rotary(const mr_call *c)
{
    return MR_SLOT(c->cpu->attention.rotary, mr_in_dtype(c, X));
}

static const mr_impl rotary_rows[] = {{.name = "rotary", .dev = MR_CPU, .have = have_rotary, .run = rotary_run}, {0}};

/* ---- com.microsoft: X, position_ids, cos_cache, sin_cache; one position is where the first token of each sequence is
 * ---- */

enum { MS_POSITIONS = 1, MS_COS, MS_SIN };

typedef struct ms_params {
    rotary_params rotary; /* first: rotary_dims reads it */
    float scale;
    bool packed;
} ms_params;

static void ms_read(mr_reader *r, void *params)
{
    ms_params *p = params;
    rotary_read(r, params);
    p->scale = mr_read_float(r, "scale", 1);
    p->packed = mr_read_int(r, "is_packed_batching", 0) != 0;
}

MR_COND(not_packed, ms_params, 0, !p->packed);
MR_COND(scale_is_1, ms_params, 0, p->scale == 1);
MR_COND(heads_known, ms_params, MR_NEEDS_RANK(X),
        c->in[X].shape.rank == 4 || p->rotary.heads > 0 || p->rotary.rotary == 0);

/* As ai.onnx's, but the heads may follow from the caches, which are half as wide. */
static mr_status ms_dims(mr_call *c, mr_dim d[4])
{
    const ms_params *p = c->params;
    if (c->in[X].shape.rank == 4 || p->rotary.heads > 0) return rotary_dims(c, d);
    const mr_shape *x = &c->in[X].shape, *cos = &c->in[MS_COS].shape;
    for (int k = 0; k < 4; k++) d[k] = MR_DIM_UNKNOWN;
    if (x->rank == 3) d[0] = x->d[0], d[2] = x->d[1];
    if (x->rank != 3 || x->d[2] < 0 || cos->rank != 2 || cos->d[1] < 1) return mr_want_rank(c, X, 3, 4);
    d[3] = 2 * cos->d[1], d[1] = x->d[2] / d[3];
    if (x->d[2] % d[3] == 0) return MR_OK;
    return mr_call_fail_in(c, MR_E_SHAPES, X, "dim 2 is no multiple of %lld, the width of what the caches rotate",
                           (long long)d[3]);
}

static int64_t ms_position(const mr_tensor *t, int64_t i, int64_t length)
{
    return t->rank == 2 ? mr_tensor_int(t, i) : mr_tensor_int(t, 0) + i % length;
}

static mr_status ms_want_positions(mr_call *c, const mr_dim d[4])
{
    const int64_t rows = c->in[MS_COS].shape.d[0];
    for (int64_t i = 0; i < d[0] * d[2]; i++) {
        const int64_t at = ms_position(c->in[MS_POSITIONS].t, i, d[2]);
        if (at < 0 || at >= rows)
            return mr_call_fail_in(c, MR_E_NODE_VALUE, MS_POSITIONS, "position %lld outside cache of %lld",
                                   (long long)at, (long long)rows);
    }
    return MR_OK;
}

static mr_status ms_infer(mr_call *c)
{
    const ms_params *p = c->params;
    mr_dim d[4], rows = MR_DIM_UNKNOWN;
    mr_status st = ms_dims(c, d);
    mr_dim half = p->rotary.rotary ? p->rotary.rotary / 2 : d[3] >= 0 ? d[3] / 2 : MR_DIM_UNKNOWN;
    for (int i = MS_COS; !st && i <= MS_SIN; i++) {
        st = mr_want_rank(c, i, 2, 2);
        if (!st) st = mr_attention_want(c, i, 0, &rows, "that of cos_cache");
        if (!st) st = mr_attention_want(c, i, 1, &half, "half of the rotated elements");
    }
    if (!st) st = mr_want_rank(c, MS_POSITIONS, 1, 2);
    if (!st && c->in[MS_POSITIONS].shape.rank == 2) {
        st = mr_attention_want(c, MS_POSITIONS, 0, &d[0], "batch_size");
        if (!st) st = mr_attention_want(c, MS_POSITIONS, 1, &d[2], "sequence_length");
    }
    if (!st && c->in[MS_POSITIONS].shape.rank == 1) st = mr_want_one(c, MS_POSITIONS);
    if (!st && c->in[MS_POSITIONS].t && rows >= 0 && d[0] >= 0 && d[2] >= 0) st = ms_want_positions(c, d);
    return st ? st : mr_out_like(c, 0, X);
}

static size_t ms_scratch(const mr_call *c)
{
    mr_call call = *c;
    mr_dim d[4];
    return ms_dims(&call, d) ? 0 : (size_t)(d[0] * d[2]) * sizeof(int64_t);
}

static mr_status ms_run(mr_call *c)
{
    mr_dim d[4];
    mr_status st = ms_dims(c, d);
    if (!st) st = ms_want_positions(c, d);
    if (st) return st;
    mr_rotary_args a = rotary_args(c, d);
    int64_t *positions = c->scratch;
    for (int64_t i = 0; i < d[0] * d[2]; i++) positions[i] = ms_position(c->in[MS_POSITIONS].t, i, d[2]);
    a.cos = c->in[MS_COS].t->data, a.sin = c->in[MS_SIN].t->data, a.positions = positions;
    ((void (*)(const mr_rotary_args *))c->fn)(&a);
    return MR_OK;
}

static const mr_impl ms_rows[] = {{.name = "ms_rotary",
                                   .have = have_rotary,
                                   .conds = MR_WHEN(&not_packed, &scale_is_1, &heads_known),
                                   .run = ms_run,
                                   .scratch = ms_scratch},
                                  {0}};

const mr_op mr_ops_rotary[] = {
    {"", "RotaryEmbedding", 23, 0, sizeof(rotary_params), rotary_read, rotary_infer, rotary_rows, 0, NULL, NULL},
    {"com.microsoft", "RotaryEmbedding", 1, 0, sizeof(ms_params), ms_read, ms_infer, ms_rows, 0, NULL, NULL},
    {0},
};

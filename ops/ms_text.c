/* ms_text.c: com.microsoft's MurmurHash3 and NGramRepeatBlock. */
#include <math.h>
#include <string.h>

#include "ops/ms_quant.h"
#include "ops/plain.h"

/* ---- MurmurHash3: MurmurHash3_x86_32 of the bytes of each element ---- */

typedef struct hash_params {
    uint32_t seed;
    bool positive;
} hash_params;

static void hash_read(mr_reader *r, void *params)
{
    hash_params *p = params;
    p->seed = (uint32_t)mr_read_int(r, "seed", 0);
    p->positive = mr_read_int(r, "positive", 1) == 1;
}

static mr_status hash_infer(mr_call *c)
{
    const hash_params *p = c->params;
    return mr_out_tensor(c, 0, p->positive ? MR_U32 : MR_I32, &c->in[0].shape);
}

static uint32_t turn(uint32_t v, int by)
{
    return v << by | v >> (32 - by);
}

static uint32_t mix(uint32_t k)
{
    return turn(k * 0xcc9e2d51u, 15) * 0x1b873593u;
}

/* Blocks of four bytes, the least significant first; then what is left, the length, and an avalanche. */
static uint32_t hash(const char *bytes, size_t n, uint32_t h)
{
    const unsigned char *at = (const unsigned char *)bytes;
    uint32_t rest = 0;
    for (size_t i = 0; i + 4 <= n; i += 4) {
        uint32_t k = at[i] | (uint32_t)at[i + 1] << 8 | (uint32_t)at[i + 2] << 16 | (uint32_t)at[i + 3] << 24;
        h = turn(h ^ mix(k), 13) * 5 + 0xe6546b64u;
    }
    for (size_t i = n % 4; i > 0; i--) rest = rest << 8 | at[n - n % 4 + i - 1];
    h ^= mix(rest) ^ (uint32_t)n;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    return h ^ h >> 16;
}

static mr_status hash_run(mr_call *c)
{
    const hash_params *p = c->params;
    const mr_tensor *x = c->in[0].t;
    const size_t size = mr_dtype_size(x->dtype);
    uint32_t *y = c->out[0].t->data;
    for (int64_t i = 0; i < mr_tensor_count(x); i++) {
        const mr_string *s = (const mr_string *)x->data + i;
        const char *bytes = x->dtype == MR_STRING ? s->data : (const char *)x->data + (size_t)i * size;
        y[i] = hash(bytes, x->dtype == MR_STRING ? s->len : size, p->seed);
    }
    return MR_OK;
}

static const mr_impl hash_rows[] = {{.name = "murmur_hash_3", .have = mr_have_plain, .run = hash_run}, {0}};

/* ---- NGramRepeatBlock: a token that would repeat an n-gram of input_ids scores -inf ---- */

enum { IDS, SCORES };

static void ngram_read(mr_reader *r, void *params)
{
    int64_t *n = params;
    *n = mr_read_int(r, "ngram_size", 0);
    if (*n < 1) mr_read_fail(r, MR_E_ATTRIBUTE, "attribute ngram_size = %lld is not positive", (long long)*n);
}

/* Every id is a token of the vocabulary, as far as both are known. */
static mr_status want_tokens(mr_call *c)
{
    const mr_tensor *t = c->in[IDS].t;
    const mr_dim words = c->in[SCORES].shape.rank == 2 ? c->in[SCORES].shape.d[1] : MR_DIM_UNKNOWN;
    if (words == 0 && mr_shape_some(&c->in[IDS].shape)) return mr_call_fail_in(c, MR_E_SHAPES, SCORES, "has no tokens");
    for (int64_t i = 0; t && words >= 0 && i < mr_tensor_count(t); i++)
        if (mr_tensor_int(t, i) < 0 || mr_tensor_int(t, i) >= words)
            return mr_call_fail_in(c, MR_E_NODE_VALUE, IDS, "%lld at position %lld is none of %lld tokens",
                                   (long long)mr_tensor_int(t, i), (long long)i, (long long)words);
    return MR_OK;
}

static mr_status ngram_infer(mr_call *c)
{
    const mr_shape *ids = &c->in[IDS].shape, *s = &c->in[SCORES].shape;
    mr_status st = mr_want_rank(c, IDS, 2, 2);
    if (!st) st = mr_want_rank(c, SCORES, 2, 2);
    if (!st && ids->rank == 2 && s->rank == 2) st = mr_want_dim(c, ids->d[0], s->d[0], "batch_size", NULL);
    if (!st) st = want_tokens(c);
    return st ? st : mr_out_like(c, 0, SCORES);
}

static mr_status ngram_run(mr_call *c)
{
    const int64_t n = *(const int64_t *)c->params, *ids = c->in[IDS].t->data;
    const int64_t rows = c->in[IDS].t->dims[0], length = c->in[IDS].t->dims[1], words = c->out[0].t->dims[1];
    float *y = c->out[0].t->data;
    mr_status st = want_tokens(c);
    if (st) return st;
    if (y != c->in[SCORES].t->data) memcpy(y, c->in[SCORES].t->data, mr_tensor_bytes(c->out[0].t));
    for (int64_t b = 0; b < rows; b++, ids += length, y += words)
        for (int64_t i = 0; i + n <= length; i++)
            if (!memcmp(ids + i, ids + length - (n - 1), sizeof *ids * (size_t)(n - 1))) y[ids[i + n - 1]] = -INFINITY;
    return MR_OK;
}

static mr_fn ngram_have(const mr_call *c)
{
    return mr_in_dtype(c, SCORES) == MR_F32 ? mr_have_plain(c) : NULL;
}

static const mr_impl ngram_rows[] = {
    {.name = "ngram_repeat_block", .have = ngram_have, .run = ngram_run, .inplace = 1 << SCORES}, {0}};

const mr_op mr_ops_ms_text[] = {
    {MR_MS, "MurmurHash3", 1, 0, sizeof(hash_params), hash_read, hash_infer, hash_rows, 0, NULL, NULL},
    {MR_MS, "NGramRepeatBlock", 1, 0, sizeof(int64_t), ngram_read, ngram_infer, ngram_rows, 0, NULL, NULL},
    {0},
};

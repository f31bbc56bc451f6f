/* check_attention.c: attention over past and new keys, with masks, windows, caps. */
#include <math.h>

#include "kernels/cpu/wide.h"
#include "tests/kernels/checker.h"

typedef struct shape {
    mr_dtype d;
    int64_t batch, heads, kv_heads, queries, past, keys, size, v_size;
    int mask;                 /* 0 none, 1 bool, 2 float, 3 one row for all queries */
    bool causal, valid, half; /* half: the mask has half of the keys */
    int64_t left, right;
    double cap;
    mr_dtype precision;
} shape;

typedef struct job {
    const shape *s;
    mr_attention_args a;
} job;

static void prepare(ck *c, void *arg, const mr_cpu_fns *t)
{
    job *j = arg;
    const mr_dtype d = j->s->d;
    j->a.pool = c->pool;
    j->a.scratch = t->attention.scratch[d][d] ? ck_scratch(c, t->attention.scratch[d][d](&j->a)) : NULL;
}

static void run(ck *c, void *arg, const mr_cpu_fns *t, void *const *y)
{
    const job *j = arg;
    mr_attention_args a = j->a;
    (void)c;
    a.y = y[0];
    t->attention.attention[j->s->d][j->s->d](&a);
}

static mr_attention_rows rows_of(ck *c, const shape *s, int64_t heads, int64_t rows, int64_t size)
{
    return (mr_attention_rows){ck_values_in(c, s->d, s->batch * heads * rows * size, CK_UNIT), s->d,
                               heads * rows * size, rows * size, size};
}

static void set_mask(ck *c, const shape *s, mr_attention_args *a)
{
    const int64_t keys = s->half ? (s->past + s->keys + 1) / 2 : s->past + s->keys;
    const int64_t rows = s->mask == 3 ? 1 : s->queries;
    a->mask = (mr_tensor){.dtype = s->mask == 1 ? MR_BOOL : s->d, .rank = 2, .dims = {rows, keys}};
    a->mask.data = ck_values_in(c, a->mask.dtype, rows * keys, CK_UNIT);
    a->mask_keys = keys;
    a->mask_strides[2] = s->mask == 3 ? 0 : keys, a->mask_strides[3] = 1;
    for (int64_t i = 0; s->mask > 1 && i < rows * keys; i += 3) {
        mr_wide w = {.f = {-INFINITY}};
        mr_wide_store(MR_WIDE_F64, &w, 1, s->d, (char *)a->mask.data + (size_t)i * mr_dtype_size(s->d),
                      (mr_wide_rule){0});
    }
}

/* The scalar level rounds scores and probabilities to Q's type, of which Y, a mean of values within ±1, has their
 * error: that of a score of at most 2 and of a share. */
static double floor_of(const shape *s)
{
    return s->d == MR_F32 ? 0x1p-20 : s->d == MR_F16 ? 0x1p-8 : 0x1p-5;
}

static void one(ck *c, const void *arg)
{
    const shape *s = arg;
    const int64_t n = s->batch * s->heads * s->queries * s->v_size;
    job j = {s,
             {.batch = s->batch,
              .heads = s->heads,
              .kv_heads = s->kv_heads,
              .queries = s->queries,
              .past = s->past,
              .keys = s->keys,
              .size = s->size,
              .v_size = s->v_size,
              .cap = s->cap,
              .precision = s->precision,
              .causal = s->causal,
              .left = s->left,
              .right = s->right}};
    mr_attention_args *a = &j.a;
    a->q = rows_of(c, s, s->heads, s->queries, s->size);
    a->k = rows_of(c, s, s->kv_heads, s->keys, s->size), a->v = rows_of(c, s, s->kv_heads, s->keys, s->v_size);
    if (s->past) a->k_past = rows_of(c, s, s->kv_heads, s->past, s->size);
    if (s->past) a->v_past = rows_of(c, s, s->kv_heads, s->past, s->v_size);
    a->y_row = s->v_size, a->y_head = s->queries * s->v_size, a->y_batch = s->heads * a->y_head;
    a->q_scale = a->k_scale = 0.5;
    if (s->mask) set_mask(c, s, a);
    if (s->valid) {
        int64_t *valid = ck_in(c, s->batch, sizeof *valid);
        for (int64_t i = 0; i < s->batch; i++) valid[i] = s->keys - i % (s->keys + 1);
        a->valid = valid;
    }
    ck_case(c, "%lld x %lld heads (%lld), %lld queries, %lld + %lld keys of %lld, %lld%s%s%s%s%s", (long long)s->batch,
            (long long)s->heads, (long long)s->kv_heads, (long long)s->queries, (long long)s->past, (long long)s->keys,
            (long long)s->size, (long long)s->v_size, s->mask ? ", mask" : "", s->causal ? ", causal" : "",
            s->valid ? ", valid" : "", s->left >= 0 ? ", window" : "", s->cap > 0 ? ", cap" : "");
    ck_work(c, 2.0 * (double)(s->batch * s->heads * s->queries * (s->past + s->keys) * (s->size + s->v_size)), 0);
    ck_verify(c, &(ck_call){prepare, run}, &j, &(ck_output){s->d, n, CK_NEAR, 4, floor_of(s), NULL, 0}, 1);
}

static void check_type(ck *c, mr_dtype d)
{
    static const int64_t edges[] = {1, 2, 5, 7, 8, 9, 16, 17, 33, 64, 65};
    if (c->options->bench) {
        ck_sides(c, one, &(shape){d, 1, 4, 4, 128, 0, 128, 64, 64, .left = -1, .right = -1, .precision = d});
        return;
    }
    for (int i = 0; i < 11 * 11 * 2; i++) {
        const bool past = i % 7 == 2, valid = !past && i % 9 == 4;
        ck_sides(c, one,
                 &(shape){d, 1 + i % 2, i % 3 == 1 ? 4 : 2, 2, edges[i % 11], past ? edges[i / 2 % 11] : 0,
                          edges[i / 11 % 11], edges[(i + 3) % 11], edges[(3 * i) % 11], i % 4, i & 1, valid, i % 5 == 1,
                          i % 6 == 5 ? 2 : -1, i % 6 == 5 ? 1 : -1, i % 8 == 6 ? 3 : 0, i % 10 == 3 ? MR_F32 : d});
    }
    ck_sides(c, one, &(shape){d, 1, 2, 2, 130, 0, 300, 40, 24, .left = -1, .right = -1, .precision = d});
    ck_sides(c, one, &(shape){d, 2, 8, 2, 1, 257, 1, 64, 64, .causal = true, .left = -1, .right = -1, .precision = d});
    ck_sides(c, one, &(shape){d, 0, 2, 2, 3, 0, 4, 5, 6, .left = -1, .right = -1, .precision = d});
    ck_sides(c, one, &(shape){d, 1, 2, 2, 0, 0, 4, 5, 6, .left = -1, .right = -1, .precision = d});
}

void check_attention(ck *c)
{
    for (int i = 0; i < 4; i++) {
        const mr_dtype d = ck_floats[i];
        ck_serves(c, &c->level.attention.scratch[d][d]);
        if (ck_slot(c, &c->level.attention.attention[d][d])) check_type(c, d);
    }
}

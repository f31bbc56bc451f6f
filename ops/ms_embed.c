/* ms_embed.c: com.microsoft's EmbedLayerNormalization: the layer norm of word, position and segment embeddings. */
#include <string.h>

#include "kernels/cpu/cpu.h"
#include "ops/rules.h"

typedef struct embed_params {
    double epsilon;
    int64_t mask_type;
} embed_params;

enum { IDS, SEGMENTS, WORD, POSITION, SEGMENT, GAMMA, BETA, MASK, POSITIONS };
enum { OUTPUT, MASK_INDEX, SUM };

static void embed_read(mr_reader *r, void *params)
{
    embed_params *p = params;
    p->epsilon = mr_read_float(r, "epsilon", 1e-12f);
    p->mask_type = mr_read_int(r, "mask_index_type", 0);
}

static mr_status want_table(mr_call *c, int i, mr_dim *hidden)
{
    if (!mr_in_has(c, i)) return MR_OK;
    mr_status st = mr_want_rank(c, i, 2, 2);
    return st || c->in[i].shape.rank < 0 ? st : mr_want_dim(c, *hidden, c->in[i].shape.d[1], "hidden_size", hidden);
}

static mr_status want_vector(mr_call *c, int i, mr_dim hidden)
{
    mr_status st = mr_want_rank(c, i, 1, 1);
    return st || c->in[i].shape.rank < 0 ? st : mr_want_dim(c, c->in[i].shape.d[0], hidden, "hidden_size", NULL);
}

static mr_status want_a_row(mr_call *c, int table, int from, int64_t at)
{
    const int64_t rows = c->in[table].shape.d[0];
    if (at >= 0 && at < rows) return MR_OK;
    return mr_call_fail_in(c, MR_E_NODE_VALUE, from, "%lld is no row of %s, which has %lld", (long long)at,
                           mr_in_name(c, table), (long long)rows);
}

/* What the numbers of an input, where they are known, or places, where it is absent, take from a table. */
static mr_status want_rows(mr_call *c, int table, int from)
{
    const mr_shape *ids = &c->in[IDS].shape;
    mr_status st = MR_OK;
    if (!mr_in_has(c, table) || c->in[table].shape.rank != 2 || c->in[table].shape.d[0] < 0) return MR_OK;
    if (mr_in_has(c, from)) {
        const mr_tensor *t = c->in[from].t;
        if (!t && c->in[table].shape.d[0] == 0 && mr_shape_some(&c->in[from].shape))
            st = mr_call_fail_in(c, MR_E_SHAPES, table, "has no rows to take");
        for (int64_t i = 0; t && !st && i < mr_tensor_count(t); i++)
            st = want_a_row(c, table, from, mr_tensor_int(t, i));
    } else if (mr_shape_some(ids)) {
        st = want_a_row(c, table, IDS, from == POSITIONS ? ids->d[1] - 1 : 0);
    }
    return st;
}

static mr_status embed_infer(mr_call *c)
{
    const mr_shape *ids = &c->in[IDS].shape;
    mr_dim hidden = MR_DIM_UNKNOWN;
    mr_shape y = mr_shape_of_rank(3), index = mr_shape_of_rank(1);
    mr_status st = mr_want_rank(c, IDS, 2, 2);
    for (int i = WORD; !st && i <= SEGMENT; i++) st = want_table(c, i, &hidden);
    for (int i = GAMMA; !st && i <= BETA; i++) st = want_vector(c, i, hidden);
    const int like_ids[] = {SEGMENTS, MASK};
    for (int k = 0; !st && k < 2; k++)
        if (mr_in_has(c, like_ids[k])) st = mr_want_rank(c, like_ids[k], 2, 2);
    if (st || (st = want_rows(c, WORD, IDS)) || (st = want_rows(c, POSITION, POSITIONS)) ||
        (st = want_rows(c, SEGMENT, SEGMENTS)))
        return st;
    if (ids->rank == 2) y.d[0] = index.d[0] = ids->d[0], y.d[1] = ids->d[1];
    y.d[2] = hidden;
    mr_out_tensor(c, MASK_INDEX, MR_I32, &index);
    mr_out_tensor(c, SUM, mr_in_dtype(c, WORD), &y);
    return mr_out_tensor(c, OUTPUT, mr_in_dtype(c, WORD), &y);
}

MR_COND(mask_index_counts_or_is_unwanted, embed_params, 0, p->mask_type == 0 || !mr_out_wanted(c, MASK_INDEX));

/* Row `at` of table i added to y, or put there. */
static mr_status add_row(mr_call *c, int i, int from, int64_t at, bool first, char *y)
{
    const mr_tensor *t = c->in[i].t;
    const int64_t hidden = t->dims[1];
    const size_t size = mr_dtype_size(t->dtype), bytes = (size_t)hidden * size;
    mr_status st = want_a_row(c, i, from, at);
    if (st) return st;
    const char *row = (const char *)t->data + (size_t)at * bytes;
    if (first) {
        memcpy(y, row, bytes);
        return MR_OK;
    }
    const mr_binary_params k = {0};
    mr_operand in[] = {{.data = y, .size = size, .strides = {1}}, {.data = row, .size = size, .strides = {1}}};
    mr_elementwise j = {.rank = 1, .dims = {hidden}, .n_in = 2, .in = in, .params = &k};
    j.out = in[0];
    mr_elementwise_run(&j, c->cpu->binary.fn[MR_ADD][t->dtype], NULL);
    return MR_OK;
}

/* position_ids may be the same for all of the batch. */
static int64_t position_of(const mr_call *c, int64_t batch, int64_t at, int64_t length)
{
    if (!mr_in_has(c, POSITIONS)) return at;
    const mr_tensor *t = c->in[POSITIONS].t;
    return mr_tensor_int(t, mr_tensor_count(t) == length ? at : batch * length + at);
}

static mr_status add_rows(mr_call *c, char *y, size_t bytes)
{
    const mr_tensor *ids = c->in[IDS].t;
    mr_status st = MR_OK;
    for (int64_t b = 0, i = 0; b < ids->dims[0]; b++)
        for (int64_t s = 0; !st && s < ids->dims[1]; s++, i++, y += bytes) {
            st = add_row(c, WORD, IDS, mr_tensor_int(ids, i), true, y);
            int64_t position = position_of(c, b, s, ids->dims[1]);
            if (!st) st = add_row(c, POSITION, mr_in_has(c, POSITIONS) ? POSITIONS : IDS, position, false, y);
            if (!st && mr_in_has(c, SEGMENT))
                st = add_row(c, SEGMENT, SEGMENTS, mr_in_has(c, SEGMENTS) ? mr_tensor_int(c->in[SEGMENTS].t, i) : 0,
                             false, y);
        }
    return st;
}

/* How many of each row's mask are 1; none, where there is no mask. */
static void count_mask(mr_call *c)
{
    const mr_tensor *ids = c->in[IDS].t;
    int32_t *to = c->out[MASK_INDEX].t->data;
    for (int64_t b = 0; b < ids->dims[0]; b++) {
        to[b] = 0;
        for (int64_t s = 0; mr_in_has(c, MASK) && s < ids->dims[1]; s++)
            to[b] += mr_tensor_int(c->in[MASK].t, b * ids->dims[1] + s) == 1;
    }
}

static mr_status embed_run(mr_call *c)
{
    const embed_params *p = c->params;
    const mr_tensor *y = c->out[OUTPUT].t, *sum = mr_out_wanted(c, SUM) ? c->out[SUM].t : y;
    const int64_t hidden = y->dims[2];
    mr_status st = add_rows(c, sum->data, (size_t)hidden * mr_dtype_size(y->dtype));
    if (st) return st;
    if (mr_out_wanted(c, MASK_INDEX)) count_mask(c);
    mr_rows_args a = {.x = sum->data,
                      .y = y->data,
                      .scale = c->in[GAMMA].t->data,
                      .bias = c->in[BETA].t->data,
                      .x_type = y->dtype,
                      .y_type = y->dtype,
                      .rows = y->dims[0] * y->dims[1],
                      .cols = hidden,
                      .period = 1,
                      .each = 1,
                      .epsilon = p->epsilon,
                      .center = true,
                      .pool = c->pool};
    ((void (*)(const mr_rows_args *))c->fn)(&a);
    return MR_OK;
}

static mr_fn have_embed(const mr_call *c)
{
    const mr_dtype d = mr_in_dtype(c, WORD);
    return d < MR_N_DTYPES && c->cpu->binary.fn[MR_ADD][d] ? (mr_fn)c->cpu->norm.rows[d][d] : NULL;
}

static const mr_impl embed_rows[] = {
    {.name = "embed_norm", .have = have_embed, .conds = MR_WHEN(&mask_index_counts_or_is_unwanted), .run = embed_run},
    {0}};

const mr_op mr_ops_ms_embed[] = {
    {"com.microsoft", "EmbedLayerNormalization", 1, 0, sizeof(embed_params), embed_read, embed_infer, embed_rows, 0,
     NULL, NULL},
    {0},
};

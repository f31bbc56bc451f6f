/* ms_qattention.c: com.microsoft's QAttention: Q, K and V are columns of a product of 8-bit codes, whose sums are
 * exact. */
#include "ops/ms_attention.h"
#include "ops/ms_qgemm.h"
#include "ops/ms_quant.h"

enum { INPUT, WEIGHT, BIAS, INPUT_SCALE, WEIGHT_SCALE, MASK_INDEX, INPUT_ZERO, WEIGHT_ZERO, PAST };

static const mr_ms_attention_places places = {BIAS, MASK_INDEX, MR_NO_INPUT, PAST, PAST};
static const mr_scaled_places product = {{INPUT, INPUT_ZERO, WEIGHT, WEIGHT_ZERO}, INPUT_SCALE, WEIGHT_SCALE, BIAS};

static mr_status infer(mr_call *c)
{
    const mr_shape *w = &c->in[WEIGHT].shape;
    const mr_dim n = w->rank == 2 ? w->d[1] : MR_DIM_UNKNOWN;
    mr_status st = mr_ms_attention_infer(c, places);
    if (st || (st = mr_want_one(c, INPUT_SCALE)) || (st = mr_want_one(c, INPUT_ZERO)) ||
        (st = mr_want_columns(c, WEIGHT_SCALE, n)) || (st = mr_want_columns(c, WEIGHT_ZERO, n)))
        return st;
    return mr_want_columns(c, BIAS, n);
}

static mr_fn have(const mr_call *c)
{
    const mr_dtype d = mr_in_dtype(c, BIAS);
    bool have = mr_int_slot(c, product.product) && d < MR_N_DTYPES && c->cpu->qlinear.rescale[d];
    return have ? mr_ms_attention_have(c, places) : NULL;
}

/* Scratch: the columns, then that of their product, which that of attention follows. */
static mr_tensor columns_of(const mr_call *c)
{
    const mr_shape *x = &c->in[INPUT].shape, s = {3, {x->d[0], x->d[1], c->in[WEIGHT].shape.d[1]}};
    mr_tensor t = {.dtype = mr_in_dtype(c, BIAS)};
    mr_tensor_set_shape(&t, &s);
    return t;
}

static size_t columns_bytes(const mr_tensor *t)
{
    return (mr_tensor_bytes(t) + 63) / 64 * 64;
}

static size_t scratch(const mr_call *c)
{
    static char origin[64]; /* only the size counts */
    const mr_tensor columns = columns_of(c);
    size_t of_product = mr_scaled_lay(c, &product, origin).bytes, rest = mr_ms_attention_scratch(c, places);
    return columns_bytes(&columns) + (of_product > rest ? of_product : rest);
}

static mr_status run(mr_call *c)
{
    mr_tensor columns = columns_of(c);
    char *room = (char *)c->scratch + columns_bytes(&columns);
    columns.data = c->scratch;
    mr_scaled_product m = mr_scaled_lay(c, &product, room);
    mr_scaled_run(c, &product, &m, mr_sign_of(mr_in_dtype(c, INPUT)), mr_scale_of(c, INPUT_SCALE), &columns);
    return mr_ms_attention_run(c, places, columns.data, room);
}

static size_t pack_size(const mr_call *c, int i)
{
    return mr_int_pack_size(c, product.product, i);
}
static void pack(const mr_call *c, int i, void *dst)
{
    mr_int_pack(c, product.product, i, dst);
}

MR_COND(no_rotary, mr_ms_attention_params, 0, !p->rotary);
MR_COND(no_shared_buffer, mr_ms_attention_params, 0, !p->shared);

static const mr_impl rows[] = {{.name = "qattention",
                                .have = have,
                                .conds = MR_WHEN(&no_rotary, &no_shared_buffer),
                                .run = run,
                                .scratch = scratch,
                                .pack_in = 1 << WEIGHT,
                                .pack_size = pack_size,
                                .pack = pack},
                               {0}};

static double flops(const mr_call *c)
{
    return mr_ms_attention_flops(c, places);
}

const mr_op mr_ops_ms_qattention[] = {
    {MR_MS, "QAttention", 1, 0, sizeof(mr_ms_attention_params), mr_ms_attention_read, infer, rows, 0, NULL, flops},
    {0},
};

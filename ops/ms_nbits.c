/* ms_nbits.c: com.microsoft's MatMulNBits: Y = A · Bᵀ + bias, where B [N, K] is kept in blocks of codes along K that
 * share a scale and a zero point. B is spelled out in A's type, then multiplied. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/wide.h"
#include "ops/flops.h"
#include "ops/ms_quant.h"
#include "ops/product.h"

typedef struct nbits_params {
    int64_t n, k, bits, block;
    bool prepacked;
} nbits_params;

enum { A, B, SCALES, ZERO_POINTS, G_IDX, BIAS };

static void nbits_read(mr_reader *r, void *params)
{
    nbits_params *p = params;
    p->n = mr_read_int(r, "N", 0);
    p->k = mr_read_int(r, "K", 0);
    p->bits = mr_read_int(r, "bits", 4);
    p->block = mr_read_int(r, "block_size", 0);
    p->prepacked = mr_read_int(r, "weight_prepacked", 0) != 0;
    mr_read_ignore(r, "accuracy_level"); /* the least that will do: here it is always A's own */
    if (p->bits != 2 && p->bits != 4 && p->bits != 8)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute bits = %lld: one of 2, 4, 8", (long long)p->bits);
    if (p->block < 16 || p->block & (p->block - 1))
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute block_size = %lld is no power of two from 16 on",
                     (long long)p->block);
    if (p->n < 1 || p->k < 1) mr_read_fail(r, MR_E_ATTRIBUTE, "attributes K and N must be positive");
}

static int64_t blocks_of(const nbits_params *p)
{
    return (p->k + p->block - 1) / p->block;
}
static int64_t block_bytes(const nbits_params *p)
{
    return p->block * p->bits / 8;
}
static int64_t zero_bytes(const nbits_params *p)
{
    return (blocks_of(p) * p->bits + 7) / 8;
}

static mr_status want_count(mr_call *c, int i, int64_t n)
{
    const mr_shape *s = &c->in[i].shape;
    if (!mr_in_has(c, i) || !mr_shape_known(s) || mr_dims_product(s->d, 0, s->rank) == n) return MR_OK;
    return mr_call_fail_in(c, MR_E_SHAPES, i, "must have %lld elements", (long long)n);
}

static mr_status nbits_infer(mr_call *c)
{
    const nbits_params *p = c->params;
    const int64_t blocks = p->n * blocks_of(p);
    const bool packed_zeros = mr_in_dtype(c, ZERO_POINTS) == MR_U8;
    mr_shape y = c->in[A].shape;
    mr_status st = mr_want_rank(c, A, 1, MR_MAX_RANK);
    if (!st && y.rank > 0) st = mr_want_dim(c, y.d[y.rank - 1], p->k, "attribute K", NULL);
    if (!st) st = want_count(c, B, blocks * block_bytes(p));
    if (!st) st = want_count(c, SCALES, blocks);
    if (!st) st = want_count(c, ZERO_POINTS, packed_zeros ? p->n * zero_bytes(p) : blocks);
    if (!st) st = want_count(c, BIAS, p->n);
    if (y.rank > 0) y.d[y.rank - 1] = p->n;
    return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, A), &y);
}

MR_COND(not_prepacked, nbits_params, 0, !p->prepacked);
MR_COND(blocks_in_order, nbits_params, 0, !mr_in_has(c, G_IDX));
MR_COND(codes_of_uint8, nbits_params, 0, mr_in_dtype(c, B) == MR_U8);

static unsigned bits_at(const uint8_t *codes, int64_t i, int64_t bits)
{
    return codes[i * bits / 8] >> (i * bits % 8) & ((1u << bits) - 1);
}

static double zero_point(const mr_call *c, int64_t row, int64_t block)
{
    const nbits_params *p = c->params;
    if (!mr_in_has(c, ZERO_POINTS)) return (double)(1 << (p->bits - 1));
    const mr_tensor *t = c->in[ZERO_POINTS].t;
    if (t->dtype != MR_U8) return mr_tensor_real(t, row * blocks_of(p) + block);
    return bits_at((const uint8_t *)t->data + row * zero_bytes(p), block, p->bits);
}

static void spell_rows(void *arg, int64_t begin, int64_t end)
{
    const mr_call *c = arg;
    const nbits_params *p = c->params;
    const mr_dtype d = c->in[A].t->dtype;
    const size_t size = mr_dtype_size(d);
    for (int64_t row = begin; row < end; row++)
        for (int64_t block = 0; block < blocks_of(p); block++) {
            const int64_t index = row * blocks_of(p) + block, from = block * p->block;
            const uint8_t *codes = (const uint8_t *)c->in[B].t->data + index * block_bytes(p);
            const double scale = mr_tensor_real(c->in[SCALES].t, index), zero = zero_point(c, row, block);
            mr_wide w;
            for (int64_t at = 0; at < p->block && from + at < p->k; at += MR_TILE) {
                int64_t n = p->block - at < MR_TILE ? p->block - at : MR_TILE;
                if (n > p->k - from - at) n = p->k - from - at;
                for (int64_t j = 0; j < n; j++) w.f[j] = (bits_at(codes, at + j, p->bits) - zero) * scale;
                mr_wide_store(MR_WIDE_F64, &w, n, d, (char *)c->scratch + (size_t)(row * p->k + from + at) * size,
                              (mr_wide_rule){0});
            }
        }
}

static mr_gemm_args gemm_args(const mr_call *c)
{
    const nbits_params *p = c->params;
    const mr_shape *a = &c->in[A].shape;
    mr_gemm_args g = {.alpha = 1, .beta = 1, .c_col = 1, .pool = c->pool};
    g.p = (mr_product){.m = mr_dims_product(a->d, 0, a->rank - 1),
                       .n = p->n,
                       .k = p->k,
                       .a_row = p->k,
                       .a_col = 1,
                       .b_row = 1,
                       .b_col = p->k};
    return g;
}

static size_t weight_bytes(const mr_call *c)
{
    const nbits_params *p = c->params;
    return ((size_t)(p->n * p->k) * mr_dtype_size(mr_in_dtype(c, A)) + 63) / 64 * 64;
}

static size_t nbits_scratch(const mr_call *c)
{
    mr_gemm_args g = gemm_args(c);
    mr_gemm_size_fn *size = c->cpu->gemm.scratch[mr_in_dtype(c, A)];
    return weight_bytes(c) + (size ? size(&g) : 0);
}

static mr_status nbits_run(mr_call *c)
{
    const nbits_params *p = c->params;
    mr_gemm_args g = gemm_args(c);
    mr_parallel_for(c->pool, p->n, 1 + 16384 / p->k, spell_rows, c);
    g.a = c->in[A].t->data, g.b = c->scratch, g.y = c->out[0].t->data;
    g.c = mr_in_has(c, BIAS) ? c->in[BIAS].t->data : NULL;
    g.scratch = (char *)c->scratch + weight_bytes(c);
    ((mr_gemm_fn *)c->fn)(&g);
    return MR_OK;
}

static mr_fn have_nbits(const mr_call *c)
{
    return MR_SLOT(c->cpu->gemm.gemm, mr_in_dtype(c, A));
}

static const mr_impl nbits_rows[] = {{.name = "matmul_nbits",
                                      .have = have_nbits,
                                      .conds = MR_WHEN(&not_prepacked, &blocks_in_order, &codes_of_uint8),
                                      .run = nbits_run,
                                      .scratch = nbits_scratch},
                                     {0}};

static double nbits_flops(const mr_call *c)
{
    const nbits_params *p = c->params;
    return mr_flops_product(c, p->k) + (mr_in_has(c, BIAS) ? mr_flops_each(c) : 0);
}

const mr_op mr_ops_ms_nbits[] = {
    {MR_MS, "MatMulNBits", 1, 0, sizeof(nbits_params), nbits_read, nbits_infer, nbits_rows, 0, NULL, nbits_flops},
    {0},
};

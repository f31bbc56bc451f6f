/* ms_qgemm.c: com.microsoft's products of 8-bit integers with something behind them: QGemm, MatMulIntegerToFloat,
 * DynamicQuantizeMatMul. The sums are exact, scaled and rounded once. */
#include <string.h>

#include "ops/dynamic.h"
#include "ops/flops.h"
#include "ops/ms_qgemm.h"
#include "ops/ms_quant.h"

static size_t padded(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

mr_status mr_want_columns(mr_call *c, int i, mr_dim n)
{
    const mr_shape *s = &c->in[i].shape;
    if (!mr_in_has(c, i)) return MR_OK;
    for (int d = 0; d < s->rank; d++) {
        bool last = d == s->rank - 1;
        if (s->d[d] < 0 || s->d[d] == 1 || (last && (n < 0 || s->d[d] == n))) continue;
        return mr_call_fail_in(c, MR_E_SHAPES, i,
                               "axis %d has %lld: it takes one number, or one for each of %lld columns", d,
                               (long long)s->d[d], (long long)n);
    }
    return MR_OK;
}

static int64_t count_of(const mr_call *c, int i)
{
    return mr_dims_product(c->in[i].shape.d, 0, c->in[i].shape.rank);
}

static bool by_column(const mr_call *c, int i)
{
    return mr_in_has(c, i) && count_of(c, i) > 1;
}

/* to[j] = factor · number j of input i */
static void load_factors(const mr_call *c, int i, double factor, double *to)
{
    for (int64_t j = 0; j < count_of(c, i); j++) to[j] = factor * mr_tensor_real(c->in[i].t, j);
}

/* ---- QGemm: alpha · a_scale · b_scale · ((A - a_zero) · (B - b_zero) + C), in y's scale where there is one ---- */

enum { A, A_SCALE, A_ZERO, B, B_SCALE, B_ZERO, C, Y_SCALE, Y_ZERO };

typedef struct gemm_params {
    float alpha;
    bool trans_a, trans_b;
} gemm_params;

static void gemm_read(mr_reader *r, void *params)
{
    gemm_params *p = params;
    p->alpha = mr_read_float(r, "alpha", 1);
    p->trans_a = mr_read_int(r, "transA", 0) != 0;
    p->trans_b = mr_read_int(r, "transB", 0) != 0;
}

static mr_status gemm_want_c(mr_call *c, const mr_shape *y)
{
    mr_shape s = *y;
    mr_status st = mr_want_rank(c, C, 0, 2);
    return st ? st : mr_broadcast_into(c, &s, &c->in[C].shape, C);
}

static mr_status gemm_infer(mr_call *c)
{
    const gemm_params *p = c->params;
    const mr_shape *a = &c->in[A].shape, *b = &c->in[B].shape;
    mr_shape y = mr_shape_of_rank(2);
    mr_status st;
    if ((st = mr_want_rank(c, A, 2, 2)) || (st = mr_want_rank(c, B, 2, 2))) return st;
    if (a->rank == 2) y.d[0] = a->d[p->trans_a];
    if (b->rank == 2) y.d[1] = b->d[!p->trans_b];
    if (a->rank == 2 && b->rank == 2 &&
        (st = mr_want_dim(c, a->d[!p->trans_a], b->d[p->trans_b], "the inner dims of A and B", NULL)))
        return st;
    if ((st = mr_want_one(c, A_SCALE)) || (st = mr_want_one(c, A_ZERO)) || (st = mr_want_columns(c, B_SCALE, y.d[1])) ||
        (st = mr_want_columns(c, B_ZERO, y.d[1])) || (st = mr_want_one(c, Y_SCALE)) || (st = mr_want_one(c, Y_ZERO)) ||
        (mr_in_has(c, C) && (st = gemm_want_c(c, &y))))
        return st;
    return mr_out_tensor(c, 0, mr_in_dtype(c, mr_in_has(c, Y_ZERO) ? Y_ZERO : A_SCALE), &y);
}

static void gemm_b(const mr_call *c, mr_intgemm_args *g)
{
    const gemm_params *p = c->params;
    const int64_t *b = c->in[B].shape.d;
    g->p.n = b[!p->trans_b], g->p.k = b[p->trans_b];
    g->p.b_row = p->trans_b ? 1 : b[1], g->p.b_col = p->trans_b ? b[1] : 1;
    g->b = c->in[B].t ? c->in[B].t->data : NULL;
}

static mr_intgemm_args gemm_args(const mr_call *c)
{
    const gemm_params *p = c->params;
    const int64_t *a = c->in[A].shape.d;
    mr_intgemm_args g = {.out.type = MR_I32, .pool = c->pool, .b_zero_col = by_column(c, B_ZERO)};
    gemm_b(c, &g);
    g.p.m = a[p->trans_a];
    g.p.a_row = p->trans_a ? 1 : a[1], g.p.a_col = p->trans_a ? a[1] : 1;
    g.packed = c->packed ? c->packed[B] : NULL;
    return g;
}

static const mr_int_places gemm_places = {A, A_ZERO, B, B_ZERO};

static size_t gemm_pack_size(const mr_call *c, int i)
{
    (void)i;
    mr_intgemm_args g = {.p.m = 1};
    gemm_b(c, &g);
    return mr_int_size(c, gemm_places, c->cpu->intgemm.pack_size, &g);
}

static void gemm_pack(const mr_call *c, int i, void *dst)
{
    (void)i;
    mr_intgemm_args g = {.p.m = 1};
    gemm_b(c, &g);
    c->cpu->intgemm.pack[mr_sign_of(mr_in_dtype(c, A))][mr_sign_of(mr_in_dtype(c, B))](&g, dst);
}

/* Scratch: the sums, the scales, the kernel's own. */
static size_t sums_bytes(const mr_intgemm_args *g)
{
    return padded((size_t)(mr_product_batches(&g->p) * g->p.m * g->p.n) * sizeof(int32_t));
}

static size_t gemm_scratch(const mr_call *c)
{
    mr_intgemm_args g = gemm_args(c);
    return sums_bytes(&g) + padded((size_t)count_of(c, B_SCALE) * sizeof(double)) +
           mr_int_size(c, gemm_places, c->cpu->intgemm.scratch, &g);
}

static mr_status gemm_run(mr_call *c)
{
    const gemm_params *p = c->params;
    mr_intgemm_args g = gemm_args(c);
    double *scale = (double *)((char *)c->scratch + sums_bytes(&g));
    g.a = c->in[A].t->data, g.a_zero = c->in[A_ZERO].t->data, g.b_zero = c->in[B_ZERO].t->data;
    g.y = c->scratch, g.scratch = (char *)scale + padded((size_t)count_of(c, B_SCALE) * sizeof(double));
    c->cpu->intgemm.gemm[mr_sign_of(mr_in_dtype(c, A))][mr_sign_of(mr_in_dtype(c, B))](&g);
    double factor = (double)p->alpha * mr_scale_of(c, A_SCALE);
    load_factors(c, B_SCALE, mr_in_has(c, Y_SCALE) ? factor / mr_scale_of(c, Y_SCALE) : factor, scale);
    mr_rescale_args r = {.sums = c->scratch,
                         .scale = scale,
                         .scale_col = by_column(c, B_SCALE),
                         .zero = mr_zero_of(c, Y_ZERO),
                         .y = c->out[0].t->data,
                         .rows = g.p.m,
                         .cols = g.p.n,
                         .pool = c->pool};
    if (mr_in_has(c, C)) {
        int64_t strides[2];
        mr_broadcast_strides(c->in[C].t, c->out[0].t->dims, 2, strides);
        r.add = c->in[C].t->data, r.add_row = strides[0], r.add_col = strides[1];
    }
    ((void (*)(const mr_rescale_args *))c->fn)(&r);
    return MR_OK;
}

static mr_fn gemm_have(const mr_call *c)
{
    return mr_int_slot(c, gemm_places) ? MR_SLOT(c->cpu->qlinear.rescale, mr_out_dtype(c, 0)) : NULL;
}

static const mr_impl gemm_rows[] = {{.name = "qgemm",
                                     .have = gemm_have,
                                     .run = gemm_run,
                                     .scratch = gemm_scratch,
                                     .pack_in = 1 << B,
                                     .pack_size = gemm_pack_size,
                                     .pack = gemm_pack},
                                    {0}};

/* ---- MatMulIntegerToFloat and DynamicQuantizeMatMul: Y = (A - a_zero) · (B - b_zero) · a_scale · b_scale + bias ----
 */

typedef mr_scaled_places matmul_places;
typedef mr_scaled_product matmul;

enum { NONE = MR_MAX_RANK };
static const matmul_places to_float = {{0, 4, 1, 5}, 2, 3, 6}, dynamic = {{0, NONE, 1, 3}, NONE, 2, 4};

static mr_status matmul_infer(mr_call *c, const matmul_places *at)
{
    mr_shape y;
    mr_status st = mr_product_shape(c, 0, 1, &y);
    if (st) return st;
    const mr_dim n = y.rank > 0 && c->in[1].shape.rank > 1 ? y.d[y.rank - 1] : MR_DIM_UNKNOWN;
    if ((st = mr_want_one(c, at->a_scale)) || (st = mr_want_one(c, at->product.a_zero)) ||
        (st = mr_want_columns(c, at->b_scale, n)) || (st = mr_want_columns(c, at->product.b_zero, n)) ||
        (st = mr_want_columns(c, at->bias, n)))
        return st;
    return mr_out_tensor(c, 0, mr_in_dtype(c, at->b_scale), &y);
}

static mr_status to_float_infer(mr_call *c)
{
    return matmul_infer(c, &to_float);
}
static mr_status dynamic_infer(mr_call *c)
{
    return matmul_infer(c, &dynamic);
}

matmul mr_scaled_lay(const mr_call *c, const matmul_places *at, char *base)
{
    matmul m = {.g = mr_int_args(c, at->product)};
    char *end = base;
    m.sums = (int32_t *)end, end += sums_bytes(&m.g);
    m.scale = (double *)end, end += padded((size_t)count_of(c, at->b_scale) * sizeof(double));
    m.bias = (double *)end;
    if (mr_in_has(c, at->bias)) end += padded((size_t)count_of(c, at->bias) * sizeof(double));
    m.codes = (uint8_t *)end;
    if (at->a_scale == NONE) end += padded((size_t)count_of(c, 0));
    m.g.scratch = end, m.g.y = m.sums;
    m.bytes = (size_t)(end - base) + mr_int_size(c, at->product, c->cpu->intgemm.scratch, &m.g);
    return m;
}

void mr_scaled_run(const mr_call *c, const matmul_places *at, matmul *m, int a_sign, double a_scale, mr_tensor *y)
{
    c->cpu->intgemm.gemm[a_sign][mr_sign_of(mr_in_dtype(c, 1))](&m->g);
    load_factors(c, at->b_scale, a_scale, m->scale);
    mr_rescale_args r = {.sums = m->sums,
                         .scale = m->scale,
                         .scale_col = by_column(c, at->b_scale),
                         .y = y->data,
                         .rows = mr_product_batches(&m->g.p) * m->g.p.m,
                         .cols = m->g.p.n,
                         .pool = c->pool};
    if (mr_in_has(c, at->bias)) {
        load_factors(c, at->bias, 1, m->bias);
        r.bias = m->bias, r.bias_col = by_column(c, at->bias);
    }
    c->cpu->qlinear.rescale[y->dtype](&r);
}

static mr_status to_float_run(mr_call *c)
{
    matmul m = mr_scaled_lay(c, &to_float, c->scratch);
    mr_scaled_run(c, &to_float, &m, mr_sign_of(mr_in_dtype(c, 0)), mr_scale_of(c, to_float.a_scale), c->out[0].t);
    return MR_OK;
}

static mr_status dynamic_run(mr_call *c)
{
    const mr_tensor *a = c->in[0].t;
    matmul m = mr_scaled_lay(c, &dynamic, c->scratch);
    mr_dynamic q = mr_dynamic_of(c->cpu, a->dtype, a->data, mr_tensor_count(a));
    const uint8_t zero = (uint8_t)q.zero;
    mr_dynamic_quantize(c->cpu, c->pool, &q, a->data, m.codes);
    m.g.a = m.codes, m.g.a_zero = &zero;
    mr_scaled_run(c, &dynamic, &m, 0, q.scale, c->out[0].t);
    return MR_OK;
}

static char origin[64]; /* where a layout of which only the size counts begins */

static size_t to_float_scratch(const mr_call *c)
{
    return mr_scaled_lay(c, &to_float, origin).bytes;
}
static size_t dynamic_scratch(const mr_call *c)
{
    return mr_scaled_lay(c, &dynamic, origin).bytes;
}
static size_t to_float_pack_size(const mr_call *c, int i)
{
    return mr_int_pack_size(c, to_float.product, i);
}
static size_t dynamic_pack_size(const mr_call *c, int i)
{
    return mr_int_pack_size(c, dynamic.product, i);
}
static void to_float_pack(const mr_call *c, int i, void *dst)
{
    mr_int_pack(c, to_float.product, i, dst);
}
static void dynamic_pack(const mr_call *c, int i, void *dst)
{
    mr_int_pack(c, dynamic.product, i, dst);
}

static mr_fn to_float_have(const mr_call *c)
{
    return mr_int_slot(c, to_float.product) ? MR_SLOT(c->cpu->qlinear.rescale, mr_out_dtype(c, 0)) : NULL;
}

static mr_fn dynamic_have(const mr_call *c)
{
    bool have = mr_dynamic_have(c->cpu, mr_in_dtype(c, 0)) && c->cpu->intgemm.gemm[0][mr_sign_of(mr_in_dtype(c, 1))];
    return have ? MR_SLOT(c->cpu->qlinear.rescale, mr_out_dtype(c, 0)) : NULL;
}

#define ROWS(op)                                                                                                       \
    static const mr_impl op##_rows[] = {{.name = #op "_matmul",                                                        \
                                         .have = op##_have,                                                            \
                                         .run = op##_run,                                                              \
                                         .scratch = op##_scratch,                                                      \
                                         .pack_in = 1 << 1,                                                            \
                                         .pack_size = op##_pack_size,                                                  \
                                         .pack = op##_pack},                                                           \
                                        {0}}
ROWS(to_float);
ROWS(dynamic);

static double gemm_flops(const mr_call *c)
{
    const gemm_params *p = c->params;
    return mr_flops_product(c, c->in[0].shape.d[!p->trans_a]);
}

const mr_op mr_ops_ms_qgemm[] = {
    {MR_MS, "QGemm", 1, 0, sizeof(gemm_params), gemm_read, gemm_infer, gemm_rows, 0, NULL, gemm_flops},
    {MR_MS, "MatMulIntegerToFloat", 1, 0, 0, NULL, to_float_infer, to_float_rows, 0, NULL, mr_flops_matmul},
    {MR_MS, "DynamicQuantizeMatMul", 1, 0, 0, NULL, dynamic_infer, dynamic_rows, 0, NULL, mr_flops_matmul},
    {0},
};

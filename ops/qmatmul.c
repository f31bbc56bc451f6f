/* qmatmul.c: products of quantized matrices: MatMulInteger and QLinearMatMul. */
#include "ops/qmatmul.h"

#include "kernels/cpu/cpu.h"
#include "runtime/narrow.h"
#include "ops/flops.h"

/* A scale or zero point over the product: one for all, one a row of A, one a column of B, or as it broadcasts. */
typedef struct view {
    const mr_tensor *t;
    int64_t row, col, batch[MR_MAX_RANK];
} view;

/* Which shape goes with which factor; Y's is only that it broadcasts. */
typedef enum role { OF_A, OF_B, OF_Y } role;

/* ONNX: scalar, or a vector of M (A) or N (B) elements, or [D1, …, M, 1] and [D1, …, 1, N]. */
static mr_status want_view(mr_call *c, int i, role r, const mr_shape *matrix)
{
    const mr_shape *s = &c->in[i].shape;
    if (!mr_in_has(c, i) || s->rank < 0 || matrix->rank < 0) return MR_OK;
    if (s->rank == 0 || (s->rank == 1 && s->d[0] == 1)) return MR_OK;
    if (s->rank > matrix->rank) return mr_want_rank(c, i, 0, matrix->rank);
    mr_dim rows = r == OF_B || matrix->rank < 2 ? 1 : matrix->d[matrix->rank - 2];
    mr_dim cols = r == OF_A || (r == OF_B && matrix->rank < 2) ? 1 : matrix->d[matrix->rank - 1];
    for (int k = 1; k <= s->rank; k++) {
        mr_dim have = s->d[s->rank - k], want = matrix->d[matrix->rank - k];
        if (k == 1) want = s->rank == 1 && r == OF_A ? rows : cols;
        if (k == 2) want = rows;
        if (have < 0 || want < 0 || have == want || have == 1) continue;
        return mr_call_fail_in(c, MR_E_SHAPES, i,
                               "has %lld on axis -%d; %s has %lld there: it takes one for all, or one %s",
                               (long long)have, k,
                               r == OF_A   ? "A"
                               : r == OF_B ? "B"
                                           : "Y",
                               (long long)want,
                               r == OF_A   ? "a row"
                               : r == OF_B ? "a column"
                                           : "an element");
    }
    return MR_OK;
}

static bool one_for_all(const mr_call *c, int i)
{
    const mr_shape *s = &c->in[i].shape;
    return !mr_in_has(c, i) || mr_dims_product(s->d, 0, s->rank) == 1;
}

/* One a row of A or a column of B, the same for all of the batch. */
static bool one_for_batch(const mr_call *c, int i)
{
    const mr_shape *s = &c->in[i].shape;
    return !mr_in_has(c, i) || mr_dims_product(s->d, 0, s->rank > 2 ? s->rank - 2 : 0) == 1;
}

static view view_of(const mr_call *c, int i, role r, const mr_product *p)
{
    view v = {.t = mr_in_has(c, i) ? c->in[i].t : NULL};
    if (one_for_all(c, i)) return v;
    const mr_shape *s = &c->in[i].shape;
    int64_t step = 1;
    for (int k = 1; k <= s->rank; k++) {
        int64_t stride = s->d[s->rank - k] == 1 ? 0 : step;
        if (k == 1 && (s->rank > 1 || r != OF_A))
            v.col = stride;
        else if (k <= 2)
            v.row = stride;
        else if (stride)
            v.batch[p->batch_rank + 2 - k] = stride;
        step *= s->d[s->rank - k];
    }
    return v;
}

static int64_t batch_offset(const view *v, const mr_product *p, int64_t batch)
{
    int64_t at = 0;
    for (int d = p->batch_rank - 1; d >= 0 && batch > 0; batch /= p->batch[d], d--)
        at += batch % p->batch[d] * v->batch[d];
    return at;
}

static int sign_of(mr_dtype d)
{
    return d == MR_I8;
}
static bool is_integer(mr_dtype d)
{
    return d == MR_U8 || d == MR_I8;
}

/* ---- what both are to the kernels: inputs a, b and their zero points ---- */

static const mr_int_places integer_places = {0, 2, 1, 3}, qlinear_places = {0, 2, 3, 5};

static const void *data_of(const mr_call *c, int i)
{
    return mr_in_has(c, i) && c->in[i].t ? c->in[i].t->data : NULL;
}

mr_intgemm_args mr_int_args(const mr_call *c, mr_int_places at)
{
    mr_intgemm_args g = {.out.type = MR_I32, .pool = c->pool, .scratch = c->scratch};
    mr_product_of(&c->in[at.a].shape, &c->in[at.b].shape, &g.p);
    if (one_for_all(c, at.a_zero)) mr_product_flatten(&g.p);
    g.a = data_of(c, at.a), g.b = data_of(c, at.b);
    g.a_zero = data_of(c, at.a_zero), g.b_zero = data_of(c, at.b_zero);
    g.a_zero_row = view_of(c, at.a_zero, OF_A, &g.p).row;
    g.b_zero_col = view_of(c, at.b_zero, OF_B, &g.p).col;
    g.packed = c->packed ? c->packed[at.b] : NULL;
    g.y = c->out[0].t ? c->out[0].t->data : NULL;
    return g;
}

size_t mr_int_size(const mr_call *c, mr_int_places at, mr_intgemm_size_fn *const slots[2][2], const mr_intgemm_args *g)
{
    mr_intgemm_size_fn *size = slots[sign_of(mr_in_dtype(c, at.a))][sign_of(mr_in_dtype(c, at.b))];
    return size ? size(g) : 0;
}

/* B alone, which is packed without its zero points. */
static bool int_weight(const mr_call *c, mr_int_places at, int i, mr_intgemm_args *g)
{
    if (i != at.b || c->in[i].shape.rank != 2) return false;
    mr_shape any = {.rank = 2, .d = {1, c->in[i].shape.d[0]}};
    *g = (mr_intgemm_args){.b = data_of(c, i)};
    mr_product_of(&any, &c->in[i].shape, &g->p);
    return true;
}

mr_fn mr_int_slot(const mr_call *c, mr_int_places at)
{
    mr_dtype a = mr_in_dtype(c, at.a), b = mr_in_dtype(c, at.b);
    return is_integer(a) && is_integer(b) ? (mr_fn)c->cpu->intgemm.gemm[sign_of(a)][sign_of(b)] : NULL;
}

size_t mr_int_pack_size(const mr_call *c, mr_int_places at, int i)
{
    mr_intgemm_args g;
    return int_weight(c, at, i, &g) ? mr_int_size(c, at, c->cpu->intgemm.pack_size, &g) : 0;
}

void mr_int_pack(const mr_call *c, mr_int_places at, int i, void *dst)
{
    mr_intgemm_args g;
    if (int_weight(c, at, i, &g))
        c->cpu->intgemm.pack[sign_of(mr_in_dtype(c, at.a))][sign_of(mr_in_dtype(c, at.b))](&g, dst);
}

/* ---- MatMulInteger ---- */

static mr_status integer_infer(mr_call *c)
{
    mr_shape y;
    mr_status st;
    if ((st = mr_product_shape(c, 0, 1, &y)) || (st = want_view(c, 2, OF_A, &c->in[0].shape)) ||
        (st = want_view(c, 3, OF_B, &c->in[1].shape)))
        return st;
    return mr_out_tensor(c, 0, MR_I32, &y);
}

static mr_fn integer_have(const mr_call *c)
{
    return mr_int_slot(c, integer_places);
}
static size_t integer_pack_size(const mr_call *c, int i)
{
    return mr_int_pack_size(c, integer_places, i);
}
static void integer_pack(const mr_call *c, int i, void *dst)
{
    mr_int_pack(c, integer_places, i, dst);
}

static size_t integer_scratch(const mr_call *c)
{
    mr_intgemm_args g = mr_int_args(c, integer_places);
    return mr_int_size(c, integer_places, c->cpu->intgemm.scratch, &g);
}

/* Zero points that differ from batch to batch make a product of each. */
static mr_status integer_run(mr_call *c)
{
    mr_intgemm_args g = mr_int_args(c, integer_places);
    mr_intgemm_fn *gemm = (mr_intgemm_fn *)c->fn;
    if (one_for_batch(c, 2) && one_for_batch(c, 3)) {
        gemm(&g);
        return MR_OK;
    }
    mr_intgemm_args all = g;
    view za = view_of(c, 2, OF_A, &all.p), zb = view_of(c, 3, OF_B, &all.p);
    g.p.batch_rank = 0;
    for (int64_t i = 0; i < mr_product_batches(&all.p); i++) {
        int64_t a, b;
        mr_product_at(&all.p, i, &a, &b);
        g.a = (const char *)all.a + a, g.b = (const char *)all.b + b;
        g.a_zero = za.t ? (const char *)za.t->data + batch_offset(&za, &all.p, i) : NULL;
        g.b_zero = zb.t ? (const char *)zb.t->data + batch_offset(&zb, &all.p, i) : NULL;
        g.y = (int32_t *)all.y + i * all.p.m * all.p.n;
        gemm(&g);
    }
    return MR_OK;
}

static const mr_impl integer_rows[] = {{.name = "matmul_integer",
                                        .dev = MR_CPU,
                                        .have = integer_have,
                                        .run = integer_run,
                                        .scratch = integer_scratch,
                                        .pack_in = 1 << 1,
                                        .pack_size = integer_pack_size,
                                        .pack = integer_pack},
                                       {0}};

/* ---- QLinearMatMul: y = saturate(round(Σ (a - a_zero) · (b - b_zero) · a_scale · b_scale / y_scale) + y_zero) ---- */

enum { A, A_SCALE, A_ZERO, B, B_SCALE, B_ZERO, Y_SCALE, Y_ZERO };

static mr_status qlinear_infer(mr_call *c)
{
    const mr_shape *a = &c->in[A].shape, *b = &c->in[B].shape;
    mr_shape y;
    mr_status st;
    if ((st = mr_product_shape(c, A, B, &y)) || (st = want_view(c, A_SCALE, OF_A, a)) ||
        (st = want_view(c, A_ZERO, OF_A, a)) || (st = want_view(c, B_SCALE, OF_B, b)) ||
        (st = want_view(c, B_ZERO, OF_B, b)) || (st = want_view(c, Y_SCALE, OF_Y, &y)) ||
        (st = want_view(c, Y_ZERO, OF_Y, &y)))
        return st;
    return mr_out_tensor(c, 0, mr_in_dtype(c, Y_ZERO), &y);
}

/* The factor of each element of a product of the batch, with strides for what does not vary. */
typedef struct scales {
    double *at;
    int64_t row, col;
} scales;

static int64_t scale_rows(const mr_call *c, const mr_product *p)
{
    return view_of(c, A_SCALE, OF_A, p).row || view_of(c, Y_SCALE, OF_Y, p).row ? p->m : 1;
}

static int64_t scale_cols(const mr_call *c, const mr_product *p)
{
    return view_of(c, B_SCALE, OF_B, p).col || view_of(c, Y_SCALE, OF_Y, p).col ? p->n : 1;
}

static scales scales_of(const mr_call *c, const mr_product *p, int64_t batch, double *at)
{
    view a = view_of(c, A_SCALE, OF_A, p), b = view_of(c, B_SCALE, OF_B, p), y = view_of(c, Y_SCALE, OF_Y, p);
    int64_t a0 = batch_offset(&a, p, batch), b0 = batch_offset(&b, p, batch), y0 = batch_offset(&y, p, batch);
    int64_t rows = scale_rows(c, p), cols = scale_cols(c, p);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            at[i * cols + j] = mr_tensor_real(a.t, a0 + i * a.row) * mr_tensor_real(b.t, b0 + j * b.col) /
                               mr_tensor_real(y.t, y0 + i * y.row + j * y.col);
    return (scales){at, rows > 1 ? cols : 0, cols > 1};
}

/* Scratch begins with the scales. */
static size_t scale_bytes(const mr_call *c, const mr_product *p)
{
    return ((size_t)(scale_rows(c, p) * scale_cols(c, p)) * sizeof(double) + 63) / 64 * 64;
}

/* ---- of integers, with parameters that do not vary over the batch ---- */

static mr_fn qlinear_int_have(const mr_call *c)
{
    return is_integer(mr_in_dtype(c, Y_ZERO)) ? mr_int_slot(c, qlinear_places) : NULL;
}

static mr_intgemm_args qlinear_int_args(const mr_call *c)
{
    mr_intgemm_args g = mr_int_args(c, qlinear_places);
    if (g.p.batch_rank == 0 && scale_rows(c, &g.p) > 1) mr_product_of(&c->in[A].shape, &c->in[B].shape, &g.p);
    g.out.type = mr_in_dtype(c, Y_ZERO);
    if (c->scratch) g.scratch = (char *)c->scratch + scale_bytes(c, &g.p);
    return g;
}

static size_t qlinear_int_scratch(const mr_call *c)
{
    mr_intgemm_args g = qlinear_int_args(c);
    return scale_bytes(c, &g.p) + mr_int_size(c, qlinear_places, c->cpu->intgemm.scratch, &g);
}

static size_t qlinear_int_pack_size(const mr_call *c, int i)
{
    return mr_int_pack_size(c, qlinear_places, i);
}
static void qlinear_int_pack(const mr_call *c, int i, void *dst)
{
    mr_int_pack(c, qlinear_places, i, dst);
}

static mr_status qlinear_int_run(mr_call *c)
{
    mr_intgemm_args g = qlinear_int_args(c);
    scales s = scales_of(c, &g.p, 0, c->scratch);
    g.out.scale = s.at, g.out.scale_row = s.row, g.out.scale_col = s.col;
    g.out.zero = (int32_t)mr_tensor_int(c->in[Y_ZERO].t, 0);
    ((mr_intgemm_fn *)c->fn)(&g);
    return MR_OK;
}

#define SHAPES (MR_NEEDS_SHAPE(A_SCALE) | MR_NEEDS_SHAPE(A_ZERO) | MR_NEEDS_SHAPE(B_SCALE) | MR_NEEDS_SHAPE(B_ZERO))
MR_COND(same_for_batch, void, SHAPES,
        one_for_batch(c, A_SCALE) && one_for_batch(c, A_ZERO) && one_for_batch(c, B_SCALE) && one_for_batch(c, B_ZERO));
MR_COND(one_y_zero_point, void, MR_NEEDS_SHAPE(Y_SCALE) | MR_NEEDS_SHAPE(Y_ZERO),
        one_for_batch(c, Y_SCALE) && one_for_all(c, Y_ZERO));

/* ---- of any types: through double, where sums of 8-bit products are exact for all that fits in memory ---- */

static double meaning(mr_dtype d, int code)
{
    uint8_t u = (uint8_t)code;
    switch (d) {
    case MR_U8:
        return u;
    case MR_I8:
        return (int8_t)u;
    case MR_F8E4M3FN:
        return mr_f8e4m3fn_to_f32((mr_f8e4m3fn){u});
    case MR_F8E4M3FNUZ:
        return mr_f8e4m3fnuz_to_f32((mr_f8e4m3fnuz){u});
    case MR_F8E5M2:
        return mr_f8e5m2_to_f32((mr_f8e5m2){u});
    case MR_F8E5M2FNUZ:
        return mr_f8e5m2fnuz_to_f32((mr_f8e5m2fnuz){u});
    default:
        return 0;
    }
}

static int64_t count_of(const mr_call *c, int i)
{
    return mr_dims_product(c->in[i].shape.d, 0, c->in[i].shape.rank);
}

/* Scratch, after the scales: A, B, Y and the zero points, all in double. */
static size_t qlinear_any_scratch(const mr_call *c)
{
    mr_product p;
    mr_product_of(&c->in[A].shape, &c->in[B].shape, &p);
    int64_t y = mr_product_batches(&p) * p.m * p.n;
    int64_t zeros = count_of(c, A_ZERO) + count_of(c, B_ZERO) + count_of(c, Y_ZERO);
    mr_gemm_args g = {.p = p, .alpha = 1};
    mr_gemm_size_fn *size = c->cpu->gemm.scratch[MR_F64];
    size_t doubles = (size_t)(count_of(c, A) + count_of(c, B) + y + zeros) * sizeof(double);
    return scale_bytes(c, &p) + (doubles + 63) / 64 * 64 + (size ? size(&g) : 0);
}

static double *zeros_of(const mr_call *c, int i, double *to)
{
    const mr_tensor *t = c->in[i].t;
    for (int64_t k = 0; k < mr_tensor_count(t); k++) to[k] = meaning(t->dtype, ((const uint8_t *)t->data)[k]);
    return to;
}

/* A or B as doubles, zero points taken away. */
static void decode(mr_call *c, int i, int i_zero, role r, const double *zeros, double *to)
{
    double table[256];
    const mr_shape *s = &c->in[i].shape;
    for (int code = 0; code < 256; code++) table[code] = meaning(mr_in_dtype(c, i), code);
    mr_product own; /* the factor's own batch */
    mr_product_of(s, s, &own);
    view v = view_of(c, i_zero, r, &own);
    int64_t rows = r == OF_A || s->rank > 1 ? (s->rank > 1 ? s->d[s->rank - 2] : 1) : s->d[0];
    int64_t cols = r == OF_A || s->rank > 1 ? s->d[s->rank - 1] : 1;
    for (int64_t b = 0; b < mr_product_batches(&own); b++) {
        mr_decode_args d = {.x = (const uint8_t *)c->in[i].t->data + b * rows * cols,
                            .y = to + b * rows * cols,
                            .table = table,
                            .zero = zeros + batch_offset(&v, &own, b),
                            .rows = rows,
                            .cols = cols,
                            .zero_row = v.row,
                            .zero_col = v.col,
                            .pool = c->pool};
        c->cpu->intgemm.decode(&d);
    }
}

static mr_fn qlinear_any_have(const mr_call *c)
{
    mr_dtype y = mr_in_dtype(c, Y_ZERO);
    bool codes = mr_dtype_size(mr_in_dtype(c, A)) == 1 && mr_dtype_size(mr_in_dtype(c, B)) == 1;
    return codes && c->cpu->gemm.gemm[MR_F64] ? MR_SLOT(c->cpu->intgemm.encode, y) : NULL;
}

static mr_status qlinear_any_run(mr_call *c)
{
    mr_product p;
    mr_product_of(&c->in[A].shape, &c->in[B].shape, &p);
    char *at = (char *)c->scratch + scale_bytes(c, &p);
    int64_t size = p.m * p.n, batches = mr_product_batches(&p);
    double *a = (double *)at, *b = a + count_of(c, A), *y = b + count_of(c, B), *za = y + batches * size;
    double *zb = za + count_of(c, A_ZERO), *zy = zb + count_of(c, B_ZERO), *end = zy + count_of(c, Y_ZERO);
    decode(c, A, A_ZERO, OF_A, zeros_of(c, A_ZERO, za), a);
    decode(c, B, B_ZERO, OF_B, zeros_of(c, B_ZERO, zb), b);
    mr_gemm_args g = {.p = p, .a = a, .b = b, .y = y, .alpha = 1, .pool = c->pool};
    g.scratch = at + ((char *)end - at + 63) / 64 * 64;
    c->cpu->gemm.gemm[MR_F64](&g);
    view v = view_of(c, Y_ZERO, OF_Y, &p);
    zeros_of(c, Y_ZERO, zy);
    for (int64_t i = 0; i < batches; i++) {
        scales s = scales_of(c, &p, i, c->scratch);
        mr_encode_args e = {.x = y + i * size,
                            .y = (uint8_t *)c->out[0].t->data + i * size,
                            .rows = p.m,
                            .cols = p.n,
                            .scale = s.at,
                            .scale_row = s.row,
                            .scale_col = s.col,
                            .zero = zy + batch_offset(&v, &p, i),
                            .zero_row = v.row,
                            .zero_col = v.col,
                            .pool = c->pool};
        ((void (*)(const mr_encode_args *))c->fn)(&e);
    }
    return MR_OK;
}

static const mr_impl qlinear_rows[] = {{.name = "qlinear_matmul",
                                        .dev = MR_CPU,
                                        .have = qlinear_int_have,
                                        .conds = MR_WHEN(&same_for_batch, &one_y_zero_point),
                                        .run = qlinear_int_run,
                                        .scratch = qlinear_int_scratch,
                                        .pack_in = 1 << B,
                                        .pack_size = qlinear_int_pack_size,
                                        .pack = qlinear_int_pack},
                                       {.name = "qlinear_matmul_any",
                                        .dev = MR_CPU,
                                        .have = qlinear_any_have,
                                        .run = qlinear_any_run,
                                        .scratch = qlinear_any_scratch},
                                       {0}};

const mr_op mr_ops_qmatmul[] = {
    {.name = "MatMulInteger",
     .domain = "",
     .since = 10,
     .infer = integer_infer,
     .impls = integer_rows,
     .flops = mr_flops_matmul},
    {.name = "QLinearMatMul",
     .domain = "",
     .since = 10,
     .infer = qlinear_infer,
     .impls = qlinear_rows,
     .flops = mr_flops_matmul},
    {0},
};

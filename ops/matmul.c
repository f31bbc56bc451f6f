/* matmul.c: MatMul and Gemm, and com.microsoft's FusedMatMul. */
#include "ops/matmul.h"

#include "kernels/cpu/cpu.h"
#include "ops/cuda.h"
#include "ops/flops.h"

/* ---- what both are to the kernels ---- */

mr_fn mr_gemm_have(const mr_call *c)
{
    return MR_SLOT(c->cpu->gemm.gemm, mr_in_dtype(c, 0));
}

static mr_fn have_gemm_cuda(const mr_call *c)
{
    return MR_CUDA_SLOT(c, gemm, mr_in_dtype(c, 0));
}

static void point(const mr_call *c, mr_gemm_args *g)
{
    g->a = c->in[0].t ? c->in[0].t->data : NULL;
    g->b = c->in[1].t ? c->in[1].t->data : NULL;
    g->c = mr_in_has(c, 2) && g->beta != 0 && c->in[2].t ? c->in[2].t->data : NULL;
    g->y = c->out[0].t ? c->out[0].t->data : NULL;
    g->packed = c->packed ? c->packed[1] : NULL;
    g->pool = c->pool;
    g->scratch = c->scratch;
}

static size_t pack_size_of(const mr_call *c, const mr_gemm_args *g)
{
    mr_gemm_size_fn *size = c->cpu->gemm.pack_size[mr_in_dtype(c, 1)];
    return size ? size(g) : 0;
}

static size_t scratch_of(const mr_call *c, const mr_gemm_args *g)
{
    mr_gemm_size_fn *size = c->cpu->gemm.scratch[mr_in_dtype(c, 0)];
    return size ? size(g) : 0;
}

/* ---- MatMul ---- */

mr_status mr_matmul_infer(mr_call *c)
{
    mr_shape s;
    mr_status st = mr_product_shape(c, 0, 1, &s);
    return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
}

mr_gemm_args mr_matmul_args(const mr_call *c)
{
    mr_gemm_args g = {.alpha = 1};
    mr_product_of(&c->in[0].shape, &c->in[1].shape, &g.p);
    mr_product_flatten(&g.p);
    point(c, &g);
    return g;
}

/* Only a matrix that is the same for all of the batch is packed; then A is never looked at. */
static mr_gemm_args matmul_weight(const mr_call *c)
{
    mr_gemm_args g = {.alpha = 1};
    mr_shape any = {.rank = 2, .d = {1, c->in[1].shape.d[0]}};
    mr_product_of(&any, &c->in[1].shape, &g.p);
    point(c, &g);
    return g;
}

size_t mr_matmul_pack_size(const mr_call *c, int i)
{
    if (i != 1 || c->in[1].shape.rank != 2) return 0;
    mr_gemm_args g = matmul_weight(c);
    return pack_size_of(c, &g);
}

void mr_matmul_pack(const mr_call *c, int i, void *dst)
{
    (void)i;
    mr_gemm_args g = matmul_weight(c);
    c->cpu->gemm.pack[mr_in_dtype(c, 1)](&g, dst);
}

size_t mr_matmul_scratch(const mr_call *c)
{
    mr_gemm_args g = mr_matmul_args(c);
    return scratch_of(c, &g);
}

static mr_status matmul_run(mr_call *c)
{
    mr_gemm_args g = mr_matmul_args(c);
    ((mr_gemm_fn *)c->fn)(&g);
    return MR_OK;
}

static mr_status matmul_launch(mr_call *c)
{
    mr_gemm_args g = mr_matmul_args(c);
    return mr_launched(c, ((mr_cuda_gemm_fn)c->fn)(c->stream, &g));
}

static const mr_impl matmul_rows[] = {
    {.name = "matmul_cuda", .dev = MR_CUDA, .have = have_gemm_cuda, .run = matmul_launch},
    {.name = "matmul",
     .dev = MR_CPU,
     .have = mr_gemm_have,
     .run = matmul_run,
     .scratch = mr_matmul_scratch,
     .pack_in = 1 << 1,
     .pack_size = mr_matmul_pack_size,
     .pack = mr_matmul_pack},
    {0}};

/* ---- FusedMatMul: alpha · A · B, either turned; a vector is not ---- */

void mr_fused_matmul_read(mr_reader *r, void *params)
{
    mr_gemm_params *p = params;
    p->alpha = mr_read_float(r, "alpha", 1);
    p->trans_a = mr_read_int(r, "transA", 0) != 0;
    p->trans_b = mr_read_int(r, "transB", 0) != 0;
    p->trans_batch = (mr_read_int(r, "transBatchA", 0) | mr_read_int(r, "transBatchB", 0)) != 0;
}

MR_COND(batch_stays, mr_gemm_params, 0, !p->trans_batch);

/* With the last two dims exchanged. */
static mr_shape turned(const mr_shape *s, bool turn)
{
    mr_shape t = *s;
    if (turn && s->rank > 1) t.d[s->rank - 1] = s->d[s->rank - 2], t.d[s->rank - 2] = s->d[s->rank - 1];
    return t;
}

mr_status mr_fused_matmul_infer(mr_call *c)
{
    const mr_gemm_params *p = c->params;
    const mr_shape a = c->in[0].shape, b = c->in[1].shape;
    mr_shape s;
    c->in[0].shape = turned(&a, p->trans_a), c->in[1].shape = turned(&b, p->trans_b);
    mr_status st = mr_product_shape(c, 0, 1, &s);
    c->in[0].shape = a, c->in[1].shape = b;
    return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
}

static void turn_strides(const mr_shape *s, int64_t *row, int64_t *col)
{
    if (s->rank > 1) *row = 1, *col = s->d[s->rank - 1];
}

static mr_gemm_args fused_args(const mr_call *c)
{
    const mr_gemm_params *p = c->params;
    const mr_shape a = turned(&c->in[0].shape, p->trans_a), b = turned(&c->in[1].shape, p->trans_b);
    mr_gemm_args g = {.alpha = p->alpha};
    mr_product_of(&a, &b, &g.p);
    if (p->trans_b) turn_strides(&c->in[1].shape, &g.p.b_row, &g.p.b_col);
    if (p->trans_a)
        turn_strides(&c->in[0].shape, &g.p.a_row, &g.p.a_col);
    else
        mr_product_flatten(&g.p);
    point(c, &g);
    return g;
}

size_t mr_fused_matmul_scratch(const mr_call *c)
{
    mr_gemm_args g = fused_args(c);
    return scratch_of(c, &g);
}

mr_status mr_fused_matmul_run(mr_call *c)
{
    mr_gemm_args g = fused_args(c);
    ((mr_gemm_fn *)c->fn)(&g);
    return MR_OK;
}

static const mr_impl fused_rows[] = {{.name = "fused_matmul",
                                      .dev = MR_CPU,
                                      .have = mr_gemm_have,
                                      .conds = MR_WHEN(&batch_stays),
                                      .run = mr_fused_matmul_run,
                                      .scratch = mr_fused_matmul_scratch},
                                     {0}};

/* ---- Gemm ---- */

void mr_gemm_read(mr_reader *r, void *params)
{
    mr_gemm_params *p = params;
    p->alpha = mr_read_float(r, "alpha", 1);
    p->beta = mr_read_float(r, "beta", 1);
    p->trans_a = mr_read_int(r, "transA", 0) != 0;
    p->trans_b = mr_read_int(r, "transB", 0) != 0;
    p->broadcast = mr_read_version(r) >= 7 || mr_read_int(r, "broadcast", 0) != 0;
}

/* C must broadcast to [M, N] without making it larger; before version 7 only where the attribute broadcast says so. */
static mr_status gemm_want_c(mr_call *c, const mr_shape *y)
{
    const mr_shape *s = &c->in[2].shape;
    const mr_gemm_params *p = c->params;
    mr_status st = mr_want_rank(c, 2, p->broadcast ? 0 : 2, 2);
    if (st || s->rank < 0) return st;
    for (int k = 1; k <= s->rank; k++) {
        mr_dim have = s->d[s->rank - k], want = y->d[2 - k];
        if (have < 0 || want < 0 || have == want || (have == 1 && p->broadcast)) continue;
        return mr_call_fail_in(c, MR_E_SHAPES, 2, "does not fit the product [%lld,%lld]: axis -%d has %lld%s",
                               (long long)y->d[0], (long long)y->d[1], k, (long long)have,
                               p->broadcast ? "" : ", and the attribute broadcast is 0");
    }
    return MR_OK;
}

mr_status mr_gemm_infer(mr_call *c)
{
    const mr_gemm_params *p = c->params;
    const mr_shape *a = &c->in[0].shape, *b = &c->in[1].shape;
    mr_shape y = mr_shape_of_rank(2);
    mr_status st;
    if ((st = mr_want_rank(c, 0, 2, 2)) || (st = mr_want_rank(c, 1, 2, 2))) return st;
    if (a->rank == 2) y.d[0] = a->d[p->trans_a];
    if (b->rank == 2) y.d[1] = b->d[!p->trans_b];
    if (a->rank == 2 && b->rank == 2) {
        mr_dim ka = a->d[!p->trans_a], kb = b->d[p->trans_b];
        if (ka >= 0 && kb >= 0 && ka != kb) {
            st = mr_fail_fit(c, "%s dim of A (%lld) = %s dim of B (%lld), with transA=%d, transB=%d",
                             p->trans_a ? "first" : "last", (long long)ka, p->trans_b ? "last" : "first", (long long)kb,
                             p->trans_a, p->trans_b);
            if (ka == b->d[!p->trans_b]) mr_call_hint(c, "transB=%d would fit", !p->trans_b);
            return st;
        }
    }
    if (mr_in_has(c, 2) && (st = gemm_want_c(c, &y))) return st;
    return mr_out_tensor(c, 0, mr_in_dtype(c, 0), &y);
}

static void gemm_b(const mr_call *c, mr_gemm_args *g)
{
    const mr_gemm_params *p = c->params;
    const mr_shape *b = &c->in[1].shape;
    g->p.n = b->d[!p->trans_b];
    g->p.k = b->d[p->trans_b];
    g->p.b_row = p->trans_b ? 1 : b->d[1];
    g->p.b_col = p->trans_b ? b->d[1] : 1;
}

mr_gemm_args mr_gemm_args_of(const mr_call *c)
{
    const mr_gemm_params *p = c->params;
    const mr_shape *a = &c->in[0].shape;
    mr_gemm_args g = {.alpha = p->alpha, .beta = p->beta};
    g.p.m = a->d[p->trans_a];
    g.p.a_row = p->trans_a ? 1 : a->d[1];
    g.p.a_col = p->trans_a ? a->d[1] : 1;
    gemm_b(c, &g);
    if (mr_in_has(c, 2)) {
        const mr_shape *s = &c->in[2].shape;
        int64_t cols = s->rank > 0 ? s->d[s->rank - 1] : 1;
        g.c_col = cols != 1;
        g.c_row = s->rank == 2 && s->d[0] != 1 ? cols : 0;
    }
    point(c, &g);
    return g;
}

size_t mr_gemm_pack_size(const mr_call *c, int i)
{
    mr_gemm_args g = {.alpha = 1};
    if (i != 1) return 0;
    gemm_b(c, &g);
    return pack_size_of(c, &g);
}

void mr_gemm_pack(const mr_call *c, int i, void *dst)
{
    (void)i;
    mr_gemm_args g = {.alpha = 1};
    gemm_b(c, &g);
    g.b = c->in[1].t->data;
    c->cpu->gemm.pack[mr_in_dtype(c, 1)](&g, dst);
}

size_t mr_gemm_scratch(const mr_call *c)
{
    mr_gemm_args g = mr_gemm_args_of(c);
    return scratch_of(c, &g);
}

mr_status mr_gemm_run(mr_call *c)
{
    mr_gemm_args g = mr_gemm_args_of(c);
    ((mr_gemm_fn *)c->fn)(&g);
    return MR_OK;
}

static mr_status gemm_launch(mr_call *c)
{
    mr_gemm_args g = mr_gemm_args_of(c);
    return mr_launched(c, ((mr_cuda_gemm_fn)c->fn)(c->stream, &g));
}

static const mr_impl gemm_rows[] = {{.name = "gemm_cuda", .dev = MR_CUDA, .have = have_gemm_cuda, .run = gemm_launch},
                                    {.name = "gemm",
                                     .dev = MR_CPU,
                                     .have = mr_gemm_have,
                                     .run = mr_gemm_run,
                                     .scratch = mr_gemm_scratch,
                                     .pack_in = 1 << 1,
                                     .pack_size = mr_gemm_pack_size,
                                     .pack = mr_gemm_pack},
                                    {0}};

/* C is added; alpha and beta are multiplied with where they are not 1. */
double mr_gemm_flops(const mr_call *c)
{
    const mr_gemm_params *p = c->params;
    double more = (p->alpha != 1) + (mr_in_has(c, 2) ? 1 + (p->beta != 1) : 0);
    return mr_flops_product(c, c->in[0].shape.d[!p->trans_a]) + more * mr_flops_each(c);
}

double mr_fused_matmul_flops(const mr_call *c)
{
    const mr_gemm_params *p = c->params;
    const mr_shape a = turned(&c->in[0].shape, p->trans_a);
    return mr_flops_product(c, a.rank > 0 ? a.d[a.rank - 1] : MR_DIM_UNKNOWN) + (p->alpha != 1) * mr_flops_each(c);
}

const mr_op mr_ops_matmul[] = {
    {.name = "MatMul",
     .domain = "",
     .since = 1,
     .infer = mr_matmul_infer,
     .impls = matmul_rows,
     .flops = mr_flops_matmul},
    {.name = "Gemm",
     .domain = "",
     .since = 1,
     .params_size = sizeof(mr_gemm_params),
     .read = mr_gemm_read,
     .infer = mr_gemm_infer,
     .impls = gemm_rows,
     .flops = mr_gemm_flops},
    {.name = "FusedMatMul",
     .domain = "com.microsoft",
     .since = 1,
     .params_size = sizeof(mr_gemm_params),
     .read = mr_fused_matmul_read,
     .infer = mr_fused_matmul_infer,
     .impls = fused_rows,
     .flops = mr_fused_matmul_flops},
    {.name = "TransposeMatMul",
     .domain = "com.microsoft",
     .since = 1,
     .params_size = sizeof(mr_gemm_params),
     .read = mr_fused_matmul_read,
     .infer = mr_fused_matmul_infer,
     .impls = fused_rows,
     .flops = mr_fused_matmul_flops},
    {0},
};

/* fused.c: what the rewriter makes of several nodes: a convolution or a product with elementwise functions behind it,
 * or such functions alone, one after the other while their elements are in cache. In the domain "minirt", which no file
 * can import. Shapes are known when such a node is made. */
#include "ops/fused.h"

#include "kernels/cpu/cpu.h"
#include "ops/convolution.h"
#include "ops/elementwise.h"
#include "ops/flops.h"
#include "ops/matmul.h"

static const mr_fused *fused_of(const mr_call *c)
{
    return (const mr_fused *)c->node->fused;
}

static mr_status infer(mr_call *c)
{
    const mr_fused *f = fused_of(c);
    return mr_out_tensor(c, 0, f->type, &f->shape);
}

/* The chain over the whole output; its operands are in `in`, of which there are as many as inputs. */
static mr_chain chain_of(const mr_call *c, mr_operand *in, const void *first)
{
    const mr_fused *f = fused_of(c);
    const mr_tensor *y = c->out[0].t;
    mr_chain chain = {.link = f->link, .n = f->n};
    in[0] = mr_operand_broadcast(y, y);
    in[0].data = first;
    for (int i = f->n_own; i < c->n_in; i++) in[i - f->n_own + 1] = mr_operand_broadcast(c->in[i].t, y);
    int operands = c->n_in > f->n_own ? c->n_in - f->n_own : 0; /* absent ones at the end are not counted */
    chain.job = mr_elementwise_to(y, in, operands + 1, NULL);
    return chain;
}

static void run_whole(const mr_call *c, mr_chain *chain)
{
    mr_elementwise job = chain->job;
    job.params = chain;
    mr_elementwise_run(&job, mr_chain_part, c->pool);
}

/* Makes the job one of [batch, rows, cols]; false: an operand does not step that way. */
static bool in_blocks(mr_chain *chain, int64_t batch, int64_t rows, int64_t cols)
{
    mr_elementwise *j = &chain->job;
    const int64_t want[3] = {batch, rows, cols};
    int64_t strides[MR_FUSED_OPERANDS + 2][3];
    if (!mr_chain_strides(j->dims, j->out.strides, j->rank, want, strides[0])) return false;
    for (int i = 0; i < j->n_in; i++)
        if (!mr_chain_strides(j->dims, j->in[i].strides, j->rank, want, strides[i + 1])) return false;
    for (int d = 0; d < 3; d++) {
        j->out.strides[d] = strides[0][d];
        for (int i = 0; i < j->n_in; i++) j->in[i].strides[d] = strides[i + 1][d];
        j->dims[d] = want[d];
    }
    j->rank = 3;
    mr_chain_prepare(chain);
    return true;
}

/* ---- elementwise functions alone ---- */

static mr_fn have_chain(const mr_call *c)
{
    return fused_of(c)->again ? NULL : (mr_fn)mr_chain_part;
}
static mr_fn have_chain_again(const mr_call *c)
{
    (void)c;
    return (mr_fn)mr_chain_part;
}

static mr_status chain_run(mr_call *c)
{
    mr_operand in[MR_FUSED_OPERANDS + 1];
    mr_chain chain = chain_of(c, in, c->in[0].t->data);
    run_whole(c, &chain);
    return MR_OK;
}

static const mr_impl chain_rows[] = {{.name = "chain", .have = have_chain, .run = chain_run, .inplace = 1},
                                     {.name = "chain", .have = have_chain_again, .run = chain_run},
                                     {0}};

static double chain_flops(const mr_call *c)
{
    return fused_of(c)->n * mr_flops_each(c);
}

/* ---- behind a convolution ---- */

static mr_status conv_run(mr_call *c)
{
    mr_operand in[MR_FUSED_OPERANDS + 1];
    mr_chain chain = chain_of(c, in, c->out[0].t->data), whole = chain;
    mr_conv_args v = mr_conv_args_of(c);
    bool blocks =
        c->cpu->conv.pack_size[mr_in_dtype(c, 0)] && in_blocks(&chain, v.batch, v.groups * v.maps, mr_conv_pixels(&v));
    if (blocks) v.tail = &chain;
    ((mr_conv_fn *)c->fn)(&v);
    if (!blocks) run_whole(c, &whole);
    return MR_OK;
}

static const mr_impl conv_rows[] = {{.name = "conv_chain",
                                     .have = mr_conv_have,
                                     .run = conv_run,
                                     .scratch = mr_conv_scratch,
                                     .pack_in = 1 << 1,
                                     .pack_size = mr_conv_pack_size,
                                     .pack = mr_conv_pack},
                                    {0}};

static double conv_flops(const mr_call *c)
{
    return mr_conv_flops(c) + chain_flops(c);
}

/* ---- behind a product ---- */

static mr_status product_run(mr_call *c, mr_gemm_args g)
{
    mr_operand in[MR_FUSED_OPERANDS + 1];
    mr_chain chain = chain_of(c, in, c->out[0].t->data), whole = chain;
    bool blocks =
        c->cpu->gemm.pack_size[mr_in_dtype(c, 0)] && in_blocks(&chain, mr_product_batches(&g.p), g.p.m, g.p.n);
    if (blocks) g.tail = &chain;
    ((mr_gemm_fn *)c->fn)(&g);
    if (!blocks) run_whole(c, &whole);
    return MR_OK;
}

static mr_status matmul_run(mr_call *c)
{
    return product_run(c, mr_matmul_args(c));
}
static mr_status gemm_run(mr_call *c)
{
    return product_run(c, mr_gemm_args_of(c));
}

static const mr_impl matmul_rows[] = {{.name = "matmul_chain",
                                       .have = mr_gemm_have,
                                       .run = matmul_run,
                                       .scratch = mr_matmul_scratch,
                                       .pack_in = 1 << 1,
                                       .pack_size = mr_matmul_pack_size,
                                       .pack = mr_matmul_pack},
                                      {0}};
static const mr_impl gemm_rows[] = {{.name = "gemm_chain",
                                     .have = mr_gemm_have,
                                     .run = gemm_run,
                                     .scratch = mr_gemm_scratch,
                                     .pack_in = 1 << 1,
                                     .pack_size = mr_gemm_pack_size,
                                     .pack = mr_gemm_pack},
                                    {0}};

static double matmul_flops(const mr_call *c)
{
    return mr_flops_matmul(c) + chain_flops(c);
}
static double gemm_flops(const mr_call *c)
{
    return mr_gemm_flops(c) + chain_flops(c);
}

/* The parameters are those of the operator in front, whose own functions read them. */
#define FUSED(NAME, SIZE, ROWS, FLOPS)                                                                                 \
    {                                                                                                                  \
        .domain = MR_FUSED_DOMAIN, .name = NAME, .since = 1, .params_size = SIZE, .infer = infer, .impls = ROWS,       \
        .flops = FLOPS                                                                                                 \
    }

const mr_op mr_ops_fused[] = {
    FUSED("Chain", 0, chain_rows, chain_flops),
    FUSED("Conv", sizeof(mr_conv_params), conv_rows, conv_flops),
    FUSED("MatMul", 0, matmul_rows, matmul_flops),
    FUSED("Gemm", sizeof(mr_gemm_params), gemm_rows, gemm_flops),
    {0},
};

/* det.c: Det, and com.microsoft's Inverse. */
#include "ops/rules.h"

#include "kernels/cpu/cpu.h"

static mr_status want_square(mr_call *c)
{
    const mr_shape *s = &c->in[0].shape;
    mr_status st = mr_want_rank(c, 0, 2, MR_MAX_RANK);
    if (st || s->rank < 2) return st;
    mr_dim rows = s->d[s->rank - 2], cols = s->d[s->rank - 1];
    if (rows < 0 || cols < 0 || rows == cols) return MR_OK;
    return mr_call_fail_in(c, MR_E_SHAPES, 0, "its matrices of %lld × %lld are not square", (long long)rows,
                           (long long)cols);
}

static mr_status det_infer(mr_call *c)
{
    mr_shape s = c->in[0].shape;
    mr_status st = want_square(c);
    if (st) return st;
    if (s.rank >= 2) s.rank -= 2;
    return mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
}

static mr_fn det_have(const mr_call *c)
{
    return MR_SLOT(c->cpu->det.det, mr_in_dtype(c, 0));
}

static int64_t size_of(const mr_call *c)
{
    return c->in[0].shape.d[c->in[0].shape.rank - 1];
}

static size_t det_scratch(const mr_call *c)
{
    return (size_t)(size_of(c) * size_of(c) * mr_pool_threads(c->pool)) * sizeof(double);
}

static mr_status det_run(mr_call *c)
{
    const int64_t cells = size_of(c) * size_of(c);
    mr_det_args a = {.x = c->in[0].t->data,
                     .y = c->out[0].t->data,
                     .n = cells ? mr_tensor_count(c->in[0].t) / cells : mr_tensor_count(c->out[0].t),
                     .size = size_of(c),
                     .scratch = c->scratch,
                     .pool = c->pool};
    ((void (*)(const mr_det_args *))c->fn)(&a);
    return MR_OK;
}

static const mr_impl det_rows[] = {
    {.name = "det", .dev = MR_CPU, .have = det_have, .run = det_run, .scratch = det_scratch}, {0}};

/* ---- Inverse ---- */

static mr_status inverse_infer(mr_call *c)
{
    mr_status st = want_square(c);
    return st ? st : mr_infer_like(c);
}

static mr_fn inverse_have(const mr_call *c)
{
    return MR_SLOT(c->cpu->det.inverse, mr_in_dtype(c, 0));
}

static size_t inverse_scratch(const mr_call *c)
{
    return 2 * det_scratch(c);
}

static const mr_impl inverse_rows[] = {
    {.name = "inverse", .dev = MR_CPU, .have = inverse_have, .run = det_run, .scratch = inverse_scratch}, {0}};

const mr_op mr_ops_det[] = {
    {.name = "Det", .domain = "", .since = 11, .infer = det_infer, .impls = det_rows},
    {.name = "Inverse", .domain = "com.microsoft", .since = 1, .infer = inverse_infer, .impls = inverse_rows},
    {0},
};

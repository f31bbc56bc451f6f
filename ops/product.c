/* product.c: see product.h. */
#include "ops/product.h"

#include <stdarg.h>
#include <stdio.h>

mr_status mr_fail_fit(mr_call *c, const char *rule, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, rule);
    vsnprintf(text, sizeof text, rule, ap);
    va_end(ap);
    mr_status st = mr_call_fail(c, MR_E_SHAPES, "the shapes do not fit");
    mr_error_more(c->error, "\n  rule: ");
    mr_error_more(c->error, text);
    return st;
}

static mr_status batch_dim(mr_call *c, mr_dim x, mr_dim y, int k, mr_dim *out)
{
    if (x == 1 || mr_dim_same(x, y))
        *out = y;
    else if (y == 1)
        *out = x;
    else if (x < 0 || y < 0)
        *out = x < 0 && y < 0 ? MR_DIM_UNKNOWN : x < 0 ? y : x;
    else
        return mr_fail_fit(c, "batch dims broadcast: axis -%d has %lld and %lld", k, (long long)x, (long long)y);
    return MR_OK;
}

mr_status mr_product_shape(mr_call *c, int a, int b, mr_shape *out)
{
    mr_shape x = c->in[a].shape, y = c->in[b].shape;
    mr_status st;
    *out = mr_shape_unknown();
    if ((st = mr_want_rank(c, a, 1, MR_MAX_RANK)) || (st = mr_want_rank(c, b, 1, MR_MAX_RANK))) return st;
    if (x.rank < 0 || y.rank < 0) return MR_OK;
    mr_dim inner = x.d[x.rank - 1], outer = y.d[y.rank > 1 ? y.rank - 2 : 0];
    if (inner >= 0 && outer >= 0 && inner != outer) {
        st = mr_fail_fit(c, "last dim of %s (%lld) = %s dim of %s (%lld)", mr_in_name(c, a), (long long)inner,
                         y.rank > 1 ? "second-last" : "only", mr_in_name(c, b), (long long)outer);
        if (x.rank > 1 && y.rank == 2 && y.d[1] == inner)
            mr_call_hint(c, "%s looks transposed: a Gemm with transB=1, or a Transpose before it, would fit",
                         mr_in_name(c, b));
        return st;
    }
    int rank = x.rank > y.rank ? x.rank : y.rank;
    *out = (mr_shape){.rank = 0};
    for (int k = rank; k > 2; k--) {
        mr_dim p = k <= x.rank ? x.d[x.rank - k] : 1, q = k <= y.rank ? y.d[y.rank - k] : 1;
        if ((st = batch_dim(c, p, q, k, &out->d[out->rank++]))) return st;
    }
    if (x.rank > 1) out->d[out->rank++] = x.d[x.rank - 2];
    if (y.rank > 1) out->d[out->rank++] = y.d[y.rank - 1];
    return MR_OK;
}

/* Strides of the batch dims of a factor: 0 where it is repeated. */
static void batch_strides(const mr_shape *s, int batch_rank, int64_t *strides)
{
    int64_t step = 1;
    for (int k = 1; k <= batch_rank + 2; k++) {
        int64_t d = k <= s->rank ? s->d[s->rank - k] : 1;
        if (k > 2) strides[batch_rank + 2 - k] = d == 1 ? 0 : step;
        step *= d;
    }
}

void mr_product_of(const mr_shape *a, const mr_shape *b, mr_product *p)
{
    int rank = a->rank > b->rank ? a->rank : b->rank;
    *p = (mr_product){.batch_rank = rank > 2 ? rank - 2 : 0};
    p->k = a->d[a->rank - 1];
    p->m = a->rank > 1 ? a->d[a->rank - 2] : 1;
    p->n = b->rank > 1 ? b->d[b->rank - 1] : 1;
    p->a_row = p->k, p->a_col = 1;
    p->b_row = p->n, p->b_col = 1;
    batch_strides(a, p->batch_rank, p->a_batch);
    batch_strides(b, p->batch_rank, p->b_batch);
    for (int i = 0; i < p->batch_rank; i++) {
        int k = p->batch_rank + 2 - i;
        int64_t x = k <= a->rank ? a->d[a->rank - k] : 1, y = k <= b->rank ? b->d[b->rank - k] : 1;
        p->batch[i] = x == 1 ? y : x;
    }
}

void mr_product_flatten(mr_product *p)
{
    int64_t step = p->m * p->a_row;
    for (int i = p->batch_rank - 1; i >= 0; step *= p->batch[i], i--)
        if (p->batch[i] != 1 && (p->b_batch[i] != 0 || p->a_batch[i] != step)) return;
    p->m *= mr_product_batches(p);
    p->batch_rank = 0;
}

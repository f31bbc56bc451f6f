/* elems.c: small integer tensors while shapes are inferred. */
#include "ops/elems.h"

int mr_elems_count(const mr_call *c, int i)
{
    if (!mr_in_has(c, i) || !mr_dtype_in(mr_in_dtype(c, i), MR_INTS)) return -1;
    const mr_arg *a = &c->in[i];
    if (!a->t && !a->elems) return -1;
    int64_t n = a->shape.rank == 0 ? 1 : a->shape.rank == 1 ? a->shape.d[0] : -1;
    return n < 0 || n > MR_MAX_ELEMS ? -1 : (int)n;
}

mr_dim mr_elem(const mr_call *c, int i, int k)
{
    const mr_arg *a = &c->in[i];
    if (!a->t) return a->elems ? a->elems[k] : MR_DIM_UNKNOWN;
    int64_t v = mr_tensor_int(a->t, k);
    return v < 0 ? MR_DIM_UNKNOWN : v;
}

mr_dim *mr_elems_new(mr_call *c, int o, int n)
{
    mr_dim *d = mr_call_alloc(c, sizeof *d * (size_t)(n + 1));
    if (!d) return NULL;
    for (int k = 0; k < n; k++) d[k] = MR_DIM_UNKNOWN;
    return c->out[o].elems = d;
}

void mr_elems_pass(mr_call *c)
{
    if (!c->in[0].t && c->out[0].shape.rank >= 0 && c->out[0].shape.rank <= 1) c->out[0].elems = c->in[0].elems;
}

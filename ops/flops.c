/* flops.c: see flops.h. In double: counts pass 2^53 only where nobody runs them. */
#include "ops/flops.h"

#include <math.h>

double mr_count(const mr_shape *s)
{
    double n = s->rank < 0 ? NAN : 1;
    for (int i = 0; i < s->rank; i++) n *= s->d[i] < 0 ? NAN : (double)s->d[i];
    return n;
}

double mr_flops_each(const mr_call *c)
{
    return mr_count(&c->out[0].shape);
}

double mr_flops_two_each(const mr_call *c)
{
    return 2 * mr_count(&c->out[0].shape);
}

double mr_flops_variadic(const mr_call *c)
{
    return (c->n_in - 1) * mr_count(&c->out[0].shape);
}

double mr_flops_over_input(const mr_call *c)
{
    return mr_count(&c->in[0].shape);
}

double mr_flops_two_over_input(const mr_call *c)
{
    return 2 * mr_count(&c->in[0].shape);
}

double mr_flops_softmax(const mr_call *c)
{
    return 5 * mr_count(&c->in[0].shape);
}

double mr_flops_standardize(const mr_call *c)
{
    return 7 * mr_count(&c->in[0].shape);
}

double mr_flops_rms(const mr_call *c)
{
    return 4 * mr_count(&c->in[0].shape);
}

double mr_flops_product(const mr_call *c, mr_dim k)
{
    return k < 0 ? NAN : 2 * (double)k * mr_count(&c->out[0].shape);
}

double mr_flops_matmul(const mr_call *c)
{
    const mr_shape *a = &c->in[0].shape;
    return mr_flops_product(c, a->rank > 0 ? a->d[a->rank - 1] : MR_DIM_UNKNOWN);
}

double mr_flops_conv_of(const mr_call *c, int w, int b)
{
    const mr_shape *s = &c->in[w].shape;
    double maps = s->rank > 0 ? (double)s->d[0] : NAN;
    double taps = maps > 0 ? mr_count(s) / maps : 0;
    return (2 * taps + mr_in_has(c, b)) * mr_count(&c->out[0].shape);
}

double mr_flops_attention_of(const mr_attention_dims *d)
{
    const mr_shape scores = {4, {d->batch, d->heads, d->queries, mr_dim_add(d->past, d->keys)}};
    if (d->size < 0 || d->v_size < 0) return NAN;
    return mr_count(&scores) * (2 * (double)d->size + 2 * (double)d->v_size + 5);
}

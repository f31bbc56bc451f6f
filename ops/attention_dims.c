/* attention_dims.c: see attention.h. */
#include "ops/attention.h"

#include <math.h>

#include "runtime/narrow.h"

mr_status mr_attention_want(mr_call *c, int i, int k, mr_dim *have, const char *what)
{
    if (!mr_in_has(c, i) || c->in[i].shape.rank <= k) return MR_OK;
    mr_dim d = c->in[i].shape.d[k];
    if (d >= 0 && *have >= 0 && d != *have)
        return mr_call_fail_in(c, MR_E_SHAPES, i, "dim %d is %lld, %s is %lld", k, (long long)d, what,
                               (long long)*have);
    if (*have < 0 && d != MR_DIM_UNKNOWN) *have = d;
    return MR_OK;
}

mr_status mr_attention_want_groups(mr_call *c, const mr_attention_dims *d)
{
    if (d->heads < 0 || d->kv_heads < 0 || (d->kv_heads > 0 && d->heads % d->kv_heads == 0)) return MR_OK;
    if (d->heads == 0 && d->kv_heads == 0) return MR_OK;
    return mr_call_fail(c, MR_E_SHAPES, "q_num_heads = %lld is no multiple of kv_num_heads = %lld", (long long)d->heads,
                        (long long)d->kv_heads);
}

mr_attention_rows mr_attention_rows_of(const mr_tensor *t, int64_t size)
{
    const int64_t *d = t->dims;
    if (t->rank == 4) return (mr_attention_rows){t->data, t->dtype, d[1] * d[2] * size, d[2] * size, size};
    return (mr_attention_rows){t->data, t->dtype, d[1] * d[2], size, d[2]};
}

mr_dtype mr_attention_read_precision(mr_reader *r)
{
    if (!mr_read_has(r, "softmax_precision")) return MR_UNDEFINED;
    int64_t v = mr_read_int(r, "softmax_precision", MR_F32);
    if (v < 0 || v >= MR_N_DTYPES || !mr_dtype_in((mr_dtype)v, MR_FLOATS))
        mr_read_fail(r, MR_E_ATTRIBUTE,
                     "attribute softmax_precision = %lld: one of 1 (float), 10 (float16), 11 (double), 16 (bfloat16)",
                     (long long)v);
    return (mr_dtype)v;
}

double mr_attention_round(mr_dtype d, double x)
{
    switch (d) {
    case MR_F16:
        return mr_f16_to_f32(mr_f16_from_f64(x));
    case MR_BF16:
        return mr_bf16_to_f32(mr_bf16_from_f64(x));
    case MR_F32:
        return (float)x;
    default:
        return x;
    }
}

void mr_attention_scale(mr_attention_args *a, double scale, mr_dtype d)
{
    if (isnan(scale)) scale = 1 / sqrt((double)a->size);
    a->k_scale = mr_attention_round(d, sqrt(fabs(scale)));
    a->q_scale = scale < 0 ? -a->k_scale : a->k_scale;
}

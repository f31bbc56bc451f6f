/* carrier.c: narrower floats carried in double. */
#include "carrier.h"

#include <stdlib.h>

bool mr_is_carried(mr_dtype d)
{
    return mr_dtype_in(d, MR_BIT(MR_F16) | MR_BIT(MR_BF16) | MR_BIT(MR_F32));
}

mr_type mr_carrier_type(mr_type t)
{
    if (mr_is_carried((mr_dtype)t.elem)) t.elem = MR_F64;
    return t;
}

void mr_carrier_convert(double *to, const mr_tensor *from)
{
    int64_t n = mr_tensor_count(from);
    const float *f = from->data;
    if (from->dtype == MR_F32)
        for (int64_t i = 0; i < n; i++) to[i] = (double)f[i];
    else
        for (int64_t i = 0; i < n; i++) to[i] = mr_tensor_real(from, i);
}

static mr_value *carry_list(mr_value *v)
{
    mr_value **items = calloc((size_t)v->n + 1, sizeof *items), *list = NULL;
    bool all = items != NULL;
    for (int64_t i = 0; all && i < v->n; i++) all = (items[i] = mr_carrier_value(v->items[i])) != NULL;
    if (all) list = mr_value_list(mr_carrier_type(v->type), v->n, items);
    for (int64_t i = 0; items && i < v->n; i++) mr_value_release(items[i]);
    free(items);
    return list;
}

mr_value *mr_carrier_value(mr_value *v)
{
    if (!mr_is_carried((mr_dtype)v->type.elem)) return mr_value_retain(v);
    if (v->type.kind != MR_TENSOR) return v->type.kind == MR_SPARSE ? mr_value_retain(v) : carry_list(v);
    mr_value *wide = mr_value_tensor(MR_F64, v->t.rank, v->t.dims);
    if (wide) mr_carrier_convert(wide->t.data, &v->t);
    return wide;
}

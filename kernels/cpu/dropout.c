/* dropout.c: the one level there is: the numbers come one after the other. */
#include "kernels/cpu/dropout.h"

#include <string.h>

#include "kernels/cpu/math.h"
#include "kernels/cpu/wide.h"

static void *at(void *x, mr_dtype d, int64_t i)
{
    return (char *)x + i * (int64_t)mr_dtype_size(d);
}

static void tile(const mr_dropout_args *a, int64_t first, int64_t n)
{
    mr_wide x, m;
    const double scale = 1 / (1 - a->ratio);
    for (int64_t i = 0; i < n; i++) m.f[i] = !a->random || mr_random_uniform(a->random) >= a->ratio;
    if (a->random) {
        mr_wide_load_f64(a->type, (const char *)a->x + first * (int64_t)mr_dtype_size(a->type), n, x.f);
        for (int64_t i = 0; i < n; i++) x.f[i] = mr_canonical(x.f[i] * m.f[i] * scale);
        mr_wide_store(MR_WIDE_F64, &x, n, a->type, at(a->y, a->type, first), (mr_wide_rule){0});
    }
    if (a->mask) mr_wide_store(MR_WIDE_F64, &m, n, a->mask_type, at(a->mask, a->mask_type, first), (mr_wide_rule){0});
}

static void dropout(const mr_dropout_args *a)
{
    if (!a->random && a->y != a->x) memcpy(a->y, a->x, (size_t)a->n * mr_dtype_size(a->type));
    for (int64_t i = 0; i < a->n && (a->random || a->mask); i += MR_TILE)
        tile(a, i, a->n - i < MR_TILE ? a->n - i : MR_TILE);
}

void mr_dropout_fill_scalar(mr_dropout_fns *f)
{
    *f = (mr_dropout_fns){
        .dropout = {[MR_F16] = dropout,
                    [MR_BF16] = dropout,
                    [MR_F32] = dropout,
                    [MR_F64] = dropout,
                    [MR_F8E4M3FN] = dropout,
                    [MR_F8E4M3FNUZ] = dropout,
                    [MR_F8E5M2] = dropout,
                    [MR_F8E5M2FNUZ] = dropout},
    };
}

/* widen.h: a whole tensor of numbers as doubles. */
#ifndef MR_OPS_WIDEN_H
#define MR_OPS_WIDEN_H

#include "kernels/cpu/wide.h"
#include "runtime/tensor.h"

static inline void mr_widen(const mr_tensor *t, double *out)
{
    const int64_t n = mr_tensor_count(t), size = (int64_t)mr_dtype_size(t->dtype);
    for (int64_t i = 0; i < n; i += MR_TILE)
        mr_wide_load_f64(t->dtype, (const char *)t->data + i * size, n - i < MR_TILE ? n - i : MR_TILE, out + i);
}

/* The other way, rounded once. */
static inline void mr_unwiden(const double *v, const mr_tensor *t)
{
    const int64_t n = mr_tensor_count(t), size = (int64_t)mr_dtype_size(t->dtype);
    for (int64_t i = 0; i < n; i += MR_TILE) {
        mr_wide w;
        int64_t m = n - i < MR_TILE ? n - i : MR_TILE;
        memcpy(w.f, v + i, (size_t)m * sizeof *v);
        mr_wide_store(MR_WIDE_F64, &w, m, t->dtype, (char *)t->data + i * size, (mr_wide_rule){0});
    }
}

#endif

/* index.c: index tensors. */
#include "kernels/cpu/index.h"

/* Without branches, so that it runs as vectors: k + dim and dim - 1 - k are both at least 0 just for what is inside,
 * and what is so far out that one of them wraps makes the other negative. */
bool mr_index_inside(mr_index x, int64_t n, int64_t dim)
{
    uint64_t all = 0, below = (uint64_t)dim, above = (uint64_t)dim - 1;
    for (int64_t i = 0; x.wide && i < n; i++) {
        uint64_t k = ((const uint64_t *)x.data)[i];
        all |= (k + below) | (above - k);
    }
    for (int64_t i = 0; !x.wide && i < n; i++) {
        uint64_t k = (uint64_t)((const int32_t *)x.data)[i];
        all |= (k + below) | (above - k);
    }
    return (int64_t)all >= 0;
}

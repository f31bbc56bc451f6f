/* box.c: boxes of elements seen through two strided views. */
#include "kernels/cpu/box.h"

int64_t mr_box_count(const mr_box *b, int rank)
{
    int64_t n = 1;
    for (int i = 0; i < rank; i++) n *= b->dims[i];
    return n;
}

void mr_box_simplify(mr_box *b)
{
    int n = 0;
    for (int i = 0; i < b->rank; i++) {
        int64_t dim = b->dims[i];
        if (dim == 1) continue;
        bool merges = n > 0 && b->xs[n - 1] == b->xs[i] * dim && b->ys[n - 1] == b->ys[i] * dim;
        if (merges) dim *= b->dims[--n];
        b->dims[n] = dim;
        b->xs[n] = b->xs[i];
        b->ys[n] = b->ys[i];
        n++;
    }
    if (n == 0) {
        b->dims[0] = b->xs[0] = b->ys[0] = 1;
        n = 1;
    }
    b->rank = n;
}

/* copies.c: copies between strided views. */
#include "ops/copies.h"

mr_fn mr_have_copy(const mr_call *c)
{
    return MR_SLOT_BY_SIZE(c->cpu->move.copy, mr_in_dtype(c, 0));
}

void mr_row_major(const int64_t *dims, int rank, int64_t *strides)
{
    int64_t stride = 1;
    for (int d = rank - 1; d >= 0; d--) {
        strides[d] = stride;
        stride *= dims[d];
    }
}

void mr_copy_box(const mr_call *c, const void *x, int64_t x_first, void *y, int64_t y_first, const mr_box *box)
{
    int64_t size = (int64_t)mr_dtype_size(mr_in_dtype(c, 0));
    mr_copy_args a = {
        .x = (const char *)x + x_first * size, .y = (char *)y + y_first * size, .box = box, .pool = c->pool};
    c->cpu->move.copy[mr_size_index((size_t)size)](&a);
}

void mr_copy_permuted(const mr_call *c, const void *x, void *y, const int64_t *dims, const int *perm, int rank)
{
    int64_t strides[MR_BOX_RANK];
    mr_box box = {.rank = rank};
    mr_row_major(dims, rank, strides);
    for (int i = 0; i < rank; i++) {
        box.dims[i] = dims[perm[i]];
        box.xs[i] = strides[perm[i]];
    }
    mr_row_major(box.dims, rank, box.ys);
    mr_copy_box(c, x, 0, y, 0, &box);
}

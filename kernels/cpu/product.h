/* product.h: the shape of a batch of matrix products, of any element type. */
#ifndef MR_KERNELS_CPU_PRODUCT_H
#define MR_KERNELS_CPU_PRODUCT_H

#include "runtime/tensor.h"

/* A is m × k, B is k × n, Y is dense, [batch…, m, n]. Strides count elements and may be anything, 0 repeats. */
typedef struct mr_product {
    int64_t m, n, k;
    int64_t a_row, a_col, b_row, b_col;
    int batch_rank;
    int64_t batch[MR_MAX_RANK], a_batch[MR_MAX_RANK], b_batch[MR_MAX_RANK];
} mr_product;

static inline int64_t mr_product_batches(const mr_product *p)
{
    return mr_dims_product(p->batch, 0, p->batch_rank);
}

/* Where the factors of batch i, in row-major order, begin. */
static inline void mr_product_at(const mr_product *p, int64_t i, int64_t *a, int64_t *b)
{
    *a = *b = 0;
    for (int d = p->batch_rank - 1; d >= 0; i /= p->batch[d], d--) {
        *a += i % p->batch[d] * p->a_batch[d];
        *b += i % p->batch[d] * p->b_batch[d];
    }
}

/* Y cut into blocks of up to rows × cols, across first. */
typedef struct mr_product_block {
    int64_t batch, row, col, rows, cols;
    int64_t a, b, y; /* where its factors and itself begin */
} mr_product_block;

static inline int64_t mr_product_blocks(const mr_product *p, int64_t rows, int64_t cols)
{
    return mr_product_batches(p) * ((p->m + rows - 1) / rows) * ((p->n + cols - 1) / cols);
}

static inline mr_product_block mr_product_block_at(const mr_product *p, int64_t i, int64_t rows, int64_t cols)
{
    int64_t down = (p->m + rows - 1) / rows, across = (p->n + cols - 1) / cols, batch = i / across / down;
    mr_product_block b = {.batch = batch, .row = i / across % down * rows, .col = i % across * cols};
    b.rows = p->m - b.row < rows ? p->m - b.row : rows;
    b.cols = p->n - b.col < cols ? p->n - b.col : cols;
    mr_product_at(p, batch, &b.a, &b.b);
    b.a += b.row * p->a_row;
    b.b += b.col * p->b_col;
    b.y = (batch * p->m + b.row) * p->n + b.col;
    return b;
}

#endif

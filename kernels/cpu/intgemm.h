/* intgemm.h: products of matrices of 8-bit integers, exact modulo 2^32, and what quantized products of the other 8-bit
 * types need: their values, and the way back. */
#ifndef MR_KERNELS_CPU_INTGEMM_H
#define MR_KERNELS_CPU_INTGEMM_H

#include "kernels/cpu/product.h"
#include "kernels/cpu/quant.h"
#include "runtime/threads.h"

/* Y = requant((A - a_zero) · (B - b_zero)). */
typedef struct mr_intgemm_args {
    mr_product p;
    const void *a, *b;
    void *y;
    const void *packed; /* B as pack of the same level made it, or NULL; then the batch does not step through B */
    const void *a_zero, *b_zero;    /* of the types of A and B, one a row of A and one a column of B; NULL: 0 */
    int64_t a_zero_row, b_zero_col; /* 0: one for all */
    mr_requant out;
    mr_pool *pool;
    void *scratch; /* as many bytes as the scratch slot says */
} mr_intgemm_args;

/* y = table[x] - zero: codes of any 8-bit type to what they mean. */
typedef struct mr_decode_args {
    const uint8_t *x;
    double *y;
    const double *table, *zero; /* of 256; [row][col] with these strides */
    int64_t rows, cols, zero_row, zero_col;
    mr_pool *pool;
} mr_decode_args;

/* y = saturate(round(x · scale + zero)) to an 8-bit type; for integers zero is whole, and x · scale is rounded. Rows
 * and columns as in mr_requant. */
typedef struct mr_encode_args {
    const double *x, *scale, *zero;
    uint8_t *y;
    int64_t rows, cols, scale_row, scale_col, zero_row, zero_col;
    mr_pool *pool;
} mr_encode_args;

typedef void mr_intgemm_fn(const mr_intgemm_args *g);
typedef size_t mr_intgemm_size_fn(const mr_intgemm_args *g);
typedef void mr_intgemm_pack_fn(const mr_intgemm_args *g, void *dst);

typedef struct mr_intgemm_fns {
    mr_intgemm_fn *gemm[2][2];           /* A, B: 0 uint8, 1 int8 */
    mr_intgemm_size_fn *scratch[2][2];   /* NULL: none */
    mr_intgemm_size_fn *pack_size[2][2]; /* NULL: this level reads B as it is */
    mr_intgemm_pack_fn *pack[2][2];
    void (*decode)(const mr_decode_args *d);
    void (*encode[MR_N_DTYPES])(const mr_encode_args *e);
} mr_intgemm_fns;

void mr_intgemm_fill_scalar(mr_intgemm_fns *f);
void mr_intgemm_fill_avx2(mr_intgemm_fns *f);
void mr_intgemm_fill_avx512(mr_intgemm_fns *f);

#endif

/* gemm.h: matrix products Y = alpha · A · B + beta · C, one for each index of the batch.
 *
 * Each element of Y is one sum over k: at the scalar level taken in double (integers: modulo 2^bits) in the order of k,
 * then alpha, beta · c and the one rounding. Y overlaps nothing. */
#ifndef MR_KERNELS_CPU_GEMM_H
#define MR_KERNELS_CPU_GEMM_H

#include "kernels/cpu/chain.h"
#include "kernels/cpu/product.h"
#include "runtime/threads.h"

typedef struct mr_gemm_args {
    mr_product p;
    const void *a, *b, *c; /* c NULL: none, beta is not read */
    void *y;
    const void *packed; /* B as pack of the same level made it, or NULL; then the batch does not step through B */
    int64_t c_row, c_col;
    float alpha, beta; /* integers: both whole, or the sum goes on in double and is cut off toward zero */
    mr_pool *pool;
    void *scratch;        /* as many bytes as the scratch slot says */
    const mr_chain *tail; /* over Y as [batch, m, n]; NULL: none. For levels that pack B */
} mr_gemm_args;

typedef void mr_gemm_fn(const mr_gemm_args *g);
typedef size_t mr_gemm_size_fn(const mr_gemm_args *g);
typedef void mr_gemm_pack_fn(const mr_gemm_args *g, void *dst);

typedef struct mr_gemm_fns {
    mr_gemm_fn *gemm[MR_N_DTYPES];
    mr_gemm_size_fn *scratch[MR_N_DTYPES];   /* NULL: none */
    mr_gemm_size_fn *pack_size[MR_N_DTYPES]; /* NULL: this level reads B as it is */
    mr_gemm_pack_fn *pack[MR_N_DTYPES];
} mr_gemm_fns;

void mr_gemm_fill_scalar(mr_gemm_fns *f);
void mr_gemm_fill_blas(mr_gemm_fns *f);
void mr_gemm_fill_avx2(mr_gemm_fns *f);
void mr_gemm_fill_avx512(mr_gemm_fns *f);

#endif

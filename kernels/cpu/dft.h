/* dft.h: discrete Fourier transforms of many lines: X[k] = Σ x[j] e^(-2πi jk/n), and the inverse, Σ X[k] e^(2πi jk/n) /
 * n.
 *
 * Every level has the same bits. By factors of n up to 13, in double; but complex lines of float and narrower types in
 * float: ONNX's expected values come from such transforms, and have their rounding, about 2^-24 log2(n) of the line's
 * norm, where the exact value is 0. Where n has a larger prime factor, by Bluestein's convolution ("A linear filtering
 * approach to the computation of discrete Fourier transform", 1970), always in double. */
#ifndef MR_KERNELS_CPU_DFT_H
#define MR_KERNELS_CPU_DFT_H

#include "runtime/dtype.h"
#include "runtime/threads.h"

/* Steps count elements. Lines are outer × inner. */
typedef struct mr_dft_args {
    const void *x, *window; /* window NULL: ones; else n factors of x */
    void *y;
    int64_t n, taken, kept; /* the length; samples of x that there are, at most n, the others are 0; results wanted */
    int64_t outer, inner, x_outer, x_inner, x_step, y_outer, y_inner, y_step;
    int x_parts, y_parts; /* 1: real, 2: complex */
    bool inverse;
    bool hermitian; /* x has the first n / 2 + 1 of a spectrum, the others are their conjugates */
    mr_pool *pool;
    void *scratch; /* as many bytes as the scratch slot says */
} mr_dft_args;

typedef struct mr_dft_fns {
    void (*dft[MR_N_DTYPES])(const mr_dft_args *a);
    size_t (*scratch[MR_N_DTYPES])(const mr_dft_args *a);
} mr_dft_fns;

void mr_dft_fill_scalar(mr_dft_fns *f);
void mr_dft_fill_avx2(mr_dft_fns *f);

#endif

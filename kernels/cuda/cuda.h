/* cuda.h: what the CUDA plugin offers: a table of functions that launch kernels, called from C.
 *
 * Arguments are those of the CPU's kernels where there is such a family, so that one piece of code makes both; pool,
 * packed and scratch are not read. Data is device memory; everything else is read on the host before the call returns.
 * Tensors are dense and row-major. Work is queued on `stream`, in order. Arguments were checked: shapes fit, slots of
 * the dtype are filled (NULL: this type is not computed here). Every function gives 0, or an error of the CUDA runtime,
 * whose text `error` gives.
 *
 * Floats of 16 and 32 bits are computed in f32 and rounded once; reductions and norms accumulate in f64, products of
 * matrices in f32 by tiles. */
#ifndef MR_CUDA_H
#define MR_CUDA_H

#include "kernels/cpu/binary.h"
#include "kernels/cpu/cast.h"
#include "kernels/cpu/conv.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/move.h"
#include "kernels/cpu/pool.h"
#include "kernels/cpu/reduce.h"
#include "kernels/cpu/select.h"
#include "kernels/cpu/softmax.h"
#include "kernels/cpu/unary.h"
#include "runtime/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void *mr_stream;

/* One function of each element, or of elements that stand together: the operands have strides, 0 repeats. */
typedef int (*mr_cuda_elementwise_fn)(mr_stream s, const mr_elementwise *job);
enum { MR_CUDA_VARIADIC = 8 };

typedef int (*mr_cuda_copy_fn)(mr_stream s, const mr_copy_args *a);
/* The index that is out of range, where there is one, is written to *bad (device memory, not touched otherwise), and
 * its part of y is 0: here nobody has looked at indices before. */
typedef int (*mr_cuda_gather_fn)(mr_stream s, const mr_gather_args *a, int64_t *bad);
typedef int (*mr_cuda_gemm_fn)(mr_stream s, const mr_gemm_args *g);
/* At most 3 spatial axes. */
typedef int (*mr_cuda_conv_fn)(mr_stream s, const mr_conv_args *a);
typedef int (*mr_cuda_pool_fn)(mr_stream s, const mr_pool_args *a); /* likewise */

typedef int (*mr_cuda_reduce_fn)(mr_stream s, const mr_reduce_args *a);
typedef int (*mr_cuda_arg_fn)(mr_stream s, const mr_arg_args *a);
typedef int (*mr_cuda_softmax_fn)(mr_stream s, const mr_softmax_args *a);

typedef enum mr_cuda_pad_mode { MR_PAD_CONSTANT, MR_PAD_REFLECT, MR_PAD_EDGE, MR_PAD_WRAP } mr_cuda_pad_mode;
/* begin, end: elements put around each axis; negative ones are taken away first, and what is left then repeats. value:
 * of MR_PAD_CONSTANT, on the host. */
typedef struct mr_cuda_pad_args {
    const void *x;
    void *y;
    int rank;
    int64_t dims[MR_MAX_RANK], begin[MR_MAX_RANK], end[MR_MAX_RANK];
    mr_cuda_pad_mode mode;
    const void *value;
} mr_cuda_pad_args;
typedef int (*mr_cuda_pad_fn)(mr_stream s, const mr_cuda_pad_args *a);

/* y = (x - mean) · scale / sqrt(var + epsilon) + bias. x, y: [outer, channels, inner]; the others [channels], of x's
 * type. */
typedef struct mr_cuda_batchnorm_args {
    const void *x, *scale, *bias, *mean, *var;
    void *y;
    int64_t outer, channels, inner;
    double epsilon;
} mr_cuda_batchnorm_args;
typedef int (*mr_cuda_batchnorm_fn)(mr_stream s, const mr_cuda_batchnorm_args *a);

/* Each of `rows` rows of n is brought to mean 0 and variance 1, then scaled and shifted. scale, bias (may be NULL):
 * operands of the elementwise job `affine`, in[0] and in[1], whose output is y, whose dims are those of x. */
typedef struct mr_cuda_layernorm_args {
    const void *x;
    const mr_elementwise *affine;
    float *mean, *inv_std; /* [rows] each, may be NULL */
    int64_t rows, n;
    double epsilon;
} mr_cuda_layernorm_args;
typedef int (*mr_cuda_layernorm_fn)(mr_stream s, const mr_cuda_layernorm_args *a);

typedef struct mr_cuda_fns {
    const char *(*error)(int status);

    /* by dtype; what compares, or asks, gives bool, in slots of the operands' type */
    mr_cuda_elementwise_fn unary[MR_N_UNARY][MR_N_DTYPES];
    mr_cuda_elementwise_fn is_inf[MR_N_DTYPES], is_nan[MR_N_DTYPES], bit_not[MR_N_DTYPES];
    mr_cuda_elementwise_fn binary[MR_N_BINARY][MR_N_DTYPES];
    /* of 1 to MR_CUDA_VARIADIC operands */
    mr_cuda_elementwise_fn sum[MR_N_DTYPES], mean[MR_N_DTYPES], max[MR_N_DTYPES], min[MR_N_DTYPES];
    mr_cuda_elementwise_fn pow[MR_N_DTYPES][MR_N_DTYPES];  /* base, exponent */
    mr_cuda_elementwise_fn cast[MR_N_DTYPES][MR_N_DTYPES]; /* from, to */
    mr_cuda_elementwise_fn clip[MR_N_DTYPES];              /* bounds on the host */
    mr_cuda_reduce_fn reduce[MR_N_REDUCTIONS][MR_N_DTYPES];
    mr_cuda_arg_fn arg[MR_N_DTYPES];
    mr_cuda_gemm_fn gemm[MR_N_DTYPES];
    mr_cuda_conv_fn conv[MR_N_DTYPES];
    mr_cuda_pool_fn average_pool[MR_N_DTYPES], max_pool[MR_N_DTYPES], lp_pool[MR_N_DTYPES];
    mr_cuda_softmax_fn softmax[MR_N_DTYPES], log_softmax[MR_N_DTYPES], hardmax[MR_N_DTYPES];
    mr_cuda_batchnorm_fn batchnorm[MR_N_DTYPES];
    mr_cuda_layernorm_fn layernorm[MR_N_DTYPES];

    /* by mr_size_index of the element */
    mr_cuda_copy_fn copy[MR_N_SIZES];
    mr_cuda_elementwise_fn where[MR_N_SIZES]; /* operands: condition (bool), the one, the other */
    mr_cuda_pad_fn pad[MR_N_SIZES];
    mr_cuda_gather_fn gather[MR_N_SIZES];
} mr_cuda_fns;

#ifdef __cplusplus
}
#endif

#endif

/* conv.h: convolutions over any number of spatial axes, in groups.
 *
 *   y[n, m, o] = Σ_c Σ_t w[m, c, t] · x[n, c, at(o, t)] + b[m],  at = offset + o · stride + t · dilation on each axis
 *
 * Outside of x there are zeros. Sums run over channels, then taps in row-major order; at the scalar level they are
 * taken in double (integers: modulo 2^32), b is added last, and the result is rounded once.
 *
 * A transposed convolution is such a sum too, for each residue of the output index modulo its strides: the residue says
 * which taps meet an input at all, and x steps by one. Hence the steps of w and y, which Conv leaves dense. */
#ifndef MR_KERNELS_CPU_CONV_H
#define MR_KERNELS_CPU_CONV_H

#include "kernels/cpu/chain.h"
#include "kernels/cpu/quant.h"
#include "runtime/tensor.h"
#include "runtime/threads.h"

#define MR_CONV_RANK (MR_MAX_RANK - 2)

typedef struct mr_conv_axis {
    int64_t in, out, taps;
    int64_t offset, stride, dilation; /* from o and t to an index of x */
    int64_t x_step, w_step, y_step;   /* elements from index to index, from t to t + 1, from o to o + 1 */
} mr_conv_axis;

typedef struct mr_conv_args {
    const void *x, *w, *b; /* b NULL: none */
    void *y;
    const void *packed; /* w as pack of the same level made it, or NULL */
    int rank;
    mr_conv_axis axis[MR_CONV_RANK];
    int64_t batch, groups, channels, maps; /* channels and maps: of one group */
    int64_t x_channel, y_map;              /* elements of one channel of x, of one map of y */
    int64_t w_map, w_channel, w_group;     /* strides of w */
    int64_t w_first, y_first;              /* where tap 0 and output 0 are */
    mr_pool *pool;
    void *scratch;        /* as many bytes as the scratch slot says */
    const mr_chain *tail; /* over y as [batch, maps of all groups, outputs]; NULL: none. For levels that pack w */
} mr_conv_args;

/* x and w of 8 bits, exact sums modulo 2^32; the zero points are taken away first, and padding is their zero. */
typedef struct mr_intconv_args {
    mr_conv_args conv; /* b is int32 */
    int32_t x_zero;
    const void *w_zero; /* of w's type, one for each map where w_zero_step is 1; NULL: 0 */
    int64_t w_zero_step;
    mr_requant out; /* its rows are maps */
} mr_intconv_args;

typedef void mr_conv_fn(const mr_conv_args *v);
typedef size_t mr_conv_size_fn(const mr_conv_args *v);
typedef void mr_conv_pack_fn(const mr_conv_args *v, void *dst);
typedef void mr_intconv_fn(const mr_intconv_args *v);
typedef size_t mr_intconv_size_fn(const mr_intconv_args *v);
typedef void mr_intconv_pack_fn(const mr_intconv_args *v, void *dst);

typedef struct mr_conv_fns {
    mr_conv_fn *conv[MR_N_DTYPES];
    mr_conv_size_fn *scratch[MR_N_DTYPES];   /* NULL: none */
    mr_conv_size_fn *pack_size[MR_N_DTYPES]; /* NULL: this level reads w as it is */
    mr_conv_pack_fn *pack[MR_N_DTYPES];
    mr_intconv_fn *integer[2][2];                                        /* x, w: 0 uint8, 1 int8 */
    mr_intconv_size_fn *integer_scratch[2][2], *integer_pack_size[2][2]; /* as above; packing reads w alone */
    mr_intconv_pack_fn *integer_pack[2][2];
} mr_conv_fns;

static inline int64_t mr_conv_pixels(const mr_conv_args *v)
{
    int64_t n = 1;
    for (int i = 0; i < v->rank; i++) n *= v->axis[i].out;
    return n;
}

static inline int64_t mr_conv_taps(const mr_conv_args *v)
{
    int64_t n = 1;
    for (int i = 0; i < v->rank; i++) n *= v->axis[i].taps;
    return n;
}

void mr_conv_fill_scalar(mr_conv_fns *f);
void mr_conv_fill_avx2(mr_conv_fns *f);
void mr_conv_fill_avx512(mr_conv_fns *f);

#endif

/* reduce.cu: sums, means, extremes and norms over any axes. */
#include "kernels/cuda/block.cuh"
#include "kernels/cuda/fill.cuh"
#include "kernels/cuda/scalar.cuh"
#include "kernels/cuda/walk.cuh"

#include <limits>
#include <math.h>

namespace
{
/* What a reduction is: each element is mapped, the results are combined from the identity on, and the whole is
 * finished. W is the type that it is taken in, n the count of elements, `largest` the greatest of them where the op
 * wants it. */
struct sum_of {
    static const bool wants_largest = false;
    template <class T, class W> static __device__ W identity() { return 0; }
    template <class W> static __device__ W map(W x, W) { return x; }
    template <class W> static __device__ W combine(W a, W b) { return (W)((ring<W>)a + (ring<W>)b); }
    template <class T, class W> static __device__ T finish(W y, int64_t, W) { return store<T>(y); }
};

/* A result that is no integer, of integers: cut off. */
template <class T> __device__ T cut_off(double y)
{
    if constexpr (is_whole<T>)
        return (T)mr_int_from_f64(y);
    else
        return store<T>(y);
}
template <class T, class W> __device__ double narrowed(W y)
{
    if constexpr (is_whole<T>)
        return (double)(T)y;
    else
        return y;
}

/* What max and min give of nothing. */
template <class T, class W> struct extreme {
    static constexpr W least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
};
template <class T> struct extreme<T, double> {
    static constexpr double least = -std::numeric_limits<double>::infinity(), most = -least;
};

// clang-format off
namespace op
{
struct sum : sum_of {};
struct mean : sum_of {
    template <class T, class W> static __device__ T finish(W y, int64_t n, W)
    {
        if constexpr (is_whole<T>) return n ? (T)(y / (W)n) : T(0);
        else return store<T>(y / (W)n);
    }
};
struct l1 : sum_of {
    template <class W> static __device__ W map(W x, W) { return x < 0 ? (W)(0 - (ring<W>)x) : x; }
};
struct sum_square : sum_of {
    template <class W> static __device__ W map(W x, W) { return (W)((ring<W>)x * (ring<W>)x); }
};
struct l2 : sum_square {
    template <class T, class W> static __device__ T finish(W y, int64_t, W) { return cut_off<T>(sqrt(narrowed<T>(y))); }
};
struct log_sum : sum_of {
    template <class T, class W> static __device__ T finish(W y, int64_t, W) { return cut_off<T>(log(narrowed<T>(y))); }
};
struct log_sum_exp : sum_of {
    static const bool wants_largest = true;
    /* a largest that is infinite or NaN is the result; nothing must be taken from it */
    static __device__ double shift(double largest) { return fabs(largest) < INFINITY ? largest : 0; }
    static __device__ double map(double x, double largest) { return exp(x - shift(largest)); }
    template <class T> static __device__ T finish(double y, int64_t, double largest)
    {
        return store<T>(log(y) + shift(largest));
    }
};
struct prod : sum_of {
    template <class T, class W> static __device__ W identity() { return 1; }
    template <class W> static __device__ W combine(W a, W b) { return (W)((ring<W>)a * (ring<W>)b); }
};
struct max : sum_of {
    template <class T, class W> static __device__ W identity() { return extreme<T, W>::least; }
    template <class W> static __device__ W combine(W a, W b) { return greater()(a, b); }
};
struct min : sum_of {
    template <class T, class W> static __device__ W identity() { return extreme<T, W>::most; }
    template <class W> static __device__ W combine(W a, W b) { return lesser()(a, b); }
};
} // namespace op
// clang-format on

struct shape {
    int64_t outputs, n; /* n elements make one output */
    walk<1> kept, reduced;
};

/* One output by the threads of `lanes` consecutive threads: a whole block, or one thread alone. */
template <class Op, class T, bool Block> __device__ T reduce_one(const T *x, const shape &s, int64_t output)
{
    using W = wide<T>;
    const int64_t first = Block ? threadIdx.x : 0, step = Block ? blockDim.x : 1;
    const T *in = x + locate(s.kept, output).at[0];
    auto value = [&](int64_t i) { return (W)load(in[locate(s.reduced, i).at[0]]); };

    W largest = 0;
    if (Op::wants_largest) {
        const W least = op::max::identity<T, W>();
        largest = least;
        for (int64_t i = first; i < s.n; i += step) largest = greater()(value(i), largest);
        if (Block) largest = block_all(largest, least, greater());
    }
    const W identity = Op::template identity<T, W>();
    W y = identity;
    for (int64_t i = first; i < s.n; i += step) y = Op::combine(y, Op::map(value(i), largest));
    if (Block) y = block_all(y, identity, [](W a, W b) { return Op::combine(a, b); });
    return Op::template finish<T>(y, s.n, largest);
}

/* A block an output: for long reductions. */
template <class Op, class T> __global__ void reduce_block(const T *x, T *y, shape s)
{
    for (int64_t o = blockIdx.x; o < s.outputs; o += gridDim.x) {
        T v = reduce_one<Op, T, true>(x, s, o);
        if (threadIdx.x == 0) y[o] = v;
    }
}

/* A thread an output: for many short ones. */
template <class Op, class T> __global__ void reduce_thread(const T *x, T *y, shape s)
{
    for (int64_t o = first_index(); o < s.outputs; o += index_step()) y[o] = reduce_one<Op, T, false>(x, s, o);
}

int64_t take_dims(walk<1> &w, const mr_box *b)
{
    int64_t n = 1;
    for (int d = b->rank - 1; d >= 0; d--) {
        n *= b->dims[d];
        walk_add(w, b->dims[d], {b->xs[d]});
    }
    return n;
}

template <class Op, class T> struct launch_reduce {
    static int of(mr_stream stream, const mr_reduce_args *a)
    {
        shape s = {};
        s.outputs = take_dims(s.kept, a->kept);
        s.n = take_dims(s.reduced, a->reduced);
        if (s.outputs == 0) return cudaSuccess;
        if (s.n < 64)
            return launch<reduce_thread<Op, T>>(grid_for(s.outputs, 128), 128, 0, (cudaStream_t)stream, (const T *)a->x,
                                                (T *)a->y, s);
        return launch<reduce_block<Op, T>>(grid_for(s.outputs, 1), 256, 0, (cudaStream_t)stream, (const T *)a->x,
                                           (T *)a->y, s);
    }
};

template <class Op> struct reduction {
    template <class T> using launch = launch_reduce<Op, T>;
};

/* Finds the extreme, then the first (or last) place that holds it; a NaN counts as the extreme. */
template <class T, class Better> __global__ void arg(const T *x, int64_t *y, mr_arg_args a)
{
    using C = compute<T>;
    for (int64_t r = blockIdx.x; r < a.outer * a.inner; r += gridDim.x) {
        const T *in = x + r / a.inner * a.n * a.inner + r % a.inner;
        const C first = load(in[0]);
        C best = first;
        for (int64_t i = threadIdx.x; i < a.n; i += blockDim.x) best = Better()(load(in[i * a.inner]), best);
        best = block_all(best, first, Better());

        /* the last one is the first when places are counted backwards */
        int64_t at = INT64_MAX;
        for (int64_t i = threadIdx.x; i < a.n; i += blockDim.x)
            if (same(load(in[i * a.inner]), best)) at = lesser()(at, a.last ? -i : i);
        at = block_all(at, INT64_MAX, lesser());
        if (threadIdx.x == 0) y[r] = a.last ? -at : at;
    }
}

template <class T> struct launch_arg {
    static int of(mr_stream s, const mr_arg_args *a)
    {
        int64_t rows = a->outer * a->inner;
        const dim3 grid = grid_for(rows, 1), block = a->n > 32 ? 256 : 32;
        const T *x = (const T *)a->x;
        if (rows == 0) return cudaSuccess;
        if (a->min) return launch<arg<T, lesser>>(grid, block, 0, (cudaStream_t)s, x, a->y, *a);
        return launch<arg<T, greater>>(grid, block, 0, (cudaStream_t)s, x, a->y, *a);
    }
};
} // namespace

void mr_cuda_fill_reduce(mr_cuda_fns *f)
{
#define BOTH(OP, name, whole)                                                                                          \
    fill<reduction<op::name>::launch>(f->reduce[MR_REDUCE_##OP], floats());                                            \
    fill<reduction<op::name>::launch>(f->reduce[MR_REDUCE_##OP], whole());
    using small_ints = types<int8_t, int16_t, int32_t, uint8_t, uint16_t, uint32_t>; /* whose sum fits in 64 bits */
    BOTH(L1, l1, ints)
    BOTH(L2, l2, ints)
    BOTH(LOG_SUM, log_sum, ints)
    BOTH(MAX, max, ints)
    BOTH(MEAN, mean, small_ints)
    BOTH(MIN, min, ints)
    BOTH(PROD, prod, ints)
    BOTH(SUM, sum, ints)
    BOTH(SUM_SQUARE, sum_square, ints)
#undef BOTH
    fill<reduction<op::log_sum_exp>::launch>(f->reduce[MR_REDUCE_LOG_SUM_EXP], floats());
    fill<launch_arg>(f->arg, numbers());
}

/* gemm.cu: products of matrices, in batches: MatMul and Gemm. */
#include "kernels/cuda/fill.cuh"
#include "kernels/cuda/scalar.cuh"
#include "kernels/cuda/tile.cuh"
#include "kernels/cuda/walk.cuh"

#include <math.h>

namespace
{
/* Integers are multiplied unsigned, so that they wrap. */
template <class T, bool Whole = is_whole<T>> struct product_of {
    using type = compute<T>;
};
template <class T> struct product_of<T, true> {
    using type = typename std::make_unsigned<T>::type;
};

/* A matrix in memory, seen as lines that are `across` apart, whose elements are `deep` apart. */
template <class T> struct matrix {
    using C = typename product_of<T>::type;
    const T *data;
    int64_t across, deep;
    bool along;

    struct one_line {
        const T *data;
        int64_t deep;
        __device__ C operator()(int64_t p) const { return (C)load(data[p * deep]); }
    };
    __device__ one_line line(int64_t i) const { return {data + i * across, deep}; }
};

template <class T> struct gemm_arguments {
    int64_t m, n, k, batches;
    matrix<T> a, b;
    const T *c;
    int64_t c_row, c_column;
    float alpha, beta;
    bool whole; /* alpha and beta are integers */
    T *y;
    walk<2> batch;
};

/* alpha · sum + beta · c; of integers under factors that are not whole through double, cut off towards zero. */
template <class T, class C> __device__ T scaled(const gemm_arguments<T> &g, C sum, const T *c)
{
    if constexpr (!is_whole<T>) {
        C y = (C)g.alpha * sum;
        return store<T>(c ? y + (C)g.beta * load(*c) : y);
    } else {
        C y = (C)(int64_t)g.alpha * sum;
        if (g.whole) return (T)(c ? y + (C)(int64_t)g.beta * (C)*c : y);
        double exact = (double)g.alpha * (double)(T)sum;
        return (T)(c ? exact + (double)g.beta * (double)*c : exact);
    }
}

template <class T> __global__ void __launch_bounds__(tile_threads) gemm(gemm_arguments<T> g)
{
    using C = typename product_of<T>::type;
    for (int64_t batch = blockIdx.z; batch < g.batches; batch += gridDim.z) {
        offsets<2> o = locate(g.batch, batch);
        matrix<T> a = g.a, b = g.b;
        a.data += o.at[0];
        b.data += o.at[1];
        T *y = g.y + batch * g.m * g.n;
        tile_product<C>(g.m, g.n, g.k, a, b, [&](int64_t i, int64_t j, C sum) {
            y[i * g.n + j] = scaled(g, sum, g.c ? g.c + i * g.c_row + j * g.c_column : nullptr);
        });
    }
}

template <class T> struct launch_gemm {
    static int of(mr_stream s, const mr_gemm_args *given)
    {
        const mr_product *p = &given->p;
        gemm_arguments<T> g = {};
        g.m = p->m, g.n = p->n, g.k = p->k;
        g.a = {(const T *)given->a, p->a_row, p->a_col, p->a_col == 1};
        g.b = {(const T *)given->b, p->b_col, p->b_row, p->b_row == 1};
        g.c = (const T *)given->c, g.c_row = given->c_row, g.c_column = given->c_col;
        g.alpha = given->alpha, g.beta = given->beta;
        g.whole = g.alpha == rintf(g.alpha) && (!g.c || g.beta == rintf(g.beta));
        g.y = (T *)given->y;
        for (int d = p->batch_rank - 1; d >= 0; d--) walk_add(g.batch, p->batch[d], {p->a_batch[d], p->b_batch[d]});
        g.batches = walk_count(g.batch);
        if (g.m == 0 || g.n == 0 || g.batches == 0) return cudaSuccess;
        return launch<gemm<T>>(tile_grid(g.m, g.n, g.batches), tile_threads, 0, (cudaStream_t)s, g);
    }
};
} // namespace

void mr_cuda_fill_gemm(mr_cuda_fns *f)
{
    fill<launch_gemm>(f->gemm, floats());
    fill<launch_gemm>(f->gemm, types<int32_t, int64_t, uint32_t, uint64_t>());
}

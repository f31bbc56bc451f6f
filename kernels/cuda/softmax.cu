/* softmax.cu: softmax, its logarithm, and the one-hot of the maximum, a block a row. */
#include "kernels/cuda/block.cuh"
#include "kernels/cuda/fill.cuh"
#include "kernels/cuda/scalar.cuh"

#include <math.h>

namespace
{
/* Row r has n elements, `inner` apart: exp(x - max) / Σ exp(x - max), or its logarithm x - max - log Σ exp(x - max). */
template <class T, bool Log> __global__ void softmax(const T *x, T *y, int64_t rows, int64_t n, int64_t inner)
{
    using C = compute<T>;
    for (int64_t r = blockIdx.x; r < rows; r += gridDim.x) {
        const T *in = x + r / inner * n * inner + r % inner;
        T *out = y + (in - x);

        C largest = -(C)INFINITY;
        for (int64_t i = threadIdx.x; i < n; i += blockDim.x) largest = greater()(load(in[i * inner]), largest);
        largest = block_all(largest, -(C)INFINITY, greater());

        double sum = 0;
        for (int64_t i = threadIdx.x; i < n; i += blockDim.x) sum += exp(load(in[i * inner]) - largest);
        sum = block_all(sum, 0.0, plus());

        C scale = (C)(Log ? log(sum) : 1 / sum);
        for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
            C shifted = load(in[i * inner]) - largest;
            out[i * inner] = store<T>(Log ? shifted - scale : (C)(exp(shifted) * scale));
        }
    }
}

/* The first maximum, or the first NaN. */
template <class T> __global__ void hardmax(const T *x, T *y, int64_t rows, int64_t n, int64_t inner)
{
    using C = compute<T>;
    for (int64_t r = blockIdx.x; r < rows; r += gridDim.x) {
        const T *in = x + r / inner * n * inner + r % inner;
        T *out = y + (in - x);

        C largest = -(C)INFINITY;
        for (int64_t i = threadIdx.x; i < n; i += blockDim.x) largest = greater()(load(in[i * inner]), largest);
        largest = block_all(largest, -(C)INFINITY, greater());

        int64_t first = INT64_MAX;
        for (int64_t i = threadIdx.x; i < n; i += blockDim.x)
            if (i < first && same(load(in[i * inner]), largest)) first = i;
        first = block_all(first, INT64_MAX, lesser());

        for (int64_t i = threadIdx.x; i < n; i += blockDim.x) out[i * inner] = store<T>(i == first ? C(1) : C(0));
    }
}

template <auto Kernel, class T> int launch_rows(mr_stream s, const mr_softmax_args *a)
{
    int64_t rows = a->outer * a->inner;
    if (rows == 0 || a->n == 0) return cudaSuccess;
    return launch<Kernel>(grid_for(rows, 1), a->n > 32 ? 256 : 32, 0, (cudaStream_t)s, (const T *)a->x, (T *)a->y, rows,
                          a->n, a->inner);
}

template <class T> struct plain {
    static int of(mr_stream s, const mr_softmax_args *a) { return launch_rows<softmax<T, false>, T>(s, a); }
};
template <class T> struct logarithm {
    static int of(mr_stream s, const mr_softmax_args *a) { return launch_rows<softmax<T, true>, T>(s, a); }
};
template <class T> struct one_hot {
    static int of(mr_stream s, const mr_softmax_args *a) { return launch_rows<hardmax<T>, T>(s, a); }
};
} // namespace

void mr_cuda_fill_softmax(mr_cuda_fns *f)
{
    fill<plain>(f->softmax, floats());
    fill<logarithm>(f->log_softmax, floats());
    fill<one_hot>(f->hardmax, floats());
}

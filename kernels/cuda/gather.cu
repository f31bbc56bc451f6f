/* gather.cu: slices of x in the order that indices give. */
#include "kernels/cuda/fill.cuh"
#include "kernels/cuda/scalar.cuh"

namespace
{
template <class T, class I> __global__ void gather(const T *x, const I *index, T *y, mr_gather_args a, int64_t *bad)
{
    const int64_t n = a.outer * a.n * a.inner;
    for (int64_t i = first_index(); i < n; i += index_step()) {
        int64_t given = index[i / a.inner % a.n], at = given < 0 ? given + a.dim : given;
        bool inside = at >= 0 && at < a.dim;
        y[i] = inside ? x[(i / a.inner / a.n * a.dim + at) * a.inner + i % a.inner] : T();
        if (!inside) *bad = given; /* any of them will do */
    }
}

template <class T> struct launch_gather {
    static int of(mr_stream s, const mr_gather_args *a, int64_t *bad)
    {
        int64_t n = a->outer * a->n * a->inner;
        if (n == 0) return cudaSuccess;
        const dim3 grid = grid_for(n, 256);
        const T *x = (const T *)a->x;
        T *y = (T *)a->y;
        if (a->index.wide)
            return launch<gather<T, int64_t>>(grid, 256, 0, (cudaStream_t)s, x, (const int64_t *)a->index.data, y, *a,
                                              bad);
        return launch<gather<T, int32_t>>(grid, 256, 0, (cudaStream_t)s, x, (const int32_t *)a->index.data, y, *a, bad);
    }
};
} // namespace

void mr_cuda_fill_gather(mr_cuda_fns *f)
{
    fill_sizes<launch_gather>(f->gather);
}

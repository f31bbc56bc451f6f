/* where.cu: y = condition ? a : b, with broadcasting. */
#include "kernels/cuda/fill.cuh"
#include "kernels/cuda/scalar.cuh"
#include "kernels/cuda/walk.cuh"

namespace
{
template <class T> __global__ void where(const bool *condition, const T *a, const T *b, T *y, int64_t n, walk<4> w)
{
    for (int64_t i = first_index(); i < n; i += index_step()) {
        offsets<4> o = locate(w, i);
        y[o.at[0]] = condition[o.at[1]] ? a[o.at[2]] : b[o.at[3]];
    }
}

template <class T> struct launch_where {
    static int of(mr_stream s, const mr_elementwise *job)
    {
        walk<4> w = walk_of<4>(job);
        int64_t n = walk_count(w);
        if (n == 0) return cudaSuccess;
        return launch<where<T>>(grid_for(n, 256), 256, 0, (cudaStream_t)s, (const bool *)job->in[0].data,
                                (const T *)job->in[1].data, (const T *)job->in[2].data, (T *)job->out.data, n, w);
    }
};
} // namespace

void mr_cuda_fill_where(mr_cuda_fns *f)
{
    fill_sizes<launch_where>(f->where);
}

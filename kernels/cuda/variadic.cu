/* variadic.cu: Sum, Mean, Max and Min of several operands, with broadcasting. */
#include "kernels/cuda/block.cuh"
#include "kernels/cuda/fill.cuh"
#include "kernels/cuda/scalar.cuh"
#include "kernels/cuda/walk.cuh"

namespace
{
template <class T> struct operands {
    const T *x[MR_CUDA_VARIADIC];
    int n;
};
using walk_all = walk<1 + MR_CUDA_VARIADIC>;

/* In the order of the operands. `over`: what the result is divided by. */
template <class T, class Combine> __global__ void variadic(operands<T> in, T *y, int64_t n, walk_all w, int over)
{
    for (int64_t i = first_index(); i < n; i += index_step()) {
        auto o = locate(w, i);
        wide<T> v = load(in.x[0][o.at[1]]);
        for (int k = 1; k < in.n; k++) v = Combine()(v, (wide<T>)load(in.x[k][o.at[1 + k]]));
        y[o.at[0]] = store<T>(over == 1 ? v : v / over);
    }
}

template <class T, class Combine, bool Mean> struct launch_variadic {
    static int of(mr_stream s, const mr_elementwise *job)
    {
        operands<T> in = {};
        walk_all w = {};
        in.n = job->n_in;
        for (int k = 0; k < in.n; k++) in.x[k] = (const T *)job->in[k].data;
        for (int d = job->rank - 1; d >= 0; d--) {
            int64_t stride[1 + MR_CUDA_VARIADIC] = {job->out.strides[d]};
            for (int k = 0; k < in.n; k++) stride[1 + k] = job->in[k].strides[d];
            walk_add(w, job->dims[d], stride);
        }
        int64_t n = walk_count(w);
        if (n == 0) return cudaSuccess;
        return launch<variadic<T, Combine>>(grid_for(n, 256), 256, 0, (cudaStream_t)s, in, (T *)job->out.data, n, w,
                                            Mean ? in.n : 1);
    }
};
template <class T> using sum_of = launch_variadic<T, plus, false>;
template <class T> using mean_of = launch_variadic<T, plus, true>;
template <class T> using max_of = launch_variadic<T, greater, false>;
template <class T> using min_of = launch_variadic<T, lesser, false>;
} // namespace

void mr_cuda_fill_variadic(mr_cuda_fns *f)
{
    fill<sum_of>(f->sum, floats());
    fill<mean_of>(f->mean, floats());
    fill<max_of>(f->max, numbers());
    fill<min_of>(f->min, numbers());
}

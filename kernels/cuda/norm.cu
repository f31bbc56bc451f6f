/* norm.cu: BatchNormalization with given statistics, and LayerNormalization, a block a row. */
#include "kernels/cuda/block.cuh"
#include "kernels/cuda/fill.cuh"
#include "kernels/cuda/scalar.cuh"
#include "kernels/cuda/walk.cuh"

#include <math.h>

namespace
{
template <class T>
__global__ void batchnorm(const T *x, const T *scale, const T *bias, const T *mean, const T *var, double epsilon, T *y,
                          int64_t n, int64_t channels, int64_t inner)
{
    using C = compute<T>;
    for (int64_t i = first_index(); i < n; i += index_step()) {
        int64_t c = i / inner % channels;
        C factor = (C)(load(scale[c]) / sqrt((double)load(var[c]) + epsilon));
        y[i] = store<T>((load(x[i]) - load(mean[c])) * factor + load(bias[c]));
    }
}

template <class T> struct launch_batchnorm {
    static int of(mr_stream s, const mr_cuda_batchnorm_args *a)
    {
        int64_t n = a->outer * a->channels * a->inner;
        if (n == 0) return cudaSuccess;
        return launch<batchnorm<T>>(grid_for(n, 256), 256, 0, (cudaStream_t)s, (const T *)a->x, (const T *)a->scale,
                                    (const T *)a->bias, (const T *)a->mean, (const T *)a->var, a->epsilon, (T *)a->y, n,
                                    a->channels, a->inner);
    }
};

/* Mean and variance of a row in two passes, in f64. w: y, scale, bias. */
template <class T>
__global__ void layernorm(const T *x, const T *scale, const T *bias, double epsilon, T *y, float *means,
                          float *inv_stds, int64_t rows, int64_t n, walk<3> w)
{
    for (int64_t r = blockIdx.x; r < rows; r += gridDim.x) {
        const T *in = x + r * n;

        double sum = 0;
        for (int64_t i = threadIdx.x; i < n; i += blockDim.x) sum += load(in[i]);
        const double mean = block_all(sum, 0.0, plus()) / (double)n;

        double squares = 0;
        for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
            double d = load(in[i]) - mean;
            squares += d * d;
        }
        const double inv_std = 1 / sqrt(block_all(squares, 0.0, plus()) / (double)n + epsilon);

        for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
            offsets<3> o = locate(w, r * n + i);
            double v = (load(in[i]) - mean) * inv_std * load(scale[o.at[1]]);
            y[o.at[0]] = store<T>(bias ? v + load(bias[o.at[2]]) : v);
        }
        if (threadIdx.x == 0 && means) means[r] = (float)mean;
        if (threadIdx.x == 0 && inv_stds) inv_stds[r] = (float)inv_std;
    }
}

template <class T> struct launch_layernorm {
    static int of(mr_stream s, const mr_cuda_layernorm_args *a)
    {
        const mr_elementwise *job = a->affine;
        if (a->rows == 0 || a->n == 0) return cudaSuccess;
        return launch<layernorm<T>>(grid_for(a->rows, 1), a->n > 32 ? 256 : 32, 0, (cudaStream_t)s, (const T *)a->x,
                                    (const T *)job->in[0].data, (const T *)job->in[1].data, a->epsilon,
                                    (T *)job->out.data, a->mean, a->inv_std, a->rows, a->n, walk_of<3>(job));
    }
};
} // namespace

void mr_cuda_fill_norm(mr_cuda_fns *f)
{
    fill<launch_batchnorm>(f->batchnorm, floats());
    fill<launch_layernorm>(f->layernorm, floats());
}

/* pad.cu: y is x with something around it, or without its rim. */
#include "kernels/cuda/fill.cuh"
#include "kernels/cuda/scalar.cuh"

namespace
{
struct frame {
    int rank;
    int64_t y[MR_MAX_RANK];
    int64_t first[MR_MAX_RANK], left[MR_MAX_RANK], stride[MR_MAX_RANK]; /* of x: what is left of it */
    int64_t before[MR_MAX_RANK];                                        /* elements of y before that */
};

/* Which of n elements stands at i, counted from the first one; -1: none, the constant does. */
__device__ int64_t source(mr_cuda_pad_mode mode, int64_t i, int64_t n)
{
    if (i >= 0 && i < n) return i;
    if (mode == MR_PAD_CONSTANT) return -1;
    if (mode == MR_PAD_EDGE || n == 1) return i < 0 ? 0 : n - 1;
    const int64_t period = mode == MR_PAD_WRAP ? n : 2 * (n - 1);
    i = (i % period + period) % period;
    return i < n ? i : period - i; /* only a reflection lies beyond n */
}

template <class T> __global__ void pad(const T *x, T *y, int64_t n, frame f, mr_cuda_pad_mode mode, T value)
{
    for (int64_t i = first_index(); i < n; i += index_step()) {
        int64_t rest = i, offset = 0;
        bool inside = true;
        for (int d = f.rank - 1; d >= 0; d--) {
            int64_t at = source(mode, rest % f.y[d] - f.before[d], f.left[d]);
            inside = inside && at >= 0;
            offset += (f.first[d] + at) * f.stride[d];
            rest /= f.y[d];
        }
        y[i] = inside ? x[offset] : value;
    }
}

template <class T> struct launch_pad {
    static int of(mr_stream s, const mr_cuda_pad_args *a)
    {
        frame f = {};
        int64_t n = 1, stride = 1;
        f.rank = a->rank;
        for (int d = a->rank - 1; d >= 0; d--) {
            int64_t cut = a->end[d] < 0 ? -a->end[d] : 0;
            f.first[d] = a->begin[d] < 0 ? -a->begin[d] : 0;
            f.before[d] = a->begin[d] < 0 ? 0 : a->begin[d];
            f.left[d] = a->dims[d] - f.first[d] - cut;
            f.y[d] = a->dims[d] + a->begin[d] + a->end[d];
            f.stride[d] = stride;
            stride *= a->dims[d];
            n *= f.y[d];
        }
        if (n == 0) return cudaSuccess;
        return launch<pad<T>>(grid_for(n, 256), 256, 0, (cudaStream_t)s, (const T *)a->x, (T *)a->y, n, f, a->mode,
                              a->value ? *(const T *)a->value : T());
    }
};
} // namespace

void mr_cuda_fill_pad(mr_cuda_fns *f)
{
    fill_sizes<launch_pad>(f->pad);
}

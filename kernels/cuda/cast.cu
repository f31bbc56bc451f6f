/* cast.cu: conversions, through a type that is wide enough for every value of the source. */
#include "kernels/cuda/fill.cuh"
#include "kernels/cuda/scalar.cuh"
#include "kernels/cuda/walk.cuh"

namespace
{
template <class T> struct is_float : std::is_floating_point<T> {
};
template <> struct is_float<mr_f16> : std::true_type {
};
template <> struct is_float<mr_bf16> : std::true_type {
};

__device__ inline double narrowable(uint64_t x)
{
    return mr_sticky_from_u64(x);
}
__device__ inline double narrowable(int64_t x)
{
    return mr_sticky_from_i64(x);
}
__device__ inline double narrowable(double x)
{
    return x;
}

template <class T, class W> __device__ T convert(W x)
{
    if constexpr (std::is_same<T, bool>::value)
        return x != 0;
    else if constexpr (std::is_same<T, mr_f16>::value || std::is_same<T, mr_bf16>::value)
        return store<T>(narrowable(x));
    else if constexpr (is_float<T>::value || is_whole<W>)
        return (T)x; /* integers wrap */
    else
        return (T)mr_int_from_f64(x);
}

template <class From, class To> __global__ void cast(const From *x, To *y, int64_t n, walk<2> w)
{
    for (int64_t i = first_index(); i < n; i += index_step()) {
        offsets<2> o = locate(w, i);
        y[o.at[0]] = convert<To>((wide<From>)load(x[o.at[1]]));
    }
}

template <class From> struct from {
    template <class To> struct launch_cast {
        static int of(mr_stream s, const mr_elementwise *job)
        {
            walk<2> w = walk_of<2>(job);
            int64_t n = walk_count(w);
            if (n == 0) return cudaSuccess;
            return launch<cast<From, To>>(grid_for(n, 256), 256, 0, (cudaStream_t)s, (const From *)job->in[0].data,
                                          (To *)job->out.data, n, w);
        }
    };
};

template <class... From> void fill_from(mr_cuda_fns *f, types<From...>)
{
    (fill<from<From>::template launch_cast>(f->cast[dtype_of<From>()], numbers()), ...);
    (fill<from<From>::template launch_cast>(f->cast[dtype_of<From>()], types<bool>()), ...);
}
} // namespace

void mr_cuda_fill_cast(mr_cuda_fns *f)
{
    fill_from(f, numbers());
    fill_from(f, types<bool>());
}

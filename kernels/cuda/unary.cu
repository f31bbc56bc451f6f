/* unary.cu: y[i] = f(x[i]). */
#include "kernels/cuda/fill.cuh"
#include "kernels/cuda/scalar.cuh"
#include "kernels/cuda/walk.cuh"

#include <math.h>

namespace
{
template <class C> struct params {
    C alpha, beta;
    bool negative, positive;
};

/* C is the type that is computed in. Comparisons are written so that a NaN comes through. */
/* -x; the smallest integer is its own opposite. */
template <class C> __device__ C opposite(C x)
{
    if constexpr (is_whole<C>)
        return (C)(0 - (uint64_t)x);
    else
        return -x;
}

// clang-format off
namespace op
{
template <class C> struct abs { static __device__ C of(C x, params<C>) { return x < 0 ? opposite(x) : x == 0 ? C(0) : x; } };
template <class C> struct acos { static __device__ C of(C x, params<C>) { return ::acos(x); } };
template <class C> struct acosh { static __device__ C of(C x, params<C>) { return ::acosh(x); } };
template <class C> struct asin { static __device__ C of(C x, params<C>) { return ::asin(x); } };
template <class C> struct asinh { static __device__ C of(C x, params<C>) { return ::asinh(x); } };
template <class C> struct atan { static __device__ C of(C x, params<C>) { return ::atan(x); } };
template <class C> struct atanh { static __device__ C of(C x, params<C>) { return ::atanh(x); } };
template <class C> struct ceil { static __device__ C of(C x, params<C>) { return ::ceil(x); } };
template <class C> struct celu {
    static __device__ C of(C x, params<C> p) { return x > 0 ? x : p.alpha * ::expm1(x / p.alpha); }
};
template <class C> struct cos { static __device__ C of(C x, params<C>) { return ::cos(x); } };
template <class C> struct cosh { static __device__ C of(C x, params<C>) { return ::cosh(x); } };
template <class C> struct elu { static __device__ C of(C x, params<C> p) { return x < 0 ? p.alpha * ::expm1(x) : x; } };
template <class C> struct erf { static __device__ C of(C x, params<C>) { return ::erf(x); } };
template <class C> struct exp { static __device__ C of(C x, params<C>) { return ::exp(x); } };
template <class C> struct floor { static __device__ C of(C x, params<C>) { return ::floor(x); } };
template <class C> struct gelu {
    static __device__ C of(C x, params<C>) { return x * C(0.5) * ::erfc(x * C(-0.70710678118654752)); }
};
template <class C> struct hard_sigmoid {
    static __device__ C of(C x, params<C> p)
    {
        C y = p.alpha * x + p.beta;
        return y < 0 ? C(0) : y > 1 ? C(1) : y;
    }
};
template <class C> struct hard_swish {
    static __device__ C of(C x, params<C>) { return x * hard_sigmoid<C>::of(x, {C(1) / 6, C(0.5), 0, 0}); }
};
template <class C> struct leaky_relu { static __device__ C of(C x, params<C> p) { return x < 0 ? p.alpha * x : x; } };
template <class C> struct log { static __device__ C of(C x, params<C>) { return ::log(x); } };
template <class C> struct neg { static __device__ C of(C x, params<C>) { return opposite(x); } };
template <class C> struct reciprocal { static __device__ C of(C x, params<C>) { return 1 / x; } };
template <class C> struct relu { static __device__ C of(C x, params<C>) { return x < 0 ? C(0) : x; } };
template <class C> struct round { static __device__ C of(C x, params<C>) { return ::rint(x); } };
template <class C> struct selu {
    static __device__ C of(C x, params<C> p) { return p.beta * (x > 0 ? x : p.alpha * ::expm1(x)); }
};
template <class C> struct shrink {
    static __device__ C of(C x, params<C> p) { return x < -p.alpha ? x + p.beta : x > p.alpha ? x - p.beta : C(0); }
};
template <class C> struct sigmoid { static __device__ C of(C x, params<C>) { return 1 / (1 + ::exp(-x)); } };
/* x (1 + tanh(u)) / 2 is x sigmoid(2u) */
template <class C> struct gelu_tanh {
    static __device__ C of(C x, params<C>)
    {
        return x / (1 + ::exp(C(-1.5957691216057308) * (x + C(0.044715) * (x * x * x))));
    }
};
template <class C> struct sign { static __device__ C of(C x, params<C>) { return x > 0 ? C(1) : x < 0 ? C(-1) : x; } };
template <class C> struct sin { static __device__ C of(C x, params<C>) { return ::sin(x); } };
template <class C> struct sinh { static __device__ C of(C x, params<C>) { return ::sinh(x); } };
template <class C> struct softplus {
    static __device__ C of(C x, params<C>) { return x > 0 ? x + ::log1p(::exp(-x)) : ::log1p(::exp(x)); }
};
template <class C> struct softsign { static __device__ C of(C x, params<C>) { return x / (1 + (x < 0 ? -x : x)); } };
template <class C> struct mish { static __device__ C of(C x, params<C>) { return x * ::tanh(softplus<C>::of(x, {})); } };
template <class C> struct sqrt { static __device__ C of(C x, params<C>) { return ::sqrt(x); } };
template <class C> struct swish { static __device__ C of(C x, params<C> p) { return x / (1 + ::exp(-p.alpha * x)); } };
template <class C> struct tan { static __device__ C of(C x, params<C>) { return ::tan(x); } };
template <class C> struct tanh { static __device__ C of(C x, params<C>) { return ::tanh(x); } };
template <class C> struct thresholded_relu {
    static __device__ C of(C x, params<C> p) { return x > p.alpha ? x : C(0); }
};

template <class C> struct is_inf {
    static __device__ bool of(C x, params<C> p)
    {
        return (x == -C(INFINITY) && p.negative) || (x == C(INFINITY) && p.positive);
    }
};
template <class C> struct is_nan { static __device__ bool of(C x, params<C>) { return x != x; } };
template <class C> struct bit_not { static __device__ C of(C x, params<C>) { return ~x; } };
template <> struct bit_not<bool> { static __device__ bool of(bool x, params<bool>) { return !x; } };
} // namespace op
// clang-format on

template <class Op, class T, class Y>
__global__ void unary(const T *x, Y *y, int64_t n, walk<2> w, params<compute<T>> p)
{
    for (int64_t i = first_index(); i < n; i += index_step()) {
        offsets<2> o = locate(w, i);
        y[o.at[0]] = store<Y>(Op::of(load(x[o.at[1]]), p));
    }
}

template <template <class> class Op, class T, class Y = T> struct launch_unary {
    static int of(mr_stream s, const mr_elementwise *job)
    {
        using C = compute<T>;
        const mr_unary_params *given = (const mr_unary_params *)job->params;
        params<C> p = {};
        if (given) p = {(C)given->alpha, (C)given->beta, given->negative, given->positive};
        walk<2> w = walk_of<2>(job);
        int64_t n = walk_count(w);
        if (n == 0) return cudaSuccess;
        return launch<unary<Op<C>, T, Y>>(grid_for(n, 256), 256, 0, (cudaStream_t)s, (const T *)job->in[0].data,
                                          (Y *)job->out.data, n, w, p);
    }
};

/* min(max, max(x, min)); NaN passes, a bound that is NaN makes all NaN. */
template <class T>
__global__ void clip(const T *x, T *y, int64_t n, walk<2> w, T least, T most, bool has_least, bool has_most)
{
    for (int64_t i = first_index(); i < n; i += index_step()) {
        offsets<2> o = locate(w, i);
        T v = x[o.at[1]];
        if (has_least && (load(v) < load(least) || load(least) != load(least))) v = least;
        if (has_most && (load(v) > load(most) || load(most) != load(most))) v = most;
        y[o.at[0]] = v;
    }
}

template <class T> struct launch_clip {
    static int of(mr_stream s, const mr_elementwise *job)
    {
        const mr_clip_params *k = (const mr_clip_params *)job->params;
        walk<2> w = walk_of<2>(job);
        int64_t n = walk_count(w);
        if (n == 0) return cudaSuccess;
        T least = k->min ? *(const T *)k->min : T(), most = k->max ? *(const T *)k->max : T();
        return launch<clip<T>>(grid_for(n, 256), 256, 0, (cudaStream_t)s, (const T *)job->in[0].data,
                               (T *)job->out.data, n, w, least, most, k->min != nullptr, k->max != nullptr);
    }
};

template <template <class> class Op> struct same {
    template <class T> using launch = launch_unary<Op, T>;
};
template <template <class> class Op> struct to_bool {
    template <class T> using launch = launch_unary<Op, T, bool>;
};
} // namespace

void mr_cuda_fill_unary(mr_cuda_fns *f)
{
#define UNARY(OP, name) fill<same<op::name>::launch>(f->unary[MR_##OP], floats());
#include "kernels/cpu/unary_ops.inc"
    using signed_ints = types<int8_t, int16_t, int32_t, int64_t>;
    fill<same<op::abs>::launch>(f->unary[MR_ABS], ints());
    fill<same<op::sign>::launch>(f->unary[MR_SIGN], ints());
    fill<same<op::neg>::launch>(f->unary[MR_NEG], signed_ints());
    fill<same<op::relu>::launch>(f->unary[MR_RELU], signed_ints());
    fill<same<op::bit_not>::launch>(f->bit_not, ints());
    fill<same<op::bit_not>::launch>(f->bit_not, types<bool>());
    fill<to_bool<op::is_nan>::launch>(f->is_nan, floats());
    fill<to_bool<op::is_inf>::launch>(f->is_inf, floats());
    fill<launch_clip>(f->clip, numbers());
}

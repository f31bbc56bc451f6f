/* binary.cu: y = f(a, b), with broadcasting. */
#include "kernels/cuda/fill.cuh"
#include "kernels/cuda/scalar.cuh"
#include "kernels/cuda/walk.cuh"

#include <math.h>

namespace
{
/* The smallest number over -1 is itself, which C leaves open. */
template <class C> __device__ bool minus_one(C b)
{
    return std::is_signed<C>::value && b == C(-1);
}

template <class C> __device__ C quotient(C a, C b)
{
    if constexpr (is_whole<C>)
        return minus_one(b) ? (C)(0 - (uint64_t)a) : (C)(a / b);
    else
        return a / b;
}

template <class C> __device__ C remainder(C a, C b)
{
    if constexpr (is_whole<C>)
        return minus_one(b) ? C(0) : (C)(a % b);
    else
        return ::fmod(a, b);
}

/* The remainder with the sign of b, also of a zero. */
template <class C> __device__ C modulo(C a, C b)
{
    C r = remainder(a, b);
    if constexpr (!is_whole<C>)
        if (r == 0) return ::copysign(C(0), b);
    return r != 0 && (r < 0) != (b < 0) ? (C)((ring<C>)r + (ring<C>)b) : r;
}

struct params {
    double alpha;
};

// clang-format off
namespace op
{
template <class C> using R = ring<C>;
template <class C> struct add { static __device__ C of(C a, C b, params) { return (C)((R<C>)a + (R<C>)b); } };
template <class C> struct sub { static __device__ C of(C a, C b, params) { return (C)((R<C>)a - (R<C>)b); } };
template <class C> struct mul { static __device__ C of(C a, C b, params) { return (C)((R<C>)a * (R<C>)b); } };
template <class C> struct div { static __device__ C of(C a, C b, params) { return quotient(a, b); } };
template <class C> struct mod { static __device__ C of(C a, C b, params) { return modulo(a, b); } };
template <class C> struct fmod { static __device__ C of(C a, C b, params) { return remainder(a, b); } };
template <class C> struct prelu {
    static __device__ C of(C a, C b, params) { return a < 0 ? (C)((R<C>)a * (R<C>)b) : a; }
};
template <class C> struct swiglu {
    static __device__ C of(C a, C b, params p) { return a / (1 + ::exp((C)-p.alpha * a)) * b; }
};
template <class C> struct equal { static __device__ bool of(C a, C b, params) { return a == b; } };
template <class C> struct less { static __device__ bool of(C a, C b, params) { return a < b; } };
template <class C> struct less_or_equal { static __device__ bool of(C a, C b, params) { return a <= b; } };
template <class C> struct greater { static __device__ bool of(C a, C b, params) { return a > b; } };
template <class C> struct greater_or_equal { static __device__ bool of(C a, C b, params) { return a >= b; } };
template <class C> struct bit_and { static __device__ C of(C a, C b, params) { return a & b; } };
template <class C> struct bit_or { static __device__ C of(C a, C b, params) { return a | b; } };
template <class C> struct bit_xor { static __device__ C of(C a, C b, params) { return a ^ b; } };
/* A shift that is negative or leaves no bit gives what it would after many steps. */
template <class C> __device__ bool inside(C b) { return b >= 0 && (uint64_t)b < 8 * sizeof(C); }
template <class C> struct shift_left {
    static __device__ C of(C a, C b, params) { return inside(b) ? (C)((uint64_t)a << b) : C(0); }
};
template <class C> struct shift_right {
    static __device__ C of(C a, C b, params) { return inside(b) ? (C)(a >> b) : a < 0 ? C(-1) : C(0); }
};
} // namespace op
// clang-format on

template <class Op, class T, class Y>
__global__ void binary(const T *a, const T *b, Y *y, int64_t n, walk<3> w, params p)
{
    for (int64_t i = first_index(); i < n; i += index_step()) {
        offsets<3> o = locate(w, i);
        y[o.at[0]] = store<Y>(Op::of(load(a[o.at[1]]), load(b[o.at[2]]), p));
    }
}

template <template <class> class Op, class T, class Y> struct launch_binary {
    static int of(mr_stream s, const mr_elementwise *job)
    {
        const mr_binary_params *given = (const mr_binary_params *)job->params;
        params p = {given ? given->alpha : 0};
        walk<3> w = walk_of<3>(job);
        int64_t n = walk_count(w);
        if (n == 0) return cudaSuccess;
        return launch<binary<Op<compute<T>>, T, Y>>(grid_for(n, 256), 256, 0, (cudaStream_t)s,
                                                    (const T *)job->in[0].data, (const T *)job->in[1].data,
                                                    (Y *)job->out.data, n, w, p);
    }
};

template <template <class> class Op> struct same {
    template <class T> using launch = launch_binary<Op, T, T>;
};
template <template <class> class Op> struct to_bool {
    template <class T> using launch = launch_binary<Op, T, bool>;
};

/* An exponent of any type. */
struct exponent {
    double real;
    int64_t whole;
    bool is_whole, negative;
};

template <class T> __device__ exponent exponent_of(T x)
{
    using W = wide<T>;
    W v = (W)load(x);
    return {(double)v, (int64_t)v, is_whole<W>, v < 0};
}

__device__ exponent exponent_at(const void *p, mr_dtype type, int64_t i)
{
    switch (type) {
    case MR_F16:
        return exponent_of(((const mr_f16 *)p)[i]);
    case MR_BF16:
        return exponent_of(((const mr_bf16 *)p)[i]);
    case MR_F32:
        return exponent_of(((const float *)p)[i]);
    case MR_F64:
        return exponent_of(((const double *)p)[i]);
    case MR_I8:
        return exponent_of(((const int8_t *)p)[i]);
    case MR_I16:
        return exponent_of(((const int16_t *)p)[i]);
    case MR_I32:
        return exponent_of(((const int32_t *)p)[i]);
    case MR_I64:
        return exponent_of(((const int64_t *)p)[i]);
    case MR_U8:
        return exponent_of(((const uint8_t *)p)[i]);
    case MR_U16:
        return exponent_of(((const uint16_t *)p)[i]);
    case MR_U32:
        return exponent_of(((const uint32_t *)p)[i]);
    default:
        return exponent_of(((const uint64_t *)p)[i]);
    }
}

/* By squaring. A negative power is 0 but of 1 and -1. */
template <class T> __device__ T whole_power(T base, exponent e)
{
    if (e.negative) return base == 1 ? T(1) : minus_one(base) ? (e.whole % 2 ? T(-1) : T(1)) : T(0);
    uint64_t y = 1, square = (uint64_t)base;
    for (uint64_t rest = (uint64_t)e.whole; rest; rest /= 2, square *= square)
        if (rest % 2) y *= square;
    return (T)y;
}

template <class T>
__global__ void power(const T *base, const void *exponents, mr_dtype type, T *y, int64_t n, walk<3> w)
{
    for (int64_t i = first_index(); i < n; i += index_step()) {
        offsets<3> o = locate(w, i);
        exponent e = exponent_at(exponents, type, o.at[2]);
        T x = base[o.at[1]];
        if constexpr (is_whole<T>)
            y[o.at[0]] = e.is_whole ? whole_power(x, e) : (T)mr_int_from_f64(::pow((double)x, e.real));
        else
            y[o.at[0]] = store<T>(::pow((double)load(x), e.real));
    }
}

template <class T> struct launch_power {
    static int of(mr_stream s, const mr_elementwise *job)
    {
        walk<3> w = walk_of<3>(job);
        int64_t n = walk_count(w);
        if (n == 0) return cudaSuccess;
        return launch<power<T>>(grid_for(n, 256), 256, 0, (cudaStream_t)s, (const T *)job->in[0].data, job->in[1].data,
                                ((const mr_binary_params *)job->params)->type, (T *)job->out.data, n, w);
    }
};

template <class... T> void fill_power(mr_cuda_fns *f, types<T...>)
{
    const mr_dtype exponents[] = {dtype_of<T>()...};
    for (mr_dtype e : exponents) ((f->pow[dtype_of<T>()][e] = launch_power<T>::of), ...);
}
} // namespace

void mr_cuda_fill_binary(mr_cuda_fns *f)
{
#define BINARY(OP, name)  fill<same<op::name>::launch>(f->binary[MR_##OP], numbers());
#define FLOAT(OP, name)   fill<same<op::name>::launch>(f->binary[MR_##OP], floats());
#define INT(OP, name)     fill<same<op::name>::launch>(f->binary[MR_##OP], ints());
#define COMPARE(OP, name) fill<to_bool<op::name>::launch>(f->binary[MR_##OP], numbers());
#include "kernels/cpu/binary_ops.inc"
    fill<to_bool<op::equal>::launch>(f->binary[MR_EQUAL], types<bool>());
    fill<same<op::bit_and>::launch>(f->binary[MR_BIT_AND], types<bool>());
    fill<same<op::bit_or>::launch>(f->binary[MR_BIT_OR], types<bool>());
    fill<same<op::bit_xor>::launch>(f->binary[MR_BIT_XOR], types<bool>());
    fill_power(f, numbers());
}

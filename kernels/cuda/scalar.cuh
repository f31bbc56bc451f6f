/* scalar.cuh: the types of elements, and the types that they are computed in. */
#ifndef MR_CUDA_SCALAR_H
#define MR_CUDA_SCALAR_H

#include "kernels/cuda/launch.cuh"

#include <type_traits>

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

/* compute<T>: f32 for the narrow floats, else T itself. */
template <class T> struct compute_of {
    using type = T;
};
template <> struct compute_of<mr_f16> {
    using type = float;
};
template <> struct compute_of<mr_bf16> {
    using type = float;
};
template <class T> using compute = typename compute_of<T>::type;

/* wide<T>: what sums of T are taken in. */
template <class T> struct wide_of {
    using type = double;
};
#define MR_WIDE(T, W)                                                                                                  \
    template <> struct wide_of<T> {                                                                                    \
        using type = W;                                                                                                \
    };
MR_WIDE(int8_t, int64_t)
MR_WIDE(int16_t, int64_t)
MR_WIDE(int32_t, int64_t)
MR_WIDE(int64_t, int64_t)
MR_WIDE(uint8_t, uint64_t)
MR_WIDE(uint16_t, uint64_t)
MR_WIDE(uint32_t, uint64_t)
MR_WIDE(uint64_t, uint64_t)
MR_WIDE(bool, int64_t)
#undef MR_WIDE
template <class T> using wide = typename wide_of<T>::type;

template <class T> constexpr bool is_whole = std::is_integral<T>::value;
/* ring<T>: the type in which integers wrap when they are added and multiplied; T for floats. */
template <class T> using ring = typename std::conditional<is_whole<T>, uint64_t, T>::type;

// clang-format off
template <class T> __device__ inline compute<T> load(T x) { return x; }
template <class T, class C> __device__ inline T store(C x) { return (T)x; }

#ifdef __CUDACC__
template <> __device__ inline float load(mr_f16 x) { return __half2float(__ushort_as_half(x.bits)); }
template <> __device__ inline float load(mr_bf16 x) { return __bfloat162float(__ushort_as_bfloat16(x.bits)); }
template <> __device__ inline mr_f16 store(float x) { return {__half_as_ushort(__float2half_rn(x))}; }
template <> __device__ inline mr_bf16 store(float x) { return {__bfloat16_as_ushort(__float2bfloat16_rn(x))}; }
template <> __device__ inline mr_f16 store(double x) { return {__half_as_ushort(__double2half(x))}; }
template <> __device__ inline mr_bf16 store(double x) { return {__bfloat16_as_ushort(__double2bfloat16(x))}; }
#else
template <> inline float load(mr_f16 x) { return mr_f16_to_f32(x); }
template <> inline float load(mr_bf16 x) { return mr_bf16_to_f32(x); }
template <> inline mr_f16 store(float x) { return mr_f16_from_f32(x); }
template <> inline mr_bf16 store(float x) { return mr_bf16_from_f32(x); }
template <> inline mr_f16 store(double x) { return mr_f16_from_f64(x); }
template <> inline mr_bf16 store(double x) { return mr_bf16_from_f64(x); }
#endif

/* The number of T among ONNX's types. */
template <class T> constexpr mr_dtype dtype_of();
template <> constexpr mr_dtype dtype_of<mr_f16>() { return MR_F16; }
template <> constexpr mr_dtype dtype_of<mr_bf16>() { return MR_BF16; }
template <> constexpr mr_dtype dtype_of<float>() { return MR_F32; }
template <> constexpr mr_dtype dtype_of<double>() { return MR_F64; }
template <> constexpr mr_dtype dtype_of<int8_t>() { return MR_I8; }
template <> constexpr mr_dtype dtype_of<int16_t>() { return MR_I16; }
template <> constexpr mr_dtype dtype_of<int32_t>() { return MR_I32; }
template <> constexpr mr_dtype dtype_of<int64_t>() { return MR_I64; }
template <> constexpr mr_dtype dtype_of<uint8_t>() { return MR_U8; }
template <> constexpr mr_dtype dtype_of<uint16_t>() { return MR_U16; }
template <> constexpr mr_dtype dtype_of<uint32_t>() { return MR_U32; }
template <> constexpr mr_dtype dtype_of<uint64_t>() { return MR_U64; }
template <> constexpr mr_dtype dtype_of<bool>() { return MR_BOOL; }
// clang-format on

/* Lists of types, to fill slots with: fill(types). */
template <class... T> struct types {
};
using floats = types<mr_f16, mr_bf16, float, double>;
using ints = types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
using numbers =
    types<mr_f16, mr_bf16, float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;

#endif

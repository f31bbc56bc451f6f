/* launch.cuh: CUDA, or what stands for it on the host; the one way to launch a kernel, and arrays in shared memory. */
#ifndef MR_CUDA_LAUNCH_H
#define MR_CUDA_LAUNCH_H

#ifdef __CUDACC__
#include <cuda_runtime.h>
#endif

/* C headers, which are held to the warnings of C where they belong. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#ifdef __CUDACC__
/* The CPU's conversions, for both sides; before anything else that includes them. */
#pragma push_macro("inline")
#undef inline
#define inline inline __host__ __device__
#include "kernels/cpu/convert.h"
#pragma pop_macro("inline")
#endif
#include "kernels/cpu/convert.h"
#include "kernels/cuda/cuda.h"
#pragma GCC diagnostic pop

#ifdef __CUDACC__
#define MR_ROLLED _Pragma("unroll 1") /* before a loop: not to be unrolled */

/* launch<kernel>(grid, block, shared, stream, arguments…) */
template <auto Kernel, class... Arguments>
cudaError_t launch(dim3 grid, dim3 block, size_t shared, cudaStream_t stream, Arguments... arguments)
{
    Kernel<<<grid, block, shared, stream>>>(arguments...);
    return cudaGetLastError();
}

/* __shared__ shared_array<float, 16, 64> a; a[i][j] = x; — a plain array here, a watched one on the host. */
template <class T, int Rows, int Columns = 0> struct shared_array {
    T value[Rows][Columns];
    __device__ T *operator[](int64_t i) { return value[i]; }
};
template <class T, int N> struct shared_array<T, N, 0> {
    T value[N];
    __device__ T &operator[](int64_t i) { return value[i]; }
};
/* What launch() got as `shared`. */
template <class T> static __device__ inline T *dynamic_shared()
{
    extern __shared__ __align__(16) unsigned char mr_cuda_dynamic[];
    return (T *)mr_cuda_dynamic;
}
#else
#define MR_ROLLED
#include "kernels/cuda/host/cuda_host.h"
#endif

/* Elements are taken by threads in turns, so any number of blocks does. */
static inline dim3 grid_for(int64_t n, int block)
{
    const int64_t most = 1 << 16;
    int64_t blocks = (n + block - 1) / block;
    return dim3((unsigned)(blocks < most ? blocks : most));
}

/* for (int64_t i = first_index(); i < n; i += index_step()) */
static __device__ inline int64_t first_index()
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}
static __device__ inline int64_t index_step()
{
    return (int64_t)gridDim.x * blockDim.x;
}

/* a / b, and what is left over, of numbers that are not negative. Division by 32 bits is several times as fast, and
 * nearly all numbers are that small. */
struct quotient {
    int64_t whole, rest;
};
static __device__ inline quotient divided(int64_t a, int64_t b)
{
    if ((a | b) >> 32 == 0) {
        uint32_t whole = (uint32_t)a / (uint32_t)b;
        return {whole, (uint32_t)a - whole * (uint32_t)b};
    }
    int64_t whole = a / b;
    return {whole, a - whole * b};
}

#endif

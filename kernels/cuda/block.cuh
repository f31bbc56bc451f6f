/* block.cuh: the threads of a block bring one value each, and all get the combination of them. */
#ifndef MR_CUDA_BLOCK_H
#define MR_CUDA_BLOCK_H

#include "kernels/cuda/launch.cuh"

/* Combines within warps by shuffles, then across them through shared memory: a tree whose shape depends on the size of
 * the block alone. blockDim.x is a multiple of 32; every thread of the block calls it. */
template <class T, class Combine> static __device__ inline T block_all(T x, T identity, Combine combine)
{
    __shared__ shared_array<T, 32> partial;
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, warps = (int)blockDim.x / 32;
    for (int d = 16; d > 0; d /= 2) x = combine(x, (T)__shfl_xor_sync(~0u, x, d));
    __syncthreads(); /* partial may still be read from the call before */
    if (lane == 0) partial[warp] = x;
    __syncthreads();
    x = identity;
    if (lane < warps) x = partial[lane];
    for (int d = 16; d > 0; d /= 2) x = combine(x, (T)__shfl_xor_sync(~0u, x, d));
    return x;
}

struct plus {
    template <class T> __device__ T operator()(T a, T b) const { return a + b; }
};
/* A NaN on either side is the result. */
struct greater {
    template <class T> __device__ T operator()(T a, T b) const { return a > b || a != a ? a : b; }
};
struct lesser {
    template <class T> __device__ T operator()(T a, T b) const { return a < b || a != a ? a : b; }
};
/* Equal, or both NaN. */
template <class T> static __device__ inline bool same(T a, T b)
{
    return a == b || (a != a && b != b);
}

#endif

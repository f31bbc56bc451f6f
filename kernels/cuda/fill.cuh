/* fill.cuh: puts the launchers of a family into the slots of their types. */
#ifndef MR_CUDA_FILL_H
#define MR_CUDA_FILL_H

#include "kernels/cuda/scalar.cuh"

/* slot[type] = Launcher<type>::of, for each of the types */
template <template <class> class Launcher, class Slot, class... T> static inline void fill(Slot *slot, types<T...>)
{
    ((slot[dtype_of<T>()] = Launcher<T>::of), ...);
}

/* slot[size index] = Launcher<that many bytes>::of */
template <template <class> class Launcher, class Slot> static inline void fill_sizes(Slot *slot)
{
    slot[0] = Launcher<uint8_t>::of;
    slot[1] = Launcher<uint16_t>::of;
    slot[2] = Launcher<uint32_t>::of;
    slot[3] = Launcher<uint64_t>::of;
    slot[4] = Launcher<mr_u128>::of;
}

void mr_cuda_fill_binary(mr_cuda_fns *f);
void mr_cuda_fill_cast(mr_cuda_fns *f);
void mr_cuda_fill_conv(mr_cuda_fns *f);
void mr_cuda_fill_copy(mr_cuda_fns *f);
void mr_cuda_fill_gather(mr_cuda_fns *f);
void mr_cuda_fill_gemm(mr_cuda_fns *f);
void mr_cuda_fill_norm(mr_cuda_fns *f);
void mr_cuda_fill_pad(mr_cuda_fns *f);
void mr_cuda_fill_pool(mr_cuda_fns *f);
void mr_cuda_fill_reduce(mr_cuda_fns *f);
void mr_cuda_fill_softmax(mr_cuda_fns *f);
void mr_cuda_fill_unary(mr_cuda_fns *f);
void mr_cuda_fill_variadic(mr_cuda_fns *f);
void mr_cuda_fill_where(mr_cuda_fns *f);

#endif

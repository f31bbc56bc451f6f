/* device.cu: what the plugin says and does for runtime/device.h. One body for the GPU and for the host; only probing
 * differs. */
#include "kernels/cuda/fill.cuh"
#include "kernels/cuda/probe.h"
#include "runtime/device.h"

#include <new>
#include <stdio.h>

#ifdef __CUDACC__
#define MR_CUDA_NAME "cuda"
#else
#define MR_CUDA_NAME "cuda-host"
#endif

namespace
{
struct device {
    int index;
    cudaStream_t stream;
    cudaError_t failed; /* the last failure */
};

/* Remembers what failed. */
int done(device *d, cudaError_t e)
{
    if (e != cudaSuccess) {
        d->failed = e;
        cudaGetLastError(); /* what is told once is not told again to the next caller */
    }
    return e;
}

device *current(void *context)
{
    device *d = (device *)context;
    cudaSetDevice(d->index);
    return d;
}

int open_device(int index, void **context)
{
    device *d = new (std::nothrow) device();
    *context = d;
    if (!d) return cudaErrorMemoryAllocation;
    d->index = index;
    cudaError_t e = cudaSetDevice(index);
    if (e == cudaSuccess) e = cudaStreamCreateWithFlags(&d->stream, cudaStreamNonBlocking);
    if (e != cudaSuccess) {
        delete d;
        *context = nullptr;
    }
    return e;
}

void close_device(void *context)
{
    device *d = current(context);
    cudaStreamDestroy(d->stream);
    delete d;
}

void *allocate(void *context, size_t bytes)
{
    device *d = current(context);
    void *p = nullptr;
    return done(d, cudaMalloc(&p, bytes ? bytes : 1)) ? nullptr : p;
}

void release(void *context, void *p)
{
    device *d = current(context);
    done(d, cudaFree(p));
}

int copy_in(void *context, void *to, const void *from, size_t bytes)
{
    device *d = current(context);
    return done(d, cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, d->stream));
}

int copy_out(void *context, void *to, const void *from, size_t bytes)
{
    device *d = current(context);
    if (int e = done(d, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, d->stream))) return e;
    return done(d, cudaStreamSynchronize(d->stream));
}

int copy(void *context, void *to, const void *from, size_t bytes)
{
    device *d = current(context);
    return done(d, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, d->stream));
}

int synchronize(void *context)
{
    device *d = current(context);
    return done(d, cudaStreamSynchronize(d->stream));
}

const char *error_of(void *context)
{
    return cudaGetErrorString(((device *)context)->failed);
}

void *stream_of(void *context)
{
    return current(context)->stream;
}

const char *error_text(int status)
{
    return cudaGetErrorString((cudaError_t)status);
}

const mr_cuda_fns *table()
{
    static mr_cuda_fns f;
    f.error = error_text;
    mr_cuda_fill_binary(&f);
    mr_cuda_fill_cast(&f);
    mr_cuda_fill_conv(&f);
    mr_cuda_fill_copy(&f);
    mr_cuda_fill_gather(&f);
    mr_cuda_fill_gemm(&f);
    mr_cuda_fill_norm(&f);
    mr_cuda_fill_pad(&f);
    mr_cuda_fill_pool(&f);
    mr_cuda_fill_reduce(&f);
    mr_cuda_fill_softmax(&f);
    mr_cuda_fill_unary(&f);
    mr_cuda_fill_variadic(&f);
    mr_cuda_fill_where(&f);
    return &f;
}
} // namespace

extern "C" __attribute__((visibility("default"))) const mr_device_plugin mr_plugin_v1 = {
    MR_PLUGIN_ABI, MR_CUDA_NAME, mr_cuda_probe, mr_cuda_describe, open_device, close_device, allocate, release,
    copy_in,       copy_out,     copy,          synchronize,      error_of,    stream_of,    table(),
};

/* probe.cu: asks the driver, step by step, so that the first thing that is missing is the one that is named.
 *
 * The driver library is opened by hand: this plugin links the CUDA runtime statically and nothing of the driver, so
 * that it loads on machines that have no driver and can say so. */
#include "kernels/cuda/probe.h"

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#ifndef MR_CUDA_LEAST
#define MR_CUDA_LEAST 75 /* the oldest compute capability that there is code for, × 10 */
#endif

namespace
{
/* The driver's interface: numbers and names are those of the CUDA driver API. */
typedef int driver_status;
enum { driver_no_device = 100, driver_mismatch = 803 };

struct driver {
    void *library;
    driver_status (*init)(unsigned flags);
    driver_status (*version)(int *version);
    driver_status (*count)(int *n);
    driver_status (*error_string)(driver_status status, const char **text);
};

driver open_driver()
{
    driver d = {};
    d.library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!d.library) return d;
    *(void **)&d.init = dlsym(d.library, "cuInit");
    *(void **)&d.version = dlsym(d.library, "cuDriverGetVersion");
    *(void **)&d.count = dlsym(d.library, "cuDeviceGetCount");
    *(void **)&d.error_string = dlsym(d.library, "cuGetErrorString");
    return d;
}

const char *text_of(const driver &d, driver_status e)
{
    const char *text = nullptr;
    return d.error_string && d.error_string(e, &text) == 0 && text ? text : "unknown error";
}

int no_driver(char *why, size_t size)
{
    const char *hint =
        access("/dev/nvidiactl", F_OK) == 0
            ? "there is an NVIDIA device node, so the library is not on the loader's path, or not in this container"
            : "this machine or container has no NVIDIA driver; install it, or start the container with the GPU";
    snprintf(why, size, "the driver library libcuda.so.1 cannot be loaded (%s): %s", dlerror(), hint);
    return 1;
}

/* CUDA versions are 1000 × major + 10 × minor; drivers run what was built with their own major version or an older one.
 */
int driver_too_old(int version, char *why, size_t size)
{
    snprintf(why, size, "the driver is for CUDA %d.%d, this plugin was built with CUDA %d.%d: update the driver",
             version / 1000, version % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    return 1;
}

int no_init(const driver &d, driver_status e, char *why, size_t size)
{
    if (e == driver_no_device)
        snprintf(why, size,
                 "the driver finds no CUDA device (is CUDA_VISIBLE_DEVICES empty, or the GPU not in this container?)");
    else if (e == driver_mismatch)
        snprintf(why, size,
                 "the driver library does not fit the kernel's NVIDIA module: reboot, or update both together");
    else
        snprintf(why, size, "the driver does not start: %s (error %d)", text_of(d, e), e);
    return 1;
}

int check_device(int index, char *why, size_t size)
{
    cudaDeviceProp p;
    cudaError_t e = cudaGetDeviceProperties(&p, index);
    if (e == cudaSuccess && p.major * 10 + p.minor < MR_CUDA_LEAST) {
        snprintf(why, size, "device %d, %s, has compute capability %d.%d; this plugin needs %d.%d or newer", index,
                 p.name, p.major, p.minor, MR_CUDA_LEAST / 10, MR_CUDA_LEAST % 10);
        return 1;
    }
    size_t free = 0, total = 0;
    if (e == cudaSuccess) e = cudaSetDevice(index);
    if (e == cudaSuccess) e = cudaMemGetInfo(&free, &total); /* makes the context */
    if (e == cudaSuccess) return 0;
    cudaGetLastError();
    if (e == cudaErrorMemoryAllocation)
        snprintf(why, size, "device %d is out of memory: other processes hold it (nvidia-smi shows them)", index);
    else
        snprintf(why, size, "device %d cannot be used: %s", index, cudaGetErrorString(e));
    return 1;
}
} // namespace

int mr_cuda_probe(int index, char *why, size_t size)
{
    driver d = open_driver();
    if (!d.library) return no_driver(why, size);
    int version = 0, n = 0;
    if (!d.init || !d.version || !d.count || d.version(&version) != 0) {
        snprintf(why, size, "libcuda.so.1 is no CUDA driver");
        return 1;
    }
    if (version / 1000 < CUDART_VERSION / 1000) return driver_too_old(version, why, size);
    driver_status e = d.init(0);
    if (e == 0) e = d.count(&n);
    if (e == 0 && n == 0) e = driver_no_device;
    if (e != 0) return no_init(d, e, why, size);
    if (index < 0 || index >= n) {
        snprintf(why, size, "there is no device %d: the driver finds %d, numbered from 0", index, n);
        return 1;
    }
    return check_device(index, why, size);
}

int mr_cuda_describe(int index, char *text, size_t size)
{
    cudaDeviceProp p;
    cudaError_t e = cudaGetDeviceProperties(&p, index);
    if (e != cudaSuccess) return e;
    snprintf(text, size, "%s, %.0f GiB, compute capability %d.%d", p.name, (double)p.totalGlobalMem / (1 << 30),
             p.major, p.minor);
    return 0;
}

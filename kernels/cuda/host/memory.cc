/* memory.cc: device memory that is only device memory by agreement.
 *
 * Every allocation lies between two pages that cannot be touched, against the later one, so that a kernel that runs
 * over its end faults; the few bytes that alignment leaves over hold a pattern that is checked, as do those before it.
 * Fresh memory holds NaNs. */
#include "cuda_host.h"

#include <map>
#include <mutex>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

namespace
{
const size_t alignment = 16;
const unsigned char red = 0xf5, fresh = 0xff;

struct allocation {
    char *data;
    size_t bytes;
    char *map; /* the guard page, the data's pages, the guard page */
    size_t map_bytes, page;
};

std::map<const char *, allocation> allocations; /* by data */
std::mutex lock;

thread_local cudaError_t last_error;
thread_local cudaError_t text_error; /* the error that `text` is about */
thread_local char text[640];

/* The allocation with the greatest address that is at most p; none: nullptr. */
const allocation *at_or_before(const void *p)
{
    auto after = allocations.upper_bound((const char *)p);
    return after == allocations.begin() ? nullptr : &(--after)->second;
}

/* Whether the device owns all of [p, p + bytes). */
bool holds(const void *p, size_t bytes)
{
    const allocation *a = at_or_before(p);
    return a && (size_t)((const char *)p - a->data) + bytes <= a->bytes;
}

bool intact(const allocation &a)
{
    const char *begin = a.map + a.page, *end = a.map + a.map_bytes - a.page;
    const char *from = a.data - begin > 64 ? a.data - 64 : begin;
    for (const char *p = from; p < a.data; p++)
        if ((unsigned char)*p != red) return false;
    for (const char *p = a.data + a.bytes; p < end; p++)
        if ((unsigned char)*p != red) return false;
    return true;
}
} // namespace

namespace cuda_host
{
cudaError_t set_error(cudaError_t e, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    text_error = e;
    return last_error = e;
}

bool memory_holds(const void *p)
{
    std::lock_guard<std::mutex> hold(lock);
    return holds(p, 0);
}

bool memory_intact(const void *p)
{
    std::lock_guard<std::mutex> hold(lock);
    const allocation *a = at_or_before(p);
    return !a || intact(*a);
}

const char *memory_describe(const void *p, char *buf, size_t size)
{
    /* No lock: the one who holds it may be the one who faulted. */
    const size_t near = 1 << 30;
    const char *c = (const char *)p;
    const allocation *a = at_or_before(p);
    auto next = allocations.upper_bound(c);
    size_t past = a ? (size_t)(c - a->data) : SIZE_MAX; /* its start */
    size_t before = next != allocations.end() ? (size_t)(next->second.data - c) : SIZE_MAX;
    if (a && past < a->bytes)
        snprintf(buf, size, "byte %zu of an allocation of %zu bytes", past, a->bytes);
    else if (a && past - a->bytes < near && past - a->bytes < before)
        snprintf(buf, size, "%p, %zu bytes past the end of an allocation of %zu bytes", p, past - a->bytes, a->bytes);
    else if (before < near)
        snprintf(buf, size, "%p, %zu bytes before an allocation of %zu bytes", p, before, next->second.bytes);
    else
        snprintf(buf, size, "%p, far from all device memory", p);
    return buf;
}
} // namespace cuda_host

using cuda_host::set_error;

cudaError_t cudaMalloc(void **p, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *p = nullptr;
    if (bytes == 0) return cudaSuccess;
    size_t padded = (bytes + alignment - 1) / alignment * alignment, pages = (padded + page - 1) / page * page;
    if (bytes > SIZE_MAX / 2)
        return set_error(cudaErrorMemoryAllocation, "out of memory: no address space for %zu bytes", bytes);
    char *map = (char *)mmap(nullptr, pages + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED || mprotect(map + page, pages, PROT_READ | PROT_WRITE)) {
        if (map != MAP_FAILED) munmap(map, pages + 2 * page);
        return set_error(cudaErrorMemoryAllocation, "out of memory: the system refused %zu bytes", bytes);
    }
    char *data = map + page + pages - padded;
    memset(map + page, red, (size_t)(data - map) - page);
    memset(data, fresh, bytes);
    memset(data + bytes, red, padded - bytes);
    std::lock_guard<std::mutex> hold(lock);
    allocations[data] = {data, bytes, map, pages + 2 * page, page};
    *p = data;
    return cudaSuccess;
}

cudaError_t cudaFree(void *p)
{
    if (!p) return cudaSuccess;
    std::lock_guard<std::mutex> hold(lock);
    auto found = allocations.find((const char *)p);
    if (found == allocations.end()) return set_error(cudaErrorInvalidValue, "%p is not the start of an allocation", p);
    allocation a = found->second;
    bool whole = intact(a);
    allocations.erase(found);
    munmap(a.map, a.map_bytes);
    if (!whole)
        return set_error(cudaErrorIllegalAddress, "memory next to an allocation of %zu bytes was written", a.bytes);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t)
{
    if (bytes == 0) return cudaSuccess;
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    {
        std::lock_guard<std::mutex> hold(lock);
        if (holds(to, to_device ? bytes : 0) != to_device || holds(from, from_device ? bytes : 0) != from_device)
            return set_error(cudaErrorInvalidValue,
                             "a copy of %zu bytes from %s %p to %s %p is outside of what is allocated", bytes,
                             from_device ? "device" : "host", from, to_device ? "device" : "host", to);
    }
    memmove(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    return cudaSuccess;
}

cudaError_t cudaGetLastError()
{
    cudaError_t e = last_error;
    last_error = cudaSuccess;
    return e;
}

const char *cudaGetErrorString(cudaError_t e)
{
    if (e == text_error && e != cudaSuccess) return text;
    switch (e) {
    case cudaSuccess:
        return "no error";
    case cudaErrorInvalidValue:
        return "invalid argument";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorInvalidConfiguration:
        return "invalid configuration argument";
    case cudaErrorIllegalAddress:
        return "an illegal memory access was encountered";
    case cudaErrorLaunchFailure:
        return "unspecified launch failure";
    }
    return "unrecognized error code";
}

/* cuda_host.h: the part of CUDA C++ that our kernels use, for the host compiler.
 *
 * The same .cu files run without a GPU: a block's threads are fibers, run one at a time in an order that
 * MINIRT_CUDA_SEED shuffles; barriers and warp operations hand over to the next (block.cc). A thread that never waits
 * costs no switch. What a GPU leaves undefined is an error here that names the kernel, the block and the thread: a
 * barrier that not all threads reach, a warp operation that a named lane misses, an index outside of shared memory,
 * shared memory read before it was written or changed without a barrier between, memory touched outside of its
 * allocation (memory.cc). */
#ifndef MR_CUDA_HOST_H
#define MR_CUDA_HOST_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <type_traits>

#define __global__
#define __device__
#define __host__
#define __shared__      static /* one kernel runs at a time, one block of it at a time */
#define __forceinline__ inline
#define __restrict__ __restrict
#define __launch_bounds__(...)

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

/* Of the running thread. */
extern dim3 threadIdx, blockIdx, blockDim, gridDim;
static const int warpSize = 32;

/* The runtime's errors, with CUDA's numbers. */
typedef enum cudaError {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorIllegalAddress = 700,
    cudaErrorLaunchFailure = 719
} cudaError_t;

typedef enum cudaMemcpyKind {
    cudaMemcpyHostToHost = 0,
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3
} cudaMemcpyKind;

/* A stream does at once what it is told. */
typedef struct cuda_host_stream *cudaStream_t;

cudaError_t cudaMalloc(void **p, size_t bytes);
cudaError_t cudaFree(void *p);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
static const unsigned cudaStreamNonBlocking = 1;
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    return *stream = nullptr, cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t)
{
    return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int)
{
    return cudaSuccess;
}
cudaError_t cudaGetLastError();
/* The text of the last failure where `e` is its code: what failed, in which kernel, block and thread. */
const char *cudaGetErrorString(cudaError_t e);

namespace cuda_host
{
/* The source line of a barrier or a warp operation. */
struct site {
    const char *what, *file;
    int line;
};

/* Ends the launch with an error: "kernel NAME, block (x,y,z), thread (x,y,z): …". */
[[noreturn]] void stop(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

void barrier(site at);

enum warp_op { warp_sync, warp_ballot, warp_shfl, warp_shfl_up, warp_shfl_down, warp_shfl_xor };
/* What the lane gets: of a shuffle the value of the lane that `by` leads to, of a ballot the mask. */
uint64_t warp(warp_op op, unsigned mask, uint64_t value, int by, int width, site at);

/* The launch of a kernel whose arguments `call(arguments)` knows; `pointers` are those among them that are pointers. */
struct launch_request {
    const char *name; /* contains "Kernel = NAME" */
    dim3 grid, block;
    size_t shared;
    void (*call)(const void *arguments);
    const void *arguments;
    const void *const *pointers;
    int n_pointers;
};
cudaError_t run(const launch_request &r);

/* Starts the order of threads and blocks anew, as MINIRT_CUDA_SEED=n would. */
void seed(uint64_t n);

/* memory.cc, for block.cc: does the address lie in device memory; was memory around that allocation written; where is
 * the address, relative to the nearest allocation (a text in buf). */
bool memory_holds(const void *p);
bool memory_intact(const void *p);
const char *memory_describe(const void *p, char *buf, size_t size);
cudaError_t set_error(cudaError_t e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* --- shared memory ----------------------------------------------------------------------------------------------- */

/* Who touched an element of shared memory, and when: `phase` counts the block's barriers, `sync` those of the warp. Two
 * accesses of which one writes need a barrier between them, or a __syncwarp when both are of one warp. */
struct trace {
    uint32_t write_phase, read_phase;
    uint16_t writer, write_sync;
    uint16_t reader, read_sync; /* reader: a thread, or several_lanes + warp, or several_warps */
};
struct clock {
    uint32_t block_phase; /* phase at the block's start: what is older is not of this block */
    uint32_t phase;
    uint16_t sync; /* of the running thread's warp */
    uint16_t thread;
};
extern clock now;
enum : uint16_t { several_lanes = 0x8000, several_warps = 0xffff };

[[noreturn]] void fail_index(int64_t index, int64_t size);
[[noreturn]] void fail_unwritten(int64_t index);
[[noreturn]] void fail_race(const char *now_doing, const char *then_done, unsigned by, int64_t index);

inline bool same_warp(unsigned who)
{
    return (who & several_lanes ? who & 0x7fff : who / 32) == now.thread / 32u;
}
/* Whether an access of this phase by `who` needs no barrier before one of the running thread. */
inline bool ordered(unsigned who, uint16_t sync)
{
    return who == now.thread || (who != several_warps && same_warp(who) && sync != now.sync);
}

inline void on_read(trace &t, int64_t index)
{
    if (t.write_phase < now.block_phase) fail_unwritten(index);
    if (t.write_phase == now.phase && !ordered(t.writer, t.write_sync)) fail_race("reads", "wrote", t.writer, index);
    if (t.read_phase != now.phase || (t.reader != several_warps && same_warp(t.reader) && t.read_sync != now.sync))
        t.reader = now.thread;
    else if (t.reader != now.thread)
        t.reader = t.reader != several_warps && same_warp(t.reader) ? several_lanes + now.thread / 32 : several_warps;
    t.read_phase = now.phase;
    t.read_sync = now.sync;
}

inline void on_write(trace &t, int64_t index)
{
    if (t.write_phase == now.phase && !ordered(t.writer, t.write_sync)) fail_race("writes", "wrote", t.writer, index);
    if (t.read_phase == now.phase && !ordered(t.reader, t.read_sync)) fail_race("writes", "read", t.reader, index);
    t.writer = now.thread;
    t.write_phase = now.phase;
    t.write_sync = now.sync;
}

/* An element of shared memory: reads and writes through it are watched. */
template <class T> class element
{
  public:
    element(T *v, trace *t, int64_t i) : value(v), seen(t), index(i) {}
    operator T() const
    {
        on_read(*seen, index);
        return *value;
    }
    element &operator=(T x)
    {
        on_write(*seen, index);
        *value = x;
        return *this;
    }
    element &operator=(const element &x) { return *this = (T)x; }
    element(const element &) = default;
    element &operator+=(T x) { return *this = (T)(*this + x); }
    element &operator*=(T x) { return *this = (T)(*this * x); }

  private:
    T *value;
    trace *seen;
    int64_t index;
};

template <class T> class shared_row
{
  public:
    shared_row(T *v, trace *t, int64_t n_) : value(v), seen(t), n(n_) {}
    element<T> operator[](int64_t i) const
    {
        if (i < 0 || i >= n) fail_index(i, n);
        return element<T>(value + i, seen + i, i);
    }

  private:
    T *value;
    trace *seen;
    int64_t n;
};

/* Dynamic shared memory of the launch; unwritten bytes hold NaNs. */
const size_t dynamic_bytes = 48 << 10;
extern size_t dynamic_used;
extern char dynamic[dynamic_bytes];
extern trace dynamic_trace[dynamic_bytes]; /* one an element: by element size, at least one byte each */
} // namespace cuda_host

/* __shared__ shared_array<float, 32> a; a[i] = x;    __shared__ shared_array<float, 16, 64> b; b[i][j] = x; */
template <class T, int Rows, int Columns = 0> class shared_array
{
  public:
    cuda_host::shared_row<T> operator[](int64_t i)
    {
        if (i < 0 || i >= Rows) cuda_host::fail_index(i, Rows);
        return cuda_host::shared_row<T>(value[i], seen[i], Columns);
    }

  private:
    T value[Rows][Columns];
    cuda_host::trace seen[Rows][Columns];
};

template <class T, int N> class shared_array<T, N, 0>
{
  public:
    cuda_host::element<T> operator[](int64_t i) { return cuda_host::shared_row<T>(value, seen, N)[i]; }

  private:
    T value[N];
    cuda_host::trace seen[N];
};

template <class T> cuda_host::shared_row<T> dynamic_shared()
{
    using namespace cuda_host;
    return shared_row<T>((T *)dynamic, dynamic_trace, (int64_t)(dynamic_used / sizeof(T)));
}

/* --- what threads call ------------------------------------------------------------------------------------------- */

#define MR_SITE(what)                                                                                                  \
    cuda_host::site                                                                                                    \
    {                                                                                                                  \
        what, file, line                                                                                               \
    }
#define MR_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

inline void __syncthreads(MR_HERE)
{
    cuda_host::barrier(MR_SITE("__syncthreads"));
}
inline void __syncwarp(unsigned mask = ~0u, MR_HERE)
{
    cuda_host::warp(cuda_host::warp_sync, mask, 0, 0, 32, MR_SITE("__syncwarp"));
}
inline unsigned __ballot_sync(unsigned mask, int p, MR_HERE)
{
    return (unsigned)cuda_host::warp(cuda_host::warp_ballot, mask, p != 0, 0, 32, MR_SITE("__ballot_sync"));
}
inline int __any_sync(unsigned mask, int p, MR_HERE)
{
    return __ballot_sync(mask, p, file, line) != 0;
}
inline int __all_sync(unsigned mask, int p, MR_HERE)
{
    return __ballot_sync(mask, p, file, line) == mask;
}
/* Any set of lanes with the caller in it is a legal answer; this is the one that no code expects. */
inline unsigned __activemask()
{
    return 1u << cuda_host::now.thread % 32;
}

namespace cuda_host
{
template <class T> T shuffle(warp_op op, unsigned mask, T x, int by, int width, site at)
{
    static_assert(std::is_trivially_copyable<T>::value && sizeof(T) <= sizeof(uint64_t), "shuffles carry 8 bytes");
    uint64_t bits = 0;
    memcpy(&bits, &x, sizeof x);
    bits = warp(op, mask, bits, by, width, at);
    memcpy(&x, &bits, sizeof x);
    return x;
}
} // namespace cuda_host

template <class T> T __shfl_sync(unsigned mask, T x, int lane, int width = 32, MR_HERE)
{
    return cuda_host::shuffle(cuda_host::warp_shfl, mask, x, lane, width, MR_SITE("__shfl_sync"));
}
template <class T> T __shfl_up_sync(unsigned mask, T x, unsigned by, int width = 32, MR_HERE)
{
    return cuda_host::shuffle(cuda_host::warp_shfl_up, mask, x, (int)by, width, MR_SITE("__shfl_up_sync"));
}
template <class T> T __shfl_down_sync(unsigned mask, T x, unsigned by, int width = 32, MR_HERE)
{
    return cuda_host::shuffle(cuda_host::warp_shfl_down, mask, x, (int)by, width, MR_SITE("__shfl_down_sync"));
}
template <class T> T __shfl_xor_sync(unsigned mask, T x, int by, int width = 32, MR_HERE)
{
    return cuda_host::shuffle(cuda_host::warp_shfl_xor, mask, x, by, width, MR_SITE("__shfl_xor_sync"));
}
#undef MR_SITE
#undef MR_HERE

/* No thread is interrupted between two statements, so plain arithmetic is atomic. */
template <class T> T atomicExch(T *p, T x)
{
    T old = *p;
    *p = x;
    return old;
}
template <class T> T atomicAdd(T *p, T x)
{
    return atomicExch(p, (T)(*p + x));
}
template <class T> T atomicMax(T *p, T x)
{
    return atomicExch(p, *p < x ? x : *p);
}
template <class T> T atomicMin(T *p, T x)
{
    return atomicExch(p, x < *p ? x : *p);
}
template <class T> T atomicCAS(T *p, T expected, T x)
{
    return atomicExch(p, *p == expected ? x : *p);
}

/* --- launching --------------------------------------------------------------------------------------------------- */

namespace cuda_host
{
template <class T> int note(const void **, const T &)
{
    return 0;
}
template <class T> int note(const void **list, T *const &p)
{
    return p ? (*list = p, 1) : 0;
}
} // namespace cuda_host

/* Kernel<<<grid, block, shared, stream>>>(arguments…); the result says at once whether it ran, as if it were followed
 * by a synchronization. */
template <auto Kernel, class... Arguments>
cudaError_t launch(dim3 grid, dim3 block, size_t shared, cudaStream_t, Arguments... arguments)
{
    const void *pointers[sizeof...(arguments) + 1];
    int n = 0;
    ((n += cuda_host::note(pointers + n, arguments)), ...);
    auto call = [&] { Kernel(arguments...); };
    auto invoke = [](const void *f) { (*(const decltype(call) *)f)(); };
    return cuda_host::run({__PRETTY_FUNCTION__, grid, block, shared, invoke, &call, pointers, n});
}

#endif

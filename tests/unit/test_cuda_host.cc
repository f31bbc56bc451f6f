/* The machinery that runs .cu files without a GPU: right kernels give right results in every order of threads, and each
 * mistake that it promises to catch is caught, with a message that names the place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string>
#include <vector>
extern "C" {
#include <cmocka.h>
}
#include "kernels/cuda/host/cuda_host.h"

namespace
{
const int block = 128;

/* Device memory that starts as a copy of `v`. */
template <class T> class device
{
  public:
    explicit device(const std::vector<T> &v) : n(v.size())
    {
        assert_int_equal(cudaMalloc((void **)&data, n * sizeof(T)), cudaSuccess);
        assert_int_equal(cudaMemcpyAsync(data, v.data(), n * sizeof(T), cudaMemcpyHostToDevice, nullptr), cudaSuccess);
    }
    ~device() { cudaFree(data); }
    std::vector<T> read() const
    {
        std::vector<T> v(n);
        assert_int_equal(cudaMemcpyAsync(v.data(), data, n * sizeof(T), cudaMemcpyDeviceToHost, nullptr), cudaSuccess);
        return v;
    }
    T *data;

  private:
    size_t n;
};

std::vector<int> counted(int n)
{
    std::vector<int> v(n);
    for (int i = 0; i < n; i++) v[i] = i;
    return v;
}

/* The launch failed, and its text contains every one of the words. */
void assert_caught(cudaError_t e, std::initializer_list<const char *> words)
{
    std::string text = cudaGetErrorString(e);
    cudaGetLastError();
    if (e == cudaSuccess) fail_msg("the mistake was not caught");
    for (const char *word : words)
        if (text.find(word) == std::string::npos) fail_msg("no '%s' in: %s", word, text.c_str());
}

/* --- kernels that are right -------------------------------------------------------------------------------------- */

__global__ void add_one(int *x, int n)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) x[i]++;
}

/* The sum of a block: within warps by shuffles, across them through shared memory. */
__global__ void block_sum(const int *x, int *y)
{
    __shared__ shared_array<int, block / 32> partial;
    int sum = x[blockIdx.x * block + threadIdx.x];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < block / 32; w++) sum += partial[w];
        y[blockIdx.x] = sum;
    }
}

/* Reverses a block through dynamic shared memory, over and over. */
__global__ void reverse(int *x, int times)
{
    auto s = dynamic_shared<int>();
    int t = (int)threadIdx.x;
    for (int i = 0; i < times; i++) {
        s[t] = x[t];
        __syncthreads();
        x[t] = s[block - 1 - t];
        __syncthreads();
    }
}

/* A prefix sum in a warp; two-dimensional shared memory read by neighbours after __syncwarp. */
__global__ void warp_scan(int *x)
{
    __shared__ shared_array<int, block / 32, 33> rows;
    int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, v = x[threadIdx.x];
    for (int d = 1; d < 32; d *= 2) {
        int left = __shfl_up_sync(~0u, v, d);
        if (lane >= d) v += left;
    }
    rows[warp][lane] = v;
    __syncwarp();
    x[threadIdx.x] = lane == 0 ? 0 : (int)rows[warp][lane - 1];
}

__global__ void votes(unsigned *y)
{
    int lane = (int)threadIdx.x % 32;
    unsigned odd = __ballot_sync(~0u, lane % 2);
    int any = __any_sync(~0u, lane == 5), all = __all_sync(~0u, lane < 32), third = __shfl_sync(~0u, lane, 3, 8);
    int swapped = __shfl_xor_sync(~0u, lane, 1);
    bool right = any && all && third == lane / 8 * 8 + 3 && swapped == (lane ^ 1) && __activemask() >> lane & 1;
    y[threadIdx.x] = right ? odd : 0;
}

/* Half of each warp works on its own, with a mask of its own. */
__global__ void half_warps(int *x)
{
    unsigned half = threadIdx.x % 32 / 16, mask = 0xffffu << 16 * half;
    int v = x[threadIdx.x];
    if (half)
        for (int d = 8; d > 0; d /= 2) v += __shfl_xor_sync(mask, v, d);
    else
        for (int d = 8; d > 0; d /= 2) {
            int other = __shfl_xor_sync(mask, v, d);
            v = v > other ? v : other;
        }
    x[threadIdx.x] = v;
}

__global__ void histogram(const int *x, int *bins, float *sum)
{
    atomicAdd(bins + x[threadIdx.x] % 4, 1);
    atomicAdd(sum, 0.5f);
    atomicMax(bins + 4, x[threadIdx.x]);
    atomicMin(bins + 5, x[threadIdx.x]);
    atomicCAS(bins + 6, 0, 7);
}

__global__ void coordinates(unsigned *y)
{
    unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    y[b * blockDim.x * blockDim.y * blockDim.z + t] += 1000 * b + t;
}

void right_kernels(void **)
{
    for (unsigned seed = 0; seed < 50; seed++) {
        cuda_host::seed(seed);
        device<int> x(counted(4 * block)), sums(std::vector<int>(4, -1));
        assert_int_equal(launch<block_sum>(4, block, 0, nullptr, x.data, sums.data), cudaSuccess);
        for (int b = 0; b < 4; b++) assert_int_equal(sums.read()[b], block * (block - 1) / 2 + b * block * block);

        assert_int_equal(launch<add_one>(4, block, 0, nullptr, x.data, 4 * block - 1), cudaSuccess);
        assert_int_equal(x.read()[7], 8);
        assert_int_equal(x.read()[4 * block - 1], 4 * block - 1);

        device<int> r(counted(block));
        assert_int_equal(launch<reverse>(1, block, block * sizeof(int), nullptr, r.data, 5), cudaSuccess);
        for (int i = 0; i < block; i++) assert_int_equal(r.read()[i], block - 1 - i);

        device<int> scan(std::vector<int>(block, 1));
        assert_int_equal(launch<warp_scan>(1, block, 0, nullptr, scan.data), cudaSuccess);
        for (int i = 0; i < block; i++) assert_int_equal(scan.read()[i], i % 32);

        device<unsigned> v(std::vector<unsigned>(block, 0));
        assert_int_equal(launch<votes>(1, block, 0, nullptr, v.data), cudaSuccess);
        for (unsigned odd : v.read()) assert_int_equal(odd, 0xaaaaaaaau);

        device<int> h(counted(block));
        assert_int_equal(launch<half_warps>(1, block, 0, nullptr, h.data), cudaSuccess);
        for (int i = 0; i < block; i++)
            assert_int_equal(h.read()[i], i / 16 % 2 ? i / 16 * 16 * 16 + 120 : i / 16 * 16 + 15);

        device<int> bins({0, 0, 0, 0, 0, 9, 0});
        device<float> half_sum({0});
        assert_int_equal(launch<histogram>(1, block, 0, nullptr, x.data, bins.data, half_sum.data), cudaSuccess);
        assert_true(bins.read() == std::vector<int>({32, 32, 32, 32, 128, 1, 7}));
        assert_true(half_sum.read()[0] == block / 2);

        device<unsigned> c(std::vector<unsigned>(2 * 3 * 2 * 60, 0));
        assert_int_equal(launch<coordinates>(dim3(2, 3, 2), dim3(3, 4, 5), 0, nullptr, c.data), cudaSuccess);
        for (unsigned i = 0; i < 720; i++) assert_int_equal(c.read()[i], i / 60 * 1000 + i % 60);
    }
}

/* --- kernels that are wrong -------------------------------------------------------------------------------------- */

__global__ void no_barrier(int *x)
{
    __shared__ shared_array<int, block> s;
    s[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = s[block - 1 - threadIdx.x];
}

__global__ void no_second_barrier(int *x)
{
    __shared__ shared_array<int, block> s;
    for (int i = 0; i < 2; i++) {
        s[threadIdx.x] = x[threadIdx.x];
        __syncthreads();
        x[threadIdx.x] = s[block - 1 - threadIdx.x];
    }
}

__global__ void shuffle_is_no_barrier(int *x)
{
    __shared__ shared_array<int, block> s;
    s[threadIdx.x] = __shfl_xor_sync(~0u, x[threadIdx.x], 1);
    (void)__ballot_sync(~0u, 1);
    x[threadIdx.x] = s[threadIdx.x ^ 1];
}

__global__ void two_writers(int *x)
{
    __shared__ shared_array<int, 1> s;
    s[0] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[0];
}

__global__ void unwritten(int *x)
{
    __shared__ shared_array<int, block> s;
    if (blockIdx.x == 0 || threadIdx.x > 0) s[threadIdx.x] = 1;
    __syncthreads();
    x[threadIdx.x] = s[block - 1 - threadIdx.x];
}

__global__ void early_exit(int *x)
{
    if (threadIdx.x == 9) return;
    __syncthreads();
    x[threadIdx.x] = 0;
}

__global__ void two_barriers(int *x)
{
    if (threadIdx.x < 64)
        __syncthreads();
    else
        __syncthreads();
    x[threadIdx.x] = 0;
}

__global__ void barrier_and_shuffle(int *x)
{
    if (threadIdx.x < 16)
        x[threadIdx.x] = __shfl_xor_sync(~0u, x[threadIdx.x], 1);
    else
        __syncthreads();
}

__global__ void exited_lane(int *x)
{
    if (threadIdx.x == 40) return;
    x[threadIdx.x] = __shfl_down_sync(~0u, x[threadIdx.x], 1);
}

__global__ void foreign_mask(int *x)
{
    x[threadIdx.x] = __shfl_sync(0xffffu, x[threadIdx.x], 0);
}

__global__ void unnamed_source(int *x)
{
    if (threadIdx.x < 16) x[threadIdx.x] = __shfl_down_sync(0xffffu, x[threadIdx.x], 1);
}

__global__ void past_shared(int *x)
{
    __shared__ shared_array<int, 4, 32> s;
    s[threadIdx.x / 32][threadIdx.x % 32 + 1] = x[threadIdx.x];
}

__global__ void past_dynamic(int *x)
{
    dynamic_shared<int>()[threadIdx.x] = x[threadIdx.x];
}

__global__ void past_end(int *x, int n)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i <= n) x[i] = i;
}

__global__ void before_begin(int *x)
{
    x[(int)threadIdx.x - 1] = 0;
}

__global__ void far_away(int *x)
{
    x = (int *)(16 * (uintptr_t)(threadIdx.x + 1));
    *x = 0;
}

int descend(volatile int *x, int depth)
{
    volatile int here[256];
    here[depth % 256] = *x;
    return depth == 0 ? 0 : descend(here + depth % 256, depth - 1) + here[depth % 256];
}

__global__ void deep(int *x)
{
    x[threadIdx.x] = descend(x, 1000);
}

void wrong_kernels(void **)
{
    for (unsigned seed = 0; seed < 20; seed++) {
        cuda_host::seed(seed);
        device<int> x(counted(block));
        auto one = [&](auto kernel) { return kernel(2, block, 0, nullptr, x.data); };
        assert_caught(one(launch<no_barrier, int *>), {"kernel no_barrier", "block (", "thread (", "shared memory"});
        assert_caught(one(launch<no_second_barrier, int *>), {"kernel no_second_barrier", "no barrier between"});
        assert_caught(one(launch<shuffle_is_no_barrier, int *>),
                      {"kernel shuffle_is_no_barrier", "no barrier between"});
        assert_caught(one(launch<two_writers, int *>), {"writes element 0", "wrote with no barrier between"});
        assert_caught(one(launch<unwritten, int *>),
                      {"block (1,0,0)", "reads element 0", "no thread of the block wrote"});
        assert_caught(one(launch<early_exit, int *>),
                      {"waits at __syncthreads (test_cuda_host.cc:", "(9,0,0) has exited"});
        assert_caught(one(launch<two_barriers, int *>), {"at __syncthreads (test_cuda_host.cc:", "but thread (",
                                                         "waits at __syncthreads (test_cuda_host.cc:"});
        assert_caught(one(launch<barrier_and_shuffle, int *>),
                      {"__shfl_xor_sync (test_cuda_host.cc:", "__syncthreads"});
        assert_caught(one(launch<exited_lane, int *>), {"__shfl_down_sync", "thread (40,0,0) has exited"});
        assert_caught(one(launch<foreign_mask, int *>), {"mask 0x0000ffff does not name the calling lane"});
        assert_caught(one(launch<unnamed_source, int *>), {"lane 15 reads lane 16"});
        assert_caught(one(launch<past_shared, int *>), {"index 32 into 32 elements"});
        assert_caught(launch<past_dynamic>(1, block, 100 * sizeof(int), nullptr, x.data), {"into 100 elements"});
        assert_caught(
            launch<past_end>(2, block, 0, nullptr, x.data, block),
            {"block (1,0,0), thread (0,0,0): illegal access", "0 bytes past the end of an allocation of 512"});
        assert_caught(one(launch<far_away, int *>), {"illegal access at", "far from all device memory"});
        assert_caught(one(launch<deep, int *>), {"the stack of the thread is full"});

        device<int> odd(counted(block - 1)); /* 4 bytes short of the alignment: the write stays on the page */
        assert_caught(launch<past_end>(1, block, 0, nullptr, odd.data, block - 1), {"wrote next to the allocation"});
        device<int> low(counted(block));
        assert_caught(launch<before_begin>(1, block, 0, nullptr, low.data), {"wrote next to the allocation"});

        /* The device works on after each of them. */
        device<int> sum({0, 0}), y(counted(2 * block));
        assert_int_equal(launch<block_sum>(2, block, 0, nullptr, y.data, sum.data), cudaSuccess);
        assert_int_equal(sum.read()[0], block * (block - 1) / 2);
    }
}

void wrong_calls(void **)
{
    device<int> x(counted(block));
    int host[block] = {0};
    assert_caught(launch<add_one>(1, 2048, 0, nullptr, x.data, 1),
                  {"kernel add_one", "(2048,1,1)", "cannot be launched"});
    assert_caught(launch<add_one>(0, 32, 0, nullptr, x.data, 1), {"cannot be launched"});
    assert_caught(launch<add_one>(1, 32, 1 << 20, nullptr, x.data, 1), {"1048576 bytes of shared memory"});
    assert_caught(launch<add_one>(1, 32, 0, nullptr, host, 1), {"pointer argument 0 is not device memory"});
    assert_caught(cudaMemcpyAsync(x.data, host, sizeof host + 4, cudaMemcpyHostToDevice, nullptr),
                  {"516 bytes", "outside"});
    assert_caught(cudaMemcpyAsync(host, host, 4, cudaMemcpyDeviceToHost, nullptr), {"outside"});
    assert_caught(cudaFree(host), {"not the start of an allocation"});
    void *p;
    assert_caught(cudaMalloc(&p, SIZE_MAX / 4), {"out of memory"});
    assert_null(p);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
}
} // namespace

int main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_kernels),
        cmocka_unit_test(wrong_kernels),
        cmocka_unit_test(wrong_calls),
    };
    return cmocka_run_group_tests_name("cuda_host", tests, nullptr, nullptr);
}

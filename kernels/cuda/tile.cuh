/* tile.cuh: the product of two matrices, a tile of 64 × 64 a block of 256 threads, 4 × 4 elements a thread. */
#ifndef MR_CUDA_TILE_H
#define MR_CUDA_TILE_H

#include "kernels/cuda/launch.cuh"

enum { tile_size = 64, tile_depth = 16, tile_threads = 256 };

static inline dim3 tile_grid(int64_t m, int64_t n, int64_t batches)
{
    auto tiles = [](int64_t size) { return (unsigned)((size + tile_size - 1) / tile_size); };
    return dim3(tiles(n), tiles(m), (unsigned)(batches < 65535 ? batches : 65535));
}

/* An operand is a set of lines, rows of the left matrix or columns of the right one; operand.line(i)(p) is its element
 * at depth p. Where `along` is true neighbours at depth are neighbours in memory, and neighbouring threads load them. A
 * tile has one element of padding a row, so that both ways of writing it stay off each other's banks. */
template <class C> using tile = shared_array<C, tile_depth, tile_size + 1>;

template <class C, class Operand>
static __device__ inline void tile_load(tile<C> &t, const Operand &operand, int64_t first, int64_t lines, int64_t p0,
                                        int64_t depth)
{
    const int e = (int)threadIdx.x;
    if (operand.along) {
        const int p = e % tile_depth;
        for (int i = e / tile_depth; i < tile_size; i += tile_threads / tile_depth)
            t[p][i] = first + i < lines && p0 + p < depth ? operand.line(first + i)(p0 + p) : C(0);
    } else {
        const int i = e % tile_size;
        const bool inside = first + i < lines;
        const auto line = operand.line(inside ? first + i : 0);
        for (int p = e / tile_size; p < tile_depth; p += tile_threads / tile_size)
            t[p][i] = inside && p0 + p < depth ? line(p0 + p) : C(0);
    }
}

/* out(row, column, Σ a.line(row)(p) · b.line(column)(p)) for the block's tile of an m × n result. Each slice of the
 * depth is summed by itself and then added, which keeps the error of long sums in f32 small. */
template <class C, class A, class B, class Out>
static __device__ inline void tile_product(int64_t m, int64_t n, int64_t depth, const A &a, const B &b, const Out &out)
{
    __shared__ tile<C> left;
    __shared__ tile<C> right;
    const int64_t row = (int64_t)blockIdx.y * tile_size, column = (int64_t)blockIdx.x * tile_size;
    const int ty = (int)threadIdx.x / 16, tx = (int)threadIdx.x % 16; /* rows ty + 16 i, columns tx + 16 j */
    C sum[4][4] = {};

    for (int64_t p0 = 0; p0 < depth; p0 += tile_depth) {
        tile_load(left, a, row, m, p0, depth);
        tile_load(right, b, column, n, p0, depth);
        __syncthreads();
        C slice[4][4] = {};
        for (int p = 0; p < tile_depth; p++) {
            C x[4], y[4];
            for (int i = 0; i < 4; i++) x[i] = left[p][ty + 16 * i];
            for (int j = 0; j < 4; j++) y[j] = right[p][tx + 16 * j];
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) slice[i][j] += x[i] * y[j];
        }
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) sum[i][j] += slice[i][j];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            if (row + ty + 16 * i < m && column + tx + 16 * j < n)
                out(row + ty + 16 * i, column + tx + 16 * j, sum[i][j]);
}

#endif

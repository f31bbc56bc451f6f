/* copy.cu: moves elements between two layouts of one index space. */
#include "kernels/cuda/fill.cuh"
#include "kernels/cuda/scalar.cuh"
#include "kernels/cuda/walk.cuh"

namespace
{
/* w: y, x */
template <class T> __global__ void copy(const T *x, T *y, int64_t n, walk<2> w)
{
    for (int64_t i = first_index(); i < n; i += index_step()) {
        offsets<2> o = locate(w, i);
        y[o.at[0]] = x[o.at[1]];
    }
}

/* Transposes matrices: y has its columns, x its rows as neighbours in memory. A tile of 32 × 32 goes through shared
 * memory, so that both are touched in rows; one more column keeps the threads of a warp on different banks. */
template <class T>
__global__ void transpose(const T *x, T *y, int64_t rows, int64_t columns, int64_t x_column, int64_t y_row,
                          walk<2> outer)
{
    __shared__ shared_array<T, 32, 33> tile;
    offsets<2> o = locate(outer, blockIdx.z);
    int64_t row = (int64_t)blockIdx.y * 32, column = (int64_t)blockIdx.x * 32;
    for (int i = (int)threadIdx.y; i < 32; i += 8)
        if (column + i < columns && row + threadIdx.x < rows)
            tile[i][threadIdx.x] = x[o.at[1] + (column + i) * x_column + row + threadIdx.x];
    __syncthreads();
    for (int i = (int)threadIdx.y; i < 32; i += 8)
        if (row + i < rows && column + threadIdx.x < columns)
            y[o.at[0] + (row + i) * y_row + column + threadIdx.x] = tile[threadIdx.x][i];
}

/* The dim that lies dense in x while dim 0 is dense in y: the two make a matrix to transpose. -1: there is none. */
int transposed_dim(const walk<2> &w)
{
    if (w.rank < 2 || w.stride[0][0] != 1 || w.dim[0] < 16) return -1;
    for (int d = 1; d < w.rank; d++)
        if (w.stride[1][d] == 1 && w.dim[d] >= 16) return d;
    return -1;
}

template <class T> struct launch_copy {
    static int of(mr_stream s, const mr_copy_args *a)
    {
        const mr_box *box = a->box;
        const T *x = (const T *)a->x;
        T *y = (T *)a->y;
        walk<2> w = {};
        for (int d = box->rank - 1; d >= 0; d--) walk_add(w, box->dims[d], {box->ys[d], box->xs[d]});
        int64_t n = walk_count(w);
        if (n == 0) return cudaSuccess;
        cudaStream_t stream = (cudaStream_t)s;
        bool dense = w.rank == 0 || (w.rank == 1 && w.stride[0][0] == 1 && w.stride[1][0] == 1);
        if (dense) return cudaMemcpyAsync(y, x, (size_t)n * sizeof(T), cudaMemcpyDeviceToDevice, stream);
        int r = transposed_dim(w);
        if (r < 0) return launch<copy<T>>(grid_for(n, 256), 256, 0, stream, x, y, n, w);

        walk<2> outer = {};
        for (int d = 1; d < w.rank; d++)
            if (d != r) walk_add(outer, w.dim[d], {w.stride[0][d], w.stride[1][d]});
        int64_t rows = w.dim[r], columns = w.dim[0], batches = n / rows / columns;
        if (batches > 65535 || rows > 65535 * 32) return launch<copy<T>>(grid_for(n, 256), 256, 0, stream, x, y, n, w);
        dim3 grid((unsigned)((columns + 31) / 32), (unsigned)((rows + 31) / 32), (unsigned)batches);
        return launch<transpose<T>>(grid, dim3(32, 8), 0, stream, x, y, rows, columns, w.stride[1][0], w.stride[0][r],
                                    outer);
    }
};
} // namespace

void mr_cuda_fill_copy(mr_cuda_fns *f)
{
    fill_sizes<launch_copy>(f->copy);
}

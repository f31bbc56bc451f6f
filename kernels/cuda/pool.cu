/* pool.cu: pooling over one to three axes, a thread an output. */
#include "kernels/cuda/fill.cuh"
#include "kernels/cuda/scalar.cuh"
#include "kernels/cuda/window.cuh"

#include <limits>
#include <math.h>

namespace
{
template <class T> struct pool_arguments {
    const T *x;
    T *y;
    int64_t *indices;
    int64_t planes, plane; /* plane: elements of x in one */
    int64_t index_step[3]; /* of an index within a plane */
    int64_t pad_end[3];
    bool count_pads;
    double p;
    window view;
};

/* NaN wins, the first of equals stays; an empty window gives the lowest value, index -1. */
template <class T> __global__ void max_pool(pool_arguments<T> a, T lowest)
{
    const window &v = a.view;
    for (int64_t i = first_index(); i < a.planes * v.n_out; i += index_step()) {
        place o = place_of(i % v.n_out, v.out);
        const T *x = a.x + i / v.n_out * a.plane;
        int64_t best_at = -1;
        T best = lowest;
        for (int64_t t = 0; t < v.n_taps; t++) {
            int64_t at = tap_offset(v, o, place_of(t, v.taps));
            if (at < 0) continue;
            auto value = load(x[at]), least = load(best);
            if (best_at < 0 || value > least || (value != value && least == least)) best = x[at], best_at = at;
        }
        a.y[i] = best;
        if (a.indices)
            a.indices[i] = best_at < 0 ? -1 : i / v.n_out * a.plane + offset_of(place_of(best_at, v.in), a.index_step);
    }
}

/* Taps that the divisor counts: those in x, or in x and its padding. */
template <class T> __device__ bool counts(const pool_arguments<T> &a, place o, place tap)
{
    const window &v = a.view;
    for (int d = 0; d < 3; d++) {
        int64_t at = v.offset[d] + o.at[d] * v.stride[d] + tap.at[d] * v.dilation[d];
        if (at < (a.count_pads ? v.offset[d] : 0) || at >= v.in[d] + (a.count_pads ? a.pad_end[d] : 0)) return false;
    }
    return true;
}

template <class T> __global__ void average_pool(pool_arguments<T> a)
{
    const window &v = a.view;
    for (int64_t i = first_index(); i < a.planes * v.n_out; i += index_step()) {
        place o = place_of(i % v.n_out, v.out);
        const T *x = a.x + i / v.n_out * a.plane;
        double sum = 0;
        int64_t counted = 0;
        for (int64_t t = 0; t < v.n_taps; t++) {
            place tap = place_of(t, v.taps);
            int64_t at = tap_offset(v, o, tap);
            if (at >= 0) sum += load(x[at]);
            counted += counts(a, o, tap);
        }
        a.y[i] = store<T>(sum / (double)counted);
    }
}

template <class T> __global__ void lp_pool(pool_arguments<T> a)
{
    const window &v = a.view;
    for (int64_t i = first_index(); i < a.planes * v.n_out; i += index_step()) {
        place o = place_of(i % v.n_out, v.out);
        const T *x = a.x + i / v.n_out * a.plane;
        double sum = 0;
        for (int64_t t = 0; t < v.n_taps; t++) {
            int64_t at = tap_offset(v, o, place_of(t, v.taps));
            if (at >= 0) sum += pow(fabs((double)load(x[at])), a.p);
        }
        a.y[i] = store<T>(pow(sum, 1 / a.p));
    }
}

template <class T> T lowest_of()
{
    return std::numeric_limits<T>::lowest();
}
template <> float lowest_of()
{
    return -INFINITY;
}
template <> double lowest_of()
{
    return -INFINITY;
}
template <> mr_f16 lowest_of()
{
    return {0xfc00};
}
template <> mr_bf16 lowest_of()
{
    return {0xff80};
}

template <class T> pool_arguments<T> arguments_of(const mr_pool_args *given)
{
    pool_arguments<T> a = {};
    int64_t step[MR_POOL_RANK];
    a.x = (const T *)given->x, a.y = (T *)given->y, a.indices = given->indices;
    a.planes = given->planes, a.plane = 1;
    for (int d = given->rank - 1; d >= 0; d--) step[d] = a.plane, a.plane *= given->axis[d].in;
    a.count_pads = given->count_pads, a.p = given->p;
    a.view = make_window(given->rank, [&](window &w, int d, int from) {
        const mr_pool_axis *x = given->axis + from;
        w.in[d] = x->in, w.out[d] = x->out, w.taps[d] = x->taps;
        w.offset[d] = -x->pad, w.stride[d] = x->stride, w.dilation[d] = x->dilation;
        w.x_step[d] = step[from];
        a.pad_end[d] = x->pad_end;
    });
    const int64_t *in = a.view.in;
    for (int d = 0; d < 3; d++) a.index_step[d] = a.view.x_step[d];
    if (given->column_major) a.index_step[0] = 1, a.index_step[1] = in[0], a.index_step[2] = in[0] * in[1];
    return a;
}

template <class T> struct max_of {
    static int of(mr_stream s, const mr_pool_args *given)
    {
        const pool_arguments<T> a = arguments_of<T>(given);
        int64_t n = a.planes * a.view.n_out;
        if (n == 0) return cudaSuccess;
        return launch<max_pool<T>>(grid_for(n, 128), 128, 0, (cudaStream_t)s, a, lowest_of<T>());
    }
};

template <auto Kernel, class T> int launch_sum(mr_stream s, const mr_pool_args *given)
{
    const pool_arguments<T> a = arguments_of<T>(given);
    int64_t n = a.planes * a.view.n_out;
    if (n == 0) return cudaSuccess;
    return launch<Kernel>(grid_for(n, 128), 128, 0, (cudaStream_t)s, a);
}

template <class T> struct average_of {
    static int of(mr_stream s, const mr_pool_args *a) { return launch_sum<average_pool<T>, T>(s, a); }
};
template <class T> struct lp_of {
    static int of(mr_stream s, const mr_pool_args *a) { return launch_sum<lp_pool<T>, T>(s, a); }
};
} // namespace

void mr_cuda_fill_pool(mr_cuda_fns *f)
{
    fill<max_of>(f->max_pool, floats());
    fill<max_of>(f->max_pool, types<int8_t, uint8_t>());
    fill<average_of>(f->average_pool, floats());
    fill<lp_of>(f->lp_pool, floats());
}

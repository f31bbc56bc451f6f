/* conv.cu: convolutions over one to three axes. What the windows see are the columns of a matrix that is never written
 * down: its product with the weights is the convolution. Where a group has few outputs, as in depthwise convolution, a
 * thread computes an output by itself. */
#include "kernels/cuda/fill.cuh"
#include "kernels/cuda/scalar.cuh"
#include "kernels/cuda/tile.cuh"
#include "kernels/cuda/window.cuh"

namespace
{
template <class T> struct conv_arguments {
    const T *x, *w, *bias;
    T *y;
    int64_t batch, groups, channels, maps; /* channels and maps: of one group */
    int64_t x_channel, y_map;
    int64_t w_map, w_channel, w_group;
    bool w_dense; /* the weights of a map lie in the order of depth */
    window view;
};

/* Line i: the weights of map i of the group; depth runs over channels and taps. */
template <class T> struct weights {
    const conv_arguments<T> &a;
    const T *data;
    bool along;

    struct one_line {
        const conv_arguments<T> &a;
        const T *data;
        __device__ compute<T> operator()(int64_t p) const
        {
            if (a.w_dense) return load(data[p]);
            quotient q = divided(p, a.view.n_taps); /* channel, tap */
            return load(data[q.whole * a.w_channel + offset_of(place_of(q.rest, a.view.taps), a.view.w_step)]);
        }
    };
    __device__ one_line line(int64_t i) const { return {a, data + i * a.w_map}; }
};

/* Line i: what the window sees at output i, counted over the whole batch. */
template <class T> struct images {
    const conv_arguments<T> &a;
    int64_t first_channel;
    static const bool along = false;

    struct one_line {
        const conv_arguments<T> &a;
        const T *x; /* the group's first channel in the image */
        place output;
        __device__ compute<T> operator()(int64_t p) const
        {
            quotient q = divided(p, a.view.n_taps); /* channel, tap */
            int64_t offset = tap_offset(a.view, output, place_of(q.rest, a.view.taps));
            return offset < 0 ? compute<T>(0) : load(x[q.whole * a.x_channel + offset]);
        }
    };
    __device__ one_line line(int64_t i) const
    {
        quotient q = divided(i, a.view.n_out); /* image, output */
        const T *x = a.x + (q.whole * a.groups * a.channels + first_channel) * a.x_channel;
        return {a, x, place_of(q.rest, a.view.out)};
    }
};

template <class T> __device__ T *output_of(const conv_arguments<T> &a, int64_t image, int64_t map, place o)
{
    return a.y + (image * a.groups * a.maps + map) * a.y_map + offset_of(o, a.view.y_step);
}

template <class T> __global__ void __launch_bounds__(tile_threads) conv_tile(conv_arguments<T> a)
{
    using C = compute<T>;
    for (int64_t g = blockIdx.z; g < a.groups; g += gridDim.z) {
        weights<T> left = {a, a.w + g * a.w_group, a.w_dense};
        images<T> right = {a, g * a.channels};
        tile_product<C>(a.maps, a.batch * a.view.n_out, a.channels * a.view.n_taps, left, right,
                        [&](int64_t i, int64_t j, C sum) {
                            int64_t map = g * a.maps + i;
                            quotient q = divided(j, a.view.n_out); /* image, output */
                            if (a.bias) sum += load(a.bias[map]);
                            *output_of(a, q.whole, map, place_of(q.rest, a.view.out)) = store<T>(sum);
                        });
    }
}

/* Sums the taps of each channel, then the channels. */
template <class T> __global__ void conv_direct(conv_arguments<T> a, int64_t n)
{
    using C = compute<T>;
    const window &v = a.view;
    for (int64_t i = first_index(); i < n; i += index_step()) {
        int64_t plane = i / v.n_out, image = plane / (a.groups * a.maps), map = plane % (a.groups * a.maps);
        int64_t group = map / a.maps;
        place o = place_of(i % v.n_out, v.out);
        const T *x = a.x + (image * a.groups + group) * a.channels * a.x_channel;
        const T *w = a.w + group * a.w_group + map % a.maps * a.w_map;
        C sum = 0;
        for (int64_t c = 0; c < a.channels; c++, x += a.x_channel, w += a.w_channel) {
            C slice = 0;
            for (int64_t t = 0; t < v.n_taps; t++) {
                place tap = place_of(t, v.taps);
                int64_t offset = tap_offset(v, o, tap);
                if (offset >= 0) slice += load(x[offset]) * load(w[offset_of(tap, v.w_step)]);
            }
            sum += slice;
        }
        *output_of(a, image, map, o) = store<T>(a.bias ? sum + load(a.bias[map]) : sum);
    }
}

bool in_order_of_depth(const mr_conv_args *a)
{
    int64_t step = 1;
    for (int d = a->rank - 1; d >= 0; d--) {
        if (a->axis[d].taps > 1 && a->axis[d].w_step != step) return false;
        step *= a->axis[d].taps;
    }
    return a->channels == 1 || a->w_channel == step;
}

template <class T> conv_arguments<T> arguments_of(const mr_conv_args *v)
{
    conv_arguments<T> a = {};
    a.x = (const T *)v->x, a.w = (const T *)v->w + v->w_first, a.bias = (const T *)v->b;
    a.y = (T *)v->y + v->y_first;
    a.batch = v->batch, a.groups = v->groups, a.channels = v->channels, a.maps = v->maps;
    a.x_channel = v->x_channel, a.y_map = v->y_map;
    a.w_map = v->w_map, a.w_channel = v->w_channel, a.w_group = v->w_group;
    a.w_dense = in_order_of_depth(v);
    a.view = make_window(v->rank, [v](window &w, int d, int from) {
        const mr_conv_axis *x = v->axis + from;
        w.in[d] = x->in, w.out[d] = x->out, w.taps[d] = x->taps;
        w.offset[d] = x->offset, w.stride[d] = x->stride, w.dilation[d] = x->dilation;
        w.x_step[d] = x->x_step, w.w_step[d] = x->w_step, w.y_step[d] = x->y_step;
    });
    return a;
}

template <class T> struct launch_conv {
    static int of(mr_stream s, const mr_conv_args *v)
    {
        const conv_arguments<T> a = arguments_of<T>(v);
        int64_t n = a.batch * a.groups * a.maps * a.view.n_out;
        if (n == 0) return cudaSuccess;
        if (a.maps < 16) return launch<conv_direct<T>>(grid_for(n, 128), 128, 0, (cudaStream_t)s, a, n);
        return launch<conv_tile<T>>(tile_grid(a.maps, a.batch * a.view.n_out, a.groups), tile_threads, 0,
                                    (cudaStream_t)s, a);
    }
};
} // namespace

void mr_cuda_fill_conv(mr_cuda_fns *f)
{
    fill<launch_conv>(f->conv, floats());
}

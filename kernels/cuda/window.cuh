/* window.cuh: windows that slide over up to three axes; fewer get axes of extent 1 in front. */
#ifndef MR_CUDA_WINDOW_H
#define MR_CUDA_WINDOW_H

#include "kernels/cuda/launch.cuh"

/* Tap t of the window at output o sees index offset + o · stride + t · dilation of the input. */
struct window {
    int64_t in[3], out[3], taps[3];
    int64_t offset[3], stride[3], dilation[3];
    int64_t x_step[3], w_step[3], y_step[3]; /* elements from index to index, tap to tap, output to output */
    int64_t n_taps, n_out;
};

/* set(axis of the window, axis that was given) fills in everything but the products, for each of `rank` axes. */
template <class Set> static inline window make_window(int rank, Set set)
{
    window w = {};
    for (int d = 0; d < 3; d++) {
        w.in[d] = w.out[d] = w.taps[d] = w.stride[d] = w.dilation[d] = 1;
        if (d >= 3 - rank) set(w, d, d - (3 - rank));
    }
    w.n_taps = w.taps[0] * w.taps[1] * w.taps[2];
    w.n_out = w.out[0] * w.out[1] * w.out[2];
    return w;
}

/* A place in a grid of three axes. */
struct place {
    int64_t at[3];
};

static __device__ inline place place_of(int64_t i, const int64_t (&dims)[3])
{
    quotient last = divided(i, dims[2]), middle = divided(last.whole, dims[1]);
    return {{middle.whole, middle.rest, last.rest}};
}

static __device__ inline int64_t offset_of(place p, const int64_t (&step)[3])
{
    return p.at[0] * step[0] + p.at[1] * step[1] + p.at[2] * step[2];
}

/* Where in a channel of the input a tap of the window at output `o` lies; -1: outside. */
static __device__ inline int64_t tap_offset(const window &w, place o, place tap)
{
    place p;
    for (int d = 0; d < 3; d++) {
        p.at[d] = w.offset[d] + o.at[d] * w.stride[d] + tap.at[d] * w.dilation[d];
        if (p.at[d] < 0 || p.at[d] >= w.in[d]) return -1;
    }
    return offset_of(p, w.x_step);
}

#endif

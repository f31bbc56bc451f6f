/* walk.cuh: where element i of an index space lies in each of N operands that have strides of their own. */
#ifndef MR_CUDA_WALK_H
#define MR_CUDA_WALK_H

#include "kernels/cuda/launch.cuh"

template <int N> struct walk {
    int rank;
    int64_t dim[MR_MAX_RANK]; /* the innermost first */
    int64_t stride[N][MR_MAX_RANK];
};

template <int N> struct offsets {
    int64_t at[N];
};

template <int N> static __device__ inline offsets<N> locate(const walk<N> &w, int64_t i)
{
    offsets<N> o = {};
    MR_ROLLED /* most walks have few dims, and division is long code */
        for (int d = 0; d < w.rank; d++)
    {
        quotient q = d + 1 < w.rank ? divided(i, w.dim[d]) : quotient{0, i};
        for (int k = 0; k < N; k++) o.at[k] += q.rest * w.stride[k][d];
        i = q.whole;
    }
    return o;
}

/* Adds a dim outside of those that the walk has, merged with the last one where all operands allow it. */
template <int N> static inline void walk_add(walk<N> &w, int64_t dim, const int64_t (&stride)[N])
{
    if (dim == 1) return;
    bool merge = w.rank > 0;
    for (int k = 0; k < N && merge; k++) merge = stride[k] == w.stride[k][w.rank - 1] * w.dim[w.rank - 1];
    if (merge) {
        w.dim[w.rank - 1] *= dim;
        return;
    }
    w.dim[w.rank] = dim;
    for (int k = 0; k < N; k++) w.stride[k][w.rank] = stride[k];
    w.rank++;
}

/* The operands of an elementwise job: the output first, then the N - 1 inputs. */
template <int N> static inline walk<N> walk_of(const mr_elementwise *job)
{
    walk<N> w = {};
    for (int d = job->rank - 1; d >= 0; d--) {
        int64_t stride[N] = {job->out.strides[d]};
        for (int k = 1; k < N; k++) stride[k] = job->in[k - 1].strides[d];
        walk_add(w, job->dims[d], stride);
    }
    return w;
}

template <int N> static inline int64_t walk_count(const walk<N> &w)
{
    int64_t n = 1;
    for (int d = 0; d < w.rank; d++) n *= w.dim[d];
    return n;
}

#endif

/* conv_source.h: how fast convolutions see x: each axis cut to what the taps reach, zeros where that is outside of x,
 * and the last axis split by its stride, so that neighbouring outputs read neighbouring elements under every tap.
 *
 * Where nothing is cut, padded or split, x itself is such a source. */
#ifndef MR_KERNELS_CPU_CONV_SOURCE_H
#define MR_KERNELS_CPU_CONV_SOURCE_H

#include "kernels/cpu/conv.h"

typedef struct mr_conv_source {
    bool direct;
    int64_t low[MR_CONV_RANK], length[MR_CONV_RANK]; /* of each axis, in indices of x; low may be negative */
    int64_t step[MR_CONV_RANK];                      /* elements from index to index; not of the last axis */
    int64_t phases, phase_step; /* last axis: index low + q is at q % phases · phase_step + q / phases */
    int64_t channel;            /* elements of one channel */
    bool sparse[MR_CONV_RANK];  /* but the last axis: some of its indices are read under no tap, and not copied */
    float pad;                  /* what stands outside of x */
    uint8_t flip;               /* bits of bytes to be flipped */
    int32_t zero;               /* taken away from flipped bytes when they become floats */
} mr_conv_source;

/* The source for a convolution. same_type: x has the type that is computed in, so that it may be the source itself. */
mr_conv_source mr_conv_source_of(const mr_conv_args *v, bool same_type);

/* Where output `pixel` begins to read, and how much further factor k is. */
int64_t mr_conv_source_at(const mr_conv_args *v, const mr_conv_source *s, int64_t pixel);
void mr_conv_source_taps(const mr_conv_args *v, const mr_conv_source *s, int64_t *offsets);

/* Whether any output reads index low + q of an axis under any tap: for sparse axes. */
bool mr_conv_source_used(const mr_conv_args *v, const mr_conv_source *s, int axis, int64_t q);

#endif

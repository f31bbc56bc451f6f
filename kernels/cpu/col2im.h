/* col2im.h: sliding blocks put back where they came from; where they overlap they add up. */
#ifndef MR_KERNELS_CPU_COL2IM_H
#define MR_KERNELS_CPU_COL2IM_H

#include "runtime/tensor.h"
#include "runtime/threads.h"

typedef struct mr_col2im_axis {
    int64_t image, block, blocks; /* extents: of the image, of a block, how many blocks along the axis */
    int64_t stride, dilation, pad;
} mr_col2im_axis;

/* x is [planes, block elements, blocks, components], y [planes, image…, components]; sums are taken in the order of the
 * elements of a block. components: 2 of complex numbers. */
typedef struct mr_col2im_args {
    const void *x;
    void *y;
    int64_t planes;
    int rank, components;
    mr_col2im_axis axis[MR_MAX_RANK];
    mr_pool *pool;
} mr_col2im_args;

typedef struct mr_col2im_fns {
    void (*col2im[MR_N_DTYPES])(const mr_col2im_args *); /* bool: or */
} mr_col2im_fns;

#endif

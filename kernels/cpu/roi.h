/* roi.h: regions of interest of a feature map, brought to one size. */
#ifndef MR_KERNELS_CPU_ROI_H
#define MR_KERNELS_CPU_ROI_H

#include "runtime/dtype.h"
#include "runtime/threads.h"

/* x is [batch, channels, height, width], y [n, channels, out_height, out_width]. rois are [n, 4]: x1, y1, x2, y2; align
 * takes each from the batch that its index says, max from that in front of the four. All finite, batches inside. */
typedef struct mr_roi_args {
    const void *x, *rois;
    const int64_t *batch;
    void *y;
    int64_t n, channels, height, width, out_height, out_width;
    double scale;
    /* align */
    int64_t samples; /* in a bin, along each axis; 0: as many as its extent in x, rounded up */
    bool half_pixel, max;
    mr_pool *pool;
} mr_roi_args;

typedef void mr_roi_fn(const mr_roi_args *a);

typedef struct mr_roi_fns {
    mr_roi_fn *align[MR_N_DTYPES];
    mr_roi_fn *max_pool[MR_N_DTYPES]; /* of an empty bin 0; NaN wins */
} mr_roi_fns;

/* Along one axis, what align makes of a roi: bins from start on, and samples in each. */
typedef struct mr_roi_axis {
    double start, bin;
    int64_t samples;
} mr_roi_axis;

static inline mr_roi_axis mr_roi_axis_of(const mr_roi_args *a, double from, double to, int64_t out)
{
    double start = from * a->scale - (a->half_pixel ? 0.5 : 0),
           length = to * a->scale - (a->half_pixel ? 0.5 : 0) - start;
    if (!a->half_pixel && length < 1) length = 1; /* malformed ones become 1 x 1 */
    double bin = length / (double)out, samples = bin < 0x1p31 ? bin > 0 ? __builtin_ceil(bin) : 0 : 0x1p31;
    return (mr_roi_axis){start, bin, a->samples > 0 ? a->samples : (int64_t)samples};
}

#endif

/* nms.h: non-maximum suppression of the boxes of one class. */
#ifndef MR_KERNELS_CPU_NMS_H
#define MR_KERNELS_CPU_NMS_H

#include "runtime/dtype.h"

typedef struct mr_nms_box {
    double x1, y1, x2, y2; /* x1 <= x2, y1 <= y2 */
} mr_nms_box;

/* A box is kept unless its score lies below the threshold, or it overlaps with one of a higher score that was kept by
 * more than iou_threshold: intersection over union, rounded to the boxes' type, so that what is equal there counts as
 * equal. Of equal scores the lower index comes first. */
typedef struct mr_nms_args {
    const mr_nms_box *boxes;
    const void *scores;
    int64_t n, most;
    double iou_threshold, score_threshold;
    bool by_score;  /* there is a score_threshold */
    int64_t *order; /* n of them, as room */
    int64_t *kept;  /* their indices, best first; min(n, most) of them */
} mr_nms_args;

typedef struct mr_nms_fns {
    int64_t (*nms[MR_N_DTYPES])(const mr_nms_args *); /* how many are kept */
} mr_nms_fns;

#endif

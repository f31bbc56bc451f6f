/* nms.c: non-maximum suppression, plain C. */
#include "kernels/cpu/nms.h"

#include "runtime/narrow.h"

/* 0 where either box is empty. */
static double intersection_over_union(const mr_nms_box *a, const mr_nms_box *b)
{
    double x1 = a->x1 > b->x1 ? a->x1 : b->x1, x2 = a->x2 < b->x2 ? a->x2 : b->x2;
    double y1 = a->y1 > b->y1 ? a->y1 : b->y1, y2 = a->y2 < b->y2 ? a->y2 : b->y2;
    if (!(x2 > x1) || !(y2 > y1)) return 0;
    double both = (x2 - x1) * (y2 - y1);
    double either = (a->x2 - a->x1) * (a->y2 - a->y1) + (b->x2 - b->x1) * (b->y2 - b->y1) - both;
    return either > 0 ? both / either : 0;
}

#define MR_BODY "kernels/cpu/nms.inc"
#include "kernels/cpu/each_float.h"

void mr_nms_fill_scalar(mr_nms_fns *f)
{
    *f = (mr_nms_fns){.nms = {[MR_F16] = nms_f16, [MR_BF16] = nms_bf16, [MR_F32] = nms_f32, [MR_F64] = nms_f64}};
}

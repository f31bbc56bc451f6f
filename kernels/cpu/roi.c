/* roi.c: the scalar level, which is also the reference. */
#include "kernels/cpu/roi.h"

#include <math.h>

#include "kernels/cpu/math.h"
#include "runtime/narrow.h"

enum {
    ROI_CHANNELS = 32, /* that share what is computed of a roi */
    ROI_KEPT = 128     /* samples along an axis whose taps are kept */
};

/* NaN wins. */
static inline double larger(double a, double b)
{
    return a != a || a > b ? a : b;
}

/* The two elements beside a place on an axis, and their weights. A place up to one element outside counts as the
 * border; beyond that it's 0. */
typedef struct roi_taps {
    int64_t low, high;
    double low_weight, high_weight; /* outside: 0 */
} roi_taps;

static roi_taps taps_at(double at, int64_t n)
{
    roi_taps t = {0};
    if (!(at >= -1 && at <= (double)n && n > 0)) return t;
    at = at < 0 ? 0 : at;
    t.low = (int64_t)at;
    if (t.low >= n - 1) at = (double)(t.low = n - 1);
    t.high = t.low < n - 1 ? t.low + 1 : t.low;
    t.high_weight = at - (double)t.low;
    t.low_weight = 1 - t.high_weight;
    return t;
}

/* The taps of all samples along an axis, where there aren't too many. */
typedef struct roi_kept {
    bool all;
    roi_taps taps[ROI_KEPT];
} roi_kept;

typedef struct roi_grid {
    mr_roi_axis h, w;
    roi_kept rows, cols;
} roi_grid;

static roi_taps sample_at(const mr_roi_axis *s, int64_t bin, int64_t i, int64_t extent)
{
    return taps_at(s->start + (double)bin * s->bin + ((double)i + 0.5) * s->bin / (double)s->samples, extent);
}

static inline roi_taps roi_taps_of(const roi_kept *k, const mr_roi_axis *s, int64_t bin, int64_t i, int64_t extent)
{
    return k->all ? k->taps[bin * s->samples + i] : sample_at(s, bin, i, extent);
}

static void keep(roi_kept *k, const mr_roi_axis *s, int64_t bins, int64_t extent)
{
    k->all = s->samples <= ROI_KEPT / bins;
    for (int64_t b = 0; k->all && b < bins; b++)
        for (int64_t i = 0; i < s->samples; i++) k->taps[b * s->samples + i] = sample_at(s, b, i, extent);
}

/* box: x1, y1, x2, y2 */
static void roi_grid_of(const mr_roi_args *a, const double *box, roi_grid *g)
{
    g->w = mr_roi_axis_of(a, box[0], box[2], a->out_width);
    g->h = mr_roi_axis_of(a, box[1], box[3], a->out_height);
    keep(&g->cols, &g->w, a->out_width, a->width);
    keep(&g->rows, &g->h, a->out_height, a->height);
}

/* The elements of bin i of n, of a roi whose ends are rounded to whole elements, both inside. */
typedef struct roi_bin {
    int64_t begin, end;
} roi_bin;

static int64_t whole(double v)
{
    const double far = 0x1p40; /* beyond any extent, and its products are still exact */
    v = round(v);
    return v > far ? (int64_t)far : v < -far ? -(int64_t)far : (int64_t)v;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static roi_bin bin_of(const mr_roi_args *a, double from, double to, int64_t i, int64_t n, int64_t extent)
{
    int64_t start = whole(from * a->scale), length = whole(to * a->scale) - start + 1;
    length = length < 1 ? 1 : length;
    roi_bin b = {start + floor_div(i * length, n), start - floor_div(-(i + 1) * length, n)};
    b.begin = b.begin < 0 ? 0 : b.begin > extent ? extent : b.begin;
    b.end = b.end < 0 ? 0 : b.end > extent ? extent : b.end;
    return b;
}

#define MR_BODY "kernels/cpu/roi.inc"
#include "kernels/cpu/each_float.h"

#define EACH_FLOAT(f) [MR_F16] = f##_f16, [MR_BF16] = f##_bf16, [MR_F32] = f##_f32, [MR_F64] = f##_f64

void mr_roi_fill_scalar(mr_roi_fns *f)
{
    *f = (mr_roi_fns){.align = {EACH_FLOAT(align)}, .max_pool = {EACH_FLOAT(max_pool)}};
}

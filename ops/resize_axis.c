/* resize_axis.c: where the elements of one axis of a resized tensor come from.
 *
 * x_original by the formulas of Resize's text, each brought to one division. Where the text has length_resized but
 * scales are given, align_corners takes the length before it was cut to whole elements, as the official data does. */
#include "ops/resize_axis.h"

#include <math.h>

double mr_resize_from(const mr_resize_rule *r, const mr_resize_axis_spec *a, int64_t i)
{
    const double x = (double)i, in = (double)a->in, out = (double)a->out, up = a->up, down = a->down;
    switch (r->coordinate) {
    case MR_PYTORCH_HALF_PIXEL:
        if (a->out <= 1) return 0;
        return ((2 * x + 1) * down - up) / (2 * up);
    case MR_ALIGN_CORNERS:
        return up * in == down ? 0 : x * (in - 1) * down / (up * in - down);
    case MR_ASYMMETRIC:
        return x * down / up;
    case MR_TF_HALF_PIXEL_FOR_NN:
        return (2 * x + 1) * down / (2 * up);
    case MR_TF_CROP_AND_RESIZE:
        if (a->out <= 1) return 0.5 * (a->start + a->end) * (in - 1);
        return (in - 1) * (a->start * (out - 1) + x * (a->end - a->start)) / (out - 1);
    case MR_HALF_PIXEL_SYMMETRIC:
        return (up * in - out * down + (2 * x + 1) * down - up) / (2 * up);
    default:
        return ((2 * x + 1) * down - up) / (2 * up);
    }
}

static double nearest(const mr_resize_rule *r, const mr_resize_axis_spec *a, double x)
{
    double down = floor(x), part = x - down;
    switch (r->nearest) {
    case MR_ROUND_PREFER_CEIL:
        return down + (part >= 0.5);
    case MR_NEAREST_FLOOR:
        return down;
    case MR_NEAREST_CEIL:
        return ceil(x);
    case MR_NEAREST_UP_OR_DOWN:
        return a->up < a->down ? ceil(x) : down;
    default:
        return down + (part > 0.5);
    }
}

/* tf_crop_and_resize has a constant there. */
static bool beyond(const mr_resize_rule *r, const mr_resize_axis_spec *a, double x)
{
    return r->coordinate == MR_TF_CROP_AND_RESIZE && !(x >= 0 && x <= (double)a->in - 1);
}

/* By how much the filter is stretched, as a factor on its argument. */
static double stretch(const mr_resize_rule *r, const mr_resize_axis_spec *a)
{
    return r->antialias && a->up < a->down ? a->up / a->down : 1;
}

bool mr_resize_is_same(const mr_resize_rule *r, const mr_resize_axis_spec *a)
{
    if (a->in != a->out || (r->mode != MR_RESIZE_NEAREST && stretch(r, a) != 1)) return false;
    for (int64_t i = 0; i < a->out; i++) {
        double x = mr_resize_from(r, a, i);
        if (beyond(r, a, x) || (r->mode == MR_RESIZE_NEAREST ? nearest(r, a, x) : x) != (double)i) return false;
    }
    return true;
}

/* The first tap, counted from the element at or below x: the filter is 0 beyond 1 (linear) or 2 (cubic). */
static int64_t first_tap(const mr_resize_rule *r, double s)
{
    return (int64_t)floor(-(r->mode == MR_RESIZE_CUBIC ? 2 : 1) / s) + 1;
}

int64_t mr_resize_taps(const mr_resize_rule *r, const mr_resize_axis_spec *a)
{
    return r->mode == MR_RESIZE_NEAREST ? 1 : 2 - 2 * first_tap(r, stretch(r, a));
}

static double filter(const mr_resize_rule *r, double x)
{
    const double a = r->cubic_coeff_a;
    x = fabs(x);
    if (r->mode == MR_RESIZE_LINEAR) return x < 1 ? 1 - x : 0;
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static int64_t clamp(double x, int64_t in)
{
    return x < 0 ? 0 : x > (double)in - 1 ? in - 1 : (int64_t)x;
}

static void divide(double *weight, int64_t n, double by)
{
    for (int64_t k = 0; k < n && by != 0; k++) weight[k] /= by;
}

/* The taps of the output element whose place is x. */
static void interpolate(const mr_resize_rule *r, const mr_resize_axis_spec *a, double x, int64_t n, int64_t *at,
                        double *weight)
{
    const double s = stretch(r, a), base = floor(x);
    const int64_t first = first_tap(r, s);
    double sum = 0, inside = 0;
    for (int64_t k = 0; k < n; k++) {
        double index = base + (double)(first + k);
        bool out = index < 0 || index > (double)a->in - 1;
        weight[k] = filter(r, ((double)(first + k) - (x - base)) * s);
        at[k] = clamp(index, a->in);
        sum += weight[k];
        if (out && r->exclude_outside) weight[k] = 0;
        inside += weight[k];
    }
    if (r->exclude_outside)
        divide(weight, n, inside);
    else if (r->antialias)
        divide(weight, n, sum);
}

bool mr_resize_table(const mr_resize_rule *r, const mr_resize_axis_spec *a, int64_t stride, int64_t *at, double *weight,
                     uint8_t *outside)
{
    const int64_t n = mr_resize_taps(r, a);
    bool any = false;
    for (int64_t i = 0; i < a->out; i++, at += n) {
        double x = mr_resize_from(r, a, i), last = (double)a->in - 1;
        outside[i] = beyond(r, a, x);
        if (r->mode == MR_RESIZE_NEAREST) {
            double k = nearest(r, a, x);
            outside[i] |= r->exclude_outside && !(k >= 0 && k <= last);
            *at = outside[i] ? 0 : clamp(k, a->in);
        } else {
            interpolate(r, a, outside[i] ? 0 : x, n, at, weight + i * n);
        }
        any |= outside[i];
        for (int64_t k = 0; k < n; k++) at[k] *= stride;
    }
    return any;
}

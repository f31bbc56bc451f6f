/* grid.c: the scalar level, which is also the reference. */
#include "kernels/cpu/grid.h"

#include <math.h>

#include "kernels/cpu/convert.h"
#include "kernels/cpu/math.h"
#include "kernels/cpu/wide.h"

enum { GRID_WIDTH = 64, GRID_TAPS = 4 };

/* The taps of one place along each axis: offsets in elements of a plane, -1: outside, where x is zero. */
typedef struct grid_taps {
    int n;
    int64_t at[MR_GRID_RANK][GRID_TAPS];
    double weight[MR_GRID_RANK][GRID_TAPS];
} grid_taps;

static double denormalize(double v, int64_t n, bool align_corners)
{
    return align_corners ? (v + 1) / 2 * (double)(n - 1) : ((v + 1) * (double)n - 1) / 2;
}

/* Back and forth between the borders, until inside. */
static double reflect(double v, double low, double high)
{
    const double range = high - low;
    if (!(range > 0)) return low;
    double beyond = v < low ? low - v : v - high;
    if (!(beyond < MR_INF)) return low;
    double turns = floor(beyond / range), rest = beyond - turns * range;
    bool back = fmod(turns, 2) != 0;
    return (v < low) != back ? low + rest : high - rest;
}

/* Where along an axis of n elements the coordinate v points, by the padding; zeros leaves it where it is. */
static double place_of(const mr_grid_args *a, double v, int64_t n)
{
    const double low = a->align_corners ? 0 : -0.5, high = low + (double)n - (a->align_corners ? 1 : 0);
    double x = denormalize(v, n, a->align_corners);
    if (a->mode == MR_GRID_NEAREST) x = rint(x);
    if (a->padding == MR_GRID_ZEROS || (x >= low && x <= high)) return x;
    if (a->padding == MR_GRID_REFLECTION) return reflect(x, low, high);
    return x > (double)n - 1 ? (double)n - 1 : 0;
}

/* Element k of an axis, by the padding. */
static int64_t element_at(const mr_grid_args *a, double k, int64_t n)
{
    if (k >= 0 && k <= (double)n - 1) return (int64_t)k;
    if (a->padding == MR_GRID_ZEROS || n == 0) return -1;
    if (a->padding == MR_GRID_BORDER) return k > 0 ? n - 1 : 0;
    double low = a->align_corners ? 0 : -0.5, high = low + (double)n - (a->align_corners ? 1 : 0);
    k = trunc(reflect(k, low, high));
    return k < 0 ? 0 : k > (double)n - 1 ? n - 1 : (int64_t)k;
}

/* Keys' cubic convolution with a = -3/4. */
static void cubic_weights(double x, double *w)
{
    const double a = -0.75, y = 1 - x;
    w[0] = ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a;
    w[1] = ((a + 2) * x - (a + 3)) * x * x + 1;
    w[2] = ((a + 2) * y - (a + 3)) * y * y + 1;
    w[3] = ((a * (y + 1) - 5 * a) * (y + 1) + 8 * a) * (y + 1) - 4 * a;
}

static void axis_taps(const mr_grid_args *a, double x, int64_t n, int64_t stride, int64_t *at, double *weight)
{
    const double base = floor(x), part = x - base;
    weight[0] = 1;
    if (a->mode == MR_GRID_LINEAR)
        weight[0] = 1 - part, weight[1] = part;
    else if (a->mode == MR_GRID_CUBIC)
        cubic_weights(part, weight);
    const int taps = a->mode == MR_GRID_NEAREST ? 1 : a->mode == MR_GRID_LINEAR ? 2 : 4;
    for (int k = 0; k < taps; k++) {
        int64_t i = element_at(a, base + (a->mode == MR_GRID_CUBIC ? k - 1 : k), n);
        at[k] = i < 0 ? -1 : i * stride;
    }
}

static void grid_taps_of(const mr_grid_args *a, int64_t place, grid_taps *t)
{
    double v[MR_TILE];
    const int64_t size = (int64_t)mr_dtype_size(a->grid_type);
    mr_wide_load_f64(a->grid_type, (const char *)a->grid + place * a->rank * size, a->rank, v);
    t->n = a->mode == MR_GRID_NEAREST ? 1 : a->mode == MR_GRID_LINEAR ? 2 : 4;
    int64_t stride = 1;
    for (int d = a->rank - 1; d >= 0; stride *= a->dims[d], d--)
        axis_taps(a, place_of(a, v[a->rank - 1 - d], a->dims[d]), a->dims[d], stride, t->at[d], t->weight[d]);
}

/* Offset in a plane and weight of one choice of taps; -1: zero. */
static int64_t grid_tap(const grid_taps *t, int rank, const int *tap, double *weight)
{
    int64_t at = 0;
    *weight = 1;
    for (int d = 0; d < rank; d++) {
        if (t->at[d][tap[d]] < 0) return -1;
        at += t->at[d][tap[d]];
        *weight *= t->weight[d][tap[d]];
    }
    return at;
}

static bool grid_next(const grid_taps *t, int rank, int *tap)
{
    for (int d = rank - 1; d >= 0; d--) {
        if (++tap[d] < t->n) return true;
        tap[d] = 0;
    }
    return false;
}

#define MR_BODY "kernels/cpu/grid_nearest.inc"
#include "kernels/cpu/each_size.h"

#define GET(v)  LD(v)
#define PUT(v)  ST(mr_canonical(v))
#define MR_BODY "kernels/cpu/grid.inc"
#include "kernels/cpu/each_float.h"
#undef GET
#undef PUT

#define GET(v)  (v)
#define PUT(v)  ((S)mr_int_from_f64(v))
#define MR_BODY "kernels/cpu/grid.inc"
#include "kernels/cpu/each_int.h"
#undef PUT
#define PUT(v)  ((v) != 0)
#define S       uint8_t
#define NAME(f) f##_bool8
#include "kernels/cpu/grid.inc"
#undef S
#undef NAME
#undef GET
#undef PUT

/* ---- the grid of an affine map ---- */

/* The middle (align_corners: the corner) of element i of n, from -1 to 1; of a single corner, 0. */
static double regular(int64_t i, int64_t n, bool align_corners)
{
    if (align_corners) return n > 1 ? (double)(2 * i - (n - 1)) / (double)(n - 1) : 0;
    return (double)(2 * i + 1 - n) / (double)n;
}

static void affine(const mr_affine_grid_args *a)
{
    const int64_t places = mr_dims_product(a->dims, 0, a->rank), size = (int64_t)mr_dtype_size(a->type);
    for (int64_t b = 0; b < a->batch; b++) {
        double theta[12];
        const int64_t n = a->rank * (a->rank + 1);
        mr_wide_load_f64(a->type, (const char *)a->theta + b * n * size, n, theta);
        for (int64_t i = 0; i < places; i++) {
            double at[4];
            int64_t rest = i;
            mr_wide y;
            for (int d = a->rank - 1; d >= 0; rest /= a->dims[d], d--)
                at[a->rank - 1 - d] = regular(rest % a->dims[d], a->dims[d], a->align_corners);
            at[a->rank] = 1;
            for (int r = 0; r < a->rank; r++) {
                y.f[r] = 0;
                for (int k = 0; k <= a->rank; k++) y.f[r] += theta[r * (a->rank + 1) + k] * at[k];
                y.f[r] = mr_canonical(y.f[r]);
            }
            mr_wide_store(MR_WIDE_F64, &y, a->rank, a->type, (char *)a->grid + (b * places + i) * a->rank * size,
                          (mr_wide_rule){0});
        }
    }
}

#define EACH_FLOAT(f) [MR_F16] = f##_f16, [MR_BF16] = f##_bf16, [MR_F32] = f##_f32, [MR_F64] = f##_f64
#define EACH(f)                                                                                                        \
    EACH_FLOAT(f), [MR_U8] = f##_u8, [MR_I8] = f##_i8, [MR_U16] = f##_u16, [MR_I16] = f##_i16, [MR_U32] = f##_u32,     \
                   [MR_I32] = f##_i32, [MR_U64] = f##_u64, [MR_I64] = f##_i64, [MR_BOOL] = f##_bool8

void mr_grid_fill_scalar(mr_grid_fns *f)
{
    *f = (mr_grid_fns){
        .nearest = {nearest_1, nearest_2, nearest_4, nearest_8, nearest_16},
        .interpolate = {EACH(interpolate)},
        .affine = {[MR_F16] = affine, [MR_BF16] = affine, [MR_F32] = affine, [MR_F64] = affine},
    };
}

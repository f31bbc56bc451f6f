/* norm.c: the scalar level, which is also the reference. */
#include "kernels/cpu/norm.h"

#include <math.h>

#include "kernels/cpu/math.h"
#include "kernels/cpu/sizes.h"
#include "kernels/cpu/wide.h"

enum { NORM_WIDTH = MR_TILE };

typedef struct lrn_job {
    const mr_lrn_args *a;
    int64_t blocks; /* of inner */
} lrn_job;

typedef struct lp_job {
    const mr_lp_norm_args *a;
    int64_t blocks; /* of inner */
} lp_job;

#define MR_BODY "kernels/cpu/norm.inc"
#include "kernels/cpu/each_float.h"

static const void *element(const void *x, mr_dtype d, int64_t i)
{
    return (const char *)x + i * (int64_t)mr_dtype_size(d);
}

static void store(mr_wide *w, int64_t n, mr_dtype d, void *y, int64_t at)
{
    for (int64_t i = 0; i < n; i++) w->f[i] = mr_canonical(w->f[i]);
    mr_wide_store(MR_WIDE_F64, w, n, d, (char *)y + at * (int64_t)mr_dtype_size(d), (mr_wide_rule){0});
}

/* ---- by given moments ---- */

typedef struct affine_job {
    const mr_affine_args *a;
    mr_box box;
    int64_t parts; /* tiles of the last dimension */
} affine_job;

static void affine_tiles(void *p, int64_t begin, int64_t end)
{
    const affine_job *j = p;
    const mr_affine_args *a = j->a;
    const int last = j->box.rank - 1;
    const int64_t n = j->box.dims[last], gs = j->box.ys[last];
    mr_wide w;
    for (; begin < end; begin++) {
        mr_walk at = mr_walk_from(&j->box, last, begin / j->parts);
        int64_t first = begin % j->parts * MR_TILE, left = n - first < MR_TILE ? n - first : MR_TILE;
        int64_t g = at.y + first * gs;
        const double *mean = a->mean + g, *scale = a->scale + g, *bias = a->bias + g;
        mr_wide_load_f64(a->type, element(a->x, a->type, at.x + first), left, w.f);
        for (int64_t i = 0; i < left; i++) w.f[i] = (w.f[i] - mean[i * gs]) * scale[i * gs] + bias[i * gs];
        store(&w, left, a->type, a->y, at.x + first);
    }
}

static void affine_wide(const mr_affine_args *a)
{
    affine_job j = {.a = a, .box = *a->box};
    mr_box_simplify(&j.box);
    int last = j.box.rank - 1;
    j.parts = (j.box.dims[last] + MR_TILE - 1) / MR_TILE;
    int64_t tile = j.box.dims[last] < MR_TILE ? j.box.dims[last] : MR_TILE;
    mr_parallel_for(a->pool, mr_box_count(&j.box, last) * j.parts, mr_grain(tile * 8), affine_tiles, &j);
}

/* ---- row by row ---- */

static double row_sum(const mr_rows_args *a, int64_t row, double mean, bool squares)
{
    double w[MR_TILE], sum = 0;
    for (int64_t p = 0; p < a->cols; p += MR_TILE) {
        int64_t n = a->cols - p < MR_TILE ? a->cols - p : MR_TILE;
        mr_wide_load_f64(a->x_type, element(a->x, a->x_type, row * a->cols + p), n, w);
        for (int64_t i = 0; i < n && squares; i++) w[i] = (w[i] - mean) * (w[i] - mean);
        for (int64_t i = 0; i < n; i++) sum += w[i];
    }
    return sum;
}

/* The scales or biases of n elements of a row from p on. */
static void row_factors(const mr_rows_args *a, const void *from, int64_t row, int64_t p, int64_t n, double *w)
{
    int64_t base = row % a->period * a->step;
    if (a->each == 1) {
        mr_wide_load_f64(a->y_type, element(from, a->y_type, base + p), n, w);
        return;
    }
    for (int64_t i = 0; i < n;) {
        int64_t k = (p + i) / a->each, end = (k + 1) * a->each - p;
        double v;
        mr_wide_load_f64(a->y_type, element(from, a->y_type, base + k), 1, &v);
        for (end = end < n ? end : n; i < end; i++) w[i] = v;
    }
}

static void row_write(const mr_rows_args *a, int64_t row, double mean, double inv)
{
    mr_wide w;
    double factor[MR_TILE];
    for (int64_t p = 0; p < a->cols; p += MR_TILE) {
        int64_t n = a->cols - p < MR_TILE ? a->cols - p : MR_TILE;
        mr_wide_load_f64(a->x_type, element(a->x, a->x_type, row * a->cols + p), n, w.f);
        for (int64_t i = 0; i < n; i++) w.f[i] = (w.f[i] - mean) * inv;
        if (a->scale) row_factors(a, a->scale, row, p, n, factor);
        for (int64_t i = 0; i < n && a->scale; i++) w.f[i] *= factor[i];
        if (a->bias) row_factors(a, a->bias, row, p, n, factor);
        for (int64_t i = 0; i < n && a->bias; i++) w.f[i] += factor[i];
        store(&w, n, a->y_type, a->y, row * a->cols + p);
    }
}

static void rows_range(void *p, int64_t begin, int64_t end)
{
    const mr_rows_args *a = p;
    for (; begin < end; begin++) {
        double n = (double)a->cols, mean = a->center ? row_sum(a, begin, 0, false) / n : 0;
        mr_wide inv = {.f = {1 / sqrt(row_sum(a, begin, mean, true) / n + a->epsilon)}}, saved = {.f = {mean}};
        row_write(a, begin, mean, inv.f[0]);
        if (a->saved_mean) store(&saved, 1, a->saved_type, a->saved_mean, begin);
        if (a->saved_inv) store(&inv, 1, a->saved_type, a->saved_inv, begin);
    }
}

static void rows_wide(const mr_rows_args *a)
{
    mr_parallel_for(a->pool, a->rows, mr_grain(a->cols * 16), rows_range, (void *)a);
}

#define EACH_FLOAT(f) [MR_F16] = f, [MR_BF16] = f, [MR_F32] = f, [MR_F64] = f
#define BY_TYPE(f)    [MR_F16] = f##_f16, [MR_BF16] = f##_bf16, [MR_F32] = f##_f32, [MR_F64] = f##_f64

void mr_norm_fill_scalar(mr_norm_fns *f)
{
    *f = (mr_norm_fns){
        .affine = {EACH_FLOAT(affine_wide)},
        .rows = {EACH_FLOAT({EACH_FLOAT(rows_wide)})},
        .lrn = {BY_TYPE(lrn)},
        .lp_norm = {BY_TYPE(lp_norm)},
    };
}

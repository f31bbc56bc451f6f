/* resize.c: the scalar level, which is also the reference: everything in double, rounded once. */
#include "kernels/cpu/resize.h"

#include <math.h>
#include <string.h>

#include "kernels/cpu/math.h"
#include "kernels/cpu/resize_rows.h"
#include "kernels/cpu/wide.h"

#define MR_BODY "kernels/cpu/resize_fill.inc"
#include "kernels/cpu/each_size.h"
#define MR_BODY "kernels/cpu/resize_nearest.inc"
#include "kernels/cpu/each_size.h"

/* ---- results ---- */

static void round_float(const double *v, int64_t n, mr_dtype d, void *y)
{
    for (int64_t i = 0; i < n; i += MR_TILE) {
        mr_wide w;
        int64_t m = n - i < MR_TILE ? n - i : MR_TILE;
        for (int64_t k = 0; k < m; k++) w.f[k] = mr_canonical(v[i + k]);
        mr_wide_store(MR_WIDE_F64, &w, m, d, (char *)y + i * (int64_t)mr_dtype_size(d), (mr_wide_rule){0});
    }
}

static int64_t round_signed(double v, int bits)
{
    const double end = ldexp(1, bits - 1);
    const int64_t last = INT64_MAX >> (64 - bits);
    v = rint(v);
    return v >= end ? last : v < -end ? -last - 1 : v == v ? (int64_t)v : 0;
}

static uint64_t round_unsigned(double v, int bits)
{
    v = rint(v);
    return v >= ldexp(1, bits) ? UINT64_MAX >> (64 - bits) : v > 0 ? (uint64_t)v : 0;
}

static void round_int(const double *v, int64_t n, mr_dtype d, void *y)
{
    const int bits = d == MR_BOOL ? 1 : 8 * (int)mr_dtype_size(d);
    const bool sign = mr_dtype_in(d, MR_SIGNED);
    for (int64_t i = 0; i < n; i += MR_TILE) {
        mr_wide w;
        int64_t m = n - i < MR_TILE ? n - i : MR_TILE;
        for (int64_t k = 0; k < m; k++)
            w.u[k] = sign ? (uint64_t)round_signed(v[i + k], bits) : round_unsigned(v[i + k], bits);
        mr_wide_store(sign ? MR_WIDE_I64 : MR_WIDE_U64, &w, m, d, (char *)y + i * (int64_t)mr_dtype_size(d),
                      (mr_wide_rule){0});
    }
}

/* ---- lines ---- */

typedef struct resize_job {
    const mr_resize_args *a;
    int64_t lines;
    void (*round)(const double *, int64_t, mr_dtype, void *);
} resize_job;

/* line = Σ weight · x over the taps that the axes before the last give the output line with these indices. */
static void gather_line(const mr_resize_args *a, const int64_t *index, double *line, int64_t n)
{
    const int axes = a->rank - 1;
    const int64_t size = (int64_t)mr_dtype_size(a->type);
    int64_t tap[MR_MAX_RANK] = {0};
    double x[MR_TILE];
    memset(line, 0, (size_t)n * sizeof *line);
    for (int d = 0; d >= 0;) {
        int64_t from = 0;
        double w = 1;
        for (d = 0; d < axes; d++) {
            const mr_resize_axis *s = &a->axis[d];
            from += s->at ? s->at[index[d] * s->taps + tap[d]] : index[d] * s->stride;
            if (s->at) w *= s->weight[index[d] * s->taps + tap[d]];
        }
        for (int64_t i = 0; i < n; i += MR_TILE) {
            int64_t m = n - i < MR_TILE ? n - i : MR_TILE;
            mr_wide_load_f64(a->type, (const char *)a->x + (from + i) * size, m, x);
            for (int64_t k = 0; k < m; k++) line[i + k] += w * x[k];
        }
        for (d = axes - 1; d >= 0 && ++tap[d] == a->axis[d].taps; d--) tap[d] = 0;
    }
}

static void resize_line(const mr_resize_axis *s, int64_t inner, const double *line, double *y)
{
    memset(y, 0, (size_t)(s->out * inner) * sizeof *y);
    for (int64_t o = 0; o < s->out; o++, y += inner)
        for (int64_t k = o * s->taps; k < (o + 1) * s->taps; k++)
            for (int64_t i = 0; i < inner; i++) y[i] += s->weight[k] * line[s->at[k] + i];
}

static void resize_part(void *p, int64_t begin, int64_t end)
{
    const resize_job *j = p;
    const mr_resize_args *a = j->a;
    const mr_resize_axis *last = &a->axis[a->rank - 1];
    const int64_t size = (int64_t)mr_dtype_size(a->type), out = last->out * a->inner, in = last->in * a->inner;
    for (; begin < end; begin++) {
        double *line = a->room + begin * mr_resize_line(last, a->inner);
        for (int64_t l = begin * j->lines / a->parts; l < (begin + 1) * j->lines / a->parts; l++) {
            int64_t index[MR_MAX_RANK], rest = l;
            for (int d = a->rank - 2; d >= 0; rest /= a->axis[d].out, d--) index[d] = rest % a->axis[d].out;
            gather_line(a, index, line, in);
            resize_line(last, a->inner, line, line + in);
            j->round(line + in, out, a->type, (char *)a->y + l * out * size);
        }
    }
}

static void run(const mr_resize_args *a, void (*round)(const double *, int64_t, mr_dtype, void *))
{
    resize_job j = {a, 1, round};
    for (int d = 0; d < a->rank - 1; d++) j.lines *= a->axis[d].out;
    mr_parallel_for(a->pool, a->parts, 1, resize_part, &j);
}

static void resize_float(const mr_resize_args *a)
{
    run(a, round_float);
}
static void resize_int(const mr_resize_args *a)
{
    run(a, round_int);
}

#define EACH(f)                                                                                                        \
    [MR_F16] = f##_float, [MR_BF16] = f##_float, [MR_F32] = f##_float, [MR_F64] = f##_float, [MR_U8] = f##_int,        \
    [MR_I8] = f##_int, [MR_U16] = f##_int, [MR_I16] = f##_int, [MR_U32] = f##_int, [MR_I32] = f##_int,                 \
    [MR_U64] = f##_int, [MR_I64] = f##_int, [MR_BOOL] = f##_int

void mr_resize_fill_scalar(mr_resize_fns *f)
{
    *f = (mr_resize_fns){
        .resize = {EACH(resize)},
        .nearest = {nearest_1, nearest_2, nearest_4, nearest_8, nearest_16},
        .fill = {fill_1, fill_2, fill_4, fill_8, fill_16},
        .round = {EACH(round)},
    };
}

/* resize_avx2.c: interpolation in float, eight lanes wide: along lines where they're gathered, across eight lines where
 * taps jump about in them. */
#include "kernels/cpu/resize.h"

#include <string.h>

#include "kernels/cpu/simd_avx2.h"
#include "kernels/cpu/part_simd.h"
#include "kernels/cpu/resize_rows.h"

typedef struct resize_job {
    const mr_resize_args *a;
    int64_t lines;
} resize_job;

/* One choice of taps on the axes before the last, for one output line. */
typedef struct resize_taps {
    int64_t index[MR_MAX_RANK], tap[MR_MAX_RANK];
    float weight;
} resize_taps;

static resize_taps resize_taps_of(const mr_resize_args *a, int64_t l)
{
    resize_taps t = {.weight = 1};
    for (int d = a->rank - 2; d >= 0; l /= a->axis[d].out, d--) t.index[d] = l % a->axis[d].out;
    return t;
}

/* Where in x the choice points; sets its weight. */
static int64_t resize_tap(const mr_resize_args *a, resize_taps *t)
{
    int64_t from = 0;
    double weight = 1;
    for (int d = 0; d < a->rank - 1; d++) {
        const mr_resize_axis *s = &a->axis[d];
        int64_t k = t->index[d] * s->taps + t->tap[d];
        from += s->at ? s->at[k] : t->index[d] * s->stride;
        if (s->at) weight *= s->weight[k];
    }
    t->weight = (float)weight;
    return from;
}

static bool resize_next(const mr_resize_args *a, resize_taps *t)
{
    for (int d = a->rank - 2; d >= 0; d--) {
        if (++t->tap[d] < a->axis[d].taps) return true;
        t->tap[d] = 0;
    }
    return false;
}

/* An 8 × 8 block, rows xs apart, with rows and columns exchanged; y may be x. */
static inline void resize_turn(const float *x, int64_t xs, float *y, int64_t ys)
{
    vf r[VF], s[VF];
    for (int i = 0; i < VF; i++) r[i] = vf_load(x + i * xs);
    for (int i = 0; i < VF; i += 2)
        s[i] = _mm256_unpacklo_ps(r[i], r[i + 1]), s[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    for (int i = 0; i < VF; i += 4) {
        r[i] = _mm256_shuffle_ps(s[i], s[i + 2], 0x44), r[i + 1] = _mm256_shuffle_ps(s[i], s[i + 2], 0xee);
        r[i + 2] = _mm256_shuffle_ps(s[i + 1], s[i + 3], 0x44), r[i + 3] = _mm256_shuffle_ps(s[i + 1], s[i + 3], 0xee);
    }
    for (int i = 0; i < 4; i++) {
        vf_store(y + i * ys, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
        vf_store(y + (i + 4) * ys, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
    }
}

/* Output element o of eight lines. */
static inline vf resize_point(const mr_resize_axis *s, int64_t o, const float *turned)
{
    vf v = vf_zero();
    for (int64_t k = o * s->taps; k < (o + 1) * s->taps; k++)
        v = vf_fma(vf_set((float)s->weight[k]), vf_load(turned + s->at[k] * VF), v);
    return v;
}

#define MR_BODY "kernels/cpu/resize_avx2.inc"
#include "kernels/cpu/each_float_simd.h"

/* ---- nearest, four bytes ---- */

enum { COLUMNS = 512 };

/* Columns of a row, the first of which is `first`: eight at a time that lie within eight elements of x, if they do. */
typedef struct nearest_columns {
    int64_t first, n, base[COLUMNS / VF];
    int32_t lane[COLUMNS];
    bool close[COLUMNS / VF];
} nearest_columns;

static void columns_at(const mr_nearest_args *a, int64_t first, nearest_columns *c)
{
    const int64_t n = a->dims[a->rank - 1], *at = a->at[a->rank - 1];
    c->first = first, c->n = n - first < COLUMNS ? n - first : COLUMNS;
    for (int64_t i = 0; i < c->n; i += VF) {
        const int64_t *from = at + first + i, last = at[n - 1] - (VF - 1);
        int64_t base = from[0] < last ? from[0] : last;
        bool close = c->n - i >= VF && base >= 0;
        for (int k = 0; close && k < VF; k++) {
            close = from[k] >= base && from[k] < base + VF;
            c->lane[i + k] = (int32_t)(from[k] - base);
        }
        c->base[i / VF] = base, c->close[i / VF] = close;
    }
}

static void nearest_part(const nearest_columns *c, const int64_t *at, const float *x, float *y)
{
    for (int64_t i = 0; i < c->n; i += VF) {
        int64_t n = c->n - i < VF ? c->n - i : VF;
        if (c->close[i / VF])
            vf_store(y + i, _mm256_permutevar8x32_ps(vf_load(x + c->base[i / VF]),
                                                     _mm256_loadu_si256((const __m256i *)(c->lane + i))));
        else
            for (int64_t k = i; k < i + n; k++) y[k] = x[at[k]];
    }
}

static void nearest_range(void *p, int64_t begin, int64_t end)
{
    const mr_nearest_args *a = p;
    const int64_t n = a->dims[a->rank - 1];
    nearest_columns c;
    for (int64_t first = 0; first < n; first += COLUMNS) {
        int64_t before = -1;
        columns_at(a, first, &c);
        for (nearest_walk w = nearest_from(a, begin); w.row < end; nearest_next(&w)) {
            float *y = (float *)a->y + w.row * n + first;
            if (w.at == before)
                memcpy(y, y - n, (size_t)c.n * sizeof *y);
            else
                nearest_part(&c, a->at[a->rank - 1] + first, (const float *)a->x + w.at, y);
            before = w.at;
        }
    }
}

static void nearest_inner(void *p, int64_t begin, int64_t end)
{
    const mr_nearest_args *a = p;
    const int64_t n = a->dims[a->rank - 1], *at = a->at[a->rank - 1];
    for (nearest_walk w = nearest_from(a, begin); w.row < end; nearest_next(&w)) {
        const float *x = (const float *)a->x + w.at;
        float *y = (float *)a->y + w.row * n * a->inner;
        for (int64_t i = 0; i < n; i++) memcpy(y + i * a->inner, x + at[i], (size_t)a->inner * sizeof *y);
    }
}

static void nearest_4(const mr_nearest_args *a)
{
    mr_parallel_for(a->pool, nearest_rows(a), mr_grain(a->dims[a->rank - 1] * a->inner * 4),
                    a->inner == 1 ? nearest_range : nearest_inner, (void *)a);
}

void mr_resize_fill_avx2(mr_resize_fns *f)
{
    f->nearest[mr_size_index(4)] = nearest_4;
    f->resize[MR_F32] = resize_f32;
    f->resize[MR_F16] = resize_f16;
    f->resize[MR_BF16] = resize_bf16;
}

/* draw.c: the one level there is: the numbers come one after the other. */
#include "kernels/cpu/draw.h"

#include "kernels/cpu/math.h"
#include "kernels/cpu/wide.h"

#define MR_BODY "kernels/cpu/draw.inc"
#include "kernels/cpu/each_float.h"

static int64_t tile_of(int64_t left)
{
    return left < MR_TILE ? left : MR_TILE;
}

static void bernoulli(const mr_draw_bernoulli_args *a)
{
    const int64_t from = (int64_t)mr_dtype_size(a->type), to = (int64_t)mr_dtype_size(a->to);
    for (int64_t i = 0; i < a->n; i += MR_TILE) {
        mr_wide w;
        int64_t n = tile_of(a->n - i);
        mr_wide_load_f64(a->type, (const char *)a->x + i * from, n, w.f);
        for (int64_t k = 0; k < n; k++) w.f[k] = mr_random_bernoulli(a->random, w.f[k]);
        mr_wide_store(MR_WIDE_F64, &w, n, a->to, (char *)a->y + i * to, (mr_wide_rule){0});
    }
}

/* Running sums of exp(x - highest). */
static void sum_up(const mr_draw_multinomial_args *a, int64_t row)
{
    const int64_t size = (int64_t)mr_dtype_size(a->type);
    const char *x = (const char *)a->x + row * a->classes * size;
    double highest, sum = 0, *sums = a->sums;
    for (int64_t i = 0; i < a->classes; i += MR_TILE)
        mr_wide_load_f64(a->type, x + i * size, tile_of(a->classes - i), sums + i);
    highest = sums[0];
    for (int64_t i = 1; i < a->classes; i++)
        if (sums[i] > highest) highest = sums[i];
    for (int64_t i = 0; i < a->classes; i++) sums[i] = sum += mr_exp(sums[i] - highest);
}

/* The first class whose running sum lies above u; u lies below the last. */
static int64_t class_at(const double *sums, int64_t n, double u)
{
    int64_t low = 0, high = n - 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (sums[middle] > u)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void multinomial(const mr_draw_multinomial_args *a)
{
    for (int64_t row = 0; row < a->batch; row++) {
        sum_up(a, row);
        const double total = a->sums[a->classes - 1];
        for (int64_t i = row * a->samples; i < (row + 1) * a->samples; i++) {
            int64_t k = class_at(a->sums, a->classes, mr_random_uniform(a->random) * total);
            if (a->to == MR_I32)
                ((int32_t *)a->y)[i] = (int32_t)k;
            else
                ((int64_t *)a->y)[i] = k;
        }
    }
}

void mr_draw_fill_scalar(mr_draw_fns *f)
{
    *f = (mr_draw_fns){
        .normal = {[MR_F16] = normal_f16, [MR_BF16] = normal_bf16, [MR_F32] = normal_f32, [MR_F64] = normal_f64},
        .uniform = {[MR_F16] = uniform_f16, [MR_BF16] = uniform_bf16, [MR_F32] = uniform_f32, [MR_F64] = uniform_f64},
        .bernoulli = {[MR_F16] = bernoulli, [MR_BF16] = bernoulli, [MR_F32] = bernoulli, [MR_F64] = bernoulli},
        .multinomial =
            {[MR_F16] = multinomial, [MR_BF16] = multinomial, [MR_F32] = multinomial, [MR_F64] = multinomial},
    };
}

/* feature.c: see feature.h. */
#include "kernels/cpu/feature.h"

#include <math.h>
#include <string.h>

#include "kernels/cpu/math.h"
#include "kernels/cpu/sizes.h"

static void put(const mr_feature_args *a, int64_t i, double v)
{
    if (a->to == MR_F64)
        ((double *)a->y)[i] = mr_canonical(v);
    else
        ((float *)a->y)[i] = (float)mr_canonical(v);
}

static void each_row(const mr_feature_args *a, size_t size, void (*fn)(void *, int64_t, int64_t))
{
    mr_parallel_for(a->pool, a->rows, mr_grain(a->n * (int64_t)size * 2), fn, (void *)a);
}

#define S       float
#define SUFFIX  f32
#define ABOVE   x[i] > a->threshold
#define SAME(x) ((x) == missing || (isnan(missing) && isnan(x)))
#include "kernels/cpu/feature.inc"

#define S       double
#define SUFFIX  f64
#define ABOVE   x[i] > a->threshold
#define SAME(x) ((x) == missing || (isnan(missing) && isnan(x)))
#include "kernels/cpu/feature.inc"

/* An integer is greater than the threshold where it is greater than its integer part. */
#define S       int32_t
#define SUFFIX  i32
#define ABOVE   a->threshold < 0x1p63 && (a->threshold < -0x1p63 || x[i] > a->bound)
#define SAME(x) ((x) == missing)
#include "kernels/cpu/feature.inc"

#define S       int64_t
#define SUFFIX  i64
#define ABOVE   a->threshold < 0x1p63 && (a->threshold < -0x1p63 || x[i] > a->bound)
#define SAME(x) ((x) == missing)
#include "kernels/cpu/feature.inc"

#define EACH(f) [MR_F32] = f##_f32, [MR_F64] = f##_f64, [MR_I32] = f##_i32, [MR_I64] = f##_i64

void mr_feature_fill_scalar(mr_feature_fns *f)
{
    *f = (mr_feature_fns){.copy = {EACH(copy)},
                          .scaler = {EACH(scaler)},
                          .normalizer = {EACH(normalizer)},
                          .binarizer = {EACH(binarizer)},
                          .imputer = {EACH(imputer)}};
}

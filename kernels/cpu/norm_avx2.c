/* norm_avx2.c: normalizations in float, eight lanes wide; moments go on in double. */
#include "kernels/cpu/norm.h"

#include <math.h>

#include "kernels/cpu/simd_avx2.h"
#include "kernels/cpu/part_simd.h"
#include "kernels/cpu/sizes.h"
#include "kernels/cpu/total_avx2.h"
#include "kernels/cpu/vmath_avx2.h"
#include "kernels/cpu/wide.h"

enum { AFFINE_PART = 1 << 14 };

typedef struct affine_job {
    const mr_affine_args *a;
    mr_box box;
    int64_t parts; /* of the last dimension */
} affine_job;

static void norm_save(const mr_rows_args *a, void *to, int64_t row, double v)
{
    mr_wide w = {.f = {v}};
    mr_wide_store(MR_WIDE_F64, &w, 1, a->saved_type, (char *)to + row * (int64_t)mr_dtype_size(a->saved_type),
                  (mr_wide_rule){0});
}

/* Up to eight doubles as floats. */
static inline vf norm_narrow(const double *p, int64_t n)
{
    float v[VF] = {0};
    if (n >= VF) return vf_from_vd(vd_load(p), vd_load(p + VD));
    for (int64_t i = 0; i < n; i++) v[i] = (float)p[i];
    return vf_load(v);
}

/* A mean as the sum of two floats, so that what is close to it does not lose its digits. */
typedef struct norm_mean {
    vf high, low;
} norm_mean;

/* What a float leaves of a mean: of an infinite one nothing, not NaN. */
static inline double norm_low(double mean)
{
    return isinf((float)mean) ? 0 : mean - (double)(float)mean;
}

static inline norm_mean norm_split(double mean)
{
    return (norm_mean){vf_set((float)mean), vf_set((float)norm_low(mean))};
}

static inline norm_mean norm_split_each(const double *p, int64_t n)
{
    double low[VF] = {0};
    for (int64_t i = 0; i < n && i < VF; i++) low[i] = norm_low(p[i]);
    return (norm_mean){norm_narrow(p, n), norm_narrow(low, VF)};
}

static inline vf norm_center(vf x, norm_mean m)
{
    return _mm256_sub_ps(_mm256_sub_ps(x, m.high), m.low);
}

/* base^power */
static inline vf norm_power(vf base, float power)
{
    float v[VF];
    if (!_mm256_movemask_ps(_mm256_cmp_ps(base, vf_zero(), _CMP_LE_OQ)))
        return v_exp(vf_mul(vf_set(power), v_log(base)));
    vf_store(v, base);
    for (int i = 0; i < VF; i++) v[i] = (float)mr_pow((double)v[i], (double)power);
    return vf_load(v);
}

#define MR_BODY "kernels/cpu/norm_avx2.inc"
#include "kernels/cpu/each_float_simd.h"

void mr_norm_fill_avx2(mr_norm_fns *f)
{
    fill_f32(f);
    fill_f16(f);
    fill_bf16(f);
}

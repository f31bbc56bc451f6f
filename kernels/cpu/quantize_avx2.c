/* quantize_avx2.c: float to bytes and back, eight at a time; the results are those of quantize.c to the bit. */
#include "kernels/cpu/quantize.h"

#include "kernels/cpu/simd_avx2.h"
#include "kernels/cpu/part_simd.h"

/* Scales and zero points, which were float or integers of a byte before they were double. */
static inline vf factors(const double *at, int64_t step)
{
    if (!step) return vf_set((float)*at);
    return _mm256_set_m128(_mm256_cvtpd_ps(_mm256_loadu_pd(at + 4)), _mm256_cvtpd_ps(_mm256_loadu_pd(at)));
}

/* round(x / scale) + zero within [min, max], as int32. The bounds are put upon the quotient, so that it fits; NaN
 * becomes the zero point. */
static inline __m256i quantized(vf x, vf scale, vf zero, vf min, vf max)
{
    vf q = _mm256_div_ps(x, scale);
    q = _mm256_and_ps(_mm256_cmp_ps(q, q, _CMP_ORD_Q), q);
    q = _mm256_round_ps(q, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    q = _mm256_min_ps(_mm256_max_ps(q, _mm256_sub_ps(min, zero)), _mm256_sub_ps(max, zero));
    return _mm256_cvtps_epi32(vf_add(q, zero));
}

static inline vf dequantized(__m256i x, vf scale, vf zero)
{
    return vf_mul(_mm256_sub_ps(_mm256_cvtepi32_ps(x), zero), scale);
}

/* The low bytes of eight int32. */
static inline void store_bytes(void *to, __m256i v)
{
    __m256i bytes = _mm256_shuffle_epi8(v, _mm256_set1_epi32(0x0c080400));
    __m128i both = _mm_unpacklo_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
    _mm_storel_epi64((__m128i *)to, both);
}

/* A row of a part: its operands, of which scale and zero point may stand still. */
typedef struct {
    const void *from;
    void *to;
    const double *scale, *zero;
    int64_t scale_step, zero_step;
} row;

static inline row row_of(const mr_part *p, int64_t r)
{
    static const double none = 0;
    const bool has_zero = p->job->n_in > 2;
    mr_lane in = mr_lane_in(p, 0), out = mr_lane_out(p), scale = mr_lane_in(p, 1);
    mr_lane zero = has_zero ? mr_lane_in(p, 2) : (mr_lane){.row = 0};
    return (row){.from = in.data + r * in.row * (int64_t)p->job->in[0].size,
                 .to = out.data + r * out.row * (int64_t)p->job->out.size,
                 .scale = (const double *)scale.data + r * scale.row,
                 .zero = has_zero ? (const double *)zero.data + r * zero.row : &none,
                 .scale_step = scale.step,
                 .zero_step = zero.step};
}

#define S        uint8_t
#define WIDEN(x) _mm256_cvtepu8_epi32(x)
#define NAME(f)  f##_u8
#define DT       MR_U8
#include "kernels/cpu/quantize_avx2.inc"
#undef S
#undef WIDEN
#undef NAME
#undef DT

#define S        int8_t
#define WIDEN(x) _mm256_cvtepi8_epi32(x)
#define NAME(f)  f##_i8
#define DT       MR_I8
#include "kernels/cpu/quantize_avx2.inc"
#undef S
#undef WIDEN
#undef NAME
#undef DT

static void bounds(const mr_bounds_args *a)
{
    const float *x = a->x;
    vf min = vf_zero(), max = vf_zero(), nan = vf_zero();
    float mins[VF], maxs[VF];
    int64_t i = 0;
    for (; i < a->n; i += VF) {
        vf v = i + VF <= a->n ? vf_load(x + i) : vf_load_n_f32(x + i, a->n - i);
        min = _mm256_min_ps(v, min);
        max = _mm256_max_ps(v, max);
        nan = _mm256_or_ps(nan, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    }
    vf_store(mins, min);
    vf_store(maxs, max);
    *a->min = *a->max = 0;
    for (int k = 0; k < VF; k++) {
        if ((double)mins[k] < *a->min) *a->min = (double)mins[k];
        if ((double)maxs[k] > *a->max) *a->max = (double)maxs[k];
    }
    if (_mm256_movemask_ps(nan)) *a->min = *a->max = __builtin_nan("");
}

void mr_quantize_fill_avx2(mr_quantize_fns *f)
{
    f->quantize[MR_F32][MR_U8] = quantize_u8;
    f->quantize[MR_F32][MR_I8] = quantize_i8;
    f->dequantize[MR_U8][MR_F32] = dequantize_u8;
    f->dequantize[MR_I8][MR_F32] = dequantize_i8;
    f->bounds[MR_F32] = bounds;
}

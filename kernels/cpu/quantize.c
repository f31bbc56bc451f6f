/* quantize.c: numbers as small ones times a scale, in double. */
#include "kernels/cpu/quantize.h"

#define MR_BODY "kernels/cpu/quantize_bounds.inc"
#include "kernels/cpu/each_float.h"

bool mr_quantize_limits(mr_dtype d, double *min, double *max)
{
    int bits = mr_dtype_wire_bits(d);
    bool sign = d == MR_I16 || d == MR_I8 || d == MR_I4 || d == MR_I2;
    if (!sign && d != MR_U16 && d != MR_U8 && d != MR_U4 && d != MR_U2) return false;
    *min = sign ? -(double)(1 << (bits - 1)) : 0;
    *max = *min + (1 << bits) - 1;
    return true;
}

void mr_quantize_round(mr_dtype d, int64_t n, double *v)
{
    switch (d) {
    case MR_F16:
        for (int64_t i = 0; i < n; i++) v[i] = (double)mr_f16_to_f32(mr_f16_from_f64(v[i]));
        break;
    case MR_BF16:
        for (int64_t i = 0; i < n; i++) v[i] = (double)mr_bf16_to_f32(mr_bf16_from_f64(v[i]));
        break;
    case MR_F32:
        for (int64_t i = 0; i < n; i++) v[i] = (double)(float)v[i];
        break;
    default:
        break;
    }
}

/* n elements of an operand in double, at its steps. */
typedef struct {
    const double *at;
    int64_t step;
} factor;

static factor factor_of(const mr_part *p, int i, int64_t row, int64_t col)
{
    static const double none = 0;
    if (i >= p->job->n_in) return (factor){&none, 0};
    mr_lane l = mr_lane_in(p, i);
    return (factor){(const double *)l.data + row * l.row + col * l.step, l.step};
}

static void divide(const mr_quantize_params *k, factor scale, int64_t n, double *v)
{
    mr_quantize_round(k->precision, n, v);
    if (scale.step)
        for (int64_t i = 0; i < n; i++) v[i] /= scale.at[i];
    else
        for (int64_t i = 0; i < n; i++) v[i] /= *scale.at;
    mr_quantize_round(k->precision, n, v);
}

static void quantize_tile(const mr_quantize_params *k, factor scale, factor zero, int64_t n, mr_wide *w)
{
    double min, max, *v = w->f;
    divide(k, scale, n, v);
    if (!mr_quantize_limits(k->to, &min, &max)) {
        for (int64_t i = 0; i < n; i++) v[i] = zero.at[i * zero.step] == 0 ? v[i] : v[i] + zero.at[i * zero.step];
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        double q = (v[i] == v[i] ? __builtin_rint(v[i]) : 0) + zero.at[i * zero.step];
        q = q < min ? min : q;
        v[i] = q > max ? max : q;
    }
}

void mr_quantize_any(const mr_part *p)
{
    const mr_quantize_params *k = p->job->params;
    const mr_lane in = mr_lane_in(p, 0), out = mr_lane_out(p);
    const int64_t from = (int64_t)p->job->in[0].size, to = (int64_t)p->job->out.size;
    mr_wide w;
    for (int64_t r = 0; r < p->rows; r++)
        for (int64_t i = 0; i < p->cols; i += MR_TILE) {
            int64_t n = p->cols - i < MR_TILE ? p->cols - i : MR_TILE;
            mr_wide_load_f64(k->from, in.data + (r * in.row + i) * from, n, w.f);
            quantize_tile(k, factor_of(p, 1, r, i), factor_of(p, 2, r, i), n, &w);
            mr_wide_store(MR_WIDE_F64, &w, n, k->to, out.data + (r * out.row + i) * to,
                          (mr_wide_rule){.saturate = k->saturate});
        }
}

static void dequantize(const mr_part *p)
{
    const mr_quantize_params *k = p->job->params;
    const mr_lane in = mr_lane_in(p, 0), out = mr_lane_out(p);
    const int64_t from = (int64_t)p->job->in[0].size, to = (int64_t)p->job->out.size;
    mr_wide w;
    for (int64_t r = 0; r < p->rows; r++)
        for (int64_t i = 0; i < p->cols; i += MR_TILE) {
            int64_t n = p->cols - i < MR_TILE ? p->cols - i : MR_TILE;
            factor scale = factor_of(p, 1, r, i), zero = factor_of(p, 2, r, i);
            mr_wide_load_f64(k->from, in.data + (r * in.row + i) * from, n, w.f);
            for (int64_t j = 0; j < n; j++) w.f[j] = (w.f[j] - zero.at[j * zero.step]) * scale.at[j * scale.step];
            mr_wide_store(MR_WIDE_F64, &w, n, k->to, out.data + (r * out.row + i) * to, (mr_wide_rule){0});
        }
}

void mr_quantize_fill_scalar(mr_quantize_fns *f)
{
    double min, max;
    for (mr_dtype high = 1; high < MR_N_DTYPES; high++)
        for (mr_dtype low = 1; low < MR_N_DTYPES; low++) {
            bool real = mr_dtype_in(high, MR_FLOATS), whole = mr_quantize_limits(low, &min, &max);
            bool small =
                whole || (mr_wide_kind_of(low) == MR_WIDE_F64 && mr_dtype_wire_bits(low) <= 8 && low != MR_F8E8M0);
            if ((real || high == MR_I32) && small) f->quantize[high][low] = mr_quantize_any;
            if (real && (small || low == MR_I32)) f->dequantize[low][high] = dequantize;
        }
    f->bounds[MR_F16] = bounds_f16;
    f->bounds[MR_BF16] = bounds_bf16;
    f->bounds[MR_F32] = bounds_f32;
    f->bounds[MR_F64] = bounds_f64;
}

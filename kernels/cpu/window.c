/* window.c: windows and the mel filter bank. */
#include "kernels/cpu/window.h"

#include "kernels/cpu/root.h"
#include "kernels/cpu/convert.h"
#include "kernels/cpu/wide.h"

static double window_at(const mr_window_args *a, int64_t k)
{
    if (a->period == 0) return MR_NAN;
    const int64_t n = a->period;
    if (a->kind == MR_WINDOW_HANN) {
        double s = mr_root_of(k, 2 * n).im;
        return s * s;
    }
    double c = mr_root_of(k % n, n).re;
    if (a->kind == MR_WINDOW_HAMMING) return 25 / 46.0 - (1 - 25 / 46.0) * c;
    return -0.5 * c + 0.08 * mr_root_of(2 * k % n, n).re + 0.42;
}

static void window(const mr_window_args *a)
{
    for (int64_t at = 0; at < a->n; at += MR_TILE) {
        int64_t n = a->n - at < MR_TILE ? a->n - at : MR_TILE;
        mr_wide w;
        for (int64_t i = 0; i < n; i++) w.f[i] = window_at(a, at + i);
        mr_wide_store(MR_WIDE_F64, &w, n, a->dtype, (char *)a->y + at * (int64_t)mr_dtype_size(a->dtype),
                      (mr_wide_rule){0});
    }
}

#define LN_10 0x1.26bb1bbb55516p+1

static double mel_of(double hertz)
{
    return 2595 / LN_10 * mr_log1p(hertz / 700);
}

static void mel_edges(const mr_mel_args *a)
{
    const double low = mel_of(a->lower), step = (mel_of(a->upper) - low) / (double)(a->bands + 2);
    for (int64_t i = 0; i < a->bands + 2; i++) {
        double hertz = 700 * mr_expm1(((double)i * step + low) * (LN_10 / 2595));
        double row = (double)(a->length + 1) * hertz / (double)a->sample_rate;
        int64_t whole = (int64_t)mr_int_from_f64(row);
        a->edges[i] = (double)whole > row ? whole - 1 : whole;
    }
}

static double mel_at(const mr_mel_args *a, int64_t row, int64_t band)
{
    const int64_t left = a->edges[band], peak = a->edges[band + 1], right = a->edges[band + 2];
    if (row == peak) return 1;
    if (row >= left && row < peak) return (double)(row - left) / (double)(peak - left);
    if (row > peak && row < right) return (double)(right - row) / (double)(right - peak);
    return 0;
}

static void mel(const mr_mel_args *a)
{
    char *y = a->y;
    mel_edges(a);
    for (int64_t row = 0; row < a->rows; row++)
        for (int64_t band = 0; band < a->bands; band += MR_TILE) {
            int64_t n = a->bands - band < MR_TILE ? a->bands - band : MR_TILE;
            mr_wide w;
            for (int64_t i = 0; i < n; i++) w.f[i] = mel_at(a, row, band + i);
            mr_wide_store(MR_WIDE_F64, &w, n, a->dtype, y, (mr_wide_rule){0});
            y += n * (int64_t)mr_dtype_size(a->dtype);
        }
}

void mr_window_fill_scalar(mr_window_fns *f)
{
    for (mr_dtype d = 0; d < MR_N_DTYPES; d++)
        if (mr_dtype_in(d, MR_FLOATS | MR_INTS)) f->window[d] = window, f->mel[d] = mel;
}

/* window.h: window functions and the mel filter bank, computed in double and converted once (integers: cut off). */
#ifndef MR_KERNELS_CPU_WINDOW_H
#define MR_KERNELS_CPU_WINDOW_H

#include "runtime/dtype.h"

typedef enum mr_window_kind { MR_WINDOW_HANN, MR_WINDOW_HAMMING, MR_WINDOW_BLACKMAN } mr_window_kind;

/* Element k of n, in a window of the given period: n, or n - 1 of a symmetric one. Period 0 has no window: NaN.
 *   Hann      sin²(πk / period)
 *   Hamming   25/46 - 21/46 cos(2πk / period)
 *   Blackman  0.42 - 0.5 cos(2πk / period) + 0.08 cos(4πk / period) */
typedef struct mr_window_args {
    mr_window_kind kind;
    int64_t n, period;
    mr_dtype dtype;
    void *y;
} mr_window_args;

/* y [rows, bands], rows the frequencies k · sample_rate / length of a real transform. Band i is a triangle with its
 * feet at edges i and i + 2 and its peak, 1, at edge i + 1; there are bands + 2 edges, at equal steps of mel(f) = 2595
 * log10(1 + f / 700), and beyond the last of them is the upper frequency. An edge is a row: ⌊(length + 1) f /
 * sample_rate⌋. */
typedef struct mr_mel_args {
    int64_t bands, length, rows, sample_rate;
    double lower, upper;
    mr_dtype dtype;
    void *y;
    int64_t *edges; /* scratch: bands + 2 */
} mr_mel_args;

typedef struct mr_window_fns {
    void (*window[MR_N_DTYPES])(const mr_window_args *a);
    void (*mel[MR_N_DTYPES])(const mr_mel_args *a);
} mr_window_fns;

void mr_window_fill_scalar(mr_window_fns *f);

#endif

/* quantize.h: numbers as small ones times a scale. */
#ifndef MR_KERNELS_CPU_QUANTIZE_H
#define MR_KERNELS_CPU_QUANTIZE_H

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/wide.h"

typedef struct mr_quantize_params {
    mr_dtype from, to;
    mr_dtype precision; /* quantize: x and x / scale are rounded to it: f16, bf16, f32; f64: not at all */
    bool saturate;      /* quantize to float8 */
} mr_quantize_params;

/* The bounds of n elements and 0; NaN when there is one. */
typedef struct mr_bounds_args {
    const void *x;
    int64_t n;
    double *min, *max;
} mr_bounds_args;

/* Operands: x, the scale as double, the zero point as double (it may be missing). Indexed by the types of x and y. */
typedef struct mr_quantize_fns {
    /* y = saturate(round(x / scale) + zero point), rounding to even; float y: x / scale + zero point, rounded once. NaN
     * becomes the zero point where y is an integer. */
    mr_elementwise_fn quantize[MR_N_DTYPES][MR_N_DTYPES];
    /* y = (x - zero point) scale, rounded once */
    mr_elementwise_fn dequantize[MR_N_DTYPES][MR_N_DTYPES];
    void (*bounds[MR_N_DTYPES])(const mr_bounds_args *);
} mr_quantize_fns;

/* The smallest and largest value of an integer type of at most 16 bits; false: another type. */
bool mr_quantize_limits(mr_dtype d, double *min, double *max);

/* To the nearest f16, bf16 or f32; other types change nothing. */
void mr_quantize_round(mr_dtype d, int64_t n, double *v);

/* The scalar kernel, of all types. */
void mr_quantize_any(const mr_part *p);

void mr_quantize_fill_scalar(mr_quantize_fns *f);
void mr_quantize_fill_avx2(mr_quantize_fns *f);

#endif

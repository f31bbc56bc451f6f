/* scatter.c: updates put into the data, plain C. Truth values add as "or" and multiply as "and"; complex numbers have
 * no order, strings nothing but to be replaced. */
#include "kernels/cpu/scatter.h"

#include "kernels/cpu/complex.h"
#include "kernels/cpu/math.h"
#include "runtime/narrow.h"

enum { FEWEST_COLUMNS = 64 };

static inline mr_c128 complex_add(mr_c128 a, mr_c128 b)
{
    return (mr_c128){mr_canonical(a.re + b.re), mr_canonical(a.im + b.im)};
}

static inline mr_c128 complex_mul(mr_c128 a, mr_c128 b)
{
    return (mr_c128){mr_canonical(a.re * b.re - a.im * b.im), mr_canonical(a.re * b.im + a.im * b.re)};
}

static inline mr_c128 widen(mr_c64 a)
{
    return (mr_c128){a.re, a.im};
}

static inline mr_c64 narrow(mr_c128 a)
{
    return (mr_c64){(float)a.re, (float)a.im};
}

#define MR_BODY "kernels/cpu/scatter_set.inc"
#include "kernels/cpu/each_size.h"
#define MR_BODY "kernels/cpu/scatter_int.inc"
#include "kernels/cpu/each_int.h"
#define MR_BODY "kernels/cpu/scatter_float.inc"
#include "kernels/cpu/each_float.h"

#define S           uint8_t
#define FN(f)       or_##f
#define APPLY(a, b) ((S)((a) | (b)))
#include "kernels/cpu/scatter.inc"
#define FN(f)       and_##f
#define APPLY(a, b) ((S)((a) & (b)))
#include "kernels/cpu/scatter.inc"
#undef S

#define S           mr_c64
#define FN(f)       add_c64_##f
#define APPLY(a, b) narrow(complex_add(widen(a), widen(b)))
#include "kernels/cpu/scatter.inc"
#define FN(f)       mul_c64_##f
#define APPLY(a, b) narrow(complex_mul(widen(a), widen(b)))
#include "kernels/cpu/scatter.inc"
#undef S

#define S           mr_c128
#define FN(f)       add_c128_##f
#define APPLY(a, b) complex_add(a, b)
#include "kernels/cpu/scatter.inc"
#define FN(f)       mul_c128_##f
#define APPLY(a, b) complex_mul(a, b)
#include "kernels/cpu/scatter.inc"
#undef S

#define EACH_SIZE(f)                                                                                                   \
    {                                                                                                                  \
        f##_1, f##_2, f##_4, f##_8, f##_16                                                                             \
    }
#define EACH_REAL(f)                                                                                                   \
    [MR_U8] = f##_u8, [MR_I8] = f##_i8, [MR_U16] = f##_u16, [MR_I16] = f##_i16, [MR_U32] = f##_u32,                    \
    [MR_I32] = f##_i32, [MR_U64] = f##_u64, [MR_I64] = f##_i64, [MR_F16] = f##_f16, [MR_BF16] = f##_bf16,              \
    [MR_F32] = f##_f32, [MR_F64] = f##_f64

void mr_scatter_fill_scalar(mr_scatter_fns *f)
{
    *f = (mr_scatter_fns){
        .set = EACH_SIZE(set_elements),
        .set_nd = EACH_SIZE(set_nd),
        .reduce[MR_SCATTER_ADD] = {EACH_REAL(add_elements), [MR_BOOL] = or_elements, [MR_C64] = add_c64_elements,
                                   [MR_C128] = add_c128_elements},
        .reduce[MR_SCATTER_MUL] = {EACH_REAL(mul_elements), [MR_BOOL] = and_elements, [MR_C64] = mul_c64_elements,
                                   [MR_C128] = mul_c128_elements},
        .reduce[MR_SCATTER_MAX] = {EACH_REAL(max_elements), [MR_BOOL] = or_elements},
        .reduce[MR_SCATTER_MIN] = {EACH_REAL(min_elements), [MR_BOOL] = and_elements},
        .reduce_nd[MR_SCATTER_ADD] =
            {EACH_REAL(add_nd), [MR_BOOL] = or_nd, [MR_C64] = add_c64_nd, [MR_C128] = add_c128_nd},
        .reduce_nd[MR_SCATTER_MUL] =
            {EACH_REAL(mul_nd), [MR_BOOL] = and_nd, [MR_C64] = mul_c64_nd, [MR_C128] = mul_c128_nd},
        .reduce_nd[MR_SCATTER_MAX] = {EACH_REAL(max_nd), [MR_BOOL] = or_nd},
        .reduce_nd[MR_SCATTER_MIN] = {EACH_REAL(min_nd), [MR_BOOL] = and_nd},
    };
}

/* search.c: looking for values, plain C. */
#include "kernels/cpu/search.h"

#include "kernels/cpu/complex.h"
#include "runtime/narrow.h"
#include "kernels/cpu/sizes.h"
#include "runtime/tensor.h"

#include <string.h>

/* NaN is the largest, and equal to NaN. */
static int order_real(double a, double b)
{
    if (a != a || b != b) return (a != a) - (b != b);
    return (a > b) - (a < b);
}

static int order_complex(double a_re, double a_im, double b_re, double b_im)
{
    int order = order_real(a_re, b_re);
    return order ? order : order_real(a_im, b_im);
}

enum { TOPK_BLOCK = 16 }; /* elements that are passed over at once when none is of the first k */

#define MR_BODY "kernels/cpu/topk_int.inc"
#include "kernels/cpu/each_int.h"
#define MR_BODY "kernels/cpu/topk_float.inc"
#include "kernels/cpu/each_float.h"

#define MR_BODY "kernels/cpu/unique_int.inc"
#include "kernels/cpu/each_int.h"
#define MR_BODY "kernels/cpu/unique_float.inc"
#include "kernels/cpu/each_float.h"

#define S             mr_c64
#define NAME(f)       f##_c64
#define COMPARE(a, b) order_complex((a).re, (a).im, (b).re, (b).im)
#include "kernels/cpu/unique.inc"
#undef NAME
#undef S

#define S             mr_c128
#define NAME(f)       f##_c128
#define COMPARE(a, b) order_complex((a).re, (a).im, (b).re, (b).im)
#include "kernels/cpu/unique.inc"
#undef NAME
#undef S

#define S             mr_string
#define NAME(f)       f##_string
#define COMPARE(a, b) mr_string_order(a, b)
#include "kernels/cpu/unique.inc"
#undef NAME
#undef S

/* Zeros have one code, but for the sign of a float. */
#define SIGNLESS_16 UINT16_C(0x7fff)
#define SIGNLESS_32 UINT32_C(0x7fffffff)
#define SIGNLESS_64 UINT64_C(0x7fffffffffffffff)

#define S      uint8_t
#define FN(f)  f##_8
#define SET(v) ((v) != 0)
#include "kernels/cpu/nonzero.inc"
#undef S
#define S      uint16_t
#define FN(f)  f##_16
#define SET(v) ((v) != 0)
#include "kernels/cpu/nonzero.inc"
#define FN(f)  f##_half
#define SET(v) (((v)&SIGNLESS_16) != 0)
#include "kernels/cpu/nonzero.inc"
#undef S
#define S      uint32_t
#define FN(f)  f##_32
#define SET(v) ((v) != 0)
#include "kernels/cpu/nonzero.inc"
#define FN(f)  f##_f32
#define SET(v) (((v)&SIGNLESS_32) != 0)
#include "kernels/cpu/nonzero.inc"
#undef S
#define S      uint64_t
#define FN(f)  f##_64
#define SET(v) ((v) != 0)
#include "kernels/cpu/nonzero.inc"
#define FN(f)  f##_f64
#define SET(v) (((v)&SIGNLESS_64) != 0)
#include "kernels/cpu/nonzero.inc"
#undef S
#define S      mr_c64
#define FN(f)  f##_c64
#define SET(v) ((v).re != 0 || (v).im != 0)
#include "kernels/cpu/nonzero.inc"
#undef S
#define S      mr_c128
#define FN(f)  f##_c128
#define SET(v) ((v).re != 0 || (v).im != 0)
#include "kernels/cpu/nonzero.inc"
#undef S
#define S      mr_string
#define FN(f)  f##_string
#define SET(v) ((v).len != 0)
#include "kernels/cpu/nonzero.inc"
#undef S

#define EACH_REAL(f)                                                                                                   \
    [MR_U8] = f##_u8, [MR_I8] = f##_i8, [MR_U16] = f##_u16, [MR_I16] = f##_i16, [MR_U32] = f##_u32,                    \
    [MR_I32] = f##_i32, [MR_U64] = f##_u64, [MR_I64] = f##_i64, [MR_F16] = f##_f16, [MR_BF16] = f##_bf16,              \
    [MR_F32] = f##_f32, [MR_F64] = f##_f64
#define EACH_CODE(f)                                                                                                   \
    [MR_BOOL] = f##_8, [MR_U8] = f##_8, [MR_I8] = f##_8, [MR_U16] = f##_16, [MR_I16] = f##_16, [MR_U32] = f##_32,      \
    [MR_I32] = f##_32, [MR_U64] = f##_64, [MR_I64] = f##_64, [MR_F16] = f##_half, [MR_BF16] = f##_half,                \
    [MR_F32] = f##_f32, [MR_F64] = f##_f64, [MR_C64] = f##_c64, [MR_C128] = f##_c128, [MR_STRING] = f##_string

void mr_search_fill_scalar(mr_search_fns *f)
{
    *f = (mr_search_fns){
        .topk = {EACH_REAL(topk)},
        .nonzero_count = {EACH_CODE(count)},
        .nonzero = {EACH_CODE(fill)},
        .unique = {EACH_REAL(unique), [MR_BOOL] = unique_u8, [MR_C64] = unique_c64, [MR_C128] = unique_c128,
                   [MR_STRING] = unique_string},
    };
}

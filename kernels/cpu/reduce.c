/* reduce.c: scalar reductions, which are also the reference. */
#include "kernels/cpu/reduce.h"

#include "kernels/cpu/math.h"
#include "runtime/narrow.h"
#include "kernels/cpu/reduce_block.h"
#include "kernels/cpu/convert.h"

#include <math.h>

/* NaN wins. */
static inline double larger(double a, double b)
{
    return a != a || a > b ? a : b;
}

#define MR_BODY "kernels/cpu/reduce_float.inc"
#include "kernels/cpu/each_float.h"

#define MR_BODY "kernels/cpu/reduce_int.inc"
#include "kernels/cpu/each_int.h"

/* bool: of nothing, the largest is false and the smallest true. */
#define S             uint8_t
#define SUFFIX        bool8
#define MR_CAT_(a, b) a##_##b
#define MR_CAT(a, b)  MR_CAT_(a, b)
#define NAME(f)       MR_CAT(f, SUFFIX)
#define OP            max
#define A             uint8_t
#define FIRST         0
#define STEP(a, v)    ((v) > (a) ? (v) : (a))
#define LAST(a)       (a)
#include "kernels/cpu/reduce_op.inc"
#define OP         min
#define A          uint8_t
#define FIRST      1
#define STEP(a, v) ((v) < (a) ? (v) : (a))
#define LAST(a)    (a)
#include "kernels/cpu/reduce_op.inc"
#undef S
#undef SUFFIX
#undef MR_CAT_
#undef MR_CAT
#undef NAME

/* ---- indices of extremes ---- */

enum { ARG_WIDTH = 256 };

typedef struct arg_job {
    const mr_arg_args *a;
    int64_t blocks; /* of inner */
} arg_job;

static inline bool less_f64(double a, double b)
{
    return a < b || (b != b && a == a);
}

#define K           double
#define KEY(v)      LD(v)
#define OPPOSITE(v) (-(v))
#define LESS(a, b)  less_f64(a, b)
#define MR_BODY     "kernels/cpu/arg.inc"
#include "kernels/cpu/each_float.h"
#undef K
#undef KEY
#undef OPPOSITE
#undef LESS

#define K           S
#define KEY(v)      (v)
#define OPPOSITE(v) ((S) ~(v))
#define LESS(a, b)  ((a) < (b))
#define MR_BODY     "kernels/cpu/arg.inc"
#include "kernels/cpu/each_int.h"
#undef K
#undef KEY
#undef OPPOSITE
#undef LESS

/* ---- running sums ---- */

enum { CUM_WIDTH = 256 };

typedef struct cum_job {
    const mr_cum_args *a;
    int64_t blocks; /* of inner */
} cum_job;

#define MR_BODY "kernels/cpu/cum.inc"
#include "kernels/cpu/each_float.h"
#define MR_BODY "kernels/cpu/cum.inc"
#include "kernels/cpu/each_int.h"

/* ---- the table ---- */

#define EACH_FLOAT(f) [MR_F16] = f##_f16, [MR_BF16] = f##_bf16, [MR_F32] = f##_f32, [MR_F64] = f##_f64
#define EACH(f)                                                                                                        \
    EACH_FLOAT(f), [MR_U8] = f##_u8, [MR_I8] = f##_i8, [MR_U16] = f##_u16, [MR_I16] = f##_i16, [MR_U32] = f##_u32,     \
                   [MR_I32] = f##_i32, [MR_U64] = f##_u64, [MR_I64] = f##_i64

void mr_reduce_fill_scalar(mr_reduce_fns *f)
{
    *f = (mr_reduce_fns){
        .reduce =
            {
                [MR_REDUCE_L1] = {EACH(l1)},
                [MR_REDUCE_L2] = {EACH(l2)},
                [MR_REDUCE_LOG_SUM] = {EACH(log_sum)},
                [MR_REDUCE_LOG_SUM_EXP] = {EACH(log_sum_exp)},
                [MR_REDUCE_MAX] = {EACH(max), [MR_BOOL] = max_bool8},
                [MR_REDUCE_MEAN] = {EACH(mean)},
                [MR_REDUCE_MIN] = {EACH(min), [MR_BOOL] = min_bool8},
                [MR_REDUCE_PROD] = {EACH(prod)},
                [MR_REDUCE_SUM] = {EACH(sum)},
                [MR_REDUCE_SUM_SQUARE] = {EACH(sum_square)},
            },
        .moments = {EACH_FLOAT(moments)},
        .arg = {EACH(arg)},
        .cum_sum = {EACH(cum_sum)},
        .cum_prod = {EACH(cum_prod)},
    };
}

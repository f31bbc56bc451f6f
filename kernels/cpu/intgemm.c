/* intgemm.c: the scalar products of quantized matrices, which are also the reference. */
#include "kernels/cpu/intgemm.h"

#include <string.h>

#include "runtime/narrow.h"
#include "kernels/cpu/sums.h"

#define SA      uint8_t
#define SB      uint8_t
#define NAME(f) f##_u8_u8
#include "kernels/cpu/intgemm.inc"
#undef SB
#undef NAME
#define SB      int8_t
#define NAME(f) f##_u8_i8
#include "kernels/cpu/intgemm.inc"
#undef SA
#undef SB
#undef NAME
#define SA      int8_t
#define SB      uint8_t
#define NAME(f) f##_i8_u8
#include "kernels/cpu/intgemm.inc"
#undef SB
#undef NAME
#define SB      int8_t
#define NAME(f) f##_i8_i8
#include "kernels/cpu/intgemm.inc"
#undef SA
#undef SB
#undef NAME

static void decode_rows(void *arg, int64_t begin, int64_t end)
{
    const mr_decode_args *d = arg;
    for (int64_t i = begin; i < end; i++)
        for (int64_t j = 0; j < d->cols; j++)
            d->y[i * d->cols + j] = d->table[d->x[i * d->cols + j]] - d->zero[i * d->zero_row + j * d->zero_col];
}

static void decode(const mr_decode_args *d)
{
    mr_parallel_for(d->pool, d->rows, 1 + 16384 / (1 + d->cols), decode_rows, (void *)d);
}

static int whole(double v, double zero, int low, int high)
{
    v = mr_requant_round(v) + zero;
    v = v > low ? v : low;
    return (int)(v < high ? v : high);
}

#define ENCODE(v, zero) whole(v, zero, 0, UINT8_MAX)
#define NAME(f)         f##_u8
#include "kernels/cpu/encode.inc"
#undef NAME
#undef ENCODE
#define ENCODE(v, zero) whole(v, zero, INT8_MIN, INT8_MAX)
#define NAME(f)         f##_i8
#include "kernels/cpu/encode.inc"
#undef NAME
#undef ENCODE
#define ENCODE(v, zero) mr_f8e4m3fn_from_f64((v) + (zero), true).bits
#define NAME(f)         f##_f8e4m3fn
#include "kernels/cpu/encode.inc"
#undef NAME
#undef ENCODE
#define ENCODE(v, zero) mr_f8e4m3fnuz_from_f64((v) + (zero), true).bits
#define NAME(f)         f##_f8e4m3fnuz
#include "kernels/cpu/encode.inc"
#undef NAME
#undef ENCODE
#define ENCODE(v, zero) mr_f8e5m2_from_f64((v) + (zero), true).bits
#define NAME(f)         f##_f8e5m2
#include "kernels/cpu/encode.inc"
#undef NAME
#undef ENCODE
#define ENCODE(v, zero) mr_f8e5m2fnuz_from_f64((v) + (zero), true).bits
#define NAME(f)         f##_f8e5m2fnuz
#include "kernels/cpu/encode.inc"

void mr_intgemm_fill_scalar(mr_intgemm_fns *f)
{
    f->gemm[0][0] = gemm_u8_u8;
    f->gemm[0][1] = gemm_u8_i8;
    f->gemm[1][0] = gemm_i8_u8;
    f->gemm[1][1] = gemm_i8_i8;
    f->decode = decode;
    f->encode[MR_U8] = encode_u8;
    f->encode[MR_I8] = encode_i8;
    f->encode[MR_F8E4M3FN] = encode_f8e4m3fn;
    f->encode[MR_F8E4M3FNUZ] = encode_f8e4m3fnuz;
    f->encode[MR_F8E5M2] = encode_f8e5m2;
    f->encode[MR_F8E5M2FNUZ] = encode_f8e5m2fnuz;
}

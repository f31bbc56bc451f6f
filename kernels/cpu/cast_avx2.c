/* cast_avx2.c: the conversions that models are full of, without the wide type in between. */
#include "kernels/cpu/cast.h"

#include "kernels/cpu/simd_avx2.h"
#include "kernels/cpu/part_simd.h"

/* ---- between float, f16 and bf16 ---- */

#define BODY     f32_to_f16
#define FROM     float
#define TO       mr_f16
#define VLD      vf_load
#define VST      vf_store_f16
#define VLD_PART vf_load_n_f32
#define VST_PART vf_store_n_f16
#include "kernels/cpu/cast_avx2.inc"

#define BODY     f32_to_bf16
#define FROM     float
#define TO       mr_bf16
#define VLD      vf_load
#define VST      vf_store_bf16
#define VLD_PART vf_load_n_f32
#define VST_PART vf_store_n_bf16
#include "kernels/cpu/cast_avx2.inc"

#define BODY     f16_to_f32
#define FROM     mr_f16
#define TO       float
#define VLD      vf_load_f16
#define VST      vf_store
#define VLD_PART vf_load_n_f16
#define VST_PART vf_store_n_f32
#include "kernels/cpu/cast_avx2.inc"

#define BODY     f16_to_bf16
#define FROM     mr_f16
#define TO       mr_bf16
#define VLD      vf_load_f16
#define VST      vf_store_bf16
#define VLD_PART vf_load_n_f16
#define VST_PART vf_store_n_bf16
#include "kernels/cpu/cast_avx2.inc"

#define BODY     bf16_to_f32
#define FROM     mr_bf16
#define TO       float
#define VLD      vf_load_bf16
#define VST      vf_store
#define VLD_PART vf_load_n_bf16
#define VST_PART vf_store_n_f32
#include "kernels/cpu/cast_avx2.inc"

#define BODY     bf16_to_f16
#define FROM     mr_bf16
#define TO       mr_f16
#define VLD      vf_load_bf16
#define VST      vf_store_f16
#define VLD_PART vf_load_n_bf16
#define VST_PART vf_store_n_f16
#include "kernels/cpu/cast_avx2.inc"

/* ---- to float, and between integers: the compiler makes vectors of these ---- */

#define BODY i8_to_f32
#define FROM int8_t
#define TO   float
#define Y    x
#include "kernels/cpu/direct.inc"

#define BODY u8_to_f32
#define FROM uint8_t
#define TO   float
#define Y    x
#include "kernels/cpu/direct.inc"

#define BODY i32_to_f32
#define FROM int32_t
#define TO   float
#define Y    x
#include "kernels/cpu/direct.inc"

#define BODY i64_to_f32
#define FROM int64_t
#define TO   float
#define Y    x
#include "kernels/cpu/direct.inc"

#define BODY bool_to_f32
#define FROM uint8_t
#define TO   float
#define Y    x != 0
#include "kernels/cpu/direct.inc"

#define BODY bool_to_i32
#define FROM uint8_t
#define TO   int32_t
#define Y    x != 0
#include "kernels/cpu/direct.inc"

#define BODY i64_to_i32
#define FROM int64_t
#define TO   int32_t
#define Y    x
#include "kernels/cpu/direct.inc"

#define BODY f32_to_bool
#define FROM float
#define TO   bool
#define Y    x != 0
#include "kernels/cpu/direct.inc"

#define BODY i32_to_bool
#define FROM int32_t
#define TO   bool
#define Y    x != 0
#include "kernels/cpu/direct.inc"

#define BODY i64_to_bool
#define FROM int64_t
#define TO   bool
#define Y    x != 0
#include "kernels/cpu/direct.inc"

void mr_cast_fill_avx2(mr_cast_fns *f)
{
    f->cast[MR_F32][MR_F16] = f32_to_f16;
    f->cast[MR_F32][MR_BF16] = f32_to_bf16;
    f->cast[MR_F16][MR_F32] = f16_to_f32;
    f->cast[MR_F16][MR_BF16] = f16_to_bf16;
    f->cast[MR_BF16][MR_F32] = bf16_to_f32;
    f->cast[MR_BF16][MR_F16] = bf16_to_f16;
    f->cast[MR_I8][MR_F32] = i8_to_f32;
    f->cast[MR_U8][MR_F32] = u8_to_f32;
    f->cast[MR_I32][MR_F32] = i32_to_f32;
    f->cast[MR_I64][MR_F32] = i64_to_f32;
    f->cast[MR_BOOL][MR_F32] = bool_to_f32;
    f->cast[MR_BOOL][MR_I32] = bool_to_i32;
    f->cast[MR_I64][MR_I32] = i64_to_i32;
    f->cast[MR_F32][MR_BOOL] = f32_to_bool;
    f->cast[MR_I32][MR_BOOL] = i32_to_bool;
    f->cast[MR_I64][MR_BOOL] = i64_to_bool;
}

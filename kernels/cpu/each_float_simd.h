/* each_float_simd.h: includes MR_BODY once for each float type that SIMD levels compute as float. In the body:
 *   S         storage type           NAME(f)  f_f32, f_f16, f_bf16       DT  the mr_dtype
 *   VLD(p)    a vector of elements   VST(p, v) stores them, rounded to nearest even
 *   VLD_PART(p, n), VST_PART(p, n, v)          the first n of them alone */
#define MR_CAT_(a, b) a##_##b
#define MR_CAT(a, b)  MR_CAT_(a, b)
#define NAME(f)       MR_CAT(f, SUFFIX)

#define S        float
#define VLD      vf_load
#define VST      vf_store
#define VLD_PART vf_load_n_f32
#define VST_PART vf_store_n_f32
#define SUFFIX   f32
#define DT       MR_F32
#include MR_BODY
#undef S
#undef VLD
#undef VST
#undef VLD_PART
#undef VST_PART
#undef SUFFIX
#undef DT

#define S        mr_f16
#define VLD      vf_load_f16
#define VST      vf_store_f16
#define VLD_PART vf_load_n_f16
#define VST_PART vf_store_n_f16
#define SUFFIX   f16
#define DT       MR_F16
#include MR_BODY
#undef S
#undef VLD
#undef VST
#undef VLD_PART
#undef VST_PART
#undef SUFFIX
#undef DT

#define S        mr_bf16
#define VLD      vf_load_bf16
#define VST      vf_store_bf16
#define VLD_PART vf_load_n_bf16
#define VST_PART vf_store_n_bf16
#define SUFFIX   bf16
#define DT       MR_BF16
#include MR_BODY
#undef S
#undef VLD
#undef VST
#undef VLD_PART
#undef VST_PART
#undef SUFFIX
#undef DT

#undef NAME
#undef MR_CAT
#undef MR_CAT_
#undef MR_BODY

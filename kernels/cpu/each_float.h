/* each_float.h: includes MR_BODY once for each float type. In the body:
 *   S        storage type           NAME(f)  f_f32, f_f16 …
 *   LD(x)    S → double, exact      ST(v)    double → S, rounded once, to nearest even
 *   DT       the mr_dtype
 * Arithmetic in double on f16, bf16 and f32 gives the correctly rounded sum, product, quotient and root of the storage
 * type, since 53 ≥ 2·24 + 2. */
#define MR_CAT_(a, b) a##_##b
#define MR_CAT(a, b)  MR_CAT_(a, b)
#define NAME(f)       MR_CAT(f, SUFFIX)

#define S      mr_f16
#define LD(x)  ((double)mr_f16_to_f32(x))
#define ST(v)  mr_f16_from_f64(v)
#define SUFFIX f16
#define DT     MR_F16
#include MR_BODY
#undef S
#undef LD
#undef ST
#undef SUFFIX
#undef DT

#define S      mr_bf16
#define LD(x)  ((double)mr_bf16_to_f32(x))
#define ST(v)  mr_bf16_from_f64(v)
#define SUFFIX bf16
#define DT     MR_BF16
#include MR_BODY
#undef S
#undef LD
#undef ST
#undef SUFFIX
#undef DT

#define S      float
#define LD(x)  ((double)(x))
#define ST(v)  ((float)(v))
#define SUFFIX f32
#define DT     MR_F32
#include MR_BODY
#undef S
#undef LD
#undef ST
#undef SUFFIX
#undef DT

#define S      double
#define LD(x)  (x)
#define ST(v)  (v)
#define SUFFIX f64
#define DT     MR_F64
#include MR_BODY
#undef S
#undef LD
#undef ST
#undef SUFFIX
#undef DT

#undef NAME
#undef MR_CAT
#undef MR_CAT_
#undef MR_BODY

/* each_narrow.h: includes MR_BODY once for each float type under 16 bits. In the body:
 *   S        storage type           NAME(f)  f_f8e4m3fn …
 *   LD(x)    S → double, exact      DT       the mr_dtype
 *   ST(v)    double → S, rounded once; saturate and round (mr_e8m0_round) must be in scope, whether or not used */
#define MR_CAT_(a, b) a##_##b
#define MR_CAT(a, b)  MR_CAT_(a, b)
#define NAME(f)       MR_CAT(f, SUFFIX)

#define S      mr_f8e4m3fn
#define LD(x)  ((double)mr_f8e4m3fn_to_f32(x))
#define ST(v)  mr_f8e4m3fn_from_f64(v, saturate)
#define SUFFIX f8e4m3fn
#define DT     MR_F8E4M3FN
#include MR_BODY
#undef S
#undef LD
#undef ST
#undef SUFFIX
#undef DT

#define S      mr_f8e4m3fnuz
#define LD(x)  ((double)mr_f8e4m3fnuz_to_f32(x))
#define ST(v)  mr_f8e4m3fnuz_from_f64(v, saturate)
#define SUFFIX f8e4m3fnuz
#define DT     MR_F8E4M3FNUZ
#include MR_BODY
#undef S
#undef LD
#undef ST
#undef SUFFIX
#undef DT

#define S      mr_f8e5m2
#define LD(x)  ((double)mr_f8e5m2_to_f32(x))
#define ST(v)  mr_f8e5m2_from_f64(v, saturate)
#define SUFFIX f8e5m2
#define DT     MR_F8E5M2
#include MR_BODY
#undef S
#undef LD
#undef ST
#undef SUFFIX
#undef DT

#define S      mr_f8e5m2fnuz
#define LD(x)  ((double)mr_f8e5m2fnuz_to_f32(x))
#define ST(v)  mr_f8e5m2fnuz_from_f64(v, saturate)
#define SUFFIX f8e5m2fnuz
#define DT     MR_F8E5M2FNUZ
#include MR_BODY
#undef S
#undef LD
#undef ST
#undef SUFFIX
#undef DT

#define S      mr_f8e8m0
#define LD(x)  ((double)mr_f8e8m0_to_f32(x))
#define ST(v)  mr_f8e8m0_from_f64(v, saturate, round)
#define SUFFIX f8e8m0
#define DT     MR_F8E8M0
#include MR_BODY
#undef S
#undef LD
#undef ST
#undef SUFFIX
#undef DT

#define S      mr_f6e2m3
#define LD(x)  ((double)mr_f6e2m3_to_f32(x))
#define ST(v)  mr_f6e2m3_from_f64(v)
#define SUFFIX f6e2m3
#define DT     MR_F6E2M3
#include MR_BODY
#undef S
#undef LD
#undef ST
#undef SUFFIX
#undef DT

#define S      mr_f6e3m2
#define LD(x)  ((double)mr_f6e3m2_to_f32(x))
#define ST(v)  mr_f6e3m2_from_f64(v)
#define SUFFIX f6e3m2
#define DT     MR_F6E3M2
#include MR_BODY
#undef S
#undef LD
#undef ST
#undef SUFFIX
#undef DT

#define S      mr_f4e2m1
#define LD(x)  ((double)mr_f4e2m1_to_f32(x))
#define ST(v)  mr_f4e2m1_from_f64(v)
#define SUFFIX f4e2m1
#define DT     MR_F4E2M1
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

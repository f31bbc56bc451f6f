/* each_int.h: includes MR_BODY once for each integer type of 8 to 64 bits. In the body:
 *   S        storage type           NAME(f)  f_i32, f_u8 …
 *   U        its unsigned twin, for arithmetic that wraps: (S)((U)a + (U)b); of at least 32 bits, so that
 *            promotion cannot make it signed
 *   W        int64_t or uint64_t, wide enough for every value
 *   SIGNED   0 or 1                 DT       the mr_dtype */
#define MR_CAT_(a, b) a##_##b
#define MR_CAT(a, b)  MR_CAT_(a, b)
#define NAME(f)       MR_CAT(f, SUFFIX)

#define S      int8_t
#define U      uint32_t
#define W      int64_t
#define SIGNED 1
#define SUFFIX i8
#define DT     MR_I8
#include MR_BODY
#undef S
#undef U
#undef W
#undef SIGNED
#undef SUFFIX
#undef DT

#define S      uint8_t
#define U      uint32_t
#define W      uint64_t
#define SIGNED 0
#define SUFFIX u8
#define DT     MR_U8
#include MR_BODY
#undef S
#undef U
#undef W
#undef SIGNED
#undef SUFFIX
#undef DT

#define S      int16_t
#define U      uint32_t
#define W      int64_t
#define SIGNED 1
#define SUFFIX i16
#define DT     MR_I16
#include MR_BODY
#undef S
#undef U
#undef W
#undef SIGNED
#undef SUFFIX
#undef DT

#define S      uint16_t
#define U      uint32_t
#define W      uint64_t
#define SIGNED 0
#define SUFFIX u16
#define DT     MR_U16
#include MR_BODY
#undef S
#undef U
#undef W
#undef SIGNED
#undef SUFFIX
#undef DT

#define S      int32_t
#define U      uint32_t
#define W      int64_t
#define SIGNED 1
#define SUFFIX i32
#define DT     MR_I32
#include MR_BODY
#undef S
#undef U
#undef W
#undef SIGNED
#undef SUFFIX
#undef DT

#define S      uint32_t
#define U      uint32_t
#define W      uint64_t
#define SIGNED 0
#define SUFFIX u32
#define DT     MR_U32
#include MR_BODY
#undef S
#undef U
#undef W
#undef SIGNED
#undef SUFFIX
#undef DT

#define S      int64_t
#define U      uint64_t
#define W      int64_t
#define SIGNED 1
#define SUFFIX i64
#define DT     MR_I64
#include MR_BODY
#undef S
#undef U
#undef W
#undef SIGNED
#undef SUFFIX
#undef DT

#define S      uint64_t
#define U      uint64_t
#define W      uint64_t
#define SIGNED 0
#define SUFFIX u64
#define DT     MR_U64
#include MR_BODY
#undef S
#undef U
#undef W
#undef SIGNED
#undef SUFFIX
#undef DT

#undef NAME
#undef MR_CAT
#undef MR_CAT_
#undef MR_BODY

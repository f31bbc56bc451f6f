/* each_size.h: includes MR_BODY once for each element size, for kernels that only move. In the body:
 *   S        a type of that size     NAME(f)  f_1, f_2, f_4, f_8, f_16
 *   SIZE     1, 2, 4, 8, 16; MR_SIZE_INDEX(size) is the slot's index. */
#define MR_CAT_(a, b) a##_##b
#define MR_CAT(a, b)  MR_CAT_(a, b)
#define NAME(f)       MR_CAT(f, SIZE)

#define S    uint8_t
#define SIZE 1
#include MR_BODY
#undef S
#undef SIZE

#define S    uint16_t
#define SIZE 2
#include MR_BODY
#undef S
#undef SIZE

#define S    uint32_t
#define SIZE 4
#include MR_BODY
#undef S
#undef SIZE

#define S    uint64_t
#define SIZE 8
#include MR_BODY
#undef S
#undef SIZE

#define S    mr_u128
#define SIZE 16
#include MR_BODY
#undef S
#undef SIZE

#undef NAME
#undef MR_CAT
#undef MR_CAT_
#undef MR_BODY

/* element.c: one element of any number type, from a number. */
#include "ops/element.h"

#include "runtime/narrow.h"

static void set_integer(mr_dtype d, double v, void *out)
{
    int64_t i = (int64_t)v;
    uint64_t u = v < 0 ? (uint64_t)i : (uint64_t)v;
    switch (mr_dtype_size(d)) { /* the low bytes, in every byte order */
    case 1:
        *(uint8_t *)out = (uint8_t)u;
        break;
    case 2:
        *(uint16_t *)out = (uint16_t)u;
        break;
    case 4:
        *(uint32_t *)out = (uint32_t)u;
        break;
    case 8:
        *(uint64_t *)out = u;
        break;
    }
}

void mr_element_set(mr_dtype d, double v, void *out)
{
    switch (d) {
    case MR_F64:
        *(double *)out = v;
        break;
    case MR_F32:
        *(float *)out = (float)v;
        break;
    case MR_F16:
        *(mr_f16 *)out = mr_f16_from_f64(v);
        break;
    case MR_BF16:
        *(mr_bf16 *)out = mr_bf16_from_f64(v);
        break;
    case MR_BOOL:
        *(uint8_t *)out = v != 0;
        break;
    default:
        set_integer(d, v, out);
        break;
    }
}

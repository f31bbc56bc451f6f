/* ms_quant.h: what com.microsoft's operators on 8-bit codes share: a tensor of codes, its scale and its zero point. */
#ifndef MR_OPS_MS_QUANT_H
#define MR_OPS_MS_QUANT_H

#include "kernels/cpu/quant.h"
#include "ops/rules.h"

#define MR_MS "com.microsoft"

static inline int mr_sign_of(mr_dtype d)
{
    return d == MR_I8;
}
static inline bool mr_is_code(mr_dtype d)
{
    return d == MR_U8 || d == MR_I8;
}

static inline double mr_scale_of(const mr_call *c, int i)
{
    return mr_tensor_real(c->in[i].t, 0);
}

static inline int32_t mr_zero_of(const mr_call *c, int i)
{
    return mr_in_has(c, i) ? (int32_t)mr_tensor_int(c->in[i].t, 0) : 0;
}

static inline int mr_code_value(mr_dtype d, int code)
{
    return d == MR_I8 ? (int8_t)code : code;
}

/* The code of type d for v, which its scale has been taken out of. */
static inline uint8_t mr_code_of(mr_dtype d, double v, int32_t zero)
{
    double low = d == MR_I8 ? INT8_MIN : 0, high = d == MR_I8 ? INT8_MAX : UINT8_MAX;
    v = mr_requant_round(v) + zero;
    v = v > low ? v : low;
    return (uint8_t)(int)(v < high ? v : high);
}

/* What each code of type `from` is in another scale: table[code] = code of f((code - zero) · scale) / to_scale +
 * to_zero. f NULL: the number itself. */
void mr_code_table(mr_dtype from, double scale, int32_t zero, double (*f)(double v, const void *arg), const void *arg,
                   mr_dtype to, double to_scale, int32_t to_zero, uint8_t *table);

#endif

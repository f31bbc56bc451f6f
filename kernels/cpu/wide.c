/* wide.c: conversion of tiles to and from wide types. */
#include "kernels/cpu/wide.h"

#include "kernels/cpu/convert.h"

#define MR_BODY "kernels/cpu/wide_float.inc"
#include "kernels/cpu/each_float.h"

#define MR_BODY "kernels/cpu/wide_float.inc"
#include "kernels/cpu/each_narrow.h"

#define MR_BODY "kernels/cpu/wide_int.inc"
#include "kernels/cpu/each_int.h"

static void load_bool(const void *x, int64_t n, mr_wide *w)
{
    const uint8_t *from = x;
    for (int64_t i = 0; i < n; i++) w->i[i] = from[i] != 0;
}

static void store_f64_bool(const mr_wide *w, int64_t n, void *y, bool saturate, mr_e8m0_round round)
{
    uint8_t *to = y;
    (void)saturate, (void)round;
    for (int64_t i = 0; i < n; i++) to[i] = w->f[i] != 0;
}

static void store_i64_bool(const mr_wide *w, int64_t n, void *y, bool saturate, mr_e8m0_round round)
{
    uint8_t *to = y;
    (void)saturate, (void)round;
    for (int64_t i = 0; i < n; i++) to[i] = w->i[i] != 0;
}

static inline uint64_t integer(mr_wide_kind k, const mr_wide *w, int64_t i)
{
    return k == MR_WIDE_F64 ? mr_int_from_f64(w->f[i]) : w->u[i];
}

static void store_i4(mr_wide_kind k, const mr_wide *w, int64_t n, int8_t *y)
{
    for (int64_t i = 0; i < n; i++) y[i] = mr_i4_from_int(integer(k, w, i));
}

static void store_i2(mr_wide_kind k, const mr_wide *w, int64_t n, int8_t *y)
{
    for (int64_t i = 0; i < n; i++) y[i] = mr_i2_from_int(integer(k, w, i));
}

static void store_low(mr_wide_kind k, const mr_wide *w, int64_t n, uint8_t mask, uint8_t *y)
{
    for (int64_t i = 0; i < n; i++) y[i] = (uint8_t)integer(k, w, i) & mask;
}

typedef void (*store_fn)(const mr_wide *, int64_t, void *, bool, mr_e8m0_round);

typedef struct {
    mr_wide_kind kind;
    void (*load)(const void *, int64_t, mr_wide *);
    store_fn store[MR_N_WIDE];
} conversion;

#define FLOAT(t)                                                                                                       \
    {                                                                                                                  \
        MR_WIDE_F64, load_##t,                                                                                         \
        {                                                                                                              \
            [MR_WIDE_F64] = store_f64_##t, store_i64_##t, store_u64_##t                                                \
        }                                                                                                              \
    }
#define INT(k, t)                                                                                                      \
    {                                                                                                                  \
        MR_WIDE_##k, load_##t,                                                                                         \
        {                                                                                                              \
            [MR_WIDE_F64] = store_f64_##t, store_i64_##t, store_i64_##t                                                \
        }                                                                                                              \
    }

static const conversion conversions[MR_N_DTYPES] = {
    [MR_F16] = FLOAT(f16),
    [MR_BF16] = FLOAT(bf16),
    [MR_F32] = FLOAT(f32),
    [MR_F64] = FLOAT(f64),
    [MR_F8E4M3FN] = FLOAT(f8e4m3fn),
    [MR_F8E4M3FNUZ] = FLOAT(f8e4m3fnuz),
    [MR_F8E5M2] = FLOAT(f8e5m2),
    [MR_F8E5M2FNUZ] = FLOAT(f8e5m2fnuz),
    [MR_F8E8M0] = FLOAT(f8e8m0),
    [MR_F6E2M3] = FLOAT(f6e2m3),
    [MR_F6E3M2] = FLOAT(f6e3m2),
    [MR_F4E2M1] = FLOAT(f4e2m1),
    [MR_I8] = INT(I64, i8),
    [MR_I16] = INT(I64, i16),
    [MR_I32] = INT(I64, i32),
    [MR_I64] = INT(I64, i64),
    [MR_U8] = INT(I64, u8),
    [MR_U16] = INT(I64, u16),
    [MR_U32] = INT(I64, u32),
    [MR_U64] = INT(U64, u64),
    [MR_BOOL] = INT(I64, bool),
    /* stored by mr_wide_store */
    [MR_I4] = {MR_WIDE_I64, load_i8, {0}},
    [MR_U4] = {MR_WIDE_I64, load_u8, {0}},
    [MR_I2] = {MR_WIDE_I64, load_i8, {0}},
    [MR_U2] = {MR_WIDE_I64, load_u8, {0}},
};

mr_wide_kind mr_wide_kind_of(mr_dtype d)
{
    return conversions[d].kind;
}

void mr_wide_load(mr_dtype d, const void *x, int64_t n, mr_wide *w)
{
    conversions[d].load(x, n, w);
}

void mr_wide_load_f64(mr_dtype d, const void *x, int64_t n, double *out)
{
    mr_wide w;
    mr_wide_load(d, x, n, &w);
    switch (mr_wide_kind_of(d)) {
    case MR_WIDE_I64:
        for (int64_t i = 0; i < n; i++) out[i] = (double)w.i[i];
        break;
    case MR_WIDE_U64:
        for (int64_t i = 0; i < n; i++) out[i] = (double)w.u[i];
        break;
    default:
        memcpy(out, w.f, (size_t)n * sizeof *out);
    }
}

void mr_wide_store(mr_wide_kind k, const mr_wide *w, int64_t n, mr_dtype d, void *y, mr_wide_rule rule)
{
    switch (d) {
    case MR_I4:
        store_i4(k, w, n, y);
        return;
    case MR_U4:
        store_low(k, w, n, 15, y);
        return;
    case MR_I2:
        store_i2(k, w, n, y);
        return;
    case MR_U2:
        store_low(k, w, n, 3, y);
        return;
    default:
        conversions[d].store[k](w, n, y, rule.saturate, rule.round);
    }
}

/* dtype.c: names and sizes of the element types. */
#include "dtype.h"

#include <stdio.h>
#include <string.h>

typedef struct dtype_info {
    const char *name, *onnx, *brief;
    uint8_t size, wire_bits;
} dtype_info;

static const dtype_info infos[MR_N_DTYPES] = {
    [MR_UNDEFINED] = {"undefined", "undefined", "undefined", 0, 0},
    [MR_F32] = {"float32", "float", "f32", 4, 32},
    [MR_U8] = {"uint8", "uint8", "u8", 1, 8},
    [MR_I8] = {"int8", "int8", "i8", 1, 8},
    [MR_U16] = {"uint16", "uint16", "u16", 2, 16},
    [MR_I16] = {"int16", "int16", "i16", 2, 16},
    [MR_I32] = {"int32", "int32", "i32", 4, 32},
    [MR_I64] = {"int64", "int64", "i64", 8, 64},
    [MR_STRING] = {"string", "string", "str", sizeof(mr_string), 0},
    [MR_BOOL] = {"bool", "bool", "b8", 1, 8},
    [MR_F16] = {"float16", "float16", "f16", 2, 16},
    [MR_F64] = {"float64", "double", "f64", 8, 64},
    [MR_U32] = {"uint32", "uint32", "u32", 4, 32},
    [MR_U64] = {"uint64", "uint64", "u64", 8, 64},
    [MR_C64] = {"complex64", "complex64", "c64", 8, 64},
    [MR_C128] = {"complex128", "complex128", "c128", 16, 128},
    [MR_BF16] = {"bfloat16", "bfloat16", "bf16", 2, 16},
    [MR_F8E4M3FN] = {"float8e4m3fn", "float8e4m3fn", "f8e4m3fn", 1, 8},
    [MR_F8E4M3FNUZ] = {"float8e4m3fnuz", "float8e4m3fnuz", "f8e4m3fnuz", 1, 8},
    [MR_F8E5M2] = {"float8e5m2", "float8e5m2", "f8e5m2", 1, 8},
    [MR_F8E5M2FNUZ] = {"float8e5m2fnuz", "float8e5m2fnuz", "f8e5m2fnuz", 1, 8},
    [MR_U4] = {"uint4", "uint4", "u4", 1, 4},
    [MR_I4] = {"int4", "int4", "i4", 1, 4},
    [MR_F4E2M1] = {"float4e2m1", "float4e2m1", "f4e2m1", 1, 4},
    [MR_F8E8M0] = {"float8e8m0", "float8e8m0", "f8e8m0", 1, 8},
    [MR_U2] = {"uint2", "uint2", "u2", 1, 2},
    [MR_I2] = {"int2", "int2", "i2", 1, 2},
    [MR_F6E2M3] = {"float6e2m3", "float6e2m3", "f6e2m3", 1, 6},
    [MR_F6E3M2] = {"float6e3m2", "float6e3m2", "f6e3m2", 1, 6},
};

static const dtype_info *info(mr_dtype d)
{
    return &infos[(unsigned)d < MR_N_DTYPES ? d : MR_UNDEFINED];
}

size_t mr_dtype_size(mr_dtype d)
{
    return info(d)->size;
}
int mr_dtype_wire_bits(mr_dtype d)
{
    return info(d)->wire_bits;
}
const char *mr_dtype_name(mr_dtype d)
{
    return info(d)->name;
}
const char *mr_dtype_onnx(mr_dtype d)
{
    return info(d)->onnx;
}

static bool spelt(const char *a, const char *name, size_t len)
{
    return strlen(a) == len && memcmp(a, name, len) == 0;
}

mr_dtype mr_dtype_parse(const char *name, size_t len)
{
    for (int d = 1; d < MR_N_DTYPES; d++)
        if (spelt(infos[d].name, name, len) || spelt(infos[d].onnx, name, len) || spelt(infos[d].brief, name, len))
            return (mr_dtype)d;
    return MR_UNDEFINED;
}

const char *mr_type_string(mr_type t, char *buf, size_t size)
{
    const char *elem = mr_dtype_onnx(t.elem), *key = mr_dtype_onnx(t.key);
    switch ((mr_kind)t.kind) {
    case MR_NONE:
        snprintf(buf, size, "unknown");
        break;
    case MR_TENSOR:
        snprintf(buf, size, "tensor(%s)", elem);
        break;
    case MR_SEQUENCE:
        snprintf(buf, size, "seq(tensor(%s))", elem);
        break;
    case MR_OPTIONAL:
        snprintf(buf, size, "optional(tensor(%s))", elem);
        break;
    case MR_OPTIONAL_SEQ:
        snprintf(buf, size, "optional(seq(tensor(%s)))", elem);
        break;
    case MR_SPARSE:
        snprintf(buf, size, "sparse_tensor(%s)", elem);
        break;
    case MR_MAP:
        snprintf(buf, size, "map(%s,tensor(%s))", key, elem);
        break;
    case MR_SEQ_MAP:
        snprintf(buf, size, "seq(map(%s,tensor(%s)))", key, elem);
        break;
    }
    return buf;
}

int mr_string_order(mr_string a, mr_string b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n ? memcmp(a.data, b.data, n) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

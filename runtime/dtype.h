/* dtype.h: the element types of ONNX, with the numbers of TensorProto.DataType, and the types of values. */
#ifndef MR_DTYPE_H
#define MR_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "minirt.h" /* mr_dtype, mr_kind */

/* Sets of dtypes: bit d stands for dtype d. */
typedef uint32_t mr_dtypes;
#define MR_BIT(d)   (UINT32_C(1) << (d))
#define MR_FLOATS   (MR_BIT(MR_F16) | MR_BIT(MR_BF16) | MR_BIT(MR_F32) | MR_BIT(MR_F64))
#define MR_SIGNED   (MR_BIT(MR_I8) | MR_BIT(MR_I16) | MR_BIT(MR_I32) | MR_BIT(MR_I64))
#define MR_UNSIGNED (MR_BIT(MR_U8) | MR_BIT(MR_U16) | MR_BIT(MR_U32) | MR_BIT(MR_U64))
#define MR_INTS     (MR_SIGNED | MR_UNSIGNED)

/* A string element: 16 bytes that can be moved like any other element. The bytes belong to whoever owns the tensor's
 * strings (the model, the caller's value, or the run's string arena) and are not terminated by 0. */
typedef struct mr_string {
    const char *data;
    size_t len;
} mr_string;

/* < 0, 0 or > 0: by bytes, which is the order of code points in UTF-8. */
int mr_string_order(mr_string a, mr_string b);

/* Bytes that one element takes in memory. Types of less than a byte are stored one element a byte: the value of int4
 * and int2 sign-extended, the code of the others in the low bits. 0 for MR_UNDEFINED and unknown numbers. */
size_t mr_dtype_size(mr_dtype d);
/* Bits of one element in TensorProto.raw_data: 2, 4 and 6 for the packed types, else 8 * mr_dtype_size; 0 for strings.
 */
int mr_dtype_wire_bits(mr_dtype d);
/* ONNX's spelling in lower case: "float32" is "float" there; both are understood when read: see mr_dtype_parse. */
const char *
mr_dtype_name(mr_dtype d); /* "float32", "int64", "bfloat16", "float8e4m3fn" … as NumPy and messages say it */
const char *mr_dtype_onnx(mr_dtype d); /* "float", "int64" … as in "tensor(float)" */
mr_dtype mr_dtype_parse(const char *name,
                        size_t len); /* any spelling above, or f32, i64, u8, bf16 …; else MR_UNDEFINED */
static inline bool mr_dtype_in(mr_dtype d, mr_dtypes set)
{
    return (unsigned)d < MR_N_DTYPES && (set >> d & 1);
}

/* The type of a value without its shape. */
typedef struct mr_type {
    uint8_t kind; /* mr_kind */
    uint8_t elem; /* mr_dtype of the innermost tensor, or of a map's values */
    uint8_t key;  /* mr_dtype of a map's keys */
} mr_type;

static inline mr_type mr_type_tensor(mr_dtype d)
{
    return (mr_type){.kind = MR_TENSOR, .elem = (uint8_t)d};
}
static inline bool mr_type_equal(mr_type a, mr_type b)
{
    return a.kind == b.kind && a.elem == b.elem && a.key == b.key;
}
/* ONNX's spelling, "seq(tensor(float))"; buf is returned. */
const char *mr_type_string(mr_type t, char *buf, size_t size);

#endif

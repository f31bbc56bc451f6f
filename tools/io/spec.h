/* spec.h: "f32[1,3]": a type and a shape in words. */
#ifndef MR_TOOLS_IO_SPEC_H
#define MR_TOOLS_IO_SPEC_H

#include "runtime/error.h"
#include "runtime/value.h"

/* Any spelling of a dtype, then the shape in brackets; none: a scalar. Reads all n characters. */
mr_status mr_spec_parse(const char *text, size_t n, mr_dtype *dtype, mr_shape *shape, mr_error *e);

/* The elements of "1,2,3", or one that fills the shape. Strings may stand in quotes, brackets group and are skipped. */
mr_status mr_literal_parse(const char *text, mr_dtype dtype, const mr_shape *shape, mr_value **out, mr_error *e);

/* The elements as TensorProto.raw_data has them: little-endian, types of less than a byte packed. */
mr_status mr_raw_read(const char *path, mr_dtype dtype, const mr_shape *shape, mr_value **out, mr_error *e);

#endif

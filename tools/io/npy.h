/* npy.h: NumPy's file of one array, versions 1 to 3. */
#ifndef MR_TOOLS_IO_NPY_H
#define MR_TOOLS_IO_NPY_H

#include <stdio.h>

#include "runtime/error.h"
#include "runtime/value.h"

/* The narrow types of ml_dtypes say only their size in the file ("V1", "V2"): the expected type tells which one it is,
 * MR_UNDEFINED: V2 is bfloat16, V1 is refused. Any other type is given as it is. */
mr_status mr_npy_parse(const void *bytes, size_t size, mr_dtype expected, mr_value **out, mr_error *e);
mr_status mr_npy_read(const char *path, mr_dtype expected, mr_value **out, mr_error *e);
/* As NumPy and ml_dtypes write it; types of less than a byte take a byte an element. */
mr_status mr_npy_write(FILE *f, const mr_tensor *t, mr_error *e);

bool mr_bytes_are_npy(const void *bytes, size_t size);

#endif

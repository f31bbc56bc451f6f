/* pb.h: values in files of ONNX's own messages: TensorProto, SparseTensorProto, SequenceProto, OptionalProto, MapProto.
 */
#ifndef MR_TOOLS_IO_PB_H
#define MR_TOOLS_IO_PB_H

#include <stdio.h>

#include "../../runtime/error.h"
#include "../../runtime/value.h"

/* No message says what it is. The expected type does (its elem may be MR_UNDEFINED: any); with kind MR_NONE the fields
 * that occur decide, and a sequence of one tensor is taken before an optional that holds it. name, unless NULL, gets
 * the name in the message, allocated, or NULL. */
mr_status mr_pb_parse(const void *bytes, size_t size, mr_type expected, mr_value **out, char **name, mr_error *e);
mr_status mr_pb_read(const char *path, mr_type expected, mr_value **out, char **name, mr_error *e);
mr_status mr_pb_write(FILE *f, const char *name, const mr_value *v, mr_error *e);

#endif

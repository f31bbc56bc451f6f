/* wire.h: protobuf messages out of bytes that stay where they are.
 *
 * protobuf-c copies every field, weights too. So the wire format is walked first and written anew without them: in the
 * unpacked message every TensorProto.raw_data is an mr_wire_raw, which says where in the bytes the data lies. The walk
 * also bounds the nesting, which protobuf-c does not, and says where a broken file breaks. */
#ifndef MR_WIRE_H
#define MR_WIRE_H

#include <protobuf-c/protobuf-c.h>

#include "error.h"

typedef struct mr_wire_raw {
    size_t offset, size;
} mr_wire_raw;

/* Free the message with protobuf_c_message_free_unpacked(*out, NULL). Fails with E0104 when the bytes end inside a
 * field, with E0101 when they are no such message. */
mr_status mr_wire_unpack(const ProtobufCMessageDescriptor *d, const void *bytes, size_t n, ProtobufCMessage **out,
                         mr_error *e);

#endif

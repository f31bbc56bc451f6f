/* origin.h: the other side of a shape that does not fit, for messages. */
#ifndef MR_OPS_ORIGIN_H
#define MR_OPS_ORIGIN_H

#include "runtime/op.h"

/* "'shape' int64[2] (initializer 's')", "'data' float32[2,3] (x, from node 3 'conv' (Conv-11))"; buf is returned. */
const char *mr_in_origin(const mr_call *c, int i, char *buf, size_t size);

#endif

/* plain.h: rows that no slot of the kernel table has a part in: they work on strings or on bytes, of one type. */
#ifndef MR_OPS_PLAIN_H
#define MR_OPS_PLAIN_H

#include "runtime/op.h"

static inline void mr_no_slot(void) {}

static inline mr_fn mr_have_plain(const mr_call *c)
{
    (void)c;
    return mr_no_slot;
}

#endif

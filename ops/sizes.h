/* sizes.h: slots of kernels that move, by the size of a dtype's elements. */
#ifndef MR_OPS_SIZES_H
#define MR_OPS_SIZES_H

#include "kernels/cpu/sizes.h"
#include "runtime/op.h"

#define MR_SLOT_BY_SIZE(array, d) (mr_dtype_size(d) ? (mr_fn)(array)[mr_size_index(mr_dtype_size(d))] : NULL)

#endif

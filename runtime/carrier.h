/* carrier.h: --precision f64. Every tensor of a narrower float is carried in double: it keeps its declared type for
 * checks, and its values are those that no rounding to that type has touched. */
#ifndef MR_CARRIER_H
#define MR_CARRIER_H

#include "value.h"

bool mr_is_carried(mr_dtype d);          /* float16, bfloat16, float32 */
mr_type mr_carrier_type(mr_type t);      /* with double in the place of a carried element type */
mr_value *mr_carrier_value(mr_value *v); /* retained when nothing changes; NULL: out of memory */
/* Elements of a float tensor as doubles. */
void mr_carrier_convert(double *to, const mr_tensor *from);

#endif

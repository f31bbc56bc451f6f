/* tolerance.h: --rtol, --atol and --ulp, for all tensors or one. */
#ifndef MR_TOOLS_TOLERANCE_H
#define MR_TOOLS_TOLERANCE_H

#include "options.h"
#include "tools/io/compare.h"

/* For tensor i of the names. Without any: rtol 1e-3, atol 1e-5. --ulp alone: equal, or so many values away. */
mr_status mr_tolerance_of(const mr_args *a, const char *const *names, int n, int i, mr_tolerance *out, mr_error *e);

#endif

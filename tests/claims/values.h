/* values.h: other values of the same types and shapes. */
#ifndef MR_TESTS_VALUES_H
#define MR_TESTS_VALUES_H

#include "runtime/value.h"

enum { MR_ATTEMPTS = 20000 };

/* Fills to with values like those of from, NULL where that is NULL: the first attempts change one of them, the later
 * ones any of them, into what operators want of shapes, counts, axes, indices, scales and divisors. */
void mr_other_values(mr_value *const *from, int n, int attempt, mr_value **to);

#endif

/* flips.h: quanta that fall on either side.
 *
 * An integer network whose nodes are all exact (tests/models/integers.py) may still differ from another right runtime
 * where that one rounds a product of scales in float: a code next to a tie is one quantum off, and those behind it. The
 * file `flips` of a data set lists where: lines "OUTPUT QUANTUM INDEX INDEX …", of tests/models/flips.py; the others
 * say why. A listed element may differ by one quantum; every other one is held to the tolerance. */
#ifndef MR_TOOLS_CONFORMANCE_FLIPS_H
#define MR_TOOLS_CONFORMANCE_FLIPS_H

#include "runtime/value.h"

/* What is to be compared with want: got, retained, or a copy of it in which listed elements that are one quantum off
 * are as wanted. NULL: e is set. */
mr_value *mr_flips_forgive(const char *set, int output, mr_value *got, const mr_value *want, mr_error *e);

#endif

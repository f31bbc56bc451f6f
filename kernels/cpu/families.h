/* families.h: the header of every family in families.inc. */
#include "kernels/cpu/unary.h"

/* families.h: the header of every family in families.inc. */
#include "kernels/cpu/unary.h"
#include "kernels/cpu/move.h"
#include "kernels/cpu/scatter.h"
#include "kernels/cpu/search.h"

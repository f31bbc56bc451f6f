/* The tables of the elementary functions. */
#include "kernels/cpu/math_parts.h"

#include "kernels/cpu/math_tables.inc"

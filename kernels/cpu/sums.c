/* sums.c: see sums.h. The vectors are of 16 bytes, which every machine has; no arithmetic hangs on their width. */
#include "kernels/cpu/sums.h"

#define C       double
#define NAME(f) f##_f64
#include "kernels/cpu/sums.inc"
#undef C
#undef NAME

#define C       uint32_t
#define NAME(f) f##_u32
#include "kernels/cpu/sums.inc"
#undef C
#undef NAME

#define C       uint64_t
#define NAME(f) f##_u64
#include "kernels/cpu/sums.inc"
#undef C
#undef NAME

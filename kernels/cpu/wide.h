/* wide.h: tiles of elements of any number type as double, int64_t or uint64_t, and back: n + n conversions instead of
 * n × n. */
#ifndef MR_KERNELS_CPU_WIDE_H
#define MR_KERNELS_CPU_WIDE_H

#include "runtime/narrow.h"
#include "runtime/dtype.h"

enum { MR_TILE = 256 };

typedef enum mr_wide_kind { MR_WIDE_NONE, MR_WIDE_F64, MR_WIDE_I64, MR_WIDE_U64, MR_N_WIDE } mr_wide_kind;

typedef union mr_wide {
    double f[MR_TILE];
    int64_t i[MR_TILE];
    uint64_t u[MR_TILE];
} mr_wide;

/* How values become float8; other types have one way each. */
typedef struct mr_wide_rule {
    bool saturate;
    mr_e8m0_round round;
} mr_wide_rule;

/* What a type is loaded as, without loss; MR_WIDE_NONE: no number (strings, complex numbers). */
mr_wide_kind mr_wide_kind_of(mr_dtype d);

/* n ≤ MR_TILE elements. */
void mr_wide_load(mr_dtype d, const void *x, int64_t n, mr_wide *w);
/* As mr_wide_load, and integers as the nearest double. */
void mr_wide_load_f64(mr_dtype d, const void *x, int64_t n, double *w);

/* Rounded once, to nearest even. To integers: cut off toward zero, then modulo 2^bits (convert.h); to bool: not zero.
 */
void mr_wide_store(mr_wide_kind k, const mr_wide *w, int64_t n, mr_dtype d, void *y, mr_wide_rule rule);

#endif

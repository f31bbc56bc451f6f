/* compare.h: how two values differ. */
#ifndef MR_TOOLS_IO_COMPARE_H
#define MR_TOOLS_IO_COMPARE_H

#include <stdio.h>

#include "../../runtime/value.h"

/* An element agrees when |got - want| <= atol + rtol * |want|, computed as the official runner of ONNX does it (see
 * tests/conformance/README.md), or when it is at most `ulp` neighbouring values away. */
typedef struct mr_tolerance {
    double rtol, atol;
    int64_t ulp; /* < 0: not asked for */
} mr_tolerance;

typedef struct mr_diff {
    bool agree;
    char *reason;             /* what can't be compared: kinds, types, shapes, lengths; NULL: elements were compared */
    char *path;               /* of the tensor that the numbers below speak of: "", "element 2", "key 'a'" */
    int64_t count, differing; /* elements */
    int64_t first;            /* flat index of the first that differs; -1: none */
    char *first_text;         /* "[0,1]: got 1.5, want 2" */
    double max_abs, max_rel, mean_abs, cosine; /* max_rel is of |want|; NaN where a type has no such number */
    uint64_t max_ulp;
    int64_t worst; /* flat index of max_abs; -1: none */
} mr_diff;

/* Compares everything; of a sequence, the numbers are those of the first element that differs, else of the worst. */
void mr_diff_values(const mr_value *got, const mr_value *want, mr_tolerance tol, mr_diff *d);
void mr_diff_free(mr_diff *d);
/* One line: "3 of 6 elements differ, first at [0,1]: got 1.5, want 2; worst abs 0.5, rel 0.25, ulp 4194304". */
void mr_diff_print(FILE *f, const mr_diff *d);

#endif

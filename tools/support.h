/* support.h: what minirt runs of one version of an operator on one device, summed over the types that ONNX allows. */
#ifndef MR_TOOLS_SUPPORT_H
#define MR_TOOLS_SUPPORT_H

#include "runtime/claims.h"

typedef struct mr_support {
    const mr_schema *schema;
    int all, runs;          /* combinations of types: of valid models; those that run */
    int conditional;        /* of those that run: only if conds hold */
    const mr_type *missing; /* of the others, n_vars types each */
    const char *conds;      /* what must hold besides; "": nothing */
    const char *kernels;    /* names of the rows, "" when none is needed */
} mr_support;

/* Texts and lists are in r. */
mr_status mr_support_of(const mr_claimant *where, const mr_schema *s, mr_region *r, mr_support *out, mr_error *e);
/* "T1 string; T1 float with T2 int4 …": what is missing, in r; "" when nothing is. */
const char *mr_support_missing(const mr_support *s, mr_region *r);
/* "float, double, seq(tensor(float))": a tensor by its element type alone; in r. */
const char *mr_typeset_text(const mr_typeset *s, mr_region *r);

#endif

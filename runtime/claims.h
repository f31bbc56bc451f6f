/* claims.h: what the rows and slots say that minirt runs, asked for every combination of types that ONNX allows. */
#ifndef MR_CLAIMS_H
#define MR_CLAIMS_H

#include "engine.h"

/* A binding of a schema's type variables on a device. */
typedef struct mr_claim {
    const mr_schema *schema;
    const mr_type *types; /* by variable of the schema */
    bool runs;
    bool excluded;               /* no valid model has these types together, whatever each variable allows */
    const mr_impl *impl;         /* the row; NULL: none is needed (views, constants, function bodies) */
    const mr_cond *const *conds; /* what must hold besides; NULL: nothing */
} mr_claim;

typedef struct mr_claimant { /* where */
    mr_device_kind dev;
    const struct mr_cpu_fns *cpu;
    const struct mr_cuda_fns *cuda;   /* for MR_CUDA */
    const struct mr_customs *customs; /* whose schemas are asked for too; NULL: none */
} mr_claimant;

/* Calls tell for each binding of s, in the order of its variables and their types. */
mr_status mr_claims(const mr_claimant *where, const mr_schema *s, void (*tell)(void *arg, const mr_claim *c), void *arg,
                    mr_error *e);

#endif

/* custom.h: operators that were registered with an environment. */
#ifndef MR_CUSTOM_H
#define MR_CUSTOM_H

#include "minirt_op.h"
#include "op.h"

/* All that are registered at a time; another registration makes another table, since models refer to theirs. */
typedef struct mr_customs {
    mr_schema *schemas; /* sorted by domain, name, since */
    const mr_op **ops;  /* of each */
    int n;
    mr_region region; /* of what came with this table */
    void *library;    /* that it came from, or NULL */
    struct mr_customs *older;
} mr_customs;

void mr_customs_free(mr_customs *c); /* with all older ones */
/* What runs a schema: of the table (NULL: none) when it stands there, else of ops/. */
const mr_op *mr_op_of(const mr_customs *c, const mr_schema *s);
/* custom_call.c: the row for an operator that was found in order; NULL: no memory. */
const mr_op *mr_custom_row(mr_region *r, const mr_custom_op *def);

#endif

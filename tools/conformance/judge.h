/* judge.h: what becomes of one case. */
#ifndef MR_TOOLS_CONFORMANCE_JUDGE_H
#define MR_TOOLS_CONFORMANCE_JUDGE_H

#include <jansson.h>

#include "cases.h"
#include "runtime/engine.h"
#include "tools/io/compare.h"

typedef enum mr_verdict_kind {
    MR_PASS,
    MR_FAIL,
    MR_UNSUPPORTED,
    MR_RANDOM /* the values come from chance, and have the property that they must have */
} mr_verdict_kind;

typedef struct mr_verdict {
    mr_verdict_kind kind;
    char *text; /* why; the property; NULL: nothing to say */
    double ms;
    json_t *nodes; /* for the matrix: what the case covers; NULL when not asked for */
    char *digests; /* of every output of every data set, apart by blanks; NULL when not asked for, or when it failed */
} mr_verdict;

typedef struct mr_judging {
    mr_options run;
    int threads;
    double rtol, atol; /* < 0: the case's own */
    bool matrix, digests;
} mr_judging;

const char *mr_verdict_name(mr_verdict_kind k); /* "pass" … */
mr_verdict mr_judge(const mr_case *c, const mr_judging *how);
void mr_verdict_free(mr_verdict *v);

/* property.c: do outputs that come from chance have the property that the operator gives them? NULL: the graph has no
 * such operator, or it has not; else the property, in words. */
const char *mr_property_holds(const mr_graph *g, mr_value *const *in, mr_value *const *out);
/* coverage.c: one entry per node: operator, version, types, attributes. */
json_t *mr_coverage(mr_model *m, const mr_options *o);

#endif

/* report.h: the verdicts as documents for other programs. */
#ifndef MR_TOOLS_CONFORMANCE_REPORT_H
#define MR_TOOLS_CONFORMANCE_REPORT_H

#include "judge.h"

typedef struct mr_results {
    const mr_cases *cases;
    const mr_verdict *verdicts;
    const char *device, *mode;
    int counts[4]; /* by mr_verdict_kind */
} mr_results;

/* A line a case: NAME, then the digests of its outputs: where two builds or machines give the same lines, they give the
 * same bits. Cases that did not pass, or hang on chance, have none. */
mr_status mr_report_digests(const char *path, const mr_results *r, mr_error *e);
/* path NULL: stdout. */
mr_status mr_report_json(const char *path, const mr_results *r, mr_error *e);
mr_status mr_report_junit(const char *path, const mr_results *r, mr_error *e);
/* Operator × version × types × attributes, with how many cases that have it came out how. */
mr_status mr_report_matrix(const char *path, const mr_results *r, mr_error *e);

#endif

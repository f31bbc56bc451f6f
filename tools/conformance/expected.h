/* expected.h: the verdicts that a file expects: a line a case, "NAME pass", "NAME unsupported: text", "NAME random:
 * text". */
#ifndef MR_TOOLS_CONFORMANCE_EXPECTED_H
#define MR_TOOLS_CONFORMANCE_EXPECTED_H

#include <stdio.h>

#include "judge.h"

typedef struct mr_expected {
    char *text;
    struct mr_expected_line {
        const char *name, *verdict; /* "pass", "unsupported: text" */
        bool seen;
    } * at; /* sorted by name */
    int n;
} mr_expected;

mr_status mr_expected_read(const char *path, mr_expected *x, mr_error *e);
void mr_expected_free(mr_expected *x);
/* What is expected of the case, which is then seen; NULL: nothing is said of it. */
const char *mr_expected_of(mr_expected *x, const char *name);

/* "unsupported: text", as a line of the file says it; allocated. */
char *mr_verdict_line(const mr_verdict *v);
/* Fails when one of the verdicts is a failure: what is wrong is never expected. */
mr_status mr_expected_write(const char *path, const mr_cases *cases, const mr_verdict *verdicts, mr_error *e);

#endif

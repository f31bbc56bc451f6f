/* findings.h: everything that stands against a model on a device, grouped by reason. */
#ifndef MR_TOOLS_FINDINGS_H
#define MR_TOOLS_FINDINGS_H

#include "runtime/engine.h"

typedef struct mr_finding {
    mr_refusal_kind kind;
    const mr_error *error;
    const mr_refusal *refusal; /* NULL: it stands against the model as a whole */
    int reason;                /* position of the first finding with the same reason */
} mr_finding;

typedef struct mr_findings {
    mr_finding *at;
    int n, reasons;
    int cannot;       /* nodes of the file that cannot run */
    int depend;       /* nodes whose answer hangs on a value */
    int behind;       /* nodes that get something from one that cannot run, and could run themselves … */
    int unjudged;     /* … but for these, of which nobody knows the types that they get */
    mr_status status; /* what check and run end with */
    mr_region region;
} mr_findings;

mr_status mr_findings_make(const mr_model *m, const mr_plan *verdict, mr_findings *f, mr_error *e);
void mr_findings_free(mr_findings *f);
/* The text without the first name in quotes: the same for "tensor 'a': cannot open w.bin" and "tensor 'b': cannot …".
 * name, in the findings' region, is what was quoted; NULL: nothing. */
const char *mr_finding_words(mr_findings *f, const mr_finding *x, const char **name);

#endif

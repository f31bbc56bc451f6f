/* children.h: cases in processes of their own, several at a time: a crash or a hang is the case's, not the runner's. */
#ifndef MR_TOOLS_CONFORMANCE_CHILDREN_H
#define MR_TOOLS_CONFORMANCE_CHILDREN_H

#include "judge.h"

/* Calls done(arg, i, verdict) for every case, in their order; done takes the verdict over. */
mr_status mr_judge_all(const mr_cases *cases, const mr_judging *how, int jobs, double timeout_s,
                       void (*done)(void *arg, int i, mr_verdict v), void *arg, mr_error *e);

#endif

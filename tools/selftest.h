/* selftest.h: do the kernels that this machine gets give what the reference gives? */
#ifndef MR_TOOLS_SELFTEST_H
#define MR_TOOLS_SELFTEST_H

#include <jansson.h>

#include "runtime/engine.h"

typedef struct mr_selftest {
    int n, failed;
    char worst[64]; /* the operator that is furthest off, of those that agree */
    double worst_abs;
    char wrong[512]; /* the operators that are not right, and how far off they are */
} mr_selftest;

/* Runs a model of one node for each of some twenty operators, one for each family of kernels that has vectors, in both
 * modes. Takes a few milliseconds. */
void mr_selftest_run(mr_env *env, mr_selftest *t);

#endif

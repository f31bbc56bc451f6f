/* cases.h: test folders found below the given ones. */
#ifndef MR_TOOLS_CONFORMANCE_CASES_H
#define MR_TOOLS_CONFORMANCE_CASES_H

#include <stdbool.h>

#include "runtime/error.h"

/* NAME/{model.onnx, test_data_set_N/…}, or flat: NAME.onnx with NAME_output_N.pb beside it, whose input is made. */
typedef struct mr_case {
    char *name, *model, *dir; /* dir: of its data sets */
    bool flat;
} mr_case;

typedef struct mr_cases {
    mr_case *at;
    int n, cap;
} mr_cases;

/* Adds what lies in dir or below it, in the order of names. */
mr_status mr_cases_find(const char *dir, mr_cases *cases, mr_error *e);
/* Keeps those whose name has the pattern in it, or matches it when it has wildcards. */
void mr_cases_filter(mr_cases *cases, const char *pattern);
void mr_cases_free(mr_cases *cases);

/* The data sets of a case: folders, ascending by number; the case's own folder when it holds the files itself. */
mr_status mr_case_sets(const mr_case *c, char ***sets, int *n, mr_error *e);
void mr_sets_free(char **sets, int n);
/* Reads "rtol atol" from the file `tolerance` of the set, else of the case; what is not there stays. */
mr_status mr_case_tolerance(const mr_case *c, const char *set, double *rtol, double *atol, mr_error *e);

#endif

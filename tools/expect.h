/* expect.h: what outputs should be, and how they differ from that. */
#ifndef MR_TOOLS_EXPECT_H
#define MR_TOOLS_EXPECT_H

#include <jansson.h>

#include "setup.h"
#include "tools/io/inputs.h"

/* The expected value of each of n tensors of the graph, retained, from --expect or from a test folder among the
 * inputs. A tensor that has none stays NULL. */
mr_status mr_expectations(const mr_args *a, const mr_graph *g, const mr_feeds *f, const int *ids,
                          const char *const *names, int n, mr_value **want, mr_error *e);
/* Compares by --rtol, --atol and --ulp; a line per tensor to f unless NULL, entries to list unless NULL. */
mr_status mr_expect_compare(const mr_args *a, const char *const *names, mr_value *const *got, mr_value *const *want,
                            int n, FILE *f, json_t *list, bool *agree, mr_error *e);

#endif

/* summary.h: a value in a line: type, shape, statistics, first elements, fingerprint. */
#ifndef MR_TOOLS_SUMMARY_H
#define MR_TOOLS_SUMMARY_H

#include <jansson.h>
#include <stdio.h>

#include "runtime/value.h"

typedef struct mr_stats {
    int64_t count, nan, inf;
    double min, max, mean; /* of the finite elements; NaN when there is none, or when the type has no order */
} mr_stats;

mr_stats mr_stats_of(const mr_tensor *t);

/* SHA-256 of type, shape and elements, NaNs made equal; of lists, of what their elements' digests say. */
void mr_digest(const mr_value *v, char hex[65]);

/* "float32[1,10]", "seq(tensor(float)) of 3"; buf is returned. */
const char *mr_value_type_text(const mr_value *v, char *buf, size_t size);
/* "probabilities  float32[1,10]  min 0  max 1  mean 0.1  nan 0  inf 0  [0 0.1 …]", then the elements of a list, a line
 * each. width: of the column of names. digest: the fingerprint stands in place of the first elements. */
void mr_summary_print(FILE *f, const char *name, int width, const mr_value *v, bool digest);
/* The same as JSON. */
json_t *mr_summary_json(const char *name, const mr_value *v, bool digest);
/* The n largest elements along the last axis, "  row: index value, …", for at most 16 rows. */
void mr_top_print(FILE *f, const mr_tensor *t, int n);
json_t *mr_top_json(const mr_tensor *t, int n);

#endif

/* The tables of what ONNX allows, as tools/gen_schema.py wrote them. */

#include <limits.h>
#include <string.h>

#include "../runtime/schema_types.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

#include "schema_bodies.inc"
#include "schema.inc"

const int mr_n_schemas = COUNT(mr_schemas);
const int mr_n_schema_domains = COUNT(mr_schema_domains);
const int mr_n_onnx_releases = COUNT(mr_onnx_releases);

int mr_opset_max(const char *domain)
{
    for (int i = 0; i < mr_n_schema_domains; i++)
        if (strcmp(mr_schema_domains[i].domain, domain) == 0) return mr_schema_domains[i].max;
    return 0;
}

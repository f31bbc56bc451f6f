/* fuzz_model.c: any bytes as a model: loaded or refused, never more than that. libFuzzer calls it. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "runtime/graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    mr_graph_model *m;
    mr_error e = {0};
    mr_status s = mr_graph_load_memory(bytes, n, NULL, NULL, &m, &e);
    if ((s == MR_OK) != (m != NULL) || s != e.status) abort();
    free(mr_error_format(&e, NULL));
    mr_error_clear(&e);
    mr_graph_free(m);
    return 0;
}

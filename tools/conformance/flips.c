/* flips.c: see flips.h. */
#include "flips.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/io/file.h"

static void forgive(float *got, const float *want, int64_t n, int64_t at, double quantum)
{
    if (at < 0 || at >= n) return;
    double off = fabs((double)got[at] - want[at]);
    if (fabs(off - quantum) <= 1e-3 * quantum) got[at] = want[at];
}

/* The lines of the output. */
static void read_lines(FILE *f, int output, float *got, const float *want, int64_t n)
{
    char *line = NULL;
    size_t cap = 0;
    while (getline(&line, &cap, f) >= 0) {
        char *p = line, *end;
        long number = strtol(p, &end, 10);
        double quantum = strtod(end, &p);
        if (end == line || p == end || number != output) continue;
        for (;; p = end) {
            long long at = strtoll(p, &end, 10);
            if (end == p) break;
            forgive(got, want, n, at, quantum);
        }
    }
    free(line);
}

mr_value *mr_flips_forgive(const char *set, int output, mr_value *got, const mr_value *want, mr_error *e)
{
    char *path = mr_path_join(set, "flips");
    FILE *f = path ? fopen(path, "r") : NULL;
    bool floats = got && want && got->type.kind == MR_TENSOR && want->type.kind == MR_TENSOR &&
                  got->t.dtype == MR_F32 && want->t.dtype == MR_F32 &&
                  mr_tensor_count(&got->t) == mr_tensor_count(&want->t);
    mr_value *v = f && floats ? mr_value_copy(&got->t) : mr_value_retain(got);
    if (!path || !v) mr_fail(e, MR_E_MEMORY, "out of memory");
    if (f && floats && v) read_lines(f, output, v->t.data, want->t.data, mr_tensor_count(&v->t));
    if (f) fclose(f);
    free(path);
    return v;
}

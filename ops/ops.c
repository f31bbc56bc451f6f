/* ops.c: the table of all rows, looked up by domain and name. */
#include "runtime/op.h"

#include <string.h>

#define OPS(file) extern const mr_op mr_ops_##file[];
#include "ops/files.inc"
#undef OPS

static const mr_op *const files[] = {
#define OPS(file) mr_ops_##file,
#include "ops/files.inc"
#undef OPS
};
#define N_FILES ((int)(sizeof files / sizeof *files))

const mr_op *mr_op_at(int i)
{
    for (int f = 0; f < N_FILES; f++)
        for (const mr_op *op = files[f]; op->name; op++)
            if (i-- == 0) return op;
    return NULL;
}

static bool covers(const mr_op *op, const char *domain, const char *name, int version)
{
    return version >= op->since && (!op->until || version <= op->until) && !strcmp(op->name, name) &&
           !strcmp(op->domain, domain);
}

const mr_op *mr_op_find(const char *domain, const char *name, int version)
{
    for (int f = 0; f < N_FILES; f++)
        for (const mr_op *op = files[f]; op->name; op++)
            if (op->name[0] == name[0] && covers(op, domain, name, version)) return op;
    return NULL;
}

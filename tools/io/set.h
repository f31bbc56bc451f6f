/* set.h: values by name, as npz, safetensors and folders hold them. */
#ifndef MR_TOOLS_IO_SET_H
#define MR_TOOLS_IO_SET_H

#include "runtime/error.h"
#include "runtime/value.h"

typedef struct mr_set {
    struct mr_named {
        char *name;
        mr_value *value;
    } * at;
    int n, cap;
} mr_set;

/* Copies the name, takes the value over (also when it fails). */
mr_status mr_set_add(mr_set *s, const char *name, mr_value *v, mr_error *e);
mr_value *mr_set_find(const mr_set *s, const char *name); /* not retained; NULL: none */
void mr_set_free(mr_set *s);

/* The type that a name is expected to have; see mr_npy_parse. */
typedef struct mr_expect {
    mr_dtype (*dtype)(const void *arg, const char *name); /* NULL: nothing is expected */
    const void *arg;
} mr_expect;
static inline mr_dtype mr_expected_dtype(mr_expect x, const char *name)
{
    return x.dtype ? x.dtype(x.arg, name) : MR_UNDEFINED;
}

#endif

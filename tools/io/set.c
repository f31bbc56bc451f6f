/* set.c: values by name. */
#include "set.h"

#include <stdlib.h>
#include <string.h>

mr_status mr_set_add(mr_set *s, const char *name, mr_value *v, mr_error *e)
{
    if (s->n == s->cap) {
        int cap = s->cap ? 2 * s->cap : 16;
        struct mr_named *more = realloc(s->at, sizeof *more * (size_t)cap);
        if (more) {
            s->at = more;
            s->cap = cap;
        }
    }
    char *copy = s->n < s->cap && v ? strdup(name) : NULL;
    if (!copy) {
        mr_value_release(v);
        return mr_fail(e, MR_E_MEMORY, "out of memory");
    }
    s->at[s->n++] = (struct mr_named){copy, v};
    return MR_OK;
}

mr_value *mr_set_find(const mr_set *s, const char *name)
{
    for (int i = 0; i < s->n; i++)
        if (strcmp(s->at[i].name, name) == 0) return s->at[i].value;
    return NULL;
}

void mr_set_free(mr_set *s)
{
    for (int i = 0; i < s->n; i++) {
        free(s->at[i].name);
        mr_value_release(s->at[i].value);
    }
    free(s->at);
    *s = (mr_set){0};
}

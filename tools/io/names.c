/* names.c: a model's names in arguments, which may hold any character. */
#include <stdlib.h>
#include <string.h>

#include "inputs.h"
#include "runtime/names.h"

static int match_quoted(const char *text, const char *const *names, int n, const char **rest)
{
    for (int i = 0; i < n; i++) {
        size_t len = strlen(names[i]);
        if (strncmp(text + 1, names[i], len) == 0 && text[1 + len] == '}') {
            *rest = text + len + 2;
            return i;
        }
    }
    return -1;
}

int mr_name_match(const char *text, const char *const *names, int n, const char *until, const char **rest)
{
    int found = *text == '{' ? match_quoted(text, names, n, rest) : -1;
    size_t longest = 0;
    bool to_end = strchr(until, ' ');
    if (found >= 0) return found;
    for (int i = 0; i < n; i++) {
        size_t len = strlen(names[i]);
        if ((found >= 0 && len <= longest) || strncmp(text, names[i], len) != 0) continue;
        char next = text[len];
        if (next ? !strchr(until, next) || next == ' ' : !to_end) continue;
        found = i;
        longest = len;
    }
    if (found >= 0) *rest = text + longest;
    return found;
}

mr_status mr_name_unknown(mr_error *e, mr_code code, const char *what, const char *name, size_t len,
                          const char *const *names, int n)
{
    char *bare = strndup(name, len), near[512];
    mr_nearest nearest = {.name = bare ? bare : ""};
    for (int i = 0; i < n; i++) mr_nearest_offer(&nearest, names[i]);
    mr_fail(e, code, "the model has no %s '%s'", what, nearest.name);
    if (mr_nearest_string(&nearest, near, sizeof near)) {
        mr_error_hint(e, "the nearest names are %s", near);
    } else if (n) {
        near[0] = 0;
        for (int i = 0; i < n && strlen(near) + strlen(names[i]) + 5 < sizeof near; i++)
            strcat(strcat(strcat(near, i ? ", '" : "'"), names[i]), "'");
        mr_error_hint(e, "it has %s", near);
    }
    free(bare);
    return e->status;
}

static const char **names_of(const mr_graph *g, const int *ids, int n)
{
    const char **names = calloc((size_t)n + 1, sizeof *names);
    for (int i = 0; names && i < n; i++) names[i] = g->values[ids[i]].name;
    return names;
}

const char **mr_input_names(const mr_graph *g)
{
    return names_of(g, g->inputs, g->n_inputs);
}

const char **mr_output_names(const mr_graph *g)
{
    return names_of(g, g->outputs, g->n_outputs);
}

/* testset.c: reads the inputs and expected outputs of a test folder. */
#include "testset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "pb.h"

static char *file_path(const char *dir, const char *kind, int i)
{
    char name[32];
    snprintf(name, sizeof name, "%s_%d.pb", kind, i);
    return mr_path_join(dir, name);
}

static bool has_file(const char *dir, const char *kind, int i)
{
    char *path = file_path(dir, kind, i);
    bool has = path && mr_is_file(path);
    free(path);
    return has;
}

static int count_files(const char *dir, const char *kind)
{
    int n = 0;
    while (has_file(dir, kind, n)) n++;
    return n;
}

bool mr_is_testset(const char *dir)
{
    return has_file(dir, "input", 0) || has_file(dir, "output", 0);
}

static mr_value *read_one(const char *dir, const char *kind, int i, mr_type type, char **name, mr_error *e)
{
    mr_value *v = NULL;
    char *path = file_path(dir, kind, i);
    if (path)
        mr_pb_read(path, type, &v, name, e);
    else
        mr_fail(e, MR_E_MEMORY, "out of memory");
    free(path);
    return v;
}

/* The graph input of which file i bears the name; -1: none. */
static int input_by_name(const char *dir, int i, const mr_graph *g)
{
    char *name = NULL;
    int found = -1;
    mr_error ignored = {0};
    mr_value_release(read_one(dir, "input", i, (mr_type){0}, &name, &ignored));
    mr_error_clear(&ignored);
    for (int k = 0; name && k < g->n_inputs; k++)
        if (strcmp(g->values[g->inputs[k]].name, name) == 0) found = k;
    free(name);
    return found;
}

/* Which graph input each of the n files is for; false: more files than inputs. */
static bool assign(const char *dir, const mr_graph *g, int n, int *input)
{
    int plain = 0;
    for (int k = 0; k < g->n_inputs; k++)
        if (!g->values[g->inputs[k]].init && plain < n) input[plain++] = k;
    if (plain == n) return true;
    bool named = true;
    for (int i = 0; i < n && named; i++) named = (input[i] = input_by_name(dir, i, g)) >= 0;
    for (int i = 0; i < n && !named; i++) input[i] = i;
    return named || n <= g->n_inputs;
}

mr_status mr_testset_inputs(const char *dir, const mr_graph *g, mr_value **in, mr_error *e)
{
    int n = count_files(dir, "input");
    int *input = calloc((size_t)n + 1, sizeof *input);
    if (!input) return mr_fail(e, MR_E_MEMORY, "out of memory");
    if (!assign(dir, g, n, input))
        mr_fail(e, MR_E_INPUT_EXTRA, "%s: %d input files, the model has %d inputs", dir, n, g->n_inputs);
    for (int i = 0; i < n && e->status == MR_OK; i++) {
        mr_value *v = read_one(dir, "input", i, g->values[g->inputs[input[i]]].decl.type, NULL, e);
        mr_value_release(in[input[i]]);
        in[input[i]] = v;
    }
    free(input);
    return e->status;
}

mr_status mr_testset_outputs(const char *dir, const mr_graph *g, mr_value **out, int *n, mr_error *e)
{
    *n = count_files(dir, "output");
    for (int i = 0; i < *n && i < g->n_outputs && e->status == MR_OK; i++)
        out[i] = read_one(dir, "output", i, g->values[g->outputs[i]].decl.type, NULL, e);
    return e->status;
}

/* cases.c: finds test folders, their data sets and tolerances. */
#include "cases.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/io/file.h"
#include "tools/io/testset.h"

static mr_status add(mr_cases *cases, mr_case c, mr_error *e)
{
    if (cases->n == cases->cap) {
        int cap = cases->cap ? 2 * cases->cap : 64;
        mr_case *more = realloc(cases->at, sizeof *more * (size_t)cap);
        if (!more) return mr_fail(e, MR_E_MEMORY, "out of memory");
        cases->at = more;
        cases->cap = cap;
    }
    if (!c.name || !c.model || !c.dir) return mr_fail(e, MR_E_MEMORY, "out of memory");
    cases->at[cases->n++] = c;
    return MR_OK;
}

/* The last word of a path, without the '/' that may end it. */
static char *last_word(const char *path)
{
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/') end--;
    size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/') begin--;
    return strndup(path + begin, end - begin);
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n > m && strcmp(s + n - m, end) == 0;
}

/* NAME.onnx with NAME_output_0.pb beside it. */
static mr_status add_flat(const char *dir, const char *file, mr_cases *cases, mr_error *e)
{
    char *name = strndup(file, strlen(file) - strlen(".onnx")), *output = NULL;
    char *prefix = name ? mr_path_join(dir, name) : NULL;
    mr_status s = MR_OK;
    if (prefix && asprintf(&output, "%s_output_0.pb", prefix) >= 0 && mr_is_file(output))
        s = add(cases, (mr_case){strdup(name), mr_path_join(dir, file), strdup(dir), true}, e);
    free(name);
    free(prefix);
    free(output);
    return s;
}

static int plain(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

mr_status mr_cases_find(const char *dir, mr_cases *cases, mr_error *e)
{
    char *model = mr_path_join(dir, "model.onnx");
    if (model && mr_is_file(model)) return add(cases, (mr_case){last_word(dir), model, strdup(dir), false}, e);
    free(model);
    struct dirent **entries;
    int n = scandir(dir, &entries, plain, alphasort);
    if (n < 0) return mr_fail(e, MR_E_IO, "cannot open %s: %s", dir, strerror(errno));
    for (int i = 0; i < n; i++) {
        char *path = mr_path_join(dir, entries[i]->d_name);
        if (e->status == MR_OK && path && mr_is_folder(path))
            mr_cases_find(path, cases, e);
        else if (e->status == MR_OK && ends_with(entries[i]->d_name, ".onnx"))
            add_flat(dir, entries[i]->d_name, cases, e);
        free(path);
        free(entries[i]);
    }
    free(entries);
    return e->status;
}

static void case_free(mr_case *c)
{
    free(c->name);
    free(c->model);
    free(c->dir);
}

void mr_cases_filter(mr_cases *cases, const char *pattern)
{
    bool wild = strpbrk(pattern, "*?[");
    int kept = 0;
    for (int i = 0; i < cases->n; i++) {
        const char *name = cases->at[i].name;
        if (wild ? fnmatch(pattern, name, 0) == 0 : strstr(name, pattern) != NULL)
            cases->at[kept++] = cases->at[i];
        else
            case_free(&cases->at[i]);
    }
    cases->n = kept;
}

void mr_cases_free(mr_cases *cases)
{
    for (int i = 0; i < cases->n; i++) case_free(&cases->at[i]);
    free(cases->at);
    *cases = (mr_cases){0};
}

static int is_set(const struct dirent *d)
{
    return strncmp(d->d_name, "test_data_set_", strlen("test_data_set_")) == 0;
}

mr_status mr_case_sets(const mr_case *c, char ***sets, int *n, mr_error *e)
{
    struct dirent **entries = NULL;
    int found = c->flat ? 0 : scandir(c->dir, &entries, is_set, versionsort);
    *n = 0;
    *sets = calloc((size_t)(found > 0 ? found : 1), sizeof **sets);
    for (int i = 0; i < found; i++) {
        if (*sets) (*sets)[(*n)++] = mr_path_join(c->dir, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    if (*sets && found <= 0) (*sets)[(*n)++] = strdup(c->dir);
    for (int i = 0; i < *n; i++)
        if (!(*sets)[i]) mr_fail(e, MR_E_MEMORY, "out of memory");
    return *sets ? e->status : mr_fail(e, MR_E_MEMORY, "out of memory");
}

void mr_sets_free(char **sets, int n)
{
    for (int i = 0; i < n; i++) free(sets[i]);
    free(sets);
}

mr_status mr_case_tolerance(const mr_case *c, const char *set, double *rtol, double *atol, mr_error *e)
{
    const char *dirs[2] = {set, c->dir};
    for (int i = 0; i < 2 && !c->flat; i++) {
        char *path = mr_path_join(dirs[i], "tolerance");
        FILE *f = path ? fopen(path, "r") : NULL;
        int read = f ? fscanf(f, "%lf %lf", rtol, atol) : 0;
        if (f && read != 2) mr_fail(e, MR_E_INPUT_FORMAT, "%s: expected \"rtol atol\"", path);
        if (f) fclose(f);
        free(path);
        if (f) break;
    }
    return e->status;
}

/* expected.c: reads, asks and writes files of expected verdicts. */
#include "expected.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/io/file.h"

static int by_name(const void *a, const void *b)
{
    const struct mr_expected_line *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static int count_lines(const char *text)
{
    int n = 1;
    for (; *text; text++) n += *text == '\n';
    return n;
}

mr_status mr_expected_read(const char *path, mr_expected *x, mr_error *e)
{
    mr_map *file;
    *x = (mr_expected){0};
    if (mr_file_open(path, &file, e)) return e->status;
    x->text = strndup(file->data ? file->data : "", file->size);
    mr_map_close(file);
    x->at = x->text ? calloc((size_t)count_lines(x->text), sizeof *x->at) : NULL;
    if (!x->at) return mr_fail(e, MR_E_MEMORY, "out of memory");
    char *rest = x->text, *line;
    while ((line = strsep(&rest, "\n"))) {
        char *space = strchr(line, ' ');
        if (!*line || *line == '#') continue;
        if (!space) return mr_fail(e, MR_E_INPUT_FORMAT, "%s: '%s': expected NAME VERDICT", path, line);
        *space = 0;
        x->at[x->n++] = (struct mr_expected_line){line, space + 1, false};
    }
    qsort(x->at, (size_t)x->n, sizeof *x->at, by_name);
    for (int i = 1; i < x->n; i++)
        if (strcmp(x->at[i - 1].name, x->at[i].name) == 0)
            return mr_fail(e, MR_E_INPUT_FORMAT, "%s: '%s' stands twice", path, x->at[i].name);
    return MR_OK;
}

void mr_expected_free(mr_expected *x)
{
    free(x->text);
    free(x->at);
    *x = (mr_expected){0};
}

const char *mr_expected_of(mr_expected *x, const char *name)
{
    struct mr_expected_line key = {.name = name};
    struct mr_expected_line *line = x->n ? bsearch(&key, x->at, (size_t)x->n, sizeof *x->at, by_name) : NULL;
    if (!line) return NULL;
    line->seen = true;
    return line->verdict;
}

char *mr_verdict_line(const mr_verdict *v)
{
    char *line;
    bool plain = v->kind == MR_PASS || !v->text;
    return asprintf(&line, "%s%s%s", mr_verdict_name(v->kind), plain ? "" : ": ", plain ? "" : v->text) < 0 ? NULL
                                                                                                            : line;
}

mr_status mr_expected_write(const char *path, const mr_cases *cases, const mr_verdict *verdicts, mr_error *e)
{
    for (int i = 0; i < cases->n; i++)
        if (verdicts[i].kind == MR_FAIL)
            return mr_fail(e, MR_E_USAGE, "%s is not written: '%s' fails, and a failure is never expected", path,
                           cases->at[i].name);
    FILE *f = fopen(path, "w");
    if (!f) return mr_fail(e, MR_E_IO, "cannot write %s: %s", path, strerror(errno));
    for (int i = 0; i < cases->n; i++) {
        char *line = mr_verdict_line(&verdicts[i]);
        fprintf(f, "%s %s\n", cases->at[i].name, line ? line : "");
        free(line);
    }
    if (fclose(f) != 0) return mr_fail(e, MR_E_IO, "cannot write %s: %s", path, strerror(errno));
    return MR_OK;
}

/* report.c: JSON, JUnit and the matrix of what was covered. */
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/json.h"

static mr_status cannot_write(const char *path, mr_error *e)
{
    return mr_fail(e, MR_E_IO, "cannot write %s: %s", path, strerror(errno));
}

mr_status mr_report_json(const char *path, const mr_results *r, mr_error *e)
{
    json_t *list = json_array();
    for (int i = 0; i < r->cases->n; i++) {
        const mr_verdict *v = &r->verdicts[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:s*, s:f}", "name", r->cases->at[i].name, "verdict",
                                              mr_verdict_name(v->kind), "text", v->text, "ms", v->ms));
    }
    json_t *j = json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:o}", "schema", "minirt.conformance/1", "device",
                          r->device, "mode", r->mode, "passed", r->counts[MR_PASS], "failed", r->counts[MR_FAIL],
                          "unsupported", r->counts[MR_UNSUPPORTED], "random", r->counts[MR_RANDOM], "cases", list);
    return mr_json_write(j, path, e);
}

static void print_xml(FILE *f, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        const char *entity = c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : NULL;
        if (entity)
            fputs(entity, f);
        else
            fputc(c < ' ' ? ' ' : c, f);
    }
}

mr_status mr_report_junit(const char *path, const mr_results *r, mr_error *e)
{
    FILE *f = fopen(path, "w");
    if (!f) return cannot_write(path, e);
    fprintf(f,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"minirt-conformance %s %s\" tests=\"%d\" "
            "failures=\"%d\" skipped=\"%d\">\n",
            r->device, r->mode, r->cases->n, r->counts[MR_FAIL], r->counts[MR_UNSUPPORTED]);
    for (int i = 0; i < r->cases->n; i++) {
        const mr_verdict *v = &r->verdicts[i];
        const char *child = v->kind == MR_FAIL ? "failure" : v->kind == MR_UNSUPPORTED ? "skipped" : NULL;
        fputs("  <testcase name=\"", f);
        print_xml(f, r->cases->at[i].name);
        fprintf(f, "\" time=\"%.3f\"%s>", v->ms / 1e3, child ? "" : "/");
        if (child) {
            fprintf(f, "<%s message=\"", child);
            print_xml(f, v->text ? v->text : "");
            fputs("\"/></testcase>", f);
        }
        fputc('\n', f);
    }
    fputs("</testsuite>\n", f);
    return fclose(f) == 0 ? MR_OK : cannot_write(path, e);
}

mr_status mr_report_digests(const char *path, const mr_results *r, mr_error *e)
{
    FILE *f = fopen(path, "w");
    if (!f) return cannot_write(path, e);
    for (int i = 0; i < r->cases->n; i++)
        fprintf(f, "%s %s\n", r->cases->at[i].name, r->verdicts[i].digests ? r->verdicts[i].digests : "-");
    return fclose(f) == 0 ? MR_OK : cannot_write(path, e);
}

/* Counts one more case of the verdict for the node's combination, which is the key. */
static void count_node(json_t *rows, json_t *node, mr_verdict_kind kind)
{
    char *key = json_dumps(node, JSON_COMPACT | JSON_SORT_KEYS);
    if (!key) return;
    json_t *row = json_object_get(rows, key);
    if (!row) {
        row = json_copy(node);
        json_object_set_new(rows, key, row);
    }
    const char *name = mr_verdict_name(kind);
    json_object_set_new(row, name, json_integer(json_integer_value(json_object_get(row, name)) + 1));
    free(key);
}

mr_status mr_report_matrix(const char *path, const mr_results *r, mr_error *e)
{
    json_t *rows = json_object(), *list = json_array(), *value, *node;
    const char *key;
    size_t at;
    for (int i = 0; i < r->cases->n; i++)
        json_array_foreach(r->verdicts[i].nodes, at, node) count_node(rows, node, r->verdicts[i].kind);
    json_object_foreach(rows, key, value) json_array_append(list, value);
    json_decref(rows);
    json_t *j = json_pack("{s:s, s:s, s:s, s:o}", "schema", "minirt.matrix/1", "device", r->device, "mode", r->mode,
                          "rows", list);
    return mr_json_write(j, path, e);
}

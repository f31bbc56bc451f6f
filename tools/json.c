/* json.c: what the commands' documents share. */
#include "json.h"

#include <errno.h>
#include <math.h>
#include <string.h>

json_t *mr_json_number(double x)
{
    return isfinite(x) ? json_real(x) : json_string(isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
}

json_t *mr_json_text(const char *text)
{
    json_t *j = text ? json_string(text) : NULL;
    return j ? j : json_null();
}

static json_t *error_json(const mr_error *e)
{
    char code[16];
    snprintf(code, sizeof code, "E%04d", e->code);
    return json_pack("{s:s, s:i, s:s, s:i, s:o, s:o, s:o}", "code", code, "status", e->status, "kind",
                     mr_status_name(e->status), "node", e->node, "where", mr_json_text(e->where), "text",
                     mr_json_text(e->text), "hint", mr_json_text(e->hint));
}

mr_status mr_json_write(json_t *j, const char *path, mr_error *e)
{
    FILE *f = path ? fopen(path, "w") : stdout;
    bool ok = f && j && json_dumpf(j, f, JSON_INDENT(1)) == 0 && fputc('\n', f) != EOF;
    if (f && path) ok = fclose(f) == 0 && ok;
    if (!ok) mr_fail(e, MR_E_IO, "cannot write %s: %s", path ? path : "stdout", strerror(errno));
    json_decref(j);
    return e->status;
}

void mr_json_answer(json_t *j, const mr_args *a, mr_error *e)
{
    mr_error of_file = {.node = -1};
    if (e->status) json_object_set_new(j, "error", error_json(e));
    mr_json_write(j, mr_args_text(a, MR_OPT_JSON), &of_file);
    if (e->status == MR_OK)
        *e = of_file;
    else
        mr_error_clear(&of_file);
}

bool mr_json_on_stdout(const mr_args *a)
{
    return mr_args_has(a, MR_OPT_JSON) && !mr_args_text(a, MR_OPT_JSON);
}

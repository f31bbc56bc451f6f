/* expect.c: what outputs should be, and how they differ from that. */
#include "expect.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "tolerance.h"

static mr_dtype declared_dtype(const void *arg, const char *name)
{
    const mr_graph *g = arg;
    int id = mr_graph_find_value(g, name);
    return id < 0 ? MR_UNDEFINED : (mr_dtype)g->values[id].decl.type.elem;
}

static int output_index(const mr_graph *g, int id)
{
    for (int o = 0; o < g->n_outputs; o++)
        if (g->outputs[o] == id) return o;
    return -1;
}

/* Under its name, as output_N of a test folder, or because it's the only one on both sides. */
static mr_value *find(const mr_set *set, const mr_graph *g, int id, int n)
{
    char file[32];
    mr_value *v = mr_set_find(set, g->values[id].name);
    snprintf(file, sizeof file, "output_%d", output_index(g, id));
    if (!v && output_index(g, id) >= 0) v = mr_set_find(set, file);
    return v || n > 1 || set->n > 1 ? v : set->at[0].value;
}

static mr_status from_file(const char *path, const mr_graph *g, const int *ids, int n, mr_value **want, mr_error *e)
{
    mr_set set = {0};
    if (mr_set_read(path, (mr_expect){declared_dtype, g}, &set, e) == MR_OK)
        for (int i = 0; i < n && e->status == MR_OK; i++) {
            want[i] = set.n ? mr_value_retain(find(&set, g, ids[i], n)) : NULL;
            if (!want[i])
                mr_fail(e, MR_E_INPUT_MISSING, "%s: nothing is expected of output '%s' there", path,
                        g->values[ids[i]].name);
        }
    mr_set_free(&set);
    return e->status;
}

mr_status mr_expectations(const mr_args *a, const mr_graph *g, const mr_feeds *f, const int *ids,
                          const char *const *names, int n, mr_value **want, mr_error *e)
{
    const char *path = mr_args_text(a, MR_OPT_EXPECT);
    mr_tolerance checked; /* before anything runs */
    for (int i = 0; i < n; i++)
        if (mr_tolerance_of(a, names, n, i, &checked, e)) return e->status;
    if (path) return from_file(path, g, ids, n, want, e);
    for (int i = 0; f->expected && i < n; i++) {
        int o = output_index(g, ids[i]);
        if (o >= 0 && o < f->n_expected) want[i] = mr_value_retain(f->expected[o]);
    }
    return MR_OK;
}

static json_t *diff_json(const char *name, const mr_diff *d)
{
    json_t *j = json_pack("{s:o, s:b}", "name", mr_json_text(name), "agree", d->agree);
    if (d->path) json_object_set_new(j, "at", json_string(d->path));
    if (d->reason) {
        json_object_set_new(j, "reason", json_string(d->reason));
        return j;
    }
    json_object_set_new(j, "count", json_integer(d->count));
    json_object_set_new(j, "differing", json_integer(d->differing));
    json_object_set_new(j, "max_abs", mr_json_number(d->max_abs));
    json_object_set_new(j, "max_rel", mr_json_number(d->max_rel));
    json_object_set_new(j, "mean_abs", mr_json_number(d->mean_abs));
    json_object_set_new(j, "cosine", mr_json_number(d->cosine));
    json_object_set_new(j, "max_ulp",
                        d->max_ulp == UINT64_MAX ? json_string("inf") : json_integer((json_int_t)d->max_ulp));
    if (d->first_text) json_object_set_new(j, "first", json_string(d->first_text));
    return j;
}

mr_status mr_expect_compare(const mr_args *a, const char *const *names, mr_value *const *got, mr_value *const *want,
                            int n, FILE *f, json_t *list, bool *agree, mr_error *e)
{
    int width = 0;
    for (int i = 0; i < n; i++)
        if ((int)strlen(names[i]) > width) width = (int)strlen(names[i]);
    *agree = true;
    for (int i = 0; i < n; i++) {
        mr_tolerance tol;
        mr_diff d;
        if (!want[i]) continue;
        if (mr_tolerance_of(a, names, n, i, &tol, e)) return e->status;
        mr_diff_values(got[i], want[i], tol, &d);
        *agree &= d.agree;
        if (f) {
            fprintf(f, "%-*s  %s  ", width, names[i], d.agree ? "agrees " : "differs");
            mr_diff_print(f, &d);
            fputc('\n', f);
        }
        if (list) json_array_append_new(list, diff_json(names[i], &d));
        mr_diff_free(&d);
    }
    return MR_OK;
}

/* ops.c: the support matrix: operator × version × types × device. */
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "json.h"
#include "runtime/rewrite.h"
#include "runtime/custom.h"
#include "runtime/names.h"
#include "setup.h"
#include "support.h"

typedef struct device {
    const char *name;
    mr_claimant where;
} device;

typedef struct listing {
    const mr_args *a;
    mr_env *env;
    device devices[2];
    int n_devices;
    const char *op, *domain; /* NULL: all */
    int64_t opset;           /* 0: all versions */
    mr_region r;
    mr_error e;
} listing;

/* ---- which devices, which operators ---- */

static bool add_device(listing *l, const char *name, char *why, size_t size)
{
    const mr_device *d = mr_device_open(l->env, name, 0, why, size);
    if (d)
        l->devices[l->n_devices++] =
            (device){"cuda", {MR_CUDA, l->env->cpu[MR_MODE_FAST], d->plugin->fns, l->env->customs}};
    return d != NULL;
}

/* Without --device: the CPU, and CUDA as its kernels are, whether a GPU is there or not. */
static mr_status find_devices(listing *l)
{
    const char *want = mr_args_text(l->a, MR_OPT_DEVICE);
    char why[512];
    if (!want || !strcmp(want, "cpu"))
        l->devices[l->n_devices++] = (device){"cpu", {MR_CPU, l->env->cpu[MR_MODE_FAST], NULL, l->env->customs}};
    if (want && strcmp(want, "cpu") && !add_device(l, want, why, sizeof why))
        return mr_fail(&l->e, MR_E_DEVICE, "device %s: %s", want, why);
    if (!want && !add_device(l, "cuda-host", why, sizeof why)) add_device(l, "cuda", why, sizeof why);
    return MR_OK;
}

/* ONNX's, then those of plugins; NULL behind the last. */
static const mr_schema *schema_at(const listing *l, int i)
{
    const mr_customs *customs = l->env->customs;
    if (i < mr_n_schemas) return &mr_schemas[i];
    return customs && i < mr_n_schemas + customs->n ? &customs->schemas[i - mr_n_schemas] : NULL;
}

static const mr_schema *next_version(const listing *l, const mr_schema *s)
{
    const mr_schema *n = s + 1;
    const mr_customs *customs = l->env->customs;
    if (n == mr_schemas + mr_n_schemas || (customs && n == customs->schemas + customs->n)) return NULL;
    return !strcmp(n->name, s->name) && !strcmp(n->domain, s->domain) ? n : NULL;
}

static bool in_domain(const listing *l, const mr_schema *s)
{
    return !l->domain || !strcmp(s->domain, l->domain);
}

static bool is_listed(const listing *l, const mr_schema *s)
{
    if (s->deprecated || (l->op && strcmp(s->name, l->op)) || !in_domain(l, s)) return false;
    const mr_schema *n = next_version(l, s);
    return !l->opset || (s->since <= l->opset && (!n || n->since > l->opset));
}

static mr_status check_domain(listing *l)
{
    mr_nearest nearest = {.name = l->domain};
    char near[256];
    const char *before = "";
    const mr_schema *s;
    for (int i = 0; (s = schema_at(l, i)); before = s->domain, i++) {
        if (in_domain(l, s)) return MR_OK;
        if (strcmp(s->domain, before)) mr_nearest_offer(&nearest, s->domain);
    }
    mr_fail(&l->e, MR_E_USAGE, "no operator is of the domain '%s'", l->domain);
    if (mr_nearest_string(&nearest, near, sizeof near))
        mr_error_hint(&l->e, "the nearest names are %s", near);
    else
        mr_error_hint(&l->e, "--plugin loads custom operators, with their domain");
    return l->e.status;
}

static mr_status check_op(listing *l)
{
    mr_nearest nearest = {.name = l->op};
    char near[256];
    int i = 0;
    const char *before = "";
    for (const mr_schema *s; (s = schema_at(l, i)); i++) {
        if (!in_domain(l, s)) continue;
        if (!l->op || !strcmp(s->name, l->op)) return MR_OK;
        if (strcmp(s->name, before)) mr_nearest_offer(&nearest, s->name);
        before = s->name;
    }
    mr_fail(&l->e, MR_E_USAGE, "%s has no operator '%s'", l->domain && *l->domain ? l->domain : "ONNX", l->op);
    if (mr_nearest_string(&nearest, near, sizeof near)) mr_error_hint(&l->e, "the nearest names are %s", near);
    return l->e.status;
}

static bool supports(listing *l, const mr_schema *s, mr_support out[2])
{
    for (int d = 0; d < l->n_devices; d++)
        if (mr_support_of(&l->devices[d].where, s, &l->r, &out[d], &l->e)) return false;
    if (!mr_args_has(l->a, MR_OPT_MISSING)) return true;
    bool missing = false;
    for (int d = 0; d < l->n_devices; d++) missing |= out[d].runs < out[d].all;
    return missing;
}

static const char *full_name(listing *l, const mr_schema *s)
{
    return mr_region_printf(&l->r, "%s%s%s-%d", s->domain, *s->domain ? "::" : "", s->name, s->since);
}

/* ---- text ---- */

typedef struct total {
    int versions, all, part, none;
} total;

static void count(total *t, const mr_support *s)
{
    t->versions++;
    t->all += s->runs == s->all;
    t->part += s->runs && s->runs < s->all;
    t->none += !s->runs;
}

static void print_line(listing *l, const mr_schema *s, const mr_support *x)
{
    printf("%-44s", full_name(l, s));
    for (int d = 0; d < l->n_devices; d++)
        printf("  %s %4d/%-*d", l->devices[d].name, x[d].runs, d + 1 < l->n_devices ? 4 : 0, x[d].all);
    printf("\n");
}

static void print_details(listing *l, const mr_schema *s, const mr_support *x)
{
    printf("%s\n", full_name(l, s));
    for (int v = 0; v < s->n_vars; v++)
        printf("  %-5s %s\n", s->vars[v].name, mr_typeset_text(&s->vars[v].types, &l->r));
    for (int d = 0; d < l->n_devices; d++) {
        printf("  %s: %d of %d combinations of types", l->devices[d].name, x[d].runs, x[d].all);
        if (*x[d].kernels) printf("; %s", x[d].kernels);
        const char *missing = mr_support_missing(&x[d], &l->r);
        if (x[d].runs && *missing) printf("; not %s", missing);
        printf("\n");
        if (*x[d].conds) printf("    %d of them when %s\n", x[d].conditional, x[d].conds);
    }
}

static void print_all(listing *l)
{
    total totals[2] = {{0}};
    const mr_schema *s;
    for (int i = 0; (s = schema_at(l, i)); i++) {
        mr_support x[2];
        if (!is_listed(l, s) || !supports(l, s, x)) continue;
        if (l->op)
            print_details(l, s, x);
        else
            print_line(l, s, x);
        for (int d = 0; d < l->n_devices; d++) count(&totals[d], &x[d]);
    }
    for (int d = 0; d < l->n_devices && !l->op; d++)
        printf("%s: of %d versions of operators %d run with all types, %d with some, %d not at all\n",
               l->devices[d].name, totals[d].versions, totals[d].all, totals[d].part, totals[d].none);
}

/* ---- Markdown ---- */

static bool same_words(listing *l, const mr_support *a, const mr_support *b)
{
    for (int d = 0; d < l->n_devices; d++)
        if (a[d].runs != b[d].runs || a[d].all != b[d].all || a[d].conditional != b[d].conditional ||
            strcmp(a[d].conds, b[d].conds) ||
            strcmp(mr_support_missing(&a[d], &l->r), mr_support_missing(&b[d], &l->r)))
            return false;
    return true;
}

/* A cell of a table: bars are the table's. */
static void print_cell(const char *text)
{
    for (const char *c = text; *c; c++) printf(*c == '|' ? "\\|" : "%c", *c);
}

static void print_verdict(listing *l, const mr_support *x)
{
    const char *missing = mr_support_missing(x, &l->r);
    if (x->runs == x->all)
        printf(" | all %d", x->all);
    else if (x->runs)
        printf(" | %d of %d; not %s", x->runs, x->all, missing);
    else
        printf(" | –");
    if (*x->conds) printf("; %d when `", x->conditional), print_cell(x->conds), printf("`");
}

/* Versions of one operator, one line for those of which the same can be said. Returns the version behind. */
static const mr_schema *print_rows(listing *l, const mr_schema *s)
{
    while (s) {
        mr_support x[2], y[2];
        const mr_schema *n = s;
        if (s->deprecated) {
            printf("| %s | %d | deprecated%s |\n", s->name, s->since, l->n_devices > 1 ? " | " : "");
            s = next_version(l, s);
            continue;
        }
        if (!supports(l, s, x)) return NULL;
        printf("| %s | %d", s->name, s->since);
        while ((n = next_version(l, n)) && !n->deprecated && supports(l, n, y) && same_words(l, x, y))
            printf(", %d", n->since);
        for (int d = 0; d < l->n_devices; d++) print_verdict(l, &x[d]);
        printf(" |\n");
        s = n;
    }
    return NULL;
}

static void print_markdown(listing *l)
{
    printf("# Operators\n\nWhat minirt runs, of all that ONNX defines: the output of `minirt ops --markdown`, derived "
           "from "
           "the rows of `ops/` and the\nslots of the kernel tables. A number counts combinations of the types that an "
           "operator's type variables can have;\n`minirt ops NAME` shows the types, `minirt check MODEL` judges a "
           "model.\n");
    const mr_schema *s, *before = NULL;
    for (int i = 0; !l->e.status && (s = schema_at(l, i)); before = s, i++) {
        if (!before || strcmp(s->domain, before->domain)) {
            printf("\n## %s\n\n| operator | since", *s->domain ? s->domain : "ai.onnx");
            for (int d = 0; d < l->n_devices; d++) printf(" | %s", l->devices[d].name);
            printf(" |\n|---|---%s|\n", l->n_devices > 1 ? "|---|---" : "|---");
        }
        if (!before || strcmp(s->name, before->name) || strcmp(s->domain, before->domain)) print_rows(l, s);
    }
}

/* ---- JSON ---- */

static json_t *types_json(const mr_schema *s)
{
    json_t *j = json_object();
    for (int v = 0; v < s->n_vars; v++) {
        mr_type types[256];
        char text[96];
        int n = mr_typeset_list(&s->vars[v].types, types, 256);
        json_t *list = json_array();
        for (int t = 0; t < n; t++)
            json_array_append_new(list, json_string(mr_type_string(types[t], text, sizeof text)));
        json_object_set_new(j, s->vars[v].name, list);
    }
    return j;
}

static json_t *missing_json(const mr_support *x)
{
    json_t *list = json_array();
    int vars = x->schema->n_vars;
    char text[96];
    for (int m = 0; m < x->all - x->runs; m++) {
        json_t *j = json_object();
        for (int v = 0; v < vars; v++)
            json_object_set_new(j, x->schema->vars[v].name,
                                json_string(mr_type_string(x->missing[m * vars + v], text, sizeof text)));
        json_array_append_new(list, j);
    }
    return list;
}

static json_t *schema_json(listing *l, const mr_schema *s, const mr_support *x)
{
    json_t *devices = json_object();
    for (int d = 0; d < l->n_devices; d++)
        json_object_set_new(devices, l->devices[d].name,
                            json_pack("{s:i, s:i, s:s, s:s, s:o}", "combinations", x[d].all, "run", x[d].runs,
                                      "kernels", x[d].kernels, "conditions", x[d].conds, "missing",
                                      missing_json(&x[d])));
    return json_pack("{s:s, s:s, s:i, s:o, s:o}", "op", s->name, "domain", s->domain, "version", s->since, "types",
                     types_json(s), "devices", devices);
}

static void write_document(listing *l)
{
    json_t *list = json_array();
    const mr_schema *s;
    for (int i = 0; !l->e.status && (s = schema_at(l, i)); i++) {
        mr_support x[2];
        if (is_listed(l, s) && supports(l, s, x)) json_array_append_new(list, schema_json(l, s, x));
    }
    mr_json_answer(json_pack("{s:s, s:o}", "schema", "minirt.ops/1", "operators", list), l->a, &l->e);
}

/* ---- rules ---- */

static void print_rules(void)
{
    const mr_rule *r;
    printf("| rule | from `--optimize` | what becomes of what |\n|---|---|---|\n");
    for (int i = 0; (r = mr_rule_at(i)); i++) printf("| `%s` | %d | %s |\n", r->name, r->level, r->text);
}

/* ---- the command ---- */

static mr_status list_ops(listing *l)
{
    l->op = l->a->n ? l->a->at[0] : NULL;
    l->domain = mr_args_text(l->a, MR_OPT_DOMAIN);
    if (l->domain && !strcmp(l->domain, "ai.onnx")) l->domain = "";
    l->env = mr_env_new(1);
    if (!l->env) return mr_fail(&l->e, MR_E_MEMORY, "out of memory");
    if (mr_load_plugins(l->a, l->env, &l->e)) return l->e.status;
    if (mr_args_int(l->a, MR_OPT_OPSET, 1, INT32_MAX, 0, &l->opset, &l->e) || check_domain(l) || check_op(l))
        return l->e.status;
    if (find_devices(l)) return l->e.status;
    if (mr_args_has(l->a, MR_OPT_JSON)) write_document(l);
    if (mr_json_on_stdout(l->a)) return l->e.status;
    if (mr_args_has(l->a, MR_OPT_MARKDOWN))
        print_markdown(l);
    else
        print_all(l);
    return l->e.status;
}

int mr_command_ops(const mr_args *a)
{
    listing l = {.a = a, .e = {.node = -1}};
    if (mr_args_has(a, MR_OPT_REWRITES)) return print_rules(), 0;
    list_ops(&l);
    mr_env_free(l.env);
    mr_region_free(&l.r);
    return mr_report(&l.e, NULL);
}

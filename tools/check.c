/* check.c: is the file valid ONNX, and can minirt run all of it on this device? */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "findings.h"
#include "json.h"
#include "nodes.h"
#include "setup.h"
#include "tools/io/inputs.h"

typedef struct checking {
    const mr_args *a;
    mr_setup setup;
    mr_session *session;
    mr_plan *verdict;
    mr_findings found;
    mr_region *r; /* of the texts */
    mr_error e;
} checking;

enum { WIDTH = 100, TITLE = 66 };

static const char *device_name(const checking *c)
{
    return c->setup.options.device ? c->setup.options.device : "cpu";
}

/* ---- lines ---- */

static void print_opsets(const mr_graph_model *g)
{
    for (int i = 0; i < g->n_opsets; i++) {
        const mr_opset *o = &g->opsets[i];
        printf("%s%s%s%lld", i ? ", " : " ", *o->domain ? o->domain : "opset", " ", (long long)o->version);
    }
    if (!g->n_opsets) printf(" no opset");
}

static void print_head(const checking *c)
{
    const mr_findings *f = &c->found;
    int inner = mr_nodes_count_inner(c->setup.g), nodes = mr_nodes_count(c->setup.g) + inner;
    printf("%s:%s", c->setup.path,
           f->status == MR_EINVALID ? " not valid ONNX;"
           : f->status == MR_EINPUT ? " the given shapes do not fit;"
                                    : "");
    print_opsets(c->setup.g->model);
    printf(", %d node%s", nodes, nodes == 1 ? "" : "s");
    if (inner) printf(" (%d in subgraphs)", inner);
    if (f->n == 0)
        printf(", all can run on %s", device_name(c));
    else
        printf(", %d can run, %d cannot, %d distinct reason%s", nodes - f->cannot - f->depend, f->cannot, f->reasons,
               f->reasons == 1 ? "" : "s");
    if (f->depend) printf("; %d hang%s on values", f->depend, f->depend == 1 ? "s" : "");
    printf("\n");
}

/* Members of the group of findings that begins at first. */
static int members(const mr_findings *f, int first)
{
    int n = 0;
    for (int i = first; i < f->n; i++) n += f->at[i].reason == first;
    return n;
}

/* Names with commas, lines broken; column: where the line stands. */
static void print_names(checking *c, int first, int column)
{
    const mr_findings *f = &c->found;
    for (int i = first; i < f->n; i++) {
        if (f->at[i].reason != first) continue;
        const char *label = mr_node_label(c->r, f->at[i].refusal->node);
        int width = (int)strlen(label);
        if (i > first && column + width + 2 > WIDTH) {
            printf(",\n    %s", label);
            column = 4 + width;
        } else {
            printf("%s%s", i > first ? ", " : "", label);
            column += width + 2;
        }
    }
}

/* The lines of a text, each behind the margin of reasons; a hint of its own line behind more than one. */
static void print_text(const char *text, const char *hint)
{
    bool lines = strchr(text, '\n') != NULL;
    for (const char *end; (end = strchr(text, '\n')); text = end + 1) printf("%.*s\n    ", (int)(end - text), text);
    printf("%s", text);
    if (hint) printf("%shint: %s", lines ? "\n    " : "; ", hint);
    printf("\n");
}

static void print_reason(checking *c, const mr_finding *x)
{
    const mr_refusal *r = x->refusal;
    const char *text = x->error->text, *shown = r->shown;
    if (x->error->code == MR_E_ATTRIBUTES && !shown) shown = mr_node_attrs(c->r, r->node);
    printf("    ");
    if (x->error->code == MR_E_ATTRIBUTES && !strncmp(text, "needs ", 6)) {
        printf("%s%sneeds: ", shown, *shown ? "   " : "");
        text += 6;
    }
    print_text(text, x->error->hint);
}

static void print_nodes(checking *c, int first)
{
    const mr_finding *x = &c->found.at[first];
    const char *op = mr_node_op(c->r, x->refusal->node);
    printf("  %s  ", op);
    print_names(c, first, 4 + (int)strlen(op));
    if (x->kind == MR_REFUSE_UNSUPPORTED) printf("   on %s", device_name(c));
    if (!x->refusal->needed) printf("   (no output needs %s)", members(&c->found, first) == 1 ? "it" : "them");
    printf("\n");
    print_reason(c, x);
}

/* What stands against the model as a whole; the same of other names follows on a line. */
static void print_violation(checking *c, int first)
{
    mr_findings *f = &c->found;
    const mr_error *e = f->at[first].error;
    const char *name, *more = NULL;
    printf("  %s%s%s\n", e->where ? e->where : "", e->where ? ": " : "", e->text);
    for (int i = first + 1; i < f->n; i++) {
        if (f->at[i].reason != first) continue;
        mr_finding_words(f, &f->at[i], &name);
        more = mr_region_printf(c->r, "%s%s'%s'", more ? more : "", more ? ", " : "", name ? name : "");
    }
    if (more) printf("    the same of %s\n", more);
    if (e->hint) printf("    hint: %s\n", e->hint);
}

static void print_code(checking *c, mr_code code)
{
    const mr_findings *f = &c->found;
    int n = 0;
    bool nodes = true;
    for (int i = 0; i < f->n; i++) {
        if (f->at[i].error->code != code) continue;
        n++;
        nodes &= f->at[i].refusal != NULL;
    }
    printf("\nE%04d %-*s %d %s%s\n", code, TITLE - 6, mr_code_title(code), n, nodes ? "node" : "place",
           n == 1 ? "" : "s");
    for (int i = 0; i < f->n; i++) {
        if (f->at[i].error->code != code || f->at[i].reason != i) continue;
        if (f->at[i].refusal)
            print_nodes(c, i);
        else
            print_violation(c, i);
    }
}

static void print_behind(const mr_findings *f)
{
    if (!f->behind) return;
    printf("nodes that depend on these: %d", f->behind);
    if (!f->unjudged)
        printf(" (all would run)\n");
    else if (f->unjudged == f->behind)
        printf(" (cannot be judged: the types that they get are not known)\n");
    else
        printf(" (%d would run, %d cannot be judged: the types that they get are not known)\n", f->behind - f->unjudged,
               f->unjudged);
}

/* -v: attributes that are given and do nothing there. */
static void print_ignored(checking *c, const mr_graph *g)
{
    for (int k = 0; k < g->n_nodes; k++) {
        const mr_node *n = g->nodes[k];
        for (int i = 0; i < n->n_attrs; i++)
            if (n->attrs[i].ignored)
                printf("%s  %s: attribute '%s' makes no difference here\n", mr_node_op(c->r, n), mr_node_label(c->r, n),
                       n->attrs[i].name);
        for (int s = 0; s < n->n_subgraphs; s++) print_ignored(c, n->subgraphs[s]);
    }
}

static void print_report(checking *c)
{
    const mr_findings *f = &c->found;
    print_head(c);
    for (int i = 0; i < f->n; i++) {
        bool first = true;
        for (int j = 0; j < i; j++) first &= f->at[j].error->code != f->at[i].error->code;
        if (first) print_code(c, f->at[i].error->code);
    }
    print_behind(f);
    if (mr_args_has(c->a, MR_OPT_VERBOSE)) print_ignored(c, c->setup.g);
}

/* ---- JSON ---- */

static json_t *attrs_json(const mr_node *n)
{
    json_t *j = json_object();
    for (int i = 0; i < n->n_attrs; i++) {
        const mr_attr *a = &n->attrs[i];
        json_t *v = NULL;
        if (a->kind == MR_ATTR_INT) v = json_integer(a->i);
        if (a->kind == MR_ATTR_FLOAT) v = mr_json_number((double)a->f);
        if (a->kind == MR_ATTR_STRING) v = json_stringn(a->s.data, a->s.len);
        bool list = a->kind == MR_ATTR_INTS || a->kind == MR_ATTR_FLOATS || a->kind == MR_ATTR_STRINGS;
        if (list) v = json_array();
        for (int64_t k = 0; list && k < a->n; k++)
            json_array_append_new(v, a->kind == MR_ATTR_INTS     ? json_integer(a->ints[k])
                                     : a->kind == MR_ATTR_FLOATS ? mr_json_number((double)a->floats[k])
                                                                 : json_stringn(a->strings[k].data, a->strings[k].len));
        if (v) json_object_set_new(j, a->name, v);
    }
    return j;
}

/* {"T1": "float16"}: what the type variables of the schema are bound to, as far as the inputs tell. */
static json_t *types_json(const mr_refusal *r)
{
    const mr_schema *s = r->node->schema;
    json_t *j = json_object();
    char text[64];
    for (int i = 0; s && s->n_in && i < r->n_in; i++) {
        const mr_schema_param *p = &s->in[i < s->n_in ? i : s->n_in - 1];
        mr_type t = r->in_types[i];
        if (t.kind == MR_NONE || p->var < 0 || json_object_get(j, p->type)) continue;
        json_object_set_new(
            j, p->type,
            json_string(t.kind == MR_TENSOR ? mr_dtype_name((mr_dtype)t.elem) : mr_type_string(t, text, sizeof text)));
    }
    return j;
}

static const char *graph_name(checking *c, const mr_node *n)
{
    const mr_graph *g = mr_node_file(n)->graph;
    return g->owner ? mr_region_printf(c->r, "%s/%s", mr_node_label(c->r, g->owner), g->attr) : "main";
}

static json_t *finding_json(checking *c, const mr_finding *x)
{
    char code[16];
    snprintf(code, sizeof code, "E%04d", x->error->code);
    json_t *j = json_pack("{s:s, s:s, s:o, s:o}", "code", code, "kind", mr_refusal_kind_name(x->kind), "reason",
                          mr_json_text(x->error->text), "hint", mr_json_text(x->error->hint));
    const mr_node *n = x->refusal ? x->refusal->node : NULL;
    if (!n) return j;
    const mr_node *file = mr_node_file(n);
    json_object_set_new(j, "op", mr_json_text(n->op_type));
    json_object_set_new(j, "domain", mr_json_text(n->domain));
    json_object_set_new(j, "version", n->schema ? json_integer(n->schema->since) : json_integer(n->opset));
    json_object_set_new(j, "node", json_integer(file->index));
    json_object_set_new(j, "name", mr_json_text(file->name));
    json_object_set_new(j, "label", mr_json_text(mr_node_label(c->r, n)));
    json_object_set_new(j, "graph", mr_json_text(graph_name(c, n)));
    json_object_set_new(j, "needed", json_boolean(x->refusal->needed));
    json_object_set_new(j, "shown", mr_json_text(x->refusal->shown));
    json_object_set_new(j, "attributes", attrs_json(n));
    json_object_set_new(j, "types", types_json(x->refusal));
    return j;
}

/* true, false, or null when it hangs on a value. */
static json_t *runs_json(const checking *c)
{
    if (c->e.status || c->found.status) return json_false();
    return c->found.depend ? json_null() : json_true();
}

static void write_document(checking *c)
{
    json_t *list = json_array();
    const mr_graph *g = c->setup.g;
    for (int i = 0; i < c->found.n; i++) json_array_append_new(list, finding_json(c, &c->found.at[i]));
    json_t *j =
        json_pack("{s:s, s:o, s:o, s:s, s:i, s:i, s:o}", "schema", "minirt.check/1", "model", mr_json_text(c->a->at[0]),
                  "runs", runs_json(c), "device", device_name(c), "nodes",
                  g ? mr_nodes_count(g) + mr_nodes_count_inner(g) : 0, "dependents", c->found.behind, "refusals", list);
    mr_json_answer(j, c->a, &c->e);
}

/* ---- the command ---- */

static mr_status check(checking *c)
{
    mr_typed_shape *shapes = NULL;
    if (mr_setup_open(c->a, &c->setup, &c->e)) return c->e.status;
    if (mr_shapes_given(c->a, c->setup.g, &shapes, &c->e) == MR_OK &&
        mr_session_new(c->setup.model, &c->setup.options, NULL, 0, &c->session, &c->e) == MR_OK)
        c->verdict = mr_session_check(c->session, shapes, &c->e);
    free(shapes);
    return c->verdict ? mr_findings_make(c->setup.model, c->verdict, &c->found, &c->e) : c->e.status;
}

int mr_command_check(const mr_args *a)
{
    mr_region texts = {0};
    checking c = {.a = a, .r = &texts};
    if (check(&c) == MR_OK && !mr_json_on_stdout(a)) print_report(&c);
    if (mr_args_has(a, MR_OPT_JSON)) write_document(&c);
    int found = c.found.status, status = mr_report(&c.e, c.setup.path);
    mr_findings_free(&c.found);
    mr_plan_free(c.verdict);
    mr_session_free(c.session);
    mr_setup_close(&c.setup);
    mr_region_free(&texts);
    return status ? status : found;
}

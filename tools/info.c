/* info.c: what is in this file? */
#include "info.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "json.h"
#include "nodes.h"
#include "runtime/map.h"
#include "setup.h"
#include "tools/io/inputs.h"

typedef struct informing {
    const mr_args *a;
    mr_setup setup;
    mr_feeds feeds;
    bool fed; /* inputs are given */
    mr_session *judging, *planning;
    mr_plan *judged, *plan;
    mr_facts facts;
    mr_region *r; /* of the texts */
    mr_error e;
} informing;

/* ---- lines ---- */

/* Outputs are shown as far as their shapes follow from those of the inputs. */
static mr_typed_shape formal_at(const informing *c, int id, const mr_typed_shape *given)
{
    const mr_pvalue *v = c->judged ? &c->judged->values[id] : NULL;
    if (given) return *given;
    if (v && v->type.kind == MR_TENSOR && mr_shape_known(&v->shape)) return (mr_typed_shape){v->type, v->shape};
    return c->setup.g->values[id].decl;
}

/* "480", "12.35 M" */
static const char *flops_text(mr_region *r, double flops)
{
    static const char units[] = " kMGTPE";
    int u = 0;
    if (isnan(flops)) return "?";
    if (flops < 1e6) return mr_region_printf(r, "%.0f", flops);
    for (; flops >= 1e3 && units[u + 1]; u++) flops /= 1e3;
    return mr_region_printf(r, "%.2f %c", flops, units[u]);
}

static const char *bytes_text(mr_region *r, double bytes)
{
    char buf[32];
    return mr_region_printf(r, "%s", mr_bytes_string((size_t)bytes, buf, sizeof buf));
}

static void print_file(const informing *c)
{
    const mr_graph_model *m = c->setup.g->model;
    printf("%s: %s, IR version %lld,", c->setup.path, bytes_text(c->r, (double)m->maps[0]->size),
           (long long)m->ir_version);
    for (int i = 0; i < m->n_opsets; i++)
        printf("%s %s %lld", i ? "," : "", *m->opsets[i].domain ? m->opsets[i].domain : "opset",
               (long long)m->opsets[i].version);
    printf("%s\n", m->n_opsets ? "" : " no opset");
    for (int i = 1; i < m->n_maps; i++)
        printf("external    %s, %s\n", m->maps[i]->path, bytes_text(c->r, (double)m->maps[i]->size));
    if (*m->producer_name)
        printf("producer    %s%s%s\n", m->producer_name, *m->producer_version ? " " : "", m->producer_version);
    if (*m->domain) printf("domain      %s\n", m->domain);
    if (m->model_version) printf("version     %lld\n", (long long)m->model_version);
    if (*c->setup.g->name) printf("graph       %s\n", c->setup.g->name);
    if (*m->doc) printf("doc         %s\n", m->doc);
    for (int i = 0; i < m->n_meta; i++) printf("metadata    %s = %s\n", m->meta_keys[i], m->meta_values[i]);
}

static void print_formals(informing *c, const char *title, const int *ids, int n, const mr_typed_shape *shapes)
{
    const mr_graph *g = c->setup.g;
    int width = 0;
    for (int i = 0; i < n; i++)
        if ((int)strlen(g->values[ids[i]].name) > width) width = (int)strlen(g->values[ids[i]].name);
    for (int i = 0; i < n; i++) {
        const mr_vinfo *v = &g->values[ids[i]];
        mr_typed_shape t = formal_at(c, ids[i], shapes ? &shapes[i] : NULL);
        printf("%-11s %-*s  %s%s\n", i ? "" : title, width, v->name, mr_typed_text(c->r, g->model, t.type, &t.shape),
               shapes && v->init ? "  has a default" : "");
    }
}

static const char *where_text(mr_region *r, const mr_op_count *o)
{
    const char *text = "";
    if (o->expanded) text = mr_region_printf(r, "a function, %d node%s", o->expanded, o->expanded == 1 ? "" : "s");
    if (o->subgraphs) text = mr_region_printf(r, "%s%s%d in subgraphs", text, *text ? "; " : "", o->subgraphs);
    if (o->functions) text = mr_region_printf(r, "%s%s%d in functions", text, *text ? "; " : "", o->functions);
    return text;
}

static void print_operators(informing *c)
{
    const mr_facts *f = &c->facts;
    int main = mr_nodes_count(c->setup.g), inner = mr_nodes_count_inner(c->setup.g), width = 0;
    printf("operators   %d node%s", main + inner, main + inner == 1 ? "" : "s");
    if (inner) printf(", %d of them in subgraphs", inner);
    printf("\n");
    for (int i = 0; i < f->n_ops; i++)
        if ((int)strlen(f->ops[i].op) > width) width = (int)strlen(f->ops[i].op);
    printf("  %-*s %5s %12s\n", width, "", "nodes", "FLOPs");
    for (int i = 0; i < f->n_ops; i++) {
        const mr_op_count *o = &f->ops[i];
        const char *flops = o->counted ? flops_text(c->r, o->flops) : "-", *where = where_text(c->r, o);
        printf("  %-*s %5d %12s%s%s\n", width, o->op, o->main + o->subgraphs + o->functions, flops, *where ? "   " : "",
               where);
    }
}

static void print_params(informing *c)
{
    const mr_facts *f = &c->facts;
    printf("parameters  %.0f in %d tensor%s, %s\n", f->all.elements, f->all.tensors, f->all.tensors == 1 ? "" : "s",
           bytes_text(c->r, f->all.bytes));
    for (int d = 0; d < MR_N_DTYPES; d++)
        if (f->params[d].tensors)
            printf("  %-9s %.0f in %d, %s\n", mr_dtype_name((mr_dtype)d), f->params[d].elements, f->params[d].tensors,
                   bytes_text(c->r, f->params[d].bytes));
    if (f->constants.tensors)
        printf("  constants %.0f in %d node%s, %s\n", f->constants.elements, f->constants.tensors,
               f->constants.tensors == 1 ? "" : "s", bytes_text(c->r, f->constants.bytes));
}

/* "N, M" */
static const char *open_text(const informing *c)
{
    const mr_facts *f = &c->facts;
    const char *text = "";
    for (int i = 0; i < f->n_open; i++) text = mr_region_printf(c->r, "%s%s%s", text, i ? ", " : "", f->open[i]);
    if (f->unnamed) text = mr_region_printf(c->r, "%s%sdims without a name", text, f->n_open ? ", " : "");
    return text;
}

static void print_flops(informing *c)
{
    const mr_facts *f = &c->facts;
    bool open = f->n_open || f->unnamed;
    if (open && f->flops == 0)
        printf("FLOPs       hang on %s\n", open_text(c));
    else if (open)
        printf("FLOPs       at least %s; the rest hangs on %s\n", flops_text(c->r, f->flops), open_text(c));
    else
        printf("FLOPs       %s, a multiply and an add being two\n", flops_text(c->r, f->flops));
    bool symbol = f->n_open && strcmp(f->open[0], "values");
    if (symbol)
        printf("            -s %s=1 sets %s\n", f->open[0], f->n_open > 1 ? "one, -s '*=1' all" : "it");
    else if (f->unnamed)
        printf("            --shape INPUT=1x3x224x224 sets them\n");
}

static void print_report(informing *c)
{
    const mr_graph *g = c->setup.g;
    print_file(c);
    print_formals(c, "inputs", g->inputs, g->n_inputs, c->feeds.shapes);
    print_formals(c, "outputs", g->outputs, g->n_outputs, NULL);
    print_operators(c);
    print_params(c);
    print_flops(c);
    if (!c->plan) return;
    printf("\n");
    mr_info_plan_print(stdout, c->plan, &c->facts);
}

/* ---- JSON ---- */

static json_t *formals_json(const informing *c, const int *ids, int n, const mr_typed_shape *shapes)
{
    const mr_graph *g = c->setup.g;
    json_t *list = json_array();
    char text[96];
    for (int i = 0; i < n; i++) {
        const mr_vinfo *v = &g->values[ids[i]];
        mr_typed_shape t = formal_at(c, ids[i], shapes ? &shapes[i] : NULL);
        bool tensor = t.type.kind == MR_TENSOR;
        json_t *j = json_pack("{s:o, s:s, s:o}", "name", mr_json_text(v->name), "type",
                              mr_type_string(t.type, text, sizeof text), "dtype",
                              tensor ? json_string(mr_dtype_name((mr_dtype)t.type.elem)) : json_null());
        json_object_set_new(j, "shape", tensor ? mr_shape_json(g->model, &t.shape) : json_null());
        if (shapes) json_object_set_new(j, "default", json_boolean(v->init != NULL));
        json_array_append_new(list, j);
    }
    return list;
}

static json_t *flops_json(double flops)
{
    return isnan(flops) ? json_null() : flops < 0x1p53 ? json_integer((json_int_t)flops) : json_real(flops);
}

static json_t *operators_json(const mr_facts *f)
{
    json_t *list = json_array();
    for (int i = 0; i < f->n_ops; i++) {
        const mr_op_count *o = &f->ops[i];
        const mr_node *n = o->first;
        json_array_append_new(list, json_pack("{s:o, s:o, s:i, s:i, s:i, s:i, s:i, s:o}", "op",
                                              mr_json_text(n->op_type), "domain", mr_json_text(n->domain), "version",
                                              n->schema ? n->schema->since : n->opset, "main", o->main, "subgraphs",
                                              o->subgraphs, "functions", o->functions, "expanded", o->expanded, "flops",
                                              o->counted ? flops_json(o->flops) : json_null()));
    }
    return list;
}

static json_t *params_json(const mr_facts *f)
{
    json_t *types = json_object();
    for (int d = 0; d < MR_N_DTYPES; d++)
        if (f->params[d].tensors)
            json_object_set_new(types, mr_dtype_name((mr_dtype)d),
                                json_pack("{s:i, s:I, s:I}", "tensors", f->params[d].tensors, "elements",
                                          (json_int_t)f->params[d].elements, "bytes", (json_int_t)f->params[d].bytes));
    return json_pack("{s:i, s:I, s:I, s:o, s:{s:i, s:I, s:I}}", "tensors", f->all.tensors, "elements",
                     (json_int_t)f->all.elements, "bytes", (json_int_t)f->all.bytes, "types", types, "constants",
                     "tensors", f->constants.tensors, "elements", (json_int_t)f->constants.elements, "bytes",
                     (json_int_t)f->constants.bytes);
}

static json_t *file_json(const mr_graph_model *m)
{
    json_t *opsets = json_array(), *meta = json_object(), *external = json_array();
    for (int i = 0; i < m->n_opsets; i++)
        json_array_append_new(opsets, json_pack("{s:o, s:I}", "domain", mr_json_text(m->opsets[i].domain), "version",
                                                (json_int_t)m->opsets[i].version));
    for (int i = 0; i < m->n_meta; i++) json_object_set_new(meta, m->meta_keys[i], mr_json_text(m->meta_values[i]));
    for (int i = 1; i < m->n_maps; i++)
        json_array_append_new(external, json_pack("{s:o, s:I}", "path", mr_json_text(m->maps[i]->path), "bytes",
                                                  (json_int_t)m->maps[i]->size));
    return json_pack("{s:I, s:o, s:I, s:o, s:o, s:o, s:o, s:I, s:o, s:o}", "bytes", (json_int_t)m->maps[0]->size,
                     "external", external, "ir_version", (json_int_t)m->ir_version, "opsets", opsets, "producer",
                     mr_json_text(m->producer_name), "producer_version", mr_json_text(m->producer_version), "domain",
                     mr_json_text(m->domain), "model_version", (json_int_t)m->model_version, "doc",
                     mr_json_text(m->doc), "metadata", meta);
}

static json_t *total_json(const mr_facts *f)
{
    json_t *open = json_array();
    bool known = !f->n_open && !f->unnamed;
    for (int i = 0; i < f->n_open; i++) json_array_append_new(open, mr_json_text(f->open[i]));
    if (f->unnamed) json_array_append_new(open, json_null());
    return json_pack("{s:o, s:o, s:o}", "total", known ? flops_json(f->flops) : json_null(), "known",
                     flops_json(f->flops), "hangs_on", open);
}

static json_t *document(const informing *c)
{
    json_t *j = json_pack("{s:s, s:o}", "schema", "minirt.info/1", "model", mr_json_text(c->a->at[0]));
    const mr_graph *g = c->setup.g;
    if (!g || !c->facts.model) return j;
    json_object_set_new(j, "file", file_json(g->model));
    json_object_set_new(j, "inputs", formals_json(c, g->inputs, g->n_inputs, c->feeds.shapes));
    json_object_set_new(j, "outputs", formals_json(c, g->outputs, g->n_outputs, NULL));
    json_object_set_new(j, "nodes",
                        json_pack("{s:i, s:i}", "main", mr_nodes_count(g), "subgraphs", mr_nodes_count_inner(g)));
    json_object_set_new(j, "operators", operators_json(&c->facts));
    json_object_set_new(j, "parameters", params_json(&c->facts));
    json_object_set_new(j, "flops", total_json(&c->facts));
    if (c->plan) json_object_set_new(j, "plan", mr_info_plan_json(c->plan, &c->facts));
    return j;
}

/* ---- the command ---- */

/* What is given stands in the place of what is declared. */
static mr_status read_inputs(informing *c)
{
    if (mr_feeds_read(c->a, 1, c->setup.g, &c->feeds, &c->e)) return c->e.status;
    for (int i = 0; i < c->setup.g->n_inputs; i++) {
        const mr_value *v = c->feeds.in[i];
        if (!v) continue;
        c->fed = true;
        if (v->type.kind == MR_TENSOR) c->feeds.shapes[i].shape = mr_tensor_shape(&v->t);
    }
    return MR_OK;
}

static mr_status inform(informing *c)
{
    mr_setup *s = &c->setup;
    if (mr_setup_open(c->a, s, &c->e) || read_inputs(c)) return c->e.status;
    /* Counting looks at the graph in the file, whatever a run makes of it. */
    mr_options plain = {.mode = s->options.mode};
    if (mr_session_new(s->model, &plain, NULL, 0, &c->judging, &c->e)) return c->e.status;
    mr_error unknown = {.node = -1};
    c->judged = mr_session_judge(c->judging, c->feeds.shapes, &unknown);
    mr_error_clear(&unknown);
    if (mr_facts_collect(s->g->model, c->judged, c->r, &c->facts, &c->e)) return c->e.status;
    if (!mr_args_has(c->a, MR_OPT_PLAN)) return MR_OK;
    if (mr_session_new(s->model, &s->options, NULL, 0, &c->planning, &c->e)) return c->e.status;
    return mr_session_plan(c->planning, c->fed ? c->feeds.in : NULL, c->feeds.shapes, &c->plan, &c->e);
}

int mr_command_info(const mr_args *a)
{
    mr_region texts = {0};
    informing c = {.a = a, .r = &texts};
    if (inform(&c) && c.plan) c.plan = NULL; /* it cannot run */
    if (c.facts.model && !mr_json_on_stdout(a)) print_report(&c);
    if (mr_args_has(a, MR_OPT_JSON)) mr_json_answer(document(&c), a, &c.e);
    fflush(stdout);
    int status = mr_report(&c.e, c.setup.path);
    mr_plan_free(c.judged);
    mr_session_free(c.judging);
    mr_session_free(c.planning);
    if (c.feeds.g) mr_feeds_free(&c.feeds);
    mr_setup_close(&c.setup);
    mr_region_free(&texts);
    return status;
}

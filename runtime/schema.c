/* schema.c: nodes against what ONNX allows. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "attr.h"
#include "custom.h"
#include "model.h"
#include "op.h"

/* ---- looking up ---- */

/* The versions of one operator, ascending. */
typedef struct span {
    const mr_schema *first, *end;
} span;

static int compare(const mr_schema *s, const char *domain, const char *op)
{
    int by_domain = strcmp(s->domain, domain);
    return by_domain ? by_domain : strcmp(s->name, op);
}

static span versions_in(const mr_schema *all, int n, const char *domain, const char *op)
{
    int lo = 0, hi = n; /* the first that is not before (domain, op) */
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (compare(&all[mid], domain, op) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    while (hi < n && compare(&all[hi], domain, op) == 0) hi++;
    return (span){all + lo, all + hi};
}

static span versions(const mr_customs *customs, const char *domain, const char *op)
{
    span s = versions_in(mr_schemas, mr_n_schemas, domain, op);
    return s.first < s.end || !customs ? s : versions_in(customs->schemas, customs->n, domain, op);
}

static span versions_of(const mr_node *n)
{
    return versions(n->graph->model->customs, n->domain, n->op_type);
}

const mr_schema *mr_schema_find(const mr_customs *customs, const char *domain, const char *op, int opset)
{
    span all = versions(customs, mr_domain_of(domain), op);
    const mr_schema *s = all.end;
    while (s > all.first && s[-1].since > opset) s--;
    return s > all.first ? s - 1 : NULL;
}

const mr_schema_attr *mr_schema_attr_find(const mr_schema *s, const char *name)
{
    for (int i = 0; i < s->n_attrs; i++)
        if (strcmp(s->attrs[i].name, name) == 0) return &s->attrs[i];
    return NULL;
}

static const char *shown(const char *domain)
{
    return *domain ? domain : "ai.onnx";
}

/* ---- does the operator exist ---- */

static void offer_names(mr_nearest *nearest, const mr_schema *all, int n, const char *domain)
{
    for (int i = 0; i < n; i++)
        if (strcmp(all[i].domain, domain) == 0) mr_nearest_offer(nearest, all[i].name);
}

static void hint_nearest_op(mr_node *n)
{
    mr_nearest nearest = {.name = n->op_type};
    const mr_customs *customs = n->graph->model->customs;
    char near[256];
    offer_names(&nearest, mr_schemas, mr_n_schemas, n->domain);
    if (customs) offer_names(&nearest, customs->schemas, customs->n, n->domain);
    if (mr_nearest_string(&nearest, near, sizeof near))
        mr_error_hint(&n->refusal, "did you mean %s?", near);
    else
        mr_error_hint(&n->refusal, "export it as a model-local function, or load a plugin that has it (--plugin)");
}

static bool is_known_domain(const mr_node *n)
{
    const mr_customs *customs = n->graph->model->customs;
    for (int i = 0; customs && i < customs->n; i++)
        if (strcmp(customs->schemas[i].domain, n->domain) == 0) return true;
    return mr_opset_max(n->domain) != 0;
}

static void refuse_op(mr_node *n)
{
    span all = versions_of(n);
    const mr_schema *first = all.first < all.end ? all.first : NULL;
    const char *domain = shown(n->domain);
    if (n->opset == 0) {
        mr_node_invalid(n, MR_E_OPSET_IMPORT, "domain %s is not imported, operator %s needs it", domain, n->op_type);
        if (first)
            mr_error_hint(&n->refusal, "add {domain: \"%s\", version: %d} to opset_import", n->domain, first->since);
    } else if (first) {
        mr_node_invalid(n, MR_E_NOT_IN_OPSET, "operator %s exists since opset %d of %s, the model imports %d",
                        n->op_type, first->since, domain, n->opset);
        mr_error_hint(&n->refusal, "export with opset %d, or convert with onnx.version_converter", first->since);
    } else if (!is_known_domain(n)) {
        mr_node_invalid(n, MR_E_UNKNOWN_DOMAIN, "operator %s of the unknown domain %s (version %d)", n->op_type, domain,
                        n->opset);
        mr_error_hint(&n->refusal, "load a plugin that has it (--plugin), or export it as a model-local function");
    } else {
        mr_node_invalid(n, MR_E_UNKNOWN_OP, "%s has no operator %s (opset %d)", domain, n->op_type, n->opset);
        hint_nearest_op(n);
    }
}

static void refuse_deprecated(mr_node *n)
{
    const mr_schema *first = versions_of(n).first;
    mr_node_invalid(n, MR_E_NOT_IN_OPSET, "operator %s is deprecated since opset %d of %s, the model imports %d",
                    n->op_type, n->schema->since, shown(n->domain), n->opset);
    const mr_schema *other =
        n->schema->successor ? mr_schema_find(NULL, n->domain, n->schema->successor, n->opset) : NULL;
    char instead[128] = "without it";
    if (other) snprintf(instead, sizeof instead, "with %s-%d in its place", other->name, other->since);
    if (n->schema > first)
        mr_error_hint(&n->refusal, "its last version is %s-%d: export for opset %d or below, or %s", n->op_type,
                      n->schema[-1].since, n->schema->since - 1, instead);
    else if (n->schema + 1 < versions_of(n).end)
        mr_error_hint(&n->refusal, "its next version is %s-%d: export for opset %d", n->op_type, n->schema[1].since,
                      n->schema[1].since);
}

/* ---- arity ---- */

static void range(int min, int max, char *buf, size_t size)
{
    if (max == INT_MAX)
        snprintf(buf, size, "%d or more", min);
    else if (min == max)
        snprintf(buf, size, "%d", min);
    else
        snprintf(buf, size, "%d to %d", min, max);
}

static void check_arity(mr_node *n)
{
    const mr_schema *s = n->schema;
    char allowed[64];
    if (n->n_in < s->min_in || n->n_in > s->max_in) {
        range(s->min_in, s->max_in, allowed, sizeof allowed);
        mr_node_invalid(n, MR_E_ARITY, "%d inputs, must be %s", n->n_in, allowed);
    }
    if (n->n_out < s->min_out || n->n_out > s->max_out) {
        range(s->min_out, s->max_out, allowed, sizeof allowed);
        mr_node_invalid(n, MR_E_ARITY, "%d outputs, must be %s", n->n_out, allowed);
    }
    /* An input that nothing defines is absent here, and was complained about. */
    for (int i = 0; i < n->n_in && i < s->n_in && n->refusal.status == MR_OK; i++)
        if (n->in[i] < 0 && s->in[i].option == MR_PARAM_SINGLE)
            mr_node_invalid(n, MR_E_ARITY, "required input %d '%s' is missing", i, s->in[i].name);
    for (int i = 0; i < n->n_out && i < s->n_out; i++)
        if (n->out[i] < 0 && s->out[i].option == MR_PARAM_SINGLE)
            mr_node_invalid(n, MR_E_ARITY, "required output %d '%s' has no name", i, s->out[i].name);
}

/* ---- attributes ---- */

/* Another version of the operator that has the attribute: the first after, else the last before. */
static const mr_schema *version_with(const mr_node *n, const char *attr)
{
    span all = versions_of(n);
    for (const mr_schema *s = n->schema + 1; s < all.end; s++)
        if (mr_schema_attr_find(s, attr)) return s;
    for (const mr_schema *s = n->schema; s > all.first; s--)
        if (mr_schema_attr_find(s - 1, attr)) return s - 1;
    return NULL;
}

static void refuse_attr(mr_node *n, const char *name)
{
    const mr_schema *other = version_with(n, name);
    if (other && other->since > n->schema->since) {
        mr_node_invalid(n, MR_E_ATTRIBUTE, "attribute '%s' does not exist before opset %d, the model imports %d", name,
                        other->since, n->opset);
        return;
    }
    if (other) {
        const mr_schema *gone = other + 1; /* the version after the last that has it */
        mr_node_invalid(n, MR_E_ATTRIBUTE, "attribute '%s' does not exist since opset %d, the model imports %d", name,
                        gone->since, n->opset);
        return;
    }
    mr_nearest nearest = {.name = name};
    char near[256];
    mr_node_invalid(n, MR_E_ATTRIBUTE, "operator %s has no attribute '%s'", n->op_type, name);
    for (int i = 0; i < n->schema->n_attrs; i++) mr_nearest_offer(&nearest, n->schema->attrs[i].name);
    if (mr_nearest_string(&nearest, near, sizeof near)) mr_error_hint(&n->refusal, "did you mean %s?", near);
}

static void check_attrs(mr_node *n)
{
    for (int i = 0; i < n->n_attrs; i++) {
        const mr_attr *a = &n->attrs[i];
        if (strncmp(a->name, "__", 2) == 0) continue; /* onnx's checker leaves these to tools */
        const mr_schema_attr *s = mr_schema_attr_find(n->schema, a->name);
        if (!s)
            refuse_attr(n, a->name);
        else if (s->kind != (int)a->kind)
            mr_node_invalid(n, MR_E_ATTRIBUTE, "attribute '%s' is %s, must be %s", a->name, mr_attr_kind_name(a->kind),
                            mr_attr_kind_name((mr_attr_kind)s->kind));
    }
    for (int i = 0; i < n->schema->n_attrs; i++)
        if (n->schema->attrs[i].required && !mr_node_attr(n, n->schema->attrs[i].name))
            mr_node_invalid(n, MR_E_ATTRIBUTE, "required attribute '%s' missing", n->schema->attrs[i].name);
}

/* ---- all nodes ---- */

static void find_op(mr_node *n)
{
    n->op = mr_op_of(n->graph->model->customs, n->schema);
    if (n->op && n->refusal.status == MR_OK) mr_attrs_read(n);
}

static void check_graph(mr_graph *g)
{
    for (int i = 0; i < g->n_nodes; i++) mr_schema_check_node(g->nodes[i]);
}

void mr_schema_check_node(mr_node *n)
{
    if (!n->op) {
        if (!n->schema)
            refuse_op(n);
        else if (n->schema->deprecated)
            refuse_deprecated(n);
        else {
            check_arity(n);
            check_attrs(n);
            find_op(n);
        }
    }
    for (int i = 0; i < n->n_subgraphs; i++) check_graph(n->subgraphs[i]);
}

void mr_schema_check(mr_graph_model *m)
{
    check_graph(m->main);
}

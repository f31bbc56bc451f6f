/* claims.c: rows and slots asked with types alone.
 *
 * The node that is asked about stands in no model: its attributes have the schema's defaults, those without one the
 * plainest value, and those that give a type (Cast's "to") the type that is asked for. */
#include "claims.h"

#include <string.h>

#include "attr.h"
#include "custom.h"

typedef struct asking {
    const mr_claimant *where;
    const mr_schema *schema;
    const mr_op *op;
    mr_region region;
    mr_graph_model model;
    mr_graph graph;
    mr_type *types, **allowed; /* by variable: the one asked for; all */
    int *n_allowed;
    void (*tell)(void *arg, const mr_claim *c);
    void *arg;
    mr_error *e;
} asking;

enum { MOST_TYPES = 256 }; /* of one variable */

/* ---- a node with these types ---- */

static bool gives_type(const mr_schema_attr *a)
{
    return !strcmp(a->name, "to") || !strcmp(a->name, "dtype") || !strcmp(a->name, "output_dtype");
}

/* TensorProto.DataType's own name, "FLOAT16", as Cast-1 has it. */
static mr_string type_name(asking *q, mr_dtype d)
{
    const char *name = mr_dtype_onnx(d);
    char *upper = mr_region_string(&q->model.region, name, strlen(name));
    for (char *c = upper; c && *c; c++)
        if (*c >= 'a' && *c <= 'z') *c = (char)(*c - 'a' + 'A');
    return (mr_string){upper ? upper : "", upper ? strlen(upper) : 0};
}

/* The type of the first output whose variable no input binds. */
static mr_dtype open_output(const asking *q)
{
    const mr_schema *s = q->schema;
    for (int o = 0; o < s->n_out; o++) {
        bool bound = s->out[o].var < 0;
        for (int i = 0; i < s->n_in; i++) bound |= s->in[i].var == s->out[o].var;
        if (!bound && q->types[s->out[o].var].kind == MR_TENSOR) return (mr_dtype)q->types[s->out[o].var].elem;
    }
    return MR_UNDEFINED;
}

static mr_attr plain_attr(asking *q, const mr_schema_attr *a, mr_dtype type)
{
    static const int64_t one = 1;
    static const float one_f = 1;
    mr_attr v = {.name = a->name, .kind = (mr_attr_kind)a->kind, .n = 1};
    switch (v.kind) {
    case MR_ATTR_INT:
        v.i = type ? (int64_t)type : one;
        break;
    case MR_ATTR_FLOAT:
        v.f = one_f;
        break;
    case MR_ATTR_INTS:
        v.ints = &one;
        break;
    case MR_ATTR_FLOATS:
        v.floats = &one_f;
        break;
    case MR_ATTR_STRING:
        v.s = type ? type_name(q, type) : (mr_string){"", 0};
        break;
    default:
        v.kind = MR_ATTR_NONE;
    }
    return v;
}

static bool make_attrs(asking *q, mr_node *n)
{
    const mr_schema *s = q->schema;
    mr_dtype type = open_output(q);
    n->attrs = MR_REGION_NEW(&q->model.region, mr_attr, s->n_attrs + 1);
    for (int i = 0; n->attrs && i < s->n_attrs; i++) {
        bool typed = type && gives_type(&s->attrs[i]);
        if (!typed && !s->attrs[i].required) continue;
        n->attrs[n->n_attrs] = plain_attr(q, &s->attrs[i], typed ? type : MR_UNDEFINED);
        n->n_attrs += n->attrs[n->n_attrs].kind != MR_ATTR_NONE; /* graphs and tensors: no row asks for them here */
    }
    return n->attrs != NULL;
}

static int arity(int formal, const mr_schema_param *params)
{
    bool variadic = formal && params[formal - 1].option == MR_PARAM_VARIADIC;
    return variadic && params[formal - 1].min_arity > 1 ? formal + params[formal - 1].min_arity - 1 : formal;
}

static mr_arg typed_arg(const asking *q, const mr_schema_param *params, int n, int i)
{
    const mr_schema_param *p = &params[i < n ? i : n - 1];
    mr_arg a = {.shape = mr_shape_unknown()};
    if (p->var >= 0)
        a.type = q->types[p->var];
    else
        mr_typeset_list(&p->types, &a.type, 1);
    return a;
}

static bool make_call(asking *q, mr_node *n, mr_call *c)
{
    const mr_schema *s = q->schema;
    int n_in = arity(s->n_in, s->in), n_out = arity(s->n_out, s->out);
    *n = (mr_node){.name = "",
                   .op_type = s->name,
                   .domain = s->domain,
                   .overload = "",
                   .opset = s->since,
                   .schema = s,
                   .op = q->op,
                   .graph = &q->graph,
                   .n_in = n_in,
                   .n_out = n_out};
    n->in = MR_REGION_NEW(&q->model.region, int, n_in + n_out + 1);
    mr_arg *args = MR_REGION_NEW(&q->model.region, mr_arg, n_in + n_out + 1);
    if (!n->in || !args || !make_attrs(q, n)) return false;
    n->out = n->in + n_in;
    for (int i = 0; i < n_in; i++) n->in[i] = -1; /* no value's name to speak of */
    for (int i = 0; i < n_in; i++) args[i] = typed_arg(q, s->in, s->n_in, i);
    for (int o = 0; o < n_out; o++) args[n_in + o] = typed_arg(q, s->out, s->n_out, o);
    mr_attrs_read(n);
    mr_error_clear(&n->refusal); /* that the plainest values do not fit together says nothing of the types */
    *c = (mr_call){.node = n,
                   .params = n->params,
                   .n_in = n_in,
                   .n_out = n_out,
                   .in = args,
                   .out = args + n_in,
                   .cpu = q->where->cpu,
                   .cuda = q->where->cuda,
                   .error = q->e};
    return n->params != NULL;
}

/* ---- the answer ---- */

/* The first row that has the types and asks for nothing else; if all ask, the most general one. */
static void find_row(mr_call *c, mr_device_kind dev, mr_claim *claim)
{
    for (const mr_impl *r = c->node->op->impls; r && r->name; r++) {
        if (r->dev != dev || !r->have(c)) continue;
        claim->runs = true;
        claim->impl = r;
        claim->conds = r->conds;
        if (!r->conds) return;
    }
}

/* Types that no row has, and that inference says are invalid together. */
static bool is_excluded(const mr_call *asked, mr_region *r)
{
    mr_error e = {.node = -1};
    mr_exec exec = {.region = r};
    mr_call c = *asked;
    c.error = &e, c.exec = &exec;
    bool invalid = c.node->op->infer && c.node->op->infer(&c) == MR_EINVALID;
    mr_error_clear(&e);
    return invalid;
}

static bool ask(asking *q)
{
    mr_claim claim = {.schema = q->schema, .types = q->types};
    const mr_op *op = q->op;
    bool ok = true;
    mr_node n;
    mr_call c;
    if (!op)
        claim.runs = q->schema->n_bodies > 0;
    else if (op->constant || op->flags & MR_OP_VIEW)
        claim.runs = true;
    else if (op->impls && op->impls->expand)
        claim.runs = q->where->dev == MR_CPU; /* whether a device has rows for all that it becomes is seen at a model */
    else if ((ok = make_call(q, &n, &c))) {
        find_row(&c, op->flags & MR_OP_CONTROL ? MR_CPU : q->where->dev, &claim);
        claim.excluded = !claim.runs && is_excluded(&c, &q->model.region);
    }
    if (ok) q->tell(q->arg, &claim);
    mr_region_free(&q->model.region);
    q->model.region = (mr_region){0};
    return ok;
}

static bool ask_from(asking *q, int var)
{
    if (var == q->schema->n_vars) return ask(q);
    for (int t = 0; t < q->n_allowed[var]; t++) {
        q->types[var] = q->allowed[var][t];
        if (!ask_from(q, var + 1)) return false;
    }
    return true;
}

mr_status mr_claims(const mr_claimant *where, const mr_schema *s, void (*tell)(void *arg, const mr_claim *c), void *arg,
                    mr_error *e)
{
    asking q = {.where = where, .schema = s, .op = mr_op_of(where->customs, s), .tell = tell, .arg = arg, .e = e};
    q.graph.model = &q.model;
    q.types = MR_REGION_NEW(&q.region, mr_type, s->n_vars + 1);
    q.allowed = MR_REGION_NEW(&q.region, mr_type *, s->n_vars + 1);
    q.n_allowed = MR_REGION_NEW(&q.region, int, s->n_vars + 1);
    bool ok = q.types && q.allowed && q.n_allowed;
    for (int v = 0; ok && v < s->n_vars; v++) {
        q.allowed[v] = MR_REGION_NEW(&q.region, mr_type, MOST_TYPES);
        ok = q.allowed[v] != NULL;
        if (ok) q.n_allowed[v] = mr_typeset_list(&s->vars[v].types, q.allowed[v], MOST_TYPES);
    }
    if (!ok || !ask_from(&q, 0)) mr_fail(e, MR_E_MEMORY, "out of memory");
    mr_region_free(&q.region);
    return e->status;
}

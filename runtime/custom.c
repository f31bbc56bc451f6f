/* custom.c: operators from outside: their schemas, checked, and the table of all. */
#include "custom.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine.h"

void mr_customs_free(mr_customs *c)
{
    while (c) {
        mr_customs *older = c->older;
        mr_region_free(&c->region);
        if (c->library) dlclose(c->library);
        free(c);
        c = older;
    }
}

const mr_op *mr_op_of(const mr_customs *c, const mr_schema *s)
{
    if (c && s >= c->schemas && s < c->schemas + c->n) return c->ops[s - c->schemas];
    return mr_op_find(s->domain, s->name, s->since);
}

/* ---- one operator: from the plugin's declaration to a schema ---- */

typedef struct adding {
    mr_customs *table;
    const mr_custom_op *def;
    mr_schema *s;
    mr_schema_var *vars;
    mr_error *e;
} adding;

static bool bad(adding *a, const char *what, const char *name)
{
    mr_fail(a->e, MR_E_PLUGIN, "operator %s:%s: %s%s%s%s", a->def->domain ? a->def->domain : "",
            a->def->name ? a->def->name : "", what, name ? " '" : "", name ? name : "", name ? "'" : "");
    return false;
}

static bool no_memory(adding *a)
{
    mr_fail(a->e, MR_E_MEMORY, "no memory for operator %s", a->def->name);
    return false;
}

/* "tensor(float)"; 0: no such type. */
static uint32_t type_bit(const char *type)
{
    size_t n = strlen(type);
    if (n < 9 || strncmp(type, "tensor(", 7) || type[n - 1] != ')') return 0;
    mr_dtype d = mr_dtype_parse(type + 7, n - 8);
    return d == MR_UNDEFINED ? 0 : UINT32_C(1) << d;
}

static bool add_vars(adding *a)
{
    const mr_custom_constraint *c = a->def->constraints;
    int n = 0;
    while (c && c[n].name) n++;
    if (!(a->vars = MR_REGION_NEW(&a->table->region, mr_schema_var, n + 1))) return no_memory(a);
    for (int i = 0; i < n; i++) {
        a->vars[i].name = c[i].name;
        for (int t = 0; c[i].types && c[i].types[t]; t++) {
            uint32_t bit = type_bit(c[i].types[t]);
            if (!bit) return bad(a, "a constraint has the unknown type", c[i].types[t]);
            a->vars[i].types.tensor |= bit;
        }
        if (!a->vars[i].types.tensor) return bad(a, "no types in constraint", c[i].name);
    }
    a->s->vars = a->vars, a->s->n_vars = n;
    return true;
}

static bool set_type(adding *a, mr_schema_param *p)
{
    p->var = -1;
    for (int v = 0; v < a->s->n_vars; v++)
        if (!strcmp(p->type, a->vars[v].name)) p->var = v, p->types = a->vars[v].types;
    if (p->var < 0 && !(p->types.tensor = type_bit(p->type)))
        return bad(a, "neither a constraint nor a type of tensors:", p->type);
    return true;
}

static bool add_params(adding *a, const mr_custom_param *from, const mr_schema_param **out, int *n, int *min, int *max)
{
    while (from && from[*n].name) ++*n;
    mr_schema_param *to = MR_REGION_NEW(&a->table->region, mr_schema_param, *n + 1);
    if (!to) return no_memory(a);
    *out = to, *max = *n;
    for (int i = 0; i < *n; i++) {
        bool variadic = from[i].option == MR_CUSTOM_VARIADIC;
        if (!*from[i].name || !from[i].type) return bad(a, "an input or output without a name or type", NULL);
        if (variadic && i + 1 < *n) return bad(a, "only the last may be variadic, not", from[i].name);
        to[i] = (mr_schema_param){.name = from[i].name,
                                  .type = from[i].type,
                                  .option = (mr_param_option)from[i].option,
                                  .homogeneous = true,
                                  .min_arity = from[i].min_arity};
        if (!set_type(a, &to[i])) return false;
        if (from[i].option == MR_CUSTOM_SINGLE) *min = i + 1;
        if (variadic) *max = INT_MAX;
        if (variadic && from[i].min_arity > 0) *min = i + from[i].min_arity;
    }
    return true;
}

static bool add_attrs(adding *a)
{
    const mr_custom_attr *from = a->def->attrs;
    int n = 0;
    while (from && from[n].name) n++;
    mr_schema_attr *to = MR_REGION_NEW(&a->table->region, mr_schema_attr, n + 1);
    if (!to) return no_memory(a);
    for (int i = 0; i < n; i++) {
        bool known = from[i].kind >= MR_CUSTOM_FLOAT && from[i].kind <= MR_CUSTOM_STRINGS && from[i].kind != 5;
        if (!known) return bad(a, "no such kind of attribute:", from[i].name);
        if (from[i].has_default &&
            (from[i].kind == MR_CUSTOM_TENSOR || (from[i].kind == MR_CUSTOM_STRING && !from[i].s)))
            return bad(a, "no default can be had for attribute", from[i].name);
        for (int k = 0; k < i; k++)
            if (!strcmp(from[k].name, from[i].name)) return bad(a, "two attributes", from[i].name);
        to[i] = (mr_schema_attr){.name = from[i].name,
                                 .kind = (int)from[i].kind,
                                 .required = from[i].required,
                                 .has_default = from[i].has_default,
                                 .i = from[i].i,
                                 .f = from[i].f,
                                 .s = from[i].s,
                                 .ints = from[i].ints,
                                 .floats = from[i].floats,
                                 .strings = from[i].strings,
                                 .n = from[i].n};
    }
    a->s->attrs = to, a->s->n_attrs = n;
    return true;
}

static bool is_own(const char *domain)
{
    return !*domain || !strcmp(domain, "ai.onnx") || !strncmp(domain, "ai.onnx.", 8);
}

/* Whose operator it is, and whether it is there. */
static bool may_add(adding *a)
{
    const mr_custom_op *d = a->def;
    if (!d->domain || !d->name || !*d->name) return bad(a, "it has no domain or no name", NULL);
    if (is_own(d->domain)) return bad(a, "the domain is ONNX's own, a plugin adds nothing to it", NULL);
    if (mr_schema_find(NULL, d->domain, d->name, INT_MAX)) return bad(a, "minirt has it, and it is not replaced", NULL);
    if (d->since_version < 1) return bad(a, "since_version must be 1 or more", NULL);
    if (!d->infer) return bad(a, "it has no infer", NULL);
    if (!d->outputs || !d->outputs->name) return bad(a, "it has no outputs", NULL);
    if (!d->kernels || !d->kernels->run) return bad(a, "it has no kernels", NULL);
    for (int i = 0; i < a->table->n; i++) {
        const mr_schema *s = &a->table->schemas[i];
        if (s->since == d->since_version && !strcmp(s->domain, d->domain) && !strcmp(s->name, d->name))
            return bad(a, "this version of it is registered already", NULL);
    }
    return true;
}

/* Puts the entry where the order asks for it. */
static void insert(mr_customs *t, const mr_schema *s, const mr_op *op)
{
    int at = t->n++;
    for (; at > 0; at--) {
        const mr_schema *p = &t->schemas[at - 1];
        int order = strcmp(p->domain, s->domain);
        if (!order) order = strcmp(p->name, s->name);
        if (order < 0 || (!order && p->since < s->since)) break;
        t->schemas[at] = *p, t->ops[at] = t->ops[at - 1];
    }
    t->schemas[at] = *s, t->ops[at] = op;
}

static bool add_op(mr_customs *table, const mr_custom_op *def, mr_error *e)
{
    mr_schema s = {
        .domain = def->domain, .name = def->name, .since = def->since_version, .non_deterministic = def->random};
    adding a = {.table = table, .def = def, .s = &s, .e = e};
    if (!may_add(&a) || !add_vars(&a) || !add_attrs(&a) ||
        !add_params(&a, def->inputs, &s.in, &s.n_in, &s.min_in, &s.max_in) ||
        !add_params(&a, def->outputs, &s.out, &s.n_out, &s.min_out, &s.max_out))
        return false;
    const mr_op *op = mr_custom_row(&table->region, def);
    if (!op) return no_memory(&a);
    insert(table, &s, op);
    return true;
}

/* ---- the table ---- */

/* What older has, with room for more. */
static mr_customs *table_new(mr_customs *older, int more)
{
    mr_customs *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    int n = older ? older->n : 0;
    t->schemas = MR_REGION_NEW(&t->region, mr_schema, n + more);
    t->ops = MR_REGION_NEW(&t->region, const mr_op *, n + more);
    if (!t->schemas || !t->ops) {
        mr_customs_free(t);
        return NULL;
    }
    if (n) memcpy(t->schemas, older->schemas, sizeof *t->schemas * (size_t)n);
    if (n) memcpy(t->ops, older->ops, sizeof *t->ops * (size_t)n);
    t->n = n;
    return t;
}

static mr_status add_all(mr_env *env, const mr_custom_ops *ops, void *library, mr_error *e)
{
    int n = 0;
    while (ops->ops && ops->ops[n]) n++;
    if (!n) return mr_fail(e, MR_E_PLUGIN, "no operators to register");
    mr_customs *t = table_new(env->customs, n);
    if (!t) return mr_fail(e, MR_E_MEMORY, "no memory for %d operators", n);
    for (int i = 0; i < n; i++)
        if (!add_op(t, ops->ops[i], e)) {
            mr_customs_free(t);
            return e->status;
        }
    t->library = library;
    t->older = env->customs;
    env->customs = t;
    return MR_OK;
}

static mr_status add_checked(mr_env *env, const mr_custom_ops *ops, void *library, mr_error *e)
{
    if (ops->abi != MR_ABI_VERSION) {
        mr_fail(e, MR_E_PLUGIN, "operators for version %d of minirt's interface, this is version %d", ops->abi,
                MR_ABI_VERSION);
        mr_error_hint(e, "compile them again with the minirt_op.h of this minirt");
        return e->status;
    }
    pthread_mutex_lock(&env->lock);
    mr_status st = add_all(env, ops, library, e);
    pthread_mutex_unlock(&env->lock);
    return st;
}

/* The caller may have no error to be told. */
static mr_error *fresh(mr_error *e, mr_error *own)
{
    *own = (mr_error){.node = -1};
    if (e) mr_error_clear(e), e->node = -1;
    return e ? e : own;
}

mr_status mr_env_register(mr_env *env, const mr_custom_ops *ops, mr_error *e)
{
    mr_error own;
    mr_status st = add_checked(env, ops, NULL, fresh(e, &own));
    mr_error_clear(&own);
    return st;
}

/* ---- plugins ---- */

static mr_status load(mr_env *env, const char *path, mr_error *e)
{
    char file[4096];
    if (access(path, R_OK)) return mr_fail(e, MR_E_PLUGIN, "%s cannot be read: %s", path, strerror(errno));
    /* A name without a slash would be looked for where libraries are. */
    if (snprintf(file, sizeof file, "%s%s", strchr(path, '/') ? "" : "./", path) >= (int)sizeof file)
        return mr_fail(e, MR_E_PLUGIN, "the plugin's path is too long");
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) return mr_fail(e, MR_E_PLUGIN, "%s is no library that can be loaded: %s", path, dlerror());
    const mr_custom_ops *ops = dlsym(library, "mr_custom_ops_v1");
    if (!ops)
        mr_fail(e, MR_E_PLUGIN, "%s is no plugin of operators: it does not export mr_custom_ops_v1", path);
    else
        add_checked(env, ops, library, e);
    if (e->status) dlclose(library);
    return e->status;
}

mr_status mr_env_load_plugin(mr_env *env, const char *path, mr_error *e)
{
    mr_error own;
    mr_status st = load(env, path, fresh(e, &own));
    mr_error_clear(&own);
    return st;
}

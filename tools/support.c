/* support.c: claims, summed. */
#include "support.h"

#include <string.h>

typedef struct summing {
    mr_region *r;
    mr_support *s;
    mr_type *missing;
    int n_missing, cap;
    bool full; /* no memory left */
} summing;

/* list, with text behind it unless it is there. */
static const char *with(mr_region *r, const char *list, const char *text, const char *joint)
{
    if (!list || strstr(list, text)) return list;
    return mr_region_printf(r, "%s%s%s", list, *list ? joint : "", text);
}

static void add_missing(summing *x, const mr_claim *c)
{
    int n = c->schema->n_vars;
    if (x->n_missing == x->cap) {
        int cap = x->cap ? 2 * x->cap : 16;
        mr_type *grown = MR_REGION_NEW(x->r, mr_type, cap * n + 1);
        x->full |= !grown;
        if (!grown) return;
        if (x->n_missing) memcpy(grown, x->missing, sizeof *grown * (size_t)(x->n_missing * n));
        x->missing = grown, x->cap = cap;
    }
    if (n) memcpy(x->missing + x->n_missing * n, c->types, sizeof *c->types * (size_t)n);
    x->n_missing++;
}

static void add_claim(void *arg, const mr_claim *c)
{
    summing *x = arg;
    if (c->excluded) return;
    x->s->all++;
    x->s->runs += c->runs;
    x->s->conditional += c->conds != NULL;
    if (!c->runs) add_missing(x, c);
    if (c->impl) x->s->kernels = with(x->r, x->s->kernels, c->impl->name, ", ");
    for (const mr_cond *const *k = c->conds; k && *k; k++) x->s->conds = with(x->r, x->s->conds, (*k)->text, "; ");
}

mr_status mr_support_of(const mr_claimant *where, const mr_schema *s, mr_region *r, mr_support *out, mr_error *e)
{
    summing x = {.r = r, .s = out};
    *out = (mr_support){.schema = s, .conds = "", .kernels = ""};
    if (mr_claims(where, s, add_claim, &x, e)) return e->status;
    out->missing = x.missing;
    return x.full || !out->conds || !out->kernels ? mr_fail(e, MR_E_MEMORY, "out of memory") : MR_OK;
}

/* ---- in words ---- */

static const char *type_text(mr_type t, mr_region *r)
{
    char buf[96];
    mr_type_string(t, buf, sizeof buf);
    return t.kind == MR_TENSOR ? mr_dtype_onnx((mr_dtype)t.elem) : mr_region_string(r, buf, strlen(buf));
}

const char *mr_typeset_text(const mr_typeset *s, mr_region *r)
{
    mr_type types[256];
    int n = mr_typeset_list(s, types, 256);
    const char *text = "";
    for (int i = 0; i < n && text; i++)
        text = mr_region_printf(r, "%s%s%s", text, i ? ", " : "", type_text(types[i], r));
    return text ? text : "";
}

/* Missing combinations in which variable v is t. */
static int missing_with(const mr_support *s, int v, mr_type t)
{
    int n = 0, vars = s->schema->n_vars;
    for (int m = 0; m < s->all - s->runs; m++) n += mr_type_equal(s->missing[m * vars + v], t);
    return n;
}

/* How many combinations there are with one variable held. */
static int others(const mr_schema *s, int v)
{
    int n = 1;
    for (int o = 0; o < s->n_vars; o++)
        if (o != v) n *= mr_typeset_list(&s->vars[o].types, NULL, 0);
    return n;
}

static const char *one_missing(const mr_support *s, const mr_type *types, mr_region *r)
{
    const char *text = "";
    for (int v = 0; v < s->schema->n_vars && text; v++)
        text =
            mr_region_printf(r, "%s%s%s %s", text, v ? " with " : "", s->schema->vars[v].name, type_text(types[v], r));
    return text;
}

/* Is the combination among those of a type that is missing altogether? */
static bool is_covered(const mr_support *s, const mr_type *types)
{
    for (int v = 0; v < s->schema->n_vars; v++)
        if (missing_with(s, v, types[v]) == others(s->schema, v)) return true;
    return false;
}

const char *mr_support_missing(const mr_support *s, mr_region *r)
{
    enum { MOST = 8 };
    const char *text = "";
    int vars = s->schema->n_vars, shown = 0, rest = 0;
    if (s->runs == s->all) return "";
    if (s->runs == 0) return "all";
    for (int v = 0; v < vars && text; v++) {
        mr_type types[256];
        int n = mr_typeset_list(&s->schema->vars[v].types, types, 256);
        for (int t = 0; t < n; t++)
            if (missing_with(s, v, types[t]) == others(s->schema, v))
                text = mr_region_printf(r, "%s%s%s %s", text, *text ? "; " : "", s->schema->vars[v].name,
                                        type_text(types[t], r));
    }
    for (int m = 0; m < s->all - s->runs && text; m++) {
        if (is_covered(s, s->missing + m * vars)) continue;
        if (shown++ < MOST)
            text = mr_region_printf(r, "%s%s%s", text, *text ? "; " : "", one_missing(s, s->missing + m * vars, r));
        else
            rest++;
    }
    return text && rest ? mr_region_printf(r, "%s; and %d more", text, rest) : text;
}

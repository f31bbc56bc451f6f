/* resolve.c: node × device → row, or the refusal. The only place where that choice is made. */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a condition reads and nobody knows yet: "the value of input 3 'sizes'", or false when all is known. */
static bool missing(const mr_call *c, const mr_cond *k, char *buf, size_t size)
{
    for (int i = 0; i < 16; i++) {
        bool rank = k->needs & (MR_NEEDS_RANK(i) | MR_NEEDS_SHAPE(i)), dims = k->needs & MR_NEEDS_SHAPE(i);
        if (!mr_in_has(c, i) || c->in[i].type.kind != MR_TENSOR) continue;
        const char *what = NULL;
        if (rank && c->in[i].shape.rank < 0)
            what = "the rank of";
        else if (dims && !mr_shape_known(&c->in[i].shape))
            what = "the shape of";
        else if ((k->needs & MR_NEEDS_VALUE(i)) && !c->in[i].t)
            what = "the value of";
        if (!what) continue;
        snprintf(buf, size, "%s input %d '%s'", what, i, mr_in_name(c, i));
        return true;
    }
    return false;
}

static void types_of(const mr_call *c, char *buf, size_t size)
{
    size_t n = 0;
    for (int i = 0; i < c->n_in && n < size; i++) {
        char type[64];
        if (!mr_in_has(c, i)) continue;
        n += (size_t)snprintf(buf + n, size - n, "%s%s %s", n ? ", " : "", mr_in_name(c, i),
                              mr_type_string(c->in[i].type, type, sizeof type));
    }
    if (!n && c->n_out > 0) {
        char type[64];
        snprintf(buf, size, "output %s", mr_type_string(c->out[0].type, type, sizeof type));
    }
}

/* Of the last row that has the types: the condition that fails, or that cannot be judged yet. */
typedef struct {
    const mr_cond *fails, *depends;
    char missing[96];
} reason;

static bool row_matches(mr_call *c, const mr_impl *r, reason *why)
{
    for (const mr_cond *const *k = r->conds; k && *k; k++) {
        if (missing(c, *k, why->missing, sizeof why->missing)) {
            why->depends = *k;
            return false;
        }
        if (!(*k)->test(c, c->params)) {
            why->fails = *k;
            return false;
        }
    }
    return true;
}

static void refuse(mr_call *c, const char *device, const reason *why, mr_error *e, char *shown, size_t shown_size)
{
    if (why->depends) {
        mr_fail(e, MR_E_DEPENDS, "depends on %s: needs %s", why->missing, why->depends->text);
    } else if (why->fails) {
        mr_fail(e, MR_E_ATTRIBUTES, "needs %s", why->fails->text);
        if (why->fails->show && shown) why->fails->show(c, c->params, shown, shown_size);
    } else {
        char types[512] = "";
        types_of(c, types, sizeof types);
        mr_fail(e, MR_E_TYPE, "no kernel on %s for %s", device, types);
    }
    mr_error_at_node(e, c->node);
}

const mr_impl *mr_resolve(mr_call *c, mr_device_kind dev, mr_error *e, char *shown, size_t shown_size)
{
    const char *device = dev == MR_CPU ? "cpu" : "cuda";
    bool any_row = false;
    reason why = {0};
    for (const mr_impl *r = c->node->op->impls; r && r->name; r++) {
        if (r->dev != dev) continue;
        any_row = true;
        c->fn = r->have(c);
        if (c->fn && row_matches(c, r, &why)) return r;
    }
    if (any_row) {
        refuse(c, device, &why, e, shown, shown_size);
    } else {
        mr_fail(e, MR_E_NO_KERNEL, "%s is not implemented on %s", c->node->op_type, device);
        mr_error_at_node(e, c->node);
    }
    return NULL;
}

mr_refusal_kind mr_refusal_kind_of(mr_code c)
{
    switch (c) {
    case MR_E_UNKNOWN_OP:
    case MR_E_UNKNOWN_DOMAIN:
        return MR_REFUSE_UNKNOWN_OP;
    case MR_E_NOT_IN_OPSET:
        return MR_REFUSE_NOT_IN_OPSET;
    case MR_E_DEPENDS:
        return MR_REFUSE_DEPENDS;
    default:
        return mr_code_status(c) == MR_EUNSUPPORTED ? MR_REFUSE_UNSUPPORTED : MR_REFUSE_INVALID;
    }
}

bool mr_is_shape_conflict(mr_code c)
{
    return c == MR_E_RANK || c == MR_E_SHAPES || c == MR_E_RESHAPE;
}

bool mr_is_conflict(mr_code c)
{
    return mr_is_shape_conflict(c) || c == MR_E_NODE_VALUE;
}

const char *mr_refusal_kind_name(mr_refusal_kind k)
{
    static const char *const names[] = {"invalid", "unknown_op", "not_in_opset", "unsupported", "depends_on_value"};
    return names[k];
}

static char *copy(const char *s)
{
    return s ? strdup(s) : NULL;
}

static mr_refusal *new_refusal(mr_refusals *r, const mr_error *e)
{
    if (r->n == r->cap) {
        int cap = r->cap ? 2 * r->cap : 8;
        mr_refusal *at = realloc(r->at, sizeof *at * (size_t)cap);
        if (!at) return NULL;
        r->at = at, r->cap = cap;
    }
    mr_refusal *f = &r->at[r->n++];
    *f = (mr_refusal){.kind = mr_refusal_kind_of(e->code), .error = *e, .graph = -1, .needed = true};
    f->error.where = copy(e->where);
    f->error.text = copy(e->text);
    f->error.hint = copy(e->hint);
    return f;
}

mr_refusal *mr_refusals_add(mr_refusals *r, const mr_error *e, const mr_call *c)
{
    mr_refusal *f = new_refusal(r, e);
    if (!f || !c) return f;
    f->node = c->node;
    f->graph = c->node->graph->id;
    f->in_types = calloc((size_t)c->n_in + 1, sizeof *f->in_types);
    f->n_in = f->in_types ? c->n_in : 0;
    for (int i = 0; i < f->n_in; i++) f->in_types[i] = c->in[i].type;
    return f;
}

mr_refusal *mr_refusals_copy(mr_refusals *r, const mr_refusal *from)
{
    mr_refusal *f = new_refusal(r, &from->error);
    if (!f) return NULL;
    f->node = from->node, f->graph = from->graph, f->needed = from->needed, f->declared = from->declared;
    f->shown = copy(from->shown);
    f->in_types = calloc((size_t)from->n_in + 1, sizeof *f->in_types);
    f->n_in = f->in_types ? from->n_in : 0;
    if (f->n_in) memcpy(f->in_types, from->in_types, sizeof *f->in_types * (size_t)f->n_in);
    return f;
}

void mr_refusals_free(mr_refusals *r)
{
    for (int i = 0; i < r->n; i++) {
        mr_error_clear(&r->at[i].error);
        free(r->at[i].in_types);
        free(r->at[i].shown);
    }
    free(r->at);
    *r = (mr_refusals){0};
}

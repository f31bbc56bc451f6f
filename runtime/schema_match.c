/* schema_match.c: the types of a node against its schema: sets of types, and type variables, bound once a node. */
#include <stdio.h>
#include <string.h>

#include "graph.h"

static bool map_in(mr_type t, uint32_t maps)
{
    static const uint8_t keys[] = {MR_I64, MR_I64, MR_I64, MR_STRING, MR_STRING, MR_STRING};
    static const uint8_t elems[] = {MR_STRING, MR_F32, MR_F64, MR_I64, MR_F32, MR_F64};
    for (unsigned k = 0; k < sizeof keys; k++)
        if (keys[k] == t.key && elems[k] == t.elem) return maps >> k & 1;
    return false;
}

static bool type_in(mr_type t, const mr_typeset *s)
{
    switch ((mr_kind)t.kind) {
    case MR_TENSOR:
        return mr_dtype_in((mr_dtype)t.elem, s->tensor);
    case MR_SEQUENCE:
        return mr_dtype_in((mr_dtype)t.elem, s->seq);
    case MR_OPTIONAL:
        return mr_dtype_in((mr_dtype)t.elem, s->opt);
    case MR_OPTIONAL_SEQ:
        return mr_dtype_in((mr_dtype)t.elem, s->opt_seq);
    case MR_SPARSE:
        return mr_dtype_in((mr_dtype)t.elem, s->sparse);
    case MR_MAP:
        return map_in(t, s->map);
    case MR_SEQ_MAP:
        return map_in(t, s->seq_map);
    case MR_NONE:
        break;
    }
    return true; /* not known */
}

int mr_typeset_list(const mr_typeset *s, mr_type *out, int cap)
{
    const struct {
        mr_kind kind;
        uint32_t set;
    } kinds[] = {{MR_TENSOR, s->tensor}, {MR_SEQUENCE, s->seq}, {MR_OPTIONAL, s->opt},   {MR_OPTIONAL_SEQ, s->opt_seq},
                 {MR_SPARSE, s->sparse}, {MR_MAP, s->map},      {MR_SEQ_MAP, s->seq_map}};
    int n = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int d = 1; d < MR_N_DTYPES; d++)
            for (int key = 0; key < MR_N_DTYPES; key++) {
                mr_type t = {(uint8_t)kinds[k].kind, (uint8_t)d, (uint8_t)key};
                bool map = t.kind == MR_MAP || t.kind == MR_SEQ_MAP;
                bool in = map ? map_in(t, kinds[k].set) : key == 0 && mr_dtype_in((mr_dtype)d, kinds[k].set);
                if (!in) continue;
                if (n < cap) out[n] = t;
                n++;
            }
    return n;
}

/* As ONNX says it; a tensor by its element type alone. */
static const char *show(mr_type t, char *buf, size_t size)
{
    return t.kind == MR_TENSOR ? mr_dtype_onnx((mr_dtype)t.elem) : mr_type_string(t, buf, size);
}

static const char *show_set(const mr_typeset *s, char *buf, size_t size)
{
    mr_type types[256];
    char one[96];
    int n = mr_typeset_list(s, types, 256);
    size_t at = 0;
    for (int i = 0; i < n && i < 256 && at < size; i++)
        at += (size_t)snprintf(buf + at, size - at, "%s%s",
                               i == 0      ? ""
                               : i + 1 < n ? ", "
                                           : " or ",
                               show(types[i], one, sizeof one));
    return buf;
}

static const mr_schema_param *param_at(const mr_schema_param *params, int n, int i)
{
    if (i < n) return &params[i];
    return n && params[n - 1].option == MR_PARAM_VARIADIC ? &params[n - 1] : NULL;
}

/* Does the argument take part in its variable's binding? */
static bool binds(const mr_schema_param *p, int var)
{
    return p->var == var && (p->option != MR_PARAM_VARIADIC || p->homogeneous);
}

/* The first input before `end` that binds the variable; -1: none does. */
static int bound_by(const mr_schema *s, const mr_type *in, int end, int var)
{
    for (int i = 0; i < end; i++) {
        const mr_schema_param *p = param_at(s->in, s->n_in, i);
        if (p && in[i].kind != MR_NONE && binds(p, var)) return i;
    }
    return -1;
}

static const char *value_name(const mr_node *n, int i)
{
    return i < n->n_in && n->in[i] >= 0 ? n->graph->values[n->in[i]].name : "";
}

mr_status mr_schema_types(const mr_node *n, const mr_type *in, int n_in, mr_error *e)
{
    const mr_schema *s = n->schema;
    char have[96], want[1024];
    for (int i = 0; s && i < n_in; i++) {
        const mr_schema_param *p = param_at(s->in, s->n_in, i);
        if (!p || in[i].kind == MR_NONE) continue;
        if (!type_in(in[i], &p->types))
            return mr_fail(e, MR_E_TYPE_INVALID, "input %d '%s' ('%s') is %s, must be %s", i, p->name, value_name(n, i),
                           show(in[i], have, sizeof have), show_set(&p->types, want, sizeof want));
        if (p->var < 0 || !binds(p, p->var)) continue;
        int first = bound_by(s, in, i, p->var);
        if (first >= 0 && !mr_type_equal(in[first], in[i]))
            return mr_fail(e, MR_E_TYPE_INVALID,
                           "input %d '%s' ('%s') is %s, must be %s as input %d '%s' ('%s'): both are %s", i, p->name,
                           value_name(n, i), show(in[i], have, sizeof have), show(in[first], want, sizeof want), first,
                           param_at(s->in, s->n_in, first)->name, value_name(n, first), p->type);
    }
    return MR_OK;
}

bool mr_schema_out_type(const mr_node *n, const mr_type *in, int n_in, int o, mr_type *out)
{
    const mr_schema *s = n->schema;
    const mr_schema_param *p = s ? param_at(s->out, s->n_out, o) : NULL;
    if (!p) return false;
    int first = p->var >= 0 && binds(p, p->var) ? bound_by(s, in, n_in, p->var) : -1;
    if (first >= 0) *out = in[first];
    return first >= 0 || mr_typeset_list(&p->types, out, 1) == 1;
}

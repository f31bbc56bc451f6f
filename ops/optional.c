/* optional.c: values that may be missing. */
#include "ops/rules.h"

static void no_op(void) {}

static mr_fn have_any(const mr_call *c)
{
    (void)c;
    return no_op;
}

static mr_type optional_of(mr_type t)
{
    if (t.kind == MR_OPTIONAL || t.kind == MR_OPTIONAL_SEQ) return t;
    return (mr_type){.kind = t.kind == MR_SEQUENCE ? MR_OPTIONAL_SEQ : MR_OPTIONAL, .elem = t.elem};
}

static mr_type inner_of(mr_type t)
{
    if (t.kind == MR_OPTIONAL) return mr_type_tensor((mr_dtype)t.elem);
    if (t.kind == MR_OPTIONAL_SEQ) return (mr_type){.kind = MR_SEQUENCE, .elem = t.elem};
    return t;
}

/* ---- Optional ---- */

typedef struct {
    mr_type type; /* of the missing value; kind MR_NONE when the input says */
} optional_params;

static void optional_read(mr_reader *r, void *params)
{
    const mr_typed_shape *t = mr_read_type(r, "type");
    if (t) ((optional_params *)params)->type = t->type;
}

static mr_status optional_infer(mr_call *c)
{
    const optional_params *p = c->params;
    if (!mr_in_has(c, 0) && !p->type.kind)
        return mr_call_fail(c, MR_E_ATTRIBUTE, "has neither an input nor the attribute 'type'");
    c->out[0].type = optional_of(mr_in_has(c, 0) ? c->in[0].type : p->type);
    return MR_OK;
}

static mr_status optional_run(mr_call *c)
{
    mr_value *item = mr_in_has(c, 0) ? mr_call_take(c, 0) : NULL;
    mr_status st = mr_call_set_value(c, 0, mr_value_list(c->out[0].type, item ? 1 : 0, &item));
    mr_value_release(item);
    return st;
}

/* ---- OptionalGetElement, OptionalHasElement ---- */

static mr_status get_infer(mr_call *c)
{
    c->out[0].type = inner_of(c->in[0].type);
    c->out[0].shape = c->in[0].type.kind == MR_TENSOR ? c->in[0].shape : mr_shape_unknown();
    return MR_OK;
}

static bool is_optional(mr_type t)
{
    return t.kind == MR_OPTIONAL || t.kind == MR_OPTIONAL_SEQ;
}

static mr_status get_run(mr_call *c)
{
    if (!is_optional(c->in[0].type)) return mr_call_set_value(c, 0, mr_call_take(c, 0));
    if (c->in[0].v->n == 0)
        return mr_call_fail(c, MR_E_NODE_VALUE, "the optional is empty: there is no element to get");
    return mr_call_set_value(c, 0, mr_value_retain(c->in[0].v->items[0]));
}

static mr_status has_infer(mr_call *c)
{
    mr_shape scalar = mr_shape_scalar();
    return mr_out_tensor(c, 0, MR_BOOL, &scalar);
}

static mr_status has_run(mr_call *c)
{
    bool has = mr_in_has(c, 0) && (!is_optional(c->in[0].type) || c->in[0].v->n > 0);
    *(uint8_t *)c->out[0].t->data = has;
    return MR_OK;
}

#define ROW(label, fn)                                                                                                 \
    static const mr_impl label##_impls[] = {{.name = #label, .dev = MR_CPU, .have = have_any, .run = fn}, {0}}
ROW(optional, optional_run);
ROW(optional_get_element, get_run);
ROW(optional_has_element, has_run);

const mr_op mr_ops_optional[] = {
    {"", "Optional", 15, 0, sizeof(optional_params), optional_read, optional_infer, optional_impls, 0, NULL, NULL},
    {"", "OptionalGetElement", 15, 0, 0, NULL, get_infer, optional_get_element_impls, MR_OP_OWN_OUTPUT, NULL, NULL},
    {"", "OptionalHasElement", 15, 0, 0, NULL, has_infer, optional_has_element_impls, 0, NULL, NULL},
    {0}};

/* cast.c: Cast, CastLike, BitCast. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/decimal.h"
#include "ops/elementwise.h"
#include "ops/elems.h"

#include <ctype.h>

typedef struct cast_params {
    mr_dtype to; /* MR_UNDEFINED: that of input 1 */
    mr_wide_rule rule;
} cast_params;

/* Opset 1 spells the type as the enumerators of TensorProto.DataType: "FLOAT", "INT32". */
static mr_dtype dtype_by_name(mr_string s)
{
    char lower[16] = "";
    for (size_t i = 0; i < s.len && i < sizeof lower - 1; i++) lower[i] = (char)tolower((unsigned char)s.data[i]);
    return s.len < sizeof lower ? mr_dtype_parse(lower, s.len) : MR_UNDEFINED;
}

static void read_to(mr_reader *r, cast_params *p, bool by_name)
{
    if (by_name) {
        mr_string s = mr_read_string(r, "to", "");
        p->to = dtype_by_name(s);
        if (!p->to) mr_read_fail(r, MR_E_ATTRIBUTE, "attribute to \"%.*s\" is no element type", (int)s.len, s.data);
        return;
    }
    int64_t to = mr_read_int(r, "to", 0);
    if (to > 0 && to < MR_N_DTYPES)
        p->to = (mr_dtype)to;
    else
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute to = %lld is no element type", (long long)to);
}

static void read_rule(mr_reader *r, cast_params *p)
{
    static const char *const modes[] = {"up", "down", "nearest", NULL}; /* in the order of mr_e8m0_round */
    p->rule.saturate = mr_read_int(r, "saturate", 1);
    p->rule.round = (mr_e8m0_round)mr_read_enum(r, "round_mode", modes, MR_E8M0_UP);
}

static void cast_read(mr_reader *r, void *params)
{
    read_to(r, params, mr_read_version(r) < 6);
    read_rule(r, params);
}

static void cast_like_read(mr_reader *r, void *params)
{
    read_rule(r, params);
}
static void bit_cast_read(mr_reader *r, void *params)
{
    read_to(r, params, false);
}

static mr_dtype target(const mr_call *c)
{
    const cast_params *p = c->params;
    return p->to ? p->to : mr_in_dtype(c, 1);
}

static mr_status want_allowed(mr_call *c)
{
    if (mr_dtype_in(target(c), c->node->schema->out[0].types.tensor)) return MR_OK;
    return mr_call_fail(c, MR_E_ATTRIBUTE, "attribute to = %s is not among the types of %s-%d",
                        mr_dtype_name(target(c)), c->node->op_type, mr_call_version(c));
}

static mr_status cast_infer(mr_call *c)
{
    mr_status st = want_allowed(c);
    if (!st) st = mr_out_tensor(c, 0, target(c), &c->in[0].shape);
    if (!st && mr_dtype_in(target(c), MR_INTS) && mr_elems_count(c, 0) >= 0) mr_elems_pass(c);
    return st;
}

static mr_fn cast_have(const mr_call *c)
{
    mr_dtype from = mr_in_dtype(c, 0);
    return from < MR_N_DTYPES ? MR_SLOT(c->cpu->cast.cast[from], target(c)) : NULL;
}

static mr_status want_numbers(mr_call *c, mr_dtype to)
{
    const mr_tensor *x = c->in[0].t;
    const mr_string *s = x->data;
    for (int64_t i = 0, n = mr_tensor_count(x); i < n; i++) {
        if (mr_cast_parses(s[i], to)) continue;
        int shown = s[i].len < 40 ? (int)s[i].len : 40;
        return mr_call_fail_in(c, MR_E_NODE_VALUE, 0, "\"%.*s\" at element %lld is no number", shown,
                               shown ? s[i].data : "", (long long)i);
    }
    return MR_OK;
}

static mr_status cast_run(mr_call *c)
{
    const cast_params *p = c->params;
    mr_cast_params k = {.from = c->in[0].t->dtype, .to = c->out[0].t->dtype, .rule = p->rule};
    if (k.from == MR_STRING && k.to != MR_STRING) {
        mr_status st = want_numbers(c, k.to);
        if (st) return st;
    }
    if (k.to == MR_STRING && k.from != MR_STRING) {
        k.text = mr_call_alloc(c, (size_t)mr_tensor_count(c->in[0].t) * MR_DECIMAL_SIZE);
        if (!k.text) return MR_EMEMORY;
    }
    mr_run_elementwise(c, 1, &k);
    return MR_OK;
}

static const mr_impl cast_impls[] = {{.name = "cast_cpu", .have = cast_have, .run = cast_run, .inplace = 1}, {0}};

/* ---- BitCast ---- */

static mr_status bit_cast_infer(mr_call *c)
{
    mr_dtype from = mr_in_dtype(c, 0), to = target(c);
    mr_status st = want_allowed(c);
    if (!st && mr_dtype_wire_bits(from) != mr_dtype_wire_bits(to))
        st = mr_call_fail_in(c, MR_E_ATTRIBUTE, 0, "has elements of %d bits, attribute to = %s has %d",
                             mr_dtype_wire_bits(from), mr_dtype_name(to), mr_dtype_wire_bits(to));
    return st ? st : mr_out_tensor(c, 0, to, &c->in[0].shape);
}

static mr_fn bit_cast_have(const mr_call *c)
{
    mr_dtype from = mr_in_dtype(c, 0);
    return from < MR_N_DTYPES ? MR_SLOT(c->cpu->cast.bits[from], target(c)) : NULL;
}

static const mr_impl bit_cast_impls[] = {{.name = "bit_cast_cpu", .have = bit_cast_have, .run = cast_run, .inplace = 1},
                                         {0}};

#define CAST(NAME, SINCE, READ, INFER, IMPLS, FLAGS)                                                                   \
    {                                                                                                                  \
        .domain = "", .name = NAME, .since = SINCE, .params_size = sizeof(cast_params), .read = READ, .infer = INFER,  \
        .impls = IMPLS, .flags = FLAGS                                                                                 \
    }

const mr_op mr_ops_cast[] = {
    CAST("Cast", 1, cast_read, cast_infer, cast_impls, MR_OP_FLOAT_CAST),
    CAST("CastLike", 15, cast_like_read, cast_infer, cast_impls, MR_OP_FLOAT_CAST),
    CAST("BitCast", 26, bit_cast_read, bit_cast_infer, bit_cast_impls, 0),
    {0},
};

/* dropout.c: Dropout. It drops when it's told to train: up to version 6 by is_test = 0, from 12 on by an input; between
 * them never. ONNX asks for no particular generator: the numbers are those of the reference implementation. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/wide.h"
#include "ops/rules.h"

typedef struct dropout_params {
    double ratio;                      /* where no input says it */
    bool training, seeded, typed_mask; /* typed_mask: the mask is of the type of data, not bool */
    int64_t seed;
} dropout_params;

static bool is_ratio(double ratio)
{
    return ratio >= 0 && ratio < 1;
}

static void read_1(mr_reader *r, void *params)
{
    dropout_params *p = params;
    p->ratio = mr_read_float(r, "ratio", 0.5f);
    p->training = !mr_read_int(r, "is_test", 0);
    p->typed_mask = true;
    if (p->training && !is_ratio(p->ratio))
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute ratio = %g is outside [0,1)", p->ratio);
    mr_read_ignore(r, "consumed_inputs");
}

static void read_7(mr_reader *r, void *params)
{
    dropout_params *p = params;
    p->ratio = mr_read_float(r, "ratio", 0.5f);
    p->typed_mask = mr_read_version(r) < 10;
}

static void read_12(mr_reader *r, void *params)
{
    dropout_params *p = params;
    p->ratio = 0.5;
    p->seeded = mr_read_has(r, "seed");
    p->seed = mr_read_int(r, "seed", 0);
}

/* *v becomes what the input says, if it is there; false: not known yet. */
static bool scalar(const mr_call *c, int i, double *v)
{
    const mr_tensor *t = mr_in_has(c, i) ? c->in[i].t : NULL;
    if (t) mr_wide_load_f64(t->dtype, t->data, 1, v);
    return t || !mr_in_has(c, i);
}

static mr_status want_ratio(mr_call *c, double *ratio, bool *training)
{
    const dropout_params *p = c->params;
    double told = p->training;
    *ratio = p->ratio;
    bool known = scalar(c, 1, ratio);
    known = scalar(c, 2, &told) && known;
    *training = told != 0;
    if (!known || !*training || is_ratio(*ratio)) return MR_OK;
    return mr_call_fail(c, MR_E_NODE_VALUE, "ratio %g is outside [0,1)", *ratio);
}

static mr_status infer(mr_call *c)
{
    const dropout_params *p = c->params;
    mr_status st = MR_OK;
    for (int i = 1; i < 3 && !st; i++) {
        if (!mr_in_has(c, i)) continue;
        st = mr_want_rank(c, i, 0, 1);
        if (!st) st = mr_want_one(c, i);
    }
    double ratio;
    bool training;
    if (!st) st = want_ratio(c, &ratio, &training);
    if (st) return st;
    mr_out_like(c, 0, 0);
    return mr_out_tensor(c, 1, p->typed_mask ? mr_in_dtype(c, 0) : MR_BOOL, &c->in[0].shape);
}

static mr_fn have(const mr_call *c)
{
    if (mr_in_has(c, 1) && !MR_SLOT(c->cpu->dropout.dropout, mr_in_dtype(c, 1))) return NULL;
    return MR_SLOT(c->cpu->dropout.dropout, mr_in_dtype(c, 0));
}

static mr_status run(mr_call *c)
{
    const dropout_params *p = c->params;
    double ratio;
    bool training;
    mr_status st = want_ratio(c, &ratio, &training);
    if (st) return st;
    mr_random random;
    mr_random_seed(&random, (uint32_t)(p->seeded ? (uint64_t)p->seed : mr_call_entropy(c)));
    mr_dropout_args a = {.x = c->in[0].t->data,
                         .y = c->out[0].t->data,
                         .n = mr_tensor_count(c->in[0].t),
                         .type = c->in[0].t->dtype,
                         .ratio = ratio,
                         .random = training && ratio != 0 ? &random : NULL};
    if (mr_out_wanted(c, 1)) a.mask = c->out[1].t->data, a.mask_type = c->out[1].t->dtype;
    ((void (*)(const mr_dropout_args *))c->fn)(&a);
    return MR_OK;
}

static const mr_impl impls[] = {{.name = "dropout_cpu", .have = have, .run = run, .inplace = 1}, {0}};

const mr_op mr_ops_dropout[] = {
    {"", "Dropout", 1, 6, sizeof(dropout_params), read_1, infer, impls, MR_OP_RANDOM, NULL, NULL},
    {"", "Dropout", 7, 11, sizeof(dropout_params), read_7, infer, impls, 0, NULL, NULL},
    {"", "Dropout", 12, 0, sizeof(dropout_params), read_12, infer, impls, MR_OP_RANDOM, NULL, NULL},
    {0},
};

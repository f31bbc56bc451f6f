/* selftest.c: one node of each family of kernels that has vectors, in fast against reference mode. */
#include "selftest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx.pb-c.h"
#include "tools/io/compare.h"

enum { MOST_INPUTS = 3 };

typedef struct subject {
    const char *op;
    int elem; /* of the inputs */
    int out;  /* of the output */
    int64_t shape[MOST_INPUTS][4];
    int rank[MOST_INPUTS]; /* 0: no such input */
    const char *attr;
    int64_t value;
    int values; /* how often the attribute has it; 0: it is an integer */
} subject;

static const subject subjects[] = {
    {"MatMul", MR_F32, MR_F32, {{37, 129}, {129, 70}}, {2, 2}, NULL, 0, 0},
    {"MatMul", MR_F16, MR_F16, {{19, 65}, {65, 40}}, {2, 2}, NULL, 0, 0},
    {"MatMulInteger", MR_U8, MR_I32, {{23, 77}, {77, 50}}, {2, 2}, NULL, 0, 0},
    {"Conv", MR_F32, MR_F32, {{1, 19, 30, 29}, {33, 19, 3, 3}, {33}}, {4, 4, 1}, NULL, 0, 0},
    {"Conv", MR_F32, MR_F32, {{1, 24, 15, 17}, {24, 1, 3, 3}}, {4, 4}, "group", 24, 0},
    {"Conv", MR_F32, MR_F32, {{1, 40, 14, 14}, {30, 40, 1, 1}}, {4, 4}, NULL, 0, 0},
    {"ConvInteger", MR_U8, MR_I32, {{1, 12, 15, 14}, {17, 12, 3, 3}}, {4, 4}, NULL, 0, 0},
    {"MaxPool", MR_F32, MR_F32, {{1, 7, 21, 20}}, {4}, "kernel_shape", 3, 2},
    {"AveragePool", MR_F32, MR_F32, {{1, 7, 21, 20}}, {4}, "kernel_shape", 3, 2},
    {"Softmax", MR_F32, MR_F32, {{9, 101}}, {2}, NULL, 0, 0},
    {"LayerNormalization", MR_F32, MR_F32, {{9, 100}, {100}, {100}}, {2, 1, 1}, NULL, 0, 0},
    {"InstanceNormalization", MR_F32, MR_F32, {{2, 5, 11, 13}, {5}, {5}}, {4, 1, 1}, NULL, 0, 0},
    {"ReduceSum", MR_F32, MR_F32, {{7, 9, 33}}, {3}, NULL, 0, 0},
    {"Exp", MR_F32, MR_F32, {{1003}}, {1}, NULL, 0, 0},
    {"Log", MR_F32, MR_F32, {{1003}}, {1}, NULL, 0, 0},
    {"Tanh", MR_F32, MR_F32, {{1003}}, {1}, NULL, 0, 0},
    {"Sigmoid", MR_F32, MR_F32, {{1003}}, {1}, NULL, 0, 0},
    {"Erf", MR_F32, MR_F32, {{1003}}, {1}, NULL, 0, 0},
    {"Sin", MR_F32, MR_F32, {{1003}}, {1}, NULL, 0, 0},
    {"Add", MR_F32, MR_F32, {{5, 1, 67}, {7, 67}}, {3, 2}, NULL, 0, 0},
    {"Transpose", MR_F32, MR_F32, {{13, 17, 9}}, {3}, NULL, 0, 0},
    {"GRU", MR_F32, MR_F32, {{5, 2, 10}, {1, 36, 10}, {1, 36, 12}}, {3, 3, 3}, "hidden_size", 12, 0},
};

/* ---- a model of one node ---- */

typedef struct typed { /* a ValueInfoProto and what hangs on it */
    Onnx__ValueInfoProto info;
    Onnx__TypeProto type;
    Onnx__TypeProto__Tensor tensor;
} typed;

static void make_typed(typed *t, char *name, int elem)
{
    onnx__value_info_proto__init(&t->info), onnx__type_proto__init(&t->type),
        onnx__type_proto__tensor__init(&t->tensor);
    t->tensor.has_elem_type = 1, t->tensor.elem_type = elem;
    t->type.value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE, t->type.tensor_type = &t->tensor;
    t->info.name = name, t->info.type = &t->type;
}

static int count_inputs(const subject *s)
{
    int n = 0;
    while (n < MOST_INPUTS && s->rank[n]) n++;
    return n;
}

static mr_model *model_of(mr_env *env, const subject *s, mr_error *e)
{
    static char *names[] = {"a", "b", "c", "y"};
    typed values[MOST_INPUTS + 1];
    Onnx__ValueInfoProto *in[MOST_INPUTS], *out[] = {&values[MOST_INPUTS].info};
    Onnx__ModelProto m = ONNX__MODEL_PROTO__INIT;
    Onnx__GraphProto g = ONNX__GRAPH_PROTO__INIT;
    Onnx__NodeProto n = ONNX__NODE_PROTO__INIT, *nodes[] = {&n};
    Onnx__AttributeProto a = ONNX__ATTRIBUTE_PROTO__INIT, *attrs[] = {&a};
    Onnx__OperatorSetIdProto opset = ONNX__OPERATOR_SET_ID_PROTO__INIT, *opsets[] = {&opset};
    int64_t ints[] = {s->value, s->value};
    for (int i = 0; i < MOST_INPUTS; i++) make_typed(&values[i], names[i], s->elem), in[i] = &values[i].info;
    make_typed(&values[MOST_INPUTS], names[MOST_INPUTS], s->out);
    opset.has_version = 1, opset.version = 17, opset.domain = "";
    a.name = (char *)s->attr, a.has_type = 1;
    a.type = s->values ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS : ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT;
    a.has_i = !s->values, a.i = s->value, a.n_ints = (size_t)s->values, a.ints = ints;
    n.op_type = (char *)s->op, n.n_input = (size_t)count_inputs(s), n.input = names, n.n_output = 1;
    n.output = names + MOST_INPUTS, n.n_attribute = s->attr != NULL, n.attribute = attrs;
    g.name = "selftest", g.n_node = 1, g.node = nodes, g.n_input = n.n_input, g.input = in, g.n_output = 1,
    g.output = out;
    m.has_ir_version = 1, m.ir_version = 8, m.graph = &g, m.n_opset_import = 1, m.opset_import = opsets;
    size_t size = onnx__model_proto__get_packed_size(&m);
    void *bytes = malloc(size);
    mr_model *made = NULL;
    if (!bytes) return mr_fail(e, MR_E_MEMORY, "out of memory"), NULL;
    onnx__model_proto__pack(&m, bytes);
    mr_model_open_memory(env, bytes, size, &made, e);
    free(bytes);
    return made;
}

/* ---- running it ---- */

/* Numbers from -2 to 2 (integers: all bytes) that repeat after a long while. */
static void fill(mr_tensor *t)
{
    uint32_t state = 12345;
    for (int64_t i = 0; i < mr_tensor_count(t); i++) {
        state = state * 1664525u + 1013904223u;
        if (t->dtype == MR_F32) ((float *)t->data)[i] = (float)(state >> 8) * 0x1p-22f - 2;
        if (t->dtype == MR_F16) ((uint16_t *)t->data)[i] = (uint16_t)(0x3000 + (state >> 22) + (state >> 31 << 15));
        if (t->dtype == MR_U8) ((uint8_t *)t->data)[i] = (uint8_t)(state >> 24);
    }
}

static bool run(mr_env *env, const subject *s, mr_mode mode, mr_value **out, mr_error *e)
{
    mr_value *in[MOST_INPUTS] = {0};
    mr_session *session = NULL;
    mr_model *m = model_of(env, s, e);
    if (m)
        mr_session_new(m, &(mr_options){.mode = mode, .optimize = mode == MR_MODE_FAST ? 2 : 0}, NULL, 0, &session, e);
    for (int i = 0; i < count_inputs(s) && !e->status; i++) {
        if (!(in[i] = mr_value_tensor((mr_dtype)s->elem, s->rank[i], s->shape[i])))
            mr_fail(e, MR_E_MEMORY, "out of memory");
        else
            fill(&in[i]->t);
    }
    if (!e->status) mr_session_run(session, in, out, e);
    for (int i = 0; i < MOST_INPUTS; i++) mr_value_release(in[i]);
    mr_session_free(session);
    mr_model_close(m);
    return e->status == MR_OK;
}

static void add_wrong(mr_selftest *t, const char *op, const char *why)
{
    size_t used = strlen(t->wrong);
    snprintf(t->wrong + used, sizeof t->wrong - used, "%s%s (%s)", used ? ", " : "", op, why);
    t->failed++;
}

static void test_one(mr_env *env, const subject *s, mr_selftest *t)
{
    mr_value *fast = NULL, *reference = NULL;
    mr_error e = {.node = -1};
    mr_diff d = {0};
    char why[64];
    double rtol = s->elem == MR_F16 ? 4e-3 : 1e-4;
    if (!run(env, s, MR_MODE_FAST, &fast, &e) || !run(env, s, MR_MODE_REFERENCE, &reference, &e)) {
        add_wrong(t, s->op, e.text ? e.text : "out of memory");
    } else {
        mr_diff_values(fast, reference, (mr_tolerance){.rtol = rtol, .atol = rtol, .ulp = -1}, &d);
        snprintf(why, sizeof why, "off by %.3g", d.max_abs);
        if (!d.agree) add_wrong(t, s->op, why);
        if (d.agree && d.max_abs >= t->worst_abs && s->elem != MR_F16)
            t->worst_abs = d.max_abs, snprintf(t->worst, sizeof t->worst, "%s", s->op);
        mr_diff_free(&d);
    }
    mr_value_release(fast), mr_value_release(reference);
    mr_error_clear(&e);
}

void mr_selftest_run(mr_env *env, mr_selftest *t)
{
    *t = (mr_selftest){.n = sizeof subjects / sizeof *subjects};
    for (int i = 0; i < t->n; i++) test_one(env, &subjects[i], t);
}

/* A kernel taken out of the slot table: what check reports, what a loaded model refuses, what `ops` lists and what
 * preparing a run says change together, since nothing but the slot says that the operator runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/cpu/cpu.h"
#include "onnx.pb-c.h"
#include "runtime/claims.h"
#include "runtime/minirt.h"

/* ---- a model of one node, as bytes ---- */

typedef struct one {
    const char *op;
    int n_in, elem;
} one;

static Onnx__ValueInfoProto *typed(char *name, int elem)
{
    Onnx__ValueInfoProto *v = calloc(1, sizeof *v);
    Onnx__TypeProto *t = calloc(1, sizeof *t);
    Onnx__TypeProto__Tensor *tensor = calloc(1, sizeof *tensor);
    onnx__value_info_proto__init(v), onnx__type_proto__init(t), onnx__type_proto__tensor__init(tensor);
    tensor->has_elem_type = 1, tensor->elem_type = elem;
    t->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE, t->tensor_type = tensor;
    v->name = name, v->type = t;
    return v;
}

static void *model_of(const one *o, size_t *size)
{
    static char *names[] = {"x0", "x1", "y"};
    Onnx__ModelProto m = ONNX__MODEL_PROTO__INIT;
    Onnx__GraphProto g = ONNX__GRAPH_PROTO__INIT;
    Onnx__NodeProto n = ONNX__NODE_PROTO__INIT, *nodes[] = {&n};
    Onnx__OperatorSetIdProto opset = ONNX__OPERATOR_SET_ID_PROTO__INIT, *opsets[] = {&opset};
    Onnx__ValueInfoProto *in[] = {typed(names[0], o->elem), typed(names[1], o->elem)},
                         *out[] = {typed(names[2], o->elem)};
    opset.has_version = 1, opset.version = 17, opset.domain = "";
    n.op_type = (char *)o->op, n.name = "node", n.n_input = (size_t)o->n_in, n.input = names;
    n.n_output = 1, n.output = names + 2;
    g.name = "g", g.n_node = 1, g.node = nodes, g.n_input = (size_t)o->n_in, g.input = in, g.n_output = 1,
    g.output = out;
    m.has_ir_version = 1, m.ir_version = 8, m.graph = &g, m.n_opset_import = 1, m.opset_import = opsets;
    *size = onnx__model_proto__get_packed_size(&m);
    void *bytes = malloc(*size);
    onnx__model_proto__pack(&m, bytes);
    for (int i = 0; i < 3; i++) {
        Onnx__ValueInfoProto *v = i < 2 ? in[i] : out[0];
        free(v->type->tensor_type), free(v->type), free(v);
    }
    return bytes;
}

/* ---- the four answers ---- */

typedef struct answers {
    int refusals, load_refusals;
    char report[256], load[256], run[256];
    mr_status status;
    int types; /* that `ops` lists */
} answers;

static void count(void *arg, const mr_claim *c)
{
    *(int *)arg += c->runs;
}

static answers ask(mr_env *env, const one *o)
{
    answers a = {0};
    mr_error e = {.node = -1};
    mr_model *m = NULL;
    mr_session *s = NULL;
    size_t size;
    void *bytes = model_of(o, &size);
    assert_int_equal(mr_model_open_memory(env, bytes, size, &m, &e), MR_OK);
    free(bytes);
    assert_int_equal(mr_session_new(m, &(mr_options){.mode = MR_MODE_FAST}, NULL, 0, &s, &e), MR_OK);
    mr_plan *p = mr_session_check(s, NULL, &e);
    assert_non_null(p);
    a.refusals = p->refusals.n;
    if (p->refusals.n) snprintf(a.report, sizeof a.report, "%s", p->refusals.at[0].error.text);
    mr_plan_free(p);
    mr_refusal_info info;
    a.load_refusals = mr_model_refusal_count(m, NULL, &e);
    if (a.load_refusals && mr_model_refusal(m, 0, &info) == MR_OK) {
        assert_string_equal(info.op, o->op);
        snprintf(a.load, sizeof a.load, "%s", info.error.text);
    }
    mr_value *in[2] = {0};
    for (int i = 0; i < o->n_in; i++) in[i] = mr_value_tensor((mr_dtype)o->elem, 2, (int64_t[]){2, 2});
    a.status = mr_session_prepare(s, in, &p, &e);
    if (a.status) snprintf(a.run, sizeof a.run, "%s", e.text);
    mr_error_clear(&e);
    for (int i = 0; i < o->n_in; i++) mr_value_release(in[i]);
    mr_session_free(s);
    mr_model_close(m);
    for (int i = 0; i < mr_n_schemas; i++) {
        const mr_schema *k = &mr_schemas[i];
        if (strcmp(k->name, o->op) || *k->domain || k->since > 17) continue;
        a.types = 0; /* the newest of opset 17 */
        mr_claims(&(mr_claimant){.dev = MR_CPU, .cpu = env->cpu[MR_MODE_FAST]}, k, count, &a.types, &e);
    }
    return a;
}

/* Takes the slot out, which `types` types of the operator need, and puts it back. */
static void without_types(const one *o, size_t slot_offset, int types)
{
    mr_env *env = mr_env_new(1);
    void *nothing = NULL, *kernel, *slot = (char *)env->cpu[MR_MODE_FAST] + slot_offset;
    answers before = ask(env, o);
    assert_int_equal(before.refusals, 0);
    assert_int_equal(before.load_refusals, 0);
    assert_int_equal(before.status, MR_OK);
    memcpy(&kernel, slot, sizeof kernel);
    assert_non_null(kernel);
    memcpy(slot, &nothing, sizeof nothing);
    answers after = ask(env, o);
    assert_int_equal(after.refusals, 1);
    assert_int_equal(after.load_refusals, 1);
    assert_string_equal(after.load, after.report);
    assert_int_equal(after.status, MR_EUNSUPPORTED);
    assert_string_equal(after.run, after.report);
    assert_non_null(strstr(after.report, mr_dtype_onnx((mr_dtype)o->elem)));
    assert_int_equal(after.types, before.types - types);
    memcpy(slot, &kernel, sizeof kernel);
    answers again = ask(env, o);
    assert_int_equal(again.refusals, 0);
    assert_int_equal(again.load_refusals, 0);
    assert_int_equal(again.types, before.types);
    mr_env_free(env);
}

static void without(const one *o, size_t slot_offset)
{
    without_types(o, slot_offset, 1);
}

static void matmul(void **state)
{
    (void)state;
    without(&(one){"MatMul", 2, MR_F32}, offsetof(mr_cpu_fns, gemm.gemm[MR_F32]));
}

static void softmax(void **state)
{
    (void)state;
    without(&(one){"Softmax", 1, MR_F16}, offsetof(mr_cpu_fns, softmax.softmax[MR_F16]));
}

static void relu(void **state)
{
    (void)state;
    without(&(one){"Relu", 1, MR_I32}, offsetof(mr_cpu_fns, unary.fn[MR_RELU][MR_I32]));
}

/* Moves stand by the size of an element, so that no type of that size is left. */
static void transpose(void **state)
{
    (void)state;
    without_types(&(one){"Transpose", 1, MR_C128}, offsetof(mr_cpu_fns, move.copy[mr_size_index(16)]), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(matmul), cmocka_unit_test(softmax), cmocka_unit_test(relu),
                                       cmocka_unit_test(transpose)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

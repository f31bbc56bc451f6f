/* test_api.c: the C API: loading, binding, running on this thread and on others, cancelling, what is refused. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "onnx.pb-c.h"
#include "runtime/minirt.h"

#define N_THREADS 8

/* ---- models, as bytes ---- */

typedef struct bytes {
    uint8_t *data;
    size_t size;
} bytes;

static Onnx__NodeProto node_of(char *op, char **in, size_t n_in, char **out)
{
    Onnx__NodeProto n = ONNX__NODE_PROTO__INIT;
    n.op_type = op, n.input = in, n.n_input = n_in, n.output = out, n.n_output = 1;
    return n;
}

static bytes pack(Onnx__GraphProto *g)
{
    Onnx__OperatorSetIdProto opset = ONNX__OPERATOR_SET_ID_PROTO__INIT, *opsets[] = {&opset};
    opset.has_version = 1, opset.version = 20, opset.domain = "";
    Onnx__ModelProto m = ONNX__MODEL_PROTO__INIT;
    m.has_ir_version = 1, m.ir_version = 9, m.graph = g;
    m.opset_import = opsets, m.n_opset_import = 1, m.producer_name = "test_api";
    bytes b = {.size = onnx__model_proto__get_packed_size(&m)};
    b.data = malloc(b.size);
    onnx__model_proto__pack(&m, b.data);
    return b;
}

/* A value of a type; dims NULL: a scalar. */
typedef struct declared {
    Onnx__TensorShapeProto__Dimension dim[2], *dims[2];
    Onnx__TensorShapeProto shape;
    Onnx__TypeProto__Tensor tensor;
    Onnx__TypeProto type;
    Onnx__ValueInfoProto info;
} declared;

static Onnx__ValueInfoProto *declare(declared *d, char *name, mr_dtype dtype, const char *first, int64_t second)
{
    onnx__tensor_shape_proto__init(&d->shape);
    onnx__type_proto__tensor__init(&d->tensor);
    onnx__type_proto__init(&d->type);
    onnx__value_info_proto__init(&d->info);
    for (int i = 0; i < 2; i++) onnx__tensor_shape_proto__dimension__init(d->dims[i] = &d->dim[i]);
    d->dim[0].value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM, d->dim[0].dim_param = (char *)first;
    d->dim[1].value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE, d->dim[1].dim_value = second;
    if (first) d->shape.dim = d->dims, d->shape.n_dim = 2;
    d->tensor.has_elem_type = 1, d->tensor.elem_type = dtype, d->tensor.shape = &d->shape;
    d->type.value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE, d->type.tensor_type = &d->tensor;
    d->info.name = name, d->info.type = &d->type;
    return &d->info;
}

/* y = x · w of [N,4] and 4 × 4 ones, then op(y) unless op is NULL. */
static bytes product_model(char *op)
{
    static float w[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    int64_t dims[] = {4, 4};
    Onnx__TensorProto weight = ONNX__TENSOR_PROTO__INIT, *weights[] = {&weight};
    weight.name = "w", weight.dims = dims, weight.n_dims = 2, weight.has_data_type = 1, weight.data_type = MR_F32;
    weight.float_data = w, weight.n_float_data = 16;
    char *product_in[] = {"x", "w"}, *product_out[] = {op ? "p" : "y"}, *last_in[] = {"p"}, *last_out[] = {"y"};
    Onnx__NodeProto product = node_of("MatMul", product_in, 2, product_out), last = node_of(op, last_in, 1, last_out);
    Onnx__NodeProto *nodes[] = {&product, &last};
    declared x, y;
    Onnx__ValueInfoProto *in[] = {declare(&x, "x", MR_F32, "N", 4)}, *out[] = {declare(&y, "y", MR_F32, "N", 4)};
    Onnx__GraphProto g = ONNX__GRAPH_PROTO__INIT;
    g.name = "g", g.node = nodes, g.n_node = op ? 2 : 1, g.initializer = weights, g.n_initializer = 1;
    g.input = in, g.n_input = 1, g.output = out, g.n_output = 1;
    return pack(&g);
}

/* A Loop without end, as long as its input "go" is true. */
static bytes endless_model(void)
{
    declared i, c, c2, go, y, v, v2;
    char *same_in[] = {"c"}, *same_out[] = {"c2"}, *add_in[] = {"v", "v"}, *add_out[] = {"v2"};
    Onnx__NodeProto same = node_of("Identity", same_in, 1, same_out), add = node_of("Add", add_in, 2, add_out);
    Onnx__NodeProto *inner[] = {&same, &add};
    Onnx__ValueInfoProto *body_in[] = {declare(&i, "i", MR_I64, NULL, 0), declare(&c, "c", MR_BOOL, NULL, 0),
                                       declare(&v, "v", MR_F32, NULL, 0)};
    Onnx__ValueInfoProto *body_out[] = {declare(&c2, "c2", MR_BOOL, NULL, 0), declare(&v2, "v2", MR_F32, NULL, 0)};
    Onnx__GraphProto body = ONNX__GRAPH_PROTO__INIT, g = ONNX__GRAPH_PROTO__INIT;
    body.name = "body", body.node = inner, body.n_node = 2;
    body.input = body_in, body.n_input = 3, body.output = body_out, body.n_output = 2;
    Onnx__AttributeProto attribute = ONNX__ATTRIBUTE_PROTO__INIT, *attributes[] = {&attribute};
    attribute.name = "body", attribute.has_type = 1, attribute.type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH;
    attribute.g = &body;
    char *loop_in[] = {"", "go", "start"}, *loop_out[] = {"y"};
    Onnx__NodeProto loop = node_of("Loop", loop_in, 3, loop_out), *nodes[] = {&loop};
    loop.attribute = attributes, loop.n_attribute = 1;
    float one = 1;
    Onnx__TensorProto start = ONNX__TENSOR_PROTO__INIT, *starts[] = {&start};
    start.name = "start", start.has_data_type = 1, start.data_type = MR_F32, start.float_data = &one,
    start.n_float_data = 1;
    Onnx__ValueInfoProto *in[] = {declare(&go, "go", MR_BOOL, NULL, 0)}, *out[] = {declare(&y, "y", MR_F32, NULL, 0)};
    g.name = "g", g.node = nodes, g.n_node = 1, g.input = in, g.n_input = 1, g.output = out, g.n_output = 1;
    g.initializer = starts, g.n_initializer = 1;
    return pack(&g);
}

/* ---- what every test starts from ---- */

typedef struct fixture {
    mr_env *env;
    mr_error *e;
} fixture;

static fixture begin(void)
{
    fixture f = {.e = mr_error_new()};
    f.env = mr_env_create(&(mr_env_options){.threads = 2}, f.e);
    assert_non_null(f.env);
    return f;
}

static mr_model *load(fixture *f, bytes b)
{
    mr_model *m = mr_model_load_memory(f->env, b.data, b.size, f->e);
    if (!m) fail_msg("%s", mr_error_get(f->e).text);
    free(b.data);
    return m;
}

static void end(fixture *f)
{
    mr_env_destroy(f->env);
    mr_error_free(f->e);
}

/* ---- tests ---- */

static void describes(void **state)
{
    (void)state;
    fixture f = begin();
    mr_model *m = load(&f, product_model(NULL));
    mr_io_info x;
    assert_int_equal(mr_abi_version(), MR_ABI_VERSION);
    assert_int_equal(mr_model_input_count(m), 1);
    assert_int_equal(mr_model_output_count(m), 1);
    assert_int_equal(mr_model_input(m, 0, &x), MR_OK);
    assert_string_equal(x.name, "x");
    assert_int_equal(x.kind, MR_TENSOR);
    assert_int_equal(x.dtype, MR_F32);
    assert_int_equal(x.rank, 2);
    assert_int_equal(x.dims[0], -1);
    assert_string_equal(x.symbols[0], "N");
    assert_int_equal(x.dims[1], 4);
    assert_null(x.symbols[1]);
    assert_int_equal(mr_model_input(m, 1, &x), MR_EUSAGE);
    assert_int_equal(mr_model_output(m, -1, &x), MR_EUSAGE);
    assert_string_equal(mr_model_metadata(m, "producer_name"), "test_api");
    assert_null(mr_model_metadata(m, "no such key"));
    mr_model_destroy(m);
    end(&f);
}

/* The model and its environment may be given back before the run. */
static void runs_and_refuses_inputs(void **state)
{
    (void)state;
    fixture f = begin();
    mr_model *m = load(&f, product_model("Neg"));
    mr_run *r = mr_run_create(m, &(mr_run_options){.optimize = -1, .timeout = 1e300}, f.e);
    assert_non_null(r);
    mr_model_destroy(m);
    mr_env_destroy(f.env);
    f.env = NULL;

    assert_int_equal(mr_run_execute(r, f.e), MR_EINPUT);
    assert_int_equal(mr_error_get(f.e).status, MR_EINPUT);
    assert_null(mr_run_output(r, 0));
    float data[] = {1, 2, 3, 4, 5, 6, 7, 8};
    mr_value *x = mr_value_wrap(MR_F32, 2, (int64_t[]){2, 4}, data);
    mr_value *wrong_type = mr_value_tensor(MR_F64, 2, (int64_t[]){2, 4});
    mr_value *wrong_shape = mr_value_tensor(MR_F32, 2, (int64_t[]){2, 3});
    assert_int_equal(mr_run_bind(r, "no such input", x, f.e), MR_EINPUT);
    assert_int_equal(mr_run_bind(r, "x", wrong_type, f.e), MR_OK);
    assert_int_equal(mr_run_execute(r, f.e), MR_EINPUT);
    assert_int_equal(mr_run_bind(r, "x", wrong_shape, NULL), MR_OK);
    assert_int_equal(mr_run_execute(r, NULL), MR_EINPUT);

    assert_int_equal(mr_run_bind(r, "x", x, f.e), MR_OK);
    assert_int_equal(mr_run_execute(r, f.e), MR_OK);
    assert_null(mr_error_get(f.e).text);
    const mr_value *y = mr_run_output(r, 0);
    assert_int_equal(mr_value_rank(y), 2);
    assert_int_equal(mr_value_count(y), 8);
    assert_true(((const float *)mr_value_data(y))[0] == -10);
    assert_true(((const float *)mr_value_data(y))[7] == -26);
    assert_null(mr_run_output(r, 1));
    mr_value *kept = mr_run_take_output(r, 0);
    assert_null(mr_run_output(r, 0));
    assert_int_equal(mr_run_execute(r, f.e), MR_OK);
    mr_run_destroy(r);
    assert_true(((const float *)mr_value_data(kept))[0] == -10);
    mr_value_release(kept), mr_value_release(x), mr_value_release(wrong_type), mr_value_release(wrong_shape);
    mr_error_free(f.e);
}

static void refuses(void **state)
{
    (void)state;
    fixture f = begin();
    assert_null(mr_env_create(&(mr_env_options){.threads = 1025}, f.e));
    assert_int_equal(mr_error_get(f.e).status, MR_EUSAGE);
    assert_null(mr_env_create(&(mr_env_options){.threads = -1}, f.e));
    assert_int_equal(mr_error_get(f.e).status, MR_EUSAGE);
    const char *no_files[] = {"/no/such/file.onnx", "/", "/dev/zero", "/dev/null"};
    for (int i = 0; i < 4; i++) {
        assert_null(mr_model_load(f.env, no_files[i], f.e));
        assert_int_equal(mr_error_get(f.e).status, MR_EIO);
    }
    assert_null(mr_model_load_memory(f.env, "no model", 8, f.e));
    assert_int_equal(mr_error_get(f.e).status, MR_EINVALID);

    mr_model *m = load(&f, product_model("NoSuchOperator"));
    mr_refusal_info info;
    assert_int_equal(mr_model_refusal(m, 0, &info), MR_EUSAGE);
    assert_int_equal(mr_model_refusal_count(m, NULL, f.e), 1);
    assert_int_equal(mr_model_refusal(m, 0, &info), MR_OK);
    assert_int_equal(mr_model_refusal(m, 1, &info), MR_EUSAGE);
    assert_string_equal(info.kind, "unknown_op");
    assert_string_equal(info.op, "NoSuchOperator");
    assert_int_equal(info.error.code, 301);
    assert_int_equal(info.error.node, 1);
    assert_int_equal(mr_model_refusal_count(m, "no such device", f.e), -1);
    assert_int_equal(mr_error_get(f.e).status, MR_EDEVICE);
    assert_int_equal(mr_model_refusal_count(m, "cuda:4294967296", f.e), -1);
    assert_int_equal(mr_error_get(f.e).status, MR_EUSAGE);
    mr_run *r = mr_run_create(m, NULL, f.e);
    mr_value *x = mr_value_tensor(MR_F32, 2, (int64_t[]){1, 4});
    assert_int_equal(mr_run_bind(r, "x", x, f.e), MR_OK);
    assert_int_equal(mr_run_execute(r, f.e), MR_EUNSUPPORTED);
    mr_value_release(x);
    mr_run_destroy(r);
    mr_model_destroy(m);
    end(&f);
}

static void values_refuse(void **state)
{
    (void)state;
    assert_null(mr_value_tensor(MR_F32, 17, (int64_t[17]){0}));
    assert_null(mr_value_tensor(MR_F32, -1, NULL));
    assert_null(mr_value_tensor(MR_F32, 1, (int64_t[]){-1}));
    assert_null(mr_value_tensor(MR_F32, 2, (int64_t[]){INT64_MAX, INT64_MAX}));
    assert_null(mr_value_tensor(MR_F32, 1, (int64_t[]){INT64_MAX / 2}));
    assert_null(mr_value_tensor((mr_dtype)99, 0, NULL));
    assert_null(mr_value_wrap(MR_F32, 1, (int64_t[]){-1}, NULL));
    assert_null(mr_value_wrap((mr_dtype)99, 0, NULL, NULL));
    mr_value *s = mr_value_tensor(MR_STRING, 1, (int64_t[]){2});
    size_t n = 9;
    assert_true(mr_value_put_string(s, 1, "a\0b", 3));
    assert_false(mr_value_put_string(s, 2, "a", 1));
    assert_string_equal(mr_value_string(s, 0, &n), "");
    assert_int_equal(n, 0);
    assert_memory_equal(mr_value_string(s, 1, &n), "a\0b", 3);
    assert_int_equal(n, 3);
    assert_null(mr_value_string(s, -1, NULL));
    assert_null(mr_value_data(s));
    assert_null(mr_value_item(s, 0));
    mr_value_release(s);
    mr_value_release(NULL);
}

static void ends_when_cancelled_or_late(void **state)
{
    (void)state;
    fixture f = begin();
    mr_model *m = load(&f, endless_model());
    uint8_t yes = 1;
    mr_value *go = mr_value_wrap(MR_BOOL, 0, NULL, &yes);
    for (int timed = 0; timed < 2; timed++) {
        mr_run *r = mr_run_create(m, &(mr_run_options){.optimize = -1, .timeout = timed ? 0.05 : 0}, f.e);
        assert_int_equal(mr_run_bind(r, "go", go, f.e), MR_OK);
        assert_int_equal(mr_run_wait(r, f.e), MR_EUSAGE);
        assert_int_equal(mr_run_start(r, f.e), MR_OK);
        assert_int_equal(mr_run_start(r, f.e), MR_EUSAGE);
        assert_int_equal(mr_run_execute(r, f.e), MR_EUSAGE);
        assert_int_equal(mr_run_bind(r, "go", NULL, f.e), MR_EUSAGE);
        if (!timed) mr_run_cancel(r);
        assert_int_equal(mr_run_wait(r, f.e), timed ? MR_ETIMEOUT : MR_ECANCELLED);
        assert_int_equal(mr_error_get(f.e).status, timed ? MR_ETIMEOUT : MR_ECANCELLED);
        assert_int_equal(mr_run_start(r, f.e), MR_OK);
        mr_run_destroy(r); /* ends it */
    }
    mr_value_release(go);
    mr_model_destroy(m);
    end(&f);
}

/* ---- one model, many threads ---- */

typedef struct worker {
    mr_model *model;
    int index;
    int wrong;
} worker;

static void *work(void *arg)
{
    worker *w = arg;
    for (int k = 0; k < 20; k++) {
        int64_t rows = 1 + (w->index + k) % 5;
        mr_run *r = mr_run_create(w->model, &(mr_run_options){.reference = w->index % 2, .optimize = -1}, NULL);
        mr_value *x = mr_value_tensor(MR_F32, 2, (int64_t[]){rows, 4});
        for (int64_t i = 0; i < 4 * rows; i++) ((float *)mr_value_data_mut(x))[i] = (float)(w->index + 1);
        mr_status st = mr_run_bind(r, "x", x, NULL);
        if (!st) st = k % 2 ? mr_run_execute(r, NULL) : mr_run_start(r, NULL) ? MR_EINTERNAL : mr_run_wait(r, NULL);
        const mr_value *y = st ? NULL : mr_run_output(r, 0);
        for (int64_t i = 0; y && i < 4 * rows; i++)
            w->wrong += ((const float *)mr_value_data(y))[i] != (float)(4 * (w->index + 1));
        w->wrong += !y || mr_value_count(y) != 4 * rows;
        mr_refusal_info info;
        w->wrong += mr_model_refusal_count(w->model, NULL, NULL) != 0;
        w->wrong += mr_model_refusal(w->model, 0, &info) != MR_EUSAGE; /* others are asking for a count meanwhile */
        mr_value_release(x);
        mr_run_destroy(r);
    }
    return NULL;
}

static void serves_many_threads(void **state)
{
    (void)state;
    fixture f = begin();
    mr_model *m = load(&f, product_model("Abs"));
    pthread_t threads[N_THREADS];
    worker workers[N_THREADS];
    for (int i = 0; i < N_THREADS; i++) {
        workers[i] = (worker){m, i, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < N_THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(workers[i].wrong, 0);
    }
    mr_model_destroy(m);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(describes),
        cmocka_unit_test(runs_and_refuses_inputs),
        cmocka_unit_test(refuses),
        cmocka_unit_test(values_refuse),
        cmocka_unit_test(ends_when_cancelled_or_late),
        cmocka_unit_test(serves_many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

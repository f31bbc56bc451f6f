/* ml_map.c: CastMap, DictVectorizer, ZipMap: maps as tensors, and tensors as maps. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/decimal.h"
#include "ops/elementwise.h"
#include "ops/ml.h"
#include "ops/ml_keys.h"
#include "ops/plain.h"

#include <stdlib.h>
#include <string.h>

static const mr_tensor *map_keys(const mr_value *map)
{
    return &map->items[0]->t;
}
static const mr_tensor *map_values(const mr_value *map)
{
    return &map->items[1]->t;
}

/* Zeros, or empty strings. */
static void clear(mr_tensor *t)
{
    if (t->dtype != MR_STRING) {
        memset(t->data, 0, mr_tensor_bytes(t));
        return;
    }
    for (int64_t i = 0, n = mr_tensor_count(t); i < n; i++) ((mr_string *)t->data)[i] = (mr_string){"", 0};
}

static void put(mr_tensor *y, int64_t at, const void *elements, int64_t i)
{
    const size_t size = mr_dtype_size(y->dtype);
    memcpy((char *)y->data + (size_t)at * size, (const char *)elements + (size_t)i * size, size);
}

/* ---- CastMap ---- */

typedef struct cast_map_params {
    mr_dtype to;
    bool sparse;
    int64_t length; /* of a sparse output */
} cast_map_params;

static void cast_map_read(mr_reader *r, void *params)
{
    static const char *const types[] = {"TO_FLOAT", "TO_STRING", "TO_INT64", NULL};
    static const mr_dtype dtypes[] = {MR_F32, MR_STRING, MR_I64};
    static const char *const forms[] = {"DENSE", "SPARSE", NULL};
    cast_map_params *p = params;
    p->to = dtypes[mr_read_enum(r, "cast_to", types, 0)];
    p->sparse = mr_read_enum(r, "map_form", forms, 0) == 1;
    p->length = mr_read_int(r, "max_map", 1);
    if (p->sparse && p->length < 1)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute max_map = %lld, must be positive", (long long)p->length);
}

/* ONNX leaves the rank open: ONNX Runtime's is 2. */
static mr_status cast_map_infer(mr_call *c)
{
    const cast_map_params *p = c->params;
    return mr_out_rows(c, 0, p->to, 1, p->sparse ? p->length : MR_DIM_UNKNOWN);
}

static mr_status cast_map_count(mr_call *c)
{
    if (!((const cast_map_params *)c->params)->sparse) c->out[0].shape.d[1] = mr_tensor_count(map_keys(c->in[0].v));
    return MR_OK;
}

static mr_fn cast_map_have(const mr_call *c)
{
    mr_dtype from = mr_in_dtype(c, 0);
    return from < MR_N_DTYPES ? MR_SLOT(c->cpu->cast.cast[from], mr_out_dtype(c, 0)) : NULL;
}

/* The values in the order of the map, as elements of the output's type, as Cast has them. NULL: failed. */
static const void *cast_values(mr_call *c, const mr_tensor *values)
{
    mr_tensor to = {.dtype = c->out[0].t->dtype, .rank = 1, .dims = {values->dims[0]}};
    const int64_t n = mr_tensor_count(values);
    if (values->dtype == to.dtype) return values->data;
    mr_cast_params k = {.from = values->dtype, .to = to.dtype, .rule = {.saturate = true}};
    for (int64_t i = 0; k.from == MR_STRING && i < n; i++) {
        mr_string s = ((const mr_string *)values->data)[i];
        if (mr_cast_parses(s, k.to)) continue;
        mr_call_fail_in(c, MR_E_NODE_VALUE, 0, "value %lld, \"%.*s\", is no number", (long long)i,
                        (int)(s.len < 40 ? s.len : 40), s.data);
        return NULL;
    }
    to.data = mr_call_alloc(c, mr_tensor_bytes(&to));
    if (to.data && k.to == MR_STRING) k.text = mr_call_alloc(c, (size_t)n * MR_DECIMAL_SIZE);
    if (!to.data || (k.to == MR_STRING && !k.text)) return NULL;
    mr_operand in = mr_operand_broadcast(values, &to);
    mr_elementwise j = mr_elementwise_to(&to, &in, 1, &k);
    mr_run_job(c, &j);
    return to.data;
}

static int order_by_key(const void *a, const void *b, void *keys)
{
    const int64_t *k = keys, i = *(const int64_t *)a, j = *(const int64_t *)b;
    return (k[i] > k[j]) - (k[i] < k[j]);
}

static mr_status put_dense(mr_call *c, const int64_t *keys, const void *values, int64_t n)
{
    int64_t *order = mr_call_alloc(c, sizeof *order * (size_t)n);
    if (!order) return c->error->status;
    for (int64_t i = 0; i < n; i++) order[i] = i;
    qsort_r(order, (size_t)n, sizeof *order, order_by_key, (void *)(uintptr_t)keys);
    for (int64_t i = 0; i < n; i++) put(c->out[0].t, i, values, order[i]);
    return MR_OK;
}

static mr_status put_sparse(mr_call *c, const int64_t *keys, const void *values, int64_t n)
{
    const cast_map_params *p = c->params;
    clear(c->out[0].t);
    for (int64_t i = 0; i < n; i++) {
        if (keys[i] < 0 || keys[i] >= p->length)
            return mr_call_fail_in(c, MR_E_NODE_VALUE, 0,
                                   "key %lld is outside of [0,%lld), as attribute max_map has it", (long long)keys[i],
                                   (long long)p->length);
        put(c->out[0].t, keys[i], values, i);
    }
    return MR_OK;
}

static mr_status cast_map_run(mr_call *c)
{
    const mr_tensor *keys = map_keys(c->in[0].v);
    const int64_t n = mr_tensor_count(keys);
    const void *values = cast_values(c, map_values(c->in[0].v));
    if (!values) return c->error->status;
    return (((const cast_map_params *)c->params)->sparse ? put_sparse : put_dense)(c, keys->data, values, n);
}

/* ---- DictVectorizer ---- */

typedef struct vocabulary_params {
    mr_labels words;
    mr_keys keys;
} vocabulary_params;

static void vectorizer_read(mr_reader *r, void *params)
{
    vocabulary_params *p = params;
    if (mr_read_labels(r, "int64_vocabulary", "string_vocabulary", &p->words))
        mr_keys_read(r, p->words.n, p->words.ints, p->words.strings, &p->keys);
}

/* ONNX: "A 1-D tensor holding values from the input dictionary"; ONNX Runtime's has two dimensions. */
static mr_status vectorizer_infer(mr_call *c)
{
    const vocabulary_params *p = c->params;
    bool strings = c->in[0].type.key == MR_STRING;
    if (strings != (p->words.strings != NULL))
        return mr_call_fail_in(c, MR_E_TYPE_INVALID, 0, "needs the attribute %s",
                               strings ? "string_vocabulary" : "int64_vocabulary");
    mr_shape s = mr_shape_1d(p->words.n);
    return mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
}

/* ONNX: "All keys in the input dictionary must be present in the index mapping vector." */
static mr_status vectorizer_run(mr_call *c)
{
    const vocabulary_params *p = c->params;
    const mr_tensor *keys = map_keys(c->in[0].v), *values = map_values(c->in[0].v);
    clear(c->out[0].t);
    for (int64_t i = 0, n = mr_tensor_count(keys); i < n; i++) {
        bool strings = keys->dtype == MR_STRING;
        mr_string s = strings ? ((const mr_string *)keys->data)[i] : (mr_string){"", 0};
        int64_t at = strings ? mr_find_string(&p->keys, s) : mr_find_code(&p->keys, mr_tensor_int(keys, i));
        if (at < 0 && strings)
            return mr_call_fail_in(c, MR_E_NODE_VALUE, 0, "key \"%.*s\" is not in attribute string_vocabulary",
                                   (int)(s.len < 40 ? s.len : 40), s.data);
        if (at < 0)
            return mr_call_fail_in(c, MR_E_NODE_VALUE, 0, "key %lld is not in attribute int64_vocabulary",
                                   (long long)mr_tensor_int(keys, i));
        put(c->out[0].t, at, values->data, i);
    }
    return MR_OK;
}

/* ---- ZipMap ---- */

typedef struct zip_map_params {
    mr_labels keys;
} zip_map_params;

static void zip_map_read(mr_reader *r, void *params)
{
    mr_read_labels(r, "classlabels_int64s", "classlabels_strings", &((zip_map_params *)params)->keys);
}

static mr_type zip_map_type(const mr_call *c, mr_kind kind)
{
    const mr_labels *keys = &((const zip_map_params *)c->params)->keys;
    return (mr_type){(uint8_t)kind, (uint8_t)mr_in_dtype(c, 0), keys->strings ? MR_STRING : MR_I64};
}

static mr_status zip_map_infer(mr_call *c)
{
    const int64_t n = ((const zip_map_params *)c->params)->keys.n;
    mr_dim rows, columns;
    mr_status st = mr_infer_rows(c, &rows, &columns);
    if (!st && columns >= 0 && columns != n)
        st = mr_call_fail_in(c, MR_E_SHAPES, 0, "has %lld columns for %lld keys", (long long)columns, (long long)n);
    c->out[0].type = zip_map_type(c, MR_SEQ_MAP);
    return st;
}

static mr_value *zip_map_keys(const mr_labels *l)
{
    mr_value *v = mr_value_tensor(l->strings ? MR_STRING : MR_I64, 1, &l->n);
    for (int64_t i = 0; v && i < l->n; i++) {
        if (!l->strings) {
            ((int64_t *)v->t.data)[i] = l->ints[i];
        } else if (!mr_value_set_string(v, i, l->strings[i].data, l->strings[i].len)) {
            mr_value_release(v);
            v = NULL;
        }
    }
    return v;
}

static mr_value *zip_map_row(const mr_call *c, mr_value *keys, int64_t row)
{
    const mr_tensor *x = c->in[0].t;
    const int64_t n = mr_row_length(c);
    mr_value *parts[2] = {keys, mr_value_tensor(x->dtype, 1, &n)}, *map = NULL;
    if (parts[1]) {
        size_t bytes = mr_tensor_bytes(&parts[1]->t);
        memcpy(parts[1]->t.data, (const char *)x->data + (size_t)row * bytes, bytes);
        map = mr_value_list(zip_map_type(c, MR_MAP), 2, parts);
    }
    mr_value_release(parts[1]);
    return map;
}

/* All rows share one vector of keys. */
static mr_status zip_map_run(mr_call *c)
{
    const int64_t rows = mr_row_count(c);
    mr_value *keys = zip_map_keys(&((const zip_map_params *)c->params)->keys);
    mr_value **maps = mr_call_alloc(c, sizeof *maps * (size_t)rows), *list = NULL;
    bool all = keys && maps;
    for (int64_t i = 0; all && i < rows; i++) all = (maps[i] = zip_map_row(c, keys, i)) != NULL;
    if (all) list = mr_value_list(zip_map_type(c, MR_SEQ_MAP), rows, maps);
    for (int64_t i = 0; maps && i < rows; i++) mr_value_release(maps[i]);
    mr_value_release(keys);
    return mr_call_set_value(c, 0, list);
}

static const mr_impl cast_map_impls[] = {
    {.name = "cast_map", .have = cast_map_have, .run = cast_map_run, .count = cast_map_count}, {0}};
static const mr_impl vectorizer_impls[] = {{.name = "dict_vectorizer", .have = mr_have_plain, .run = vectorizer_run},
                                           {0}};
static const mr_impl zip_map_impls[] = {{.name = "zip_map", .have = mr_have_plain, .run = zip_map_run}, {0}};

const mr_op mr_ops_ml_map[] = {
    {MR_ML, "CastMap", 1, 0, sizeof(cast_map_params), cast_map_read, cast_map_infer, cast_map_impls, 0, NULL, NULL},
    {.domain = MR_ML,
     .name = "DictVectorizer",
     .since = 1,
     .params_size = sizeof(vocabulary_params),
     .read = vectorizer_read,
     .infer = vectorizer_infer,
     .impls = vectorizer_impls},
    {MR_ML, "ZipMap", 1, 0, sizeof(zip_map_params), zip_map_read, zip_map_infer, zip_map_impls, 0, NULL, NULL},
    {0},
};

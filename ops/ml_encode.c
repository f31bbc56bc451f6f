/* ml_encode.c: LabelEncoder, CategoryMapper, OneHotEncoder: categories as other categories, or as zeros and a one. */
#include "ops/ml.h"
#include "ops/ml_keys.h"
#include "ops/plain.h"

#include <math.h>
#include <string.h>

#include "runtime/narrow.h"

/* ---- mappings from elements to elements ---- */

typedef struct list {
    mr_dtype dtype;
    int64_t n;
    const void *data;
} list;

typedef union element {
    int64_t i64;
    int32_t i32;
    int16_t i16;
    float f32;
    double f64;
    mr_string s;
} element;

typedef struct mapping {
    mr_keys keys;
    mr_dtype from;
    list to;
    element missing; /* what stands for elements that are no keys */
} mapping;

typedef struct map_params {
    mapping maps[2]; /* the second one with from MR_UNDEFINED: there is one */
    bool bitwise;    /* floats are equal when their bits are; else NaN equals NaN, and -0 equals 0 */
} map_params;

static int64_t float_code(double x, bool bitwise)
{
    if (!bitwise && isnan(x)) x = (double)NAN;
    if (!bitwise && x == 0) x = 0;
    int64_t code;
    memcpy(&code, &x, sizeof code);
    return code;
}

/* Equal for equal elements of type d; t may carry float32 in double. */
static int64_t code_of(const mr_tensor *t, int64_t i, mr_dtype d, bool bitwise)
{
    if (!mr_dtype_in(d, MR_FLOATS)) return mr_tensor_int(t, i);
    if (d != MR_F32 || !bitwise) return float_code(mr_tensor_real(t, i), bitwise);
    float x = t->dtype == MR_F32 ? ((const float *)t->data)[i] : (float)((const double *)t->data)[i];
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static bool read_keys(mr_reader *r, const list *keys, bool bitwise, mapping *m)
{
    m->from = keys->dtype;
    if (keys->dtype == MR_STRING) return mr_keys_read(r, keys->n, NULL, keys->data, &m->keys);
    mr_tensor t = {.dtype = keys->dtype, .rank = 1, .dims = {keys->n}, .data = (void *)(uintptr_t)keys->data};
    int64_t *codes = mr_read_alloc(r, sizeof *codes * ((size_t)keys->n + 1));
    if (!codes) return mr_read_fail(r, MR_E_MEMORY, "no memory for the keys"), false;
    for (int64_t i = 0; i < keys->n; i++) codes[i] = code_of(&t, i, keys->dtype, bitwise);
    return mr_keys_read(r, keys->n, codes, NULL, &m->keys);
}

static bool read_mapping(mr_reader *r, list keys, list values, bool bitwise, mapping *m)
{
    m->to = values;
    if (keys.n != values.n) {
        mr_read_fail(r, MR_E_ATTRIBUTE, "%lld keys for %lld values, expected as many", (long long)keys.n,
                     (long long)values.n);
        return false;
    }
    return read_keys(r, &keys, bitwise, m);
}

static const mapping *mapping_for(const map_params *p, mr_dtype d, bool carried)
{
    for (int k = 0; k < 2; k++) {
        const mapping *m = &p->maps[k];
        if (m->from && (m->from == d || (carried && m->from == MR_F32 && d == MR_F64))) return m;
    }
    return NULL;
}

static mr_status map_infer(mr_call *c)
{
    const map_params *p = c->params;
    const mapping *m = mapping_for(p, mr_in_dtype(c, 0), mr_call_carried(c));
    if (!p->maps[0].from) return mr_out_like(c, 0, 0); /* the node is refused, and only its types are asked for */
    if (!m) return mr_call_fail_in(c, MR_E_TYPE_INVALID, 0, "the keys are %s", mr_dtype_name(p->maps[0].from));
    return mr_out_tensor(c, 0, m->to.dtype, &c->in[0].shape);
}

static mr_status map_run(mr_call *c)
{
    const map_params *p = c->params;
    const mr_tensor *x = c->in[0].t;
    const mapping *m = mapping_for(p, x->dtype, mr_call_carried(c));
    const size_t size = mr_dtype_size(m->to.dtype);
    char *y = c->out[0].t->data;
    for (int64_t i = 0, n = mr_tensor_count(x); i < n; i++) {
        int64_t k = x->dtype == MR_STRING ? mr_find_string(&m->keys, ((const mr_string *)x->data)[i])
                                          : mr_find_code(&m->keys, code_of(x, i, m->from, p->bitwise));
        const char *found = k < 0 ? (const char *)&m->missing : (const char *)m->to.data + (size_t)k * size;
        memcpy(y + (size_t)i * size, found, size);
    }
    return MR_OK;
}

/* ---- CategoryMapper, LabelEncoder 1: both ways between strings and integers ---- */

static void read_two_ways(mr_reader *r, map_params *p, list ints, list strings)
{
    p->maps[0].missing.i64 = mr_read_int(r, "default_int64", -1);
    p->maps[1].missing.s = mr_read_string(r, "default_string", "_Unused");
    if (read_mapping(r, strings, ints, false, &p->maps[0])) read_mapping(r, ints, strings, false, &p->maps[1]);
}

static void mapper_read(mr_reader *r, void *params)
{
    const int64_t *ints;
    const mr_string *strings;
    int n_ints = mr_read_ints(r, "cats_int64s", &ints), n_strings = mr_read_strings(r, "cats_strings", &strings);
    read_two_ways(r, params, (list){MR_I64, n_ints < 0 ? 0 : n_ints, ints},
                  (list){MR_STRING, n_strings < 0 ? 0 : n_strings, strings});
}

/* A string is the index at which it stands in the list. */
static void encoder_read_1(mr_reader *r, void *params)
{
    const mr_string *strings;
    int n = mr_read_strings(r, "classes_strings", &strings);
    if (n < 0) n = 0;
    int64_t *index = mr_read_alloc(r, sizeof *index * ((size_t)n + 1));
    if (!index) {
        mr_read_fail(r, MR_E_MEMORY, "no memory for the classes");
        return;
    }
    for (int i = 0; i < n; i++) index[i] = i;
    read_two_ways(r, params, (list){MR_I64, n, index}, (list){MR_STRING, n, strings});
}

/* ---- LabelEncoder 2 and 4 ---- */

typedef struct list_names {
    const char *floats, *ints, *strings, *tensor;
} list_names;

/* The one of the attributes that is given. */
static bool read_list(mr_reader *r, const list_names *names, list *l)
{
    const float *floats;
    const int64_t *ints;
    const mr_string *strings;
    const mr_tensor *t = mr_read_version(r) >= 4 ? mr_read_tensor(r, names->tensor) : NULL;
    int n, given = 0;
    if ((n = mr_read_floats(r, names->floats, &floats)) > 0) *l = (list){MR_F32, n, floats}, given++;
    if ((n = mr_read_ints(r, names->ints, &ints)) > 0) *l = (list){MR_I64, n, ints}, given++;
    if ((n = mr_read_strings(r, names->strings, &strings)) > 0) *l = (list){MR_STRING, n, strings}, given++;
    if (t) *l = (list){t->dtype, mr_tensor_count(t), t->data}, given++;
    if (given != 1)
        mr_read_fail(r, MR_E_ATTRIBUTE, "expected one of the attributes %s, %s, %s%s%s, %d are given", names->floats,
                     names->ints, names->strings, mr_read_version(r) >= 4 ? ", " : "",
                     mr_read_version(r) >= 4 ? names->tensor : "", given);
    else if (!mr_dtype_in(l->dtype, mr_read_node(r)->schema->in[0].types.tensor))
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute %s has elements of type %s", names->tensor, mr_dtype_name(l->dtype));
    else
        return true;
    return false;
}

/* A default counts where it is of the type of the values. */
static void read_default(mr_reader *r, mapping *m)
{
    const mr_tensor *t = mr_read_version(r) >= 4 ? mr_read_tensor(r, "default_tensor") : NULL;
    int64_t of_int = mr_read_int(r, "default_int64", -1);
    float of_float = mr_read_float(r, "default_float", -0.0f);
    mr_string of_string = mr_read_string(r, "default_string", "_Unused");
    element *e = &m->missing;
    switch (m->to.dtype) {
    case MR_STRING:
        e->s = of_string;
        break;
    case MR_F32:
        e->f32 = of_float;
        break;
    case MR_F64:
        e->f64 = -0.0;
        break;
    case MR_I64:
        e->i64 = of_int;
        break;
    case MR_I32:
        e->i32 = -1;
        break;
    default:
        e->i16 = -1;
    }
    if (!t) return;
    if (t->dtype != m->to.dtype || mr_tensor_count(t) != 1)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute default_tensor has %lld elements of type %s, expected one %s",
                     (long long)mr_tensor_count(t), mr_dtype_name(t->dtype), mr_dtype_name(m->to.dtype));
    else
        memcpy(e, t->data, mr_dtype_size(t->dtype));
}

/* ONNX, version 2: "For key look-up, bit-wise comparison is used", version 4: "Float keys with value 'NaN' match any
 * input 'NaN' value". */
static void encoder_read(mr_reader *r, void *params)
{
    static const list_names keys = {"keys_floats", "keys_int64s", "keys_strings", "keys_tensor"};
    static const list_names values = {"values_floats", "values_int64s", "values_strings", "values_tensor"};
    map_params *p = params;
    list from, to;
    p->bitwise = mr_read_version(r) < 4;
    bool read = read_list(r, &keys, &from);
    if (!read_list(r, &values, &to) || !read) return;
    if (read_mapping(r, from, to, p->bitwise, &p->maps[0])) read_default(r, &p->maps[0]);
}

/* ---- OneHotEncoder ---- */

typedef struct one_hot_params {
    mr_labels categories;
    mr_keys keys;
    bool zeros;
} one_hot_params;

static void one_hot_read(mr_reader *r, void *params)
{
    one_hot_params *p = params;
    p->zeros = mr_read_int(r, "zeros", 1) != 0;
    if (mr_read_labels(r, "cats_int64s", "cats_strings", &p->categories))
        mr_keys_read(r, p->categories.n, p->categories.ints, p->categories.strings, &p->keys);
}

static mr_status one_hot_infer(mr_call *c)
{
    const one_hot_params *p = c->params;
    mr_shape s = c->in[0].shape;
    bool strings = mr_in_dtype(c, 0) == MR_STRING;
    if (strings != (p->categories.strings != NULL))
        return mr_call_fail_in(c, MR_E_TYPE_INVALID, 0, "needs the attribute %s",
                               strings ? "cats_strings" : "cats_int64s");
    mr_status st = mr_want_rank(c, 0, 0, MR_MAX_RANK - 1);
    if (st) return st;
    if (s.rank >= 0) s.d[s.rank++] = p->categories.n;
    return mr_out_tensor(c, 0, mr_score_dtype(c), &s);
}

/* -1: none. ONNX casts floats to integers; one that no integer is near to is in no category. */
static int64_t category_of(const mr_keys *k, const mr_tensor *x, int64_t i)
{
    if (x->dtype == MR_STRING) return mr_find_string(k, ((const mr_string *)x->data)[i]);
    if (!mr_dtype_in(x->dtype, MR_FLOATS)) return mr_find_code(k, mr_tensor_int(x, i));
    double v = mr_tensor_real(x, i);
    return v >= -0x1p63 && v < 0x1p63 ? mr_find_code(k, (int64_t)v) : -1;
}

static mr_status one_hot_run(mr_call *c)
{
    const one_hot_params *p = c->params;
    const mr_tensor *x = c->in[0].t, *y = c->out[0].t;
    memset(y->data, 0, mr_tensor_bytes(y));
    for (int64_t i = 0, n = mr_tensor_count(x); i < n; i++) {
        int64_t k = category_of(&p->keys, x, i);
        if (k < 0 && !p->zeros)
            return mr_call_fail_in(c, MR_E_NODE_VALUE, 0, "element %lld is in no category, and attribute zeros is 0",
                                   (long long)i);
        if (k < 0) continue;
        if (y->dtype == MR_F64)
            ((double *)y->data)[i * p->categories.n + k] = 1;
        else
            ((float *)y->data)[i * p->categories.n + k] = 1;
    }
    return MR_OK;
}

static const mr_impl map_impls[] = {{.name = "label_map", .have = mr_have_plain, .run = map_run}, {0}};
static const mr_impl one_hot_impls[] = {{.name = "one_hot_encoder", .have = mr_have_plain, .run = one_hot_run}, {0}};

const mr_op mr_ops_ml_encode[] = {
    {MR_ML, "LabelEncoder", 1, 1, sizeof(map_params), encoder_read_1, map_infer, map_impls, 0, NULL, NULL},
    {MR_ML, "LabelEncoder", 2, 0, sizeof(map_params), encoder_read, map_infer, map_impls, 0, NULL, NULL},
    {MR_ML, "CategoryMapper", 1, 0, sizeof(map_params), mapper_read, map_infer, map_impls, 0, NULL, NULL},
    {MR_ML, "OneHotEncoder", 1, 0, sizeof(one_hot_params), one_hot_read, one_hot_infer, one_hot_impls, 0, NULL, NULL},
    {0},
};

/* constant.c: Constant, ConstantOfShape, EyeLike, Range, Shape, Size: tensors from attributes, shapes and bounds. */
#include "kernels/cpu/cpu.h"
#include "ops/element.h"
#include "ops/elems.h"
#include "ops/sizes.h"

#include <math.h>
#include <string.h>

/* ---- Constant ---- */

/* One of the forms: a value as it is, or n elements at data. */
typedef struct constant_params {
    mr_value *value;
    mr_dtype dtype;
    int rank; /* 0 for value_float …, 1 for value_floats … */
    int64_t n;
    const void *data;
    union {
        int64_t i;
        float f;
        mr_string s;
    } one;
} constant_params;

static void constant_list(constant_params *p, mr_dtype d, int64_t n, const void *data)
{
    p->dtype = d, p->rank = 1, p->n = n, p->data = data;
}

static void constant_one(constant_params *p, mr_dtype d)
{
    p->dtype = d, p->rank = 0, p->n = 1, p->data = &p->one;
}

static int read_plain(mr_reader *r, constant_params *p)
{
    const int64_t *ints;
    const float *floats;
    const mr_string *strings;
    int given = 0, n;
    if ((n = mr_read_ints(r, "value_ints", &ints)) >= 0) constant_list(p, MR_I64, n, ints), given++;
    if ((n = mr_read_floats(r, "value_floats", &floats)) >= 0) constant_list(p, MR_F32, n, floats), given++;
    if ((n = mr_read_strings(r, "value_strings", &strings)) >= 0) constant_list(p, MR_STRING, n, strings), given++;
    if (mr_read_has(r, "value_int")) p->one.i = mr_read_int(r, "value_int", 0), constant_one(p, MR_I64), given++;
    if (mr_read_has(r, "value_float")) p->one.f = mr_read_float(r, "value_float", 0), constant_one(p, MR_F32), given++;
    if (mr_read_has(r, "value_string"))
        p->one.s = mr_read_string(r, "value_string", ""), constant_one(p, MR_STRING), given++;
    return given;
}

static void constant_read(mr_reader *r, void *params)
{
    constant_params *p = params;
    int version = mr_read_version(r);
    mr_value *dense = mr_read_value(r, "value"), *sparse = version >= 11 ? mr_read_value(r, "sparse_value") : NULL;
    int given = (dense != NULL) + (sparse != NULL) + (version >= 12 ? read_plain(r, p) : 0);
    p->value = dense ? dense : sparse;
    if (given != 1) mr_read_fail(r, MR_E_ATTRIBUTE, "exactly one attribute must give the value, %d do", given);
}

static mr_value *constant_value(const mr_node *n, const void *params)
{
    (void)n;
    const constant_params *p = params;
    if (p->value) return p->value->type.kind == MR_SPARSE ? mr_value_densify(p->value) : mr_value_retain(p->value);
    mr_tensor t = {.dtype = p->dtype, .rank = p->rank, .dims = {p->n}, .data = (void *)p->data};
    return mr_value_copy(&t);
}

/* ---- what fills a tensor from one element ---- */

static mr_fn have_copy_out(const mr_call *c)
{
    return MR_SLOT_BY_SIZE(c->cpu->move.copy, mr_out_dtype(c, 0));
}

/* n elements of output 0 from `first` on, `step` elements apart. */
static void put_element(mr_call *c, const void *element, int64_t first, int64_t n, int64_t step)
{
    const mr_tensor *y = c->out[0].t;
    mr_box box = {.rank = 1, .dims = {n}, .xs = {0}, .ys = {step}};
    char *at = (char *)y->data + first * (int64_t)mr_dtype_size(y->dtype);
    mr_copy_args a = {.x = element, .y = at, .box = &box, .pool = c->pool};
    ((void (*)(const mr_copy_args *))c->fn)(&a);
}

/* ---- ConstantOfShape ---- */

typedef struct fill_params {
    const mr_tensor *value; /* NULL: float 0 */
} fill_params;

static void fill_read(mr_reader *r, void *params)
{
    fill_params *p = params;
    p->value = mr_read_tensor(r, "value");
    if (p->value && mr_tensor_count(p->value) != 1)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute value has %lld elements, needs 1",
                     (long long)mr_tensor_count(p->value));
}

static mr_status fill_infer(mr_call *c)
{
    const fill_params *p = c->params;
    mr_shape s = mr_shape_unknown();
    mr_status st = mr_want_rank(c, 0, 1, 1);
    if (!st) st = mr_in_dims(c, 0, s.d, &s.rank);
    if (st) return st;
    for (int k = 0; c->in[0].t && k < s.rank; k++)
        if (s.d[k] < 0) return mr_call_fail_in(c, MR_E_NODE_VALUE, 0, "dimension %d is %lld", k, (long long)s.d[k]);
    return mr_out_tensor(c, 0, p->value ? p->value->dtype : MR_F32, &s);
}

static mr_status fill_run(mr_call *c)
{
    const fill_params *p = c->params;
    const mr_tensor *y = c->out[0].t;
    _Alignas(16) char element[MR_ELEMENT_BYTES] = {0};
    if (p->value && p->value->dtype == y->dtype)
        memcpy(element, p->value->data, mr_dtype_size(y->dtype));
    else if (p->value)
        mr_element_set(y->dtype, mr_tensor_real(p->value, 0), element); /* the carrier is wider */
    put_element(c, element, 0, mr_tensor_count(y), 1);
    return MR_OK;
}

static const mr_impl fill_impls[] = {{.name = "constant_of_shape_cpu", .have = have_copy_out, .run = fill_run}, {0}};

/* ---- EyeLike ---- */

typedef struct eye_params {
    mr_dtype dtype; /* MR_UNDEFINED: the input's */
    int64_t k;
} eye_params;

static void eye_read(mr_reader *r, void *params)
{
    eye_params *p = params;
    p->dtype = (mr_dtype)mr_read_int(r, "dtype", MR_UNDEFINED);
    p->k = mr_read_int(r, "k", 0);
}

static mr_status eye_infer(mr_call *c)
{
    const eye_params *p = c->params;
    mr_status st = mr_want_rank(c, 0, 2, 2);
    mr_shape s = c->in[0].shape.rank == 2 ? c->in[0].shape : mr_shape_of_rank(2);
    return st ? st : mr_out_tensor(c, 0, p->dtype ? p->dtype : mr_in_dtype(c, 0), &s);
}

static mr_status eye_run(mr_call *c)
{
    const eye_params *p = c->params;
    const mr_tensor *y = c->out[0].t;
    int64_t rows = y->dims[0], cols = y->dims[1];
    memset(y->data, 0, mr_tensor_bytes(y));
    if (p->k >= cols || p->k <= -rows) return MR_OK;
    int64_t row = p->k < 0 ? -p->k : 0, col = p->k < 0 ? 0 : p->k;
    int64_t n = rows - row < cols - col ? rows - row : cols - col;
    _Alignas(16) char one[MR_ELEMENT_BYTES];
    mr_element_set(y->dtype, 1, one);
    put_element(c, one, row * cols + col, n, cols + 1);
    return MR_OK;
}

static const mr_impl eye_impls[] = {{.name = "eye_like_cpu", .have = have_copy_out, .run = eye_run}, {0}};

/* ---- Range ---- */

typedef struct range_params {
    int64_t stash; /* the dtype in which float16 and bfloat16 are computed */
} range_params;

static void range_read(mr_reader *r, void *params)
{
    range_params *p = params;
    p->stash = mr_read_version(r) >= 27 ? mr_read_int(r, "stash_type", MR_F32) : MR_F32;
    if (p->stash != MR_F32 && p->stash != MR_F64)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute stash_type is %lld, must be 1 (float) or 11 (double)",
                     (long long)p->stash);
}

/* max(ceil((limit - start) / delta), 0); the integers without a difference that could overflow */
static int64_t integer_count(int64_t start, int64_t limit, int64_t delta)
{
    if (delta > 0 ? start >= limit : start <= limit) return 0;
    uint64_t span = delta > 0 ? (uint64_t)limit - (uint64_t)start : (uint64_t)start - (uint64_t)limit;
    /* cppcheck-suppress zerodivcond ; callers refuse a delta of 0 */
    uint64_t step = delta > 0 ? (uint64_t)delta : -(uint64_t)delta, n = (span - 1) / step + 1;
    return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

static int64_t real_count(double start, double limit, double delta)
{
    double n = (limit - start) / delta;
    if (!(n > 0)) return 0;
    if (n >= 0x1p62) return INT64_MAX;
    return (int64_t)n + ((double)(int64_t)n < n);
}

/* As far as they are known: a start, a limit that may be infinite, a step that is not 0. */
static mr_status want_bounds(mr_call *c)
{
    double v[3] = {0, 0, 1};
    for (int i = 0; i < 3; i++) {
        mr_status st = mr_want_one(c, i);
        if (st) return st;
        if (mr_in_has(c, i) && c->in[i].t) v[i] = mr_tensor_real(c->in[i].t, 0);
    }
    if (v[2] == 0) return mr_call_fail_in(c, MR_E_NODE_VALUE, 2, "the step is 0");
    if (isfinite(v[0]) && !isnan(v[1]) && !isnan(v[2])) return MR_OK;
    return mr_call_fail(c, MR_E_NODE_VALUE, "from %g to %g by %g is no range", v[0], v[1], v[2]);
}

/* com.microsoft's step may be absent: 1. */
static int64_t range_count(const mr_call *c)
{
    const mr_tensor *start = c->in[0].t, *limit = c->in[1].t, *delta = mr_in_has(c, 2) ? c->in[2].t : NULL;
    if (mr_dtype_in(start->dtype, MR_INTS))
        return integer_count(mr_tensor_int(start, 0), mr_tensor_int(limit, 0), delta ? mr_tensor_int(delta, 0) : 1);
    return real_count(mr_tensor_real(start, 0), mr_tensor_real(limit, 0), delta ? mr_tensor_real(delta, 0) : 1);
}

/* A range from 0 by 1 is as long as its limit, even when that is a symbol. */
static mr_dim symbolic_count(const mr_call *c)
{
    const bool step = mr_in_has(c, 2);
    for (int i = 0; i < 2 + step; i++)
        if (mr_elems_count(c, i) != 1) return MR_DIM_UNKNOWN;
    return mr_elem(c, 0, 0) == 0 && (!step || mr_elem(c, 2, 0) == 1) ? mr_elem(c, 1, 0) : MR_DIM_UNKNOWN;
}

static mr_status range_infer(mr_call *c)
{
    mr_shape s = mr_shape_1d(symbolic_count(c));
    mr_status st = want_bounds(c);
    if (!st && c->in[0].t && c->in[1].t && (!mr_in_has(c, 2) || c->in[2].t)) s.d[0] = range_count(c);
    return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
}

static mr_fn range_have(const mr_call *c)
{
    const range_params *p = c->params;
    if (p->stash == MR_F64) return MR_SLOT(c->cpu->range.wide, mr_in_dtype(c, 0));
    return MR_SLOT(c->cpu->range.plain, mr_in_dtype(c, 0));
}

static mr_status range_run(mr_call *c)
{
    _Alignas(16) char one[MR_ELEMENT_BYTES];
    mr_element_set(mr_in_dtype(c, 0), 1, one);
    mr_range_args a = {.start = c->in[0].t->data,
                       .delta = mr_in_has(c, 2) ? c->in[2].t->data : one,
                       .y = c->out[0].t->data,
                       .n = c->out[0].t->dims[0],
                       .pool = c->pool};
    ((void (*)(const mr_range_args *))c->fn)(&a);
    return MR_OK;
}

static const mr_impl range_impls[] = {{.name = "range_cpu", .have = range_have, .run = range_run}, {0}};

/* ---- Shape, Size: no kernel, the engine has the answer ---- */

typedef struct shape_params {
    int64_t start, end;
} shape_params;

static void shape_read(mr_reader *r, void *params)
{
    shape_params *p = params;
    bool slices = mr_read_version(r) >= 15;
    p->start = slices ? mr_read_int(r, "start", 0) : 0;
    p->end = slices ? mr_read_int(r, "end", INT64_MAX) : INT64_MAX;
}

static int clamp_axis(int64_t axis, int rank)
{
    if (axis < 0) axis += rank;
    return axis < 0 ? 0 : axis > rank ? rank : (int)axis;
}

static mr_status shape_infer(mr_call *c)
{
    const shape_params *p = c->params;
    const mr_shape *x = &c->in[0].shape;
    mr_shape s = mr_shape_1d(MR_DIM_UNKNOWN);
    if (x->rank >= 0) {
        int from = clamp_axis(p->start, x->rank), to = clamp_axis(p->end, x->rank), n = to > from ? to - from : 0;
        mr_dim *d = mr_elems_new(c, 0, n);
        if (!d) return c->error->status;
        memcpy(d, x->d + from, sizeof *d * (size_t)n);
        s.d[0] = n;
    }
    return mr_out_tensor(c, 0, MR_I64, &s);
}

static mr_status shape_run(mr_call *c)
{
    const shape_params *p = c->params;
    const mr_shape *x = &c->in[0].shape;
    int from = clamp_axis(p->start, x->rank);
    memcpy(c->out[0].t->data, x->d + from, sizeof(int64_t) * (size_t)c->out[0].t->dims[0]);
    return MR_OK;
}

static mr_fn shape_have(const mr_call *c)
{
    (void)c;
    return (mr_fn)shape_run;
}

static const mr_impl shape_impls[] = {{.name = "shape", .have = shape_have, .run = shape_run}, {0}};

static mr_status size_infer(mr_call *c)
{
    const mr_shape *x = &c->in[0].shape;
    mr_shape s = mr_shape_scalar();
    mr_dim *n = mr_elems_new(c, 0, 1);
    if (!n) return c->error->status;
    *n = x->rank < 0 ? MR_DIM_UNKNOWN : 1;
    for (int d = 0; d < x->rank; d++) *n = mr_dim_mul(*n, x->d[d]);
    return mr_out_tensor(c, 0, MR_I64, &s);
}

static mr_status size_run(mr_call *c)
{
    *(int64_t *)c->out[0].t->data = mr_dims_product(c->in[0].shape.d, 0, c->in[0].shape.rank);
    return MR_OK;
}

static mr_fn size_have(const mr_call *c)
{
    (void)c;
    return (mr_fn)size_run;
}

static const mr_impl size_impls[] = {{.name = "size", .have = size_have, .run = size_run}, {0}};

const mr_op mr_ops_constant[] = {
    {.name = "Constant",
     .domain = "",
     .since = 1,
     .params_size = sizeof(constant_params),
     .read = constant_read,
     .constant = constant_value},
    {.name = "ConstantOfShape",
     .domain = "",
     .since = 9,
     .params_size = sizeof(fill_params),
     .read = fill_read,
     .infer = fill_infer,
     .impls = fill_impls},
    {.name = "EyeLike",
     .domain = "",
     .since = 9,
     .params_size = sizeof(eye_params),
     .read = eye_read,
     .infer = eye_infer,
     .impls = eye_impls,
     .flags = MR_OP_SHAPE_ONLY},
    {.name = "Range",
     .domain = "",
     .since = 11,
     .params_size = sizeof(range_params),
     .read = range_read,
     .infer = range_infer,
     .impls = range_impls},
    {.name = "Range",
     .domain = "com.microsoft",
     .since = 1,
     .params_size = sizeof(range_params),
     .read = range_read,
     .infer = range_infer,
     .impls = range_impls},
    {.name = "Shape",
     .domain = "",
     .since = 1,
     .params_size = sizeof(shape_params),
     .read = shape_read,
     .infer = shape_infer,
     .impls = shape_impls,
     .flags = MR_OP_SHAPE_ONLY},
    {.name = "Size", .domain = "", .since = 1, .infer = size_infer, .impls = size_impls, .flags = MR_OP_SHAPE_ONLY},
    {0},
};

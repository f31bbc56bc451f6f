/* sequence.c: operators on sequences of tensors. Elements are shared between sequences, never copied; values move
 * through the engine's value functions, so every element type works. */
#include "ops/control.h"

#include <string.h>

static void no_op(void) {}

static mr_fn have_any(const mr_call *c)
{
    (void)c;
    return no_op;
}

static mr_status out_sequence(mr_call *c, mr_dtype elem)
{
    c->out[0].type = (mr_type){.kind = MR_SEQUENCE, .elem = (uint8_t)elem};
    return MR_OK;
}

static mr_status infer_same_sequence(mr_call *c)
{
    return out_sequence(c, mr_in_dtype(c, 0));
}

/* The sequence keeps its type, which what is inserted must have. */
static mr_status infer_insertion(mr_call *c)
{
    mr_dtype list = mr_in_dtype(c, 0), tensor = mr_in_dtype(c, 1);
    if (list && tensor && list != tensor)
        return mr_call_fail_in(c, MR_E_TYPE_INVALID, 1, "the elements of the sequence are %s", mr_dtype_name(list));
    return out_sequence(c, list);
}

static mr_status infer_element(mr_call *c)
{
    mr_shape unknown = mr_shape_unknown();
    return mr_out_tensor(c, 0, mr_in_dtype(c, 0), &unknown);
}

static mr_status infer_count(mr_call *c)
{
    mr_shape scalar = mr_shape_scalar();
    return mr_out_tensor(c, 0, MR_I64, &scalar);
}

static mr_status give_list(mr_call *c, mr_dtype elem, int64_t n, mr_value *const *items)
{
    mr_type type = {.kind = MR_SEQUENCE, .elem = (uint8_t)elem};
    return mr_call_set_value(c, 0, mr_value_list(type, n, items));
}

/* A position in [-n, n-1], or [-n, n] for insertion, as [0, …]. */
static mr_status position(mr_call *c, int i, int64_t n, int64_t last, int64_t *at)
{
    int64_t p = mr_tensor_int(c->in[i].t, 0);
    if (p < -n || p > last)
        return mr_call_fail(c, MR_E_NODE_VALUE, "position %lld out of range [%lld,%lld]", (long long)p, (long long)-n,
                            (long long)last);
    *at = p < 0 ? p + n : p;
    return MR_OK;
}

/* ---- SequenceConstruct, SequenceEmpty ---- */

static mr_status construct_run(mr_call *c)
{
    mr_value **items = mr_call_alloc(c, sizeof *items * ((size_t)c->n_in + 1));
    if (!items) return c->error->status;
    mr_status st = MR_OK;
    for (int i = 0; i < c->n_in; i++)
        if (!(items[i] = mr_call_take(c, i))) st = mr_call_fail(c, MR_E_MEMORY, "out of memory");
    if (!st) st = give_list(c, mr_in_dtype(c, 0), c->n_in, items);
    for (int i = 0; i < c->n_in; i++) mr_value_release(items[i]);
    return st;
}

typedef struct {
    mr_dtype dtype;
} empty_params;

static void empty_read(mr_reader *r, void *params)
{
    ((empty_params *)params)->dtype = (mr_dtype)mr_read_int(r, "dtype", MR_F32);
}

static mr_status empty_infer(mr_call *c)
{
    return out_sequence(c, ((const empty_params *)c->params)->dtype);
}
static mr_status empty_run(mr_call *c)
{
    return give_list(c, ((const empty_params *)c->params)->dtype, 0, NULL);
}

/* ---- SequenceAt, SequenceInsert, SequenceErase, SequenceLength ---- */

static mr_status at_run(mr_call *c)
{
    const mr_value *s = c->in[0].v;
    int64_t at = 0;
    mr_status st = position(c, 1, s->n, s->n - 1, &at);
    return st ? st : mr_call_set_value(c, 0, mr_value_retain(s->items[at]));
}

static mr_status insert_run(mr_call *c)
{
    const mr_value *s = c->in[0].v;
    int64_t at = s->n;
    mr_status st = mr_in_has(c, 2) ? position(c, 2, s->n, s->n, &at) : MR_OK;
    mr_value **items = st ? NULL : mr_call_alloc(c, sizeof *items * ((size_t)s->n + 1));
    if (!items) return c->error->status;
    mr_value *item = mr_call_take(c, 1);
    if (!item) return mr_call_fail(c, MR_E_MEMORY, "out of memory");
    for (int64_t i = 0; i < at; i++) items[i] = s->items[i];
    items[at] = item;
    for (int64_t i = at; i < s->n; i++) items[i + 1] = s->items[i];
    st = give_list(c, mr_in_dtype(c, 1), s->n + 1, items);
    mr_value_release(item);
    return st;
}

static mr_status erase_run(mr_call *c)
{
    const mr_value *s = c->in[0].v;
    int64_t at = s->n - 1;
    if (s->n == 0) return mr_call_fail(c, MR_E_NODE_VALUE, "cannot erase from an empty sequence");
    mr_status st = mr_in_has(c, 1) ? position(c, 1, s->n, s->n - 1, &at) : MR_OK;
    mr_value **items = st ? NULL : mr_call_alloc(c, sizeof *items * (size_t)s->n);
    if (!items) return c->error->status;
    for (int64_t i = 0, k = 0; i < s->n; i++)
        if (i != at) items[k++] = s->items[i];
    return give_list(c, mr_in_dtype(c, 0), s->n - 1, items);
}

static mr_status length_run(mr_call *c)
{
    *(int64_t *)c->out[0].t->data = c->in[0].v->n;
    return MR_OK;
}

/* ---- ConcatFromSequence ---- */

typedef struct {
    int64_t axis;
    bool new_axis;
} join_params;

static void join_read(mr_reader *r, void *params)
{
    join_params *p = params;
    p->axis = mr_read_int(r, "axis", 0);
    p->new_axis = mr_read_int(r, "new_axis", 0) != 0;
    if (p->axis < -MR_MAX_RANK || p->axis >= MR_MAX_RANK)
        mr_read_fail(r, MR_E_RANK_LIMIT, "attribute axis = %lld; minirt's tensors have at most %d dimensions",
                     (long long)p->axis, MR_MAX_RANK);
}

static mr_status join_run(mr_call *c)
{
    const join_params *p = c->params;
    const mr_value *s = c->in[0].v;
    int axis;
    if (s->n == 0) return mr_call_fail(c, MR_E_NODE_VALUE, "the sequence is empty: there is no shape to concatenate");
    mr_status st = mr_want_axis(c, p->axis, s->items[0]->t.rank + p->new_axis, "attribute axis", &axis);
    if (st) return st;
    mr_value *v = p->new_axis ? mr_stack(c, s->items, s->n, axis, false, NULL) : mr_join(c, s->items, s->n, axis);
    return v ? mr_call_set_value(c, 0, v) : mr_call_fail(c, MR_E_MEMORY, "out of memory");
}

/* ---- SplitToSequence ---- */

typedef struct {
    int64_t axis;
    bool keepdims;
} split_params;

static void split_read(mr_reader *r, void *params)
{
    split_params *p = params;
    p->axis = mr_read_int(r, "axis", 0);
    p->keepdims = mr_read_int(r, "keepdims", 1) != 0;
}

static mr_status split_count(mr_call *c, int axis, int64_t *parts)
{
    int64_t dim = c->in[0].shape.d[axis];
    if (!mr_in_has(c, 1)) return *parts = dim, MR_OK;
    const mr_tensor *t = c->in[1].t;
    if (t->rank == 0) {
        int64_t n = mr_tensor_int(t, 0);
        if (n <= 0) return mr_call_fail_in(c, MR_E_NODE_VALUE, 1, "split = %lld, must be positive", (long long)n);
        return *parts = (dim + n - 1) / n, MR_OK;
    }
    int64_t sum = 0;
    *parts = mr_tensor_count(t);
    for (int64_t k = 0; k < *parts; k++) {
        int64_t n = mr_tensor_int(t, k);
        if (n < 0) return mr_call_fail_in(c, MR_E_NODE_VALUE, 1, "split[%lld] = %lld", (long long)k, (long long)n);
        sum += n;
    }
    if (sum != dim)
        return mr_call_fail_in(c, MR_E_NODE_VALUE, 1, "the parts sum to %lld, axis %d has %lld", (long long)sum, axis,
                               (long long)dim);
    return MR_OK;
}

static mr_status split_infer(mr_call *c)
{
    const split_params *p = c->params;
    int axis;
    int64_t parts;
    mr_status st =
        c->in[0].shape.rank < 0 ? MR_OK : mr_want_axis(c, p->axis, c->in[0].shape.rank, "attribute axis", &axis);
    mr_dim dim = !st && c->in[0].shape.rank >= 0 ? c->in[0].shape.d[axis] : MR_DIM_UNKNOWN;
    if (dim > 0 && mr_in_has(c, 1) && mr_in_count(c, 1) == 0)
        st = mr_call_fail_in(c, MR_E_SHAPES, 1, "no parts for the %lld elements of axis %d", (long long)dim, axis);
    if (!st && dim >= 0 && mr_in_has(c, 1) && c->in[1].t) st = split_count(c, axis, &parts);
    return st ? st : infer_same_sequence(c);
}

/* Part k of the split: a scalar cuts into equal parts (the last may be smaller), a list gives each length. */
static int64_t part_length(const mr_call *c, int64_t k, int64_t left)
{
    if (!mr_in_has(c, 1)) return 1;
    const mr_tensor *t = c->in[1].t;
    int64_t n = t->rank == 0 ? mr_tensor_int(t, 0) : mr_tensor_int(t, k);
    return t->rank == 0 && n > left ? left : n;
}

static mr_status split_run(mr_call *c)
{
    const split_params *p = c->params;
    const mr_tensor *t = c->in[0].t;
    int axis;
    int64_t parts = 0, at = 0;
    mr_status st = mr_want_axis(c, p->axis, t->rank, "attribute axis", &axis);
    if (st || (st = split_count(c, axis, &parts))) return st;
    mr_value **items = mr_call_alloc(c, sizeof *items * ((size_t)parts + 1));
    if (!items) return c->error->status;
    for (int64_t k = 0; !st && k < parts; k++) {
        int64_t n = part_length(c, k, t->dims[axis] - at);
        items[k] = mr_cut(t, axis, at, n, p->keepdims || mr_in_has(c, 1)); /* keepdims counts only without split */
        if (!items[k]) st = mr_call_fail(c, MR_E_MEMORY, "out of memory");
        at += n;
    }
    if (!st) st = give_list(c, t->dtype, parts, items);
    for (int64_t k = 0; k < parts; k++) mr_value_release(items[k]);
    return st;
}

/* ---- SequenceMap ---- */

typedef struct {
    int body;
} map_params;

static void map_read(mr_reader *r, void *params)
{
    ((map_params *)params)->body = mr_read_graph(r, "body");
}

static mr_status map_infer(mr_call *c)
{
    const map_params *p = c->params;
    mr_typed_shape *in = mr_call_alloc(c, sizeof *in * (size_t)(c->n_in + c->n_out + 1));
    if (!in) return c->error->status;
    for (int i = 0; i < c->n_in; i++) {
        in[i] = mr_in_typed(c, i);
        if (in[i].type.kind == MR_SEQUENCE)
            in[i].type = mr_type_tensor(mr_in_dtype(c, i)), in[i].shape = mr_shape_unknown();
    }
    mr_status st = mr_infer_subgraph(c, p->body, true, c->n_in, in, c->n_out, in + c->n_in);
    for (int o = 0; !st && o < c->n_out; o++)
        c->out[o].type = (mr_type){.kind = MR_SEQUENCE, .elem = in[c->n_in + o].type.elem};
    return st;
}

static mr_status map_rounds(mr_call *c, int body, int64_t n, mr_value ***made)
{
    mr_value **in = mr_call_alloc(c, sizeof *in * (size_t)(c->n_in + c->n_out + 1));
    mr_status st = MR_OK;
    if (!in) return c->error->status;
    mr_value **out = in + c->n_in;
    for (int64_t k = 0; !st && k < n; k++) {
        for (int i = 0; i < c->n_in; i++)
            in[i] = c->in[i].type.kind == MR_SEQUENCE ? mr_value_retain(c->in[i].v->items[k]) : mr_call_take(c, i);
        st = mr_call_subgraph(c, body, c->n_in, in, c->n_out, out);
        for (int i = 0; i < c->n_in; i++) mr_value_release(in[i]);
        for (int o = 0; !st && o < c->n_out; o++) made[o][k] = out[o];
    }
    return st;
}

static mr_status map_run(mr_call *c)
{
    const map_params *p = c->params;
    int64_t n = c->in[0].v->n;
    for (int i = 1; i < c->n_in; i++)
        if (c->in[i].type.kind == MR_SEQUENCE && c->in[i].v->n != n)
            return mr_call_fail_in(c, MR_E_NODE_VALUE, i, "has %lld elements, the first sequence has %lld",
                                   (long long)c->in[i].v->n, (long long)n);
    mr_value ***made = mr_call_alloc(c, sizeof *made * ((size_t)c->n_out + 1));
    for (int o = 0; made && o < c->n_out; o++)
        if (!(made[o] = mr_call_alloc(c, sizeof **made * ((size_t)n + 1)))) return c->error->status;
    if (!made) return c->error->status;
    mr_status st = map_rounds(c, p->body, n, made);
    for (int o = 0; o < c->n_out; o++) {
        mr_type type = {.kind = MR_SEQUENCE, .elem = n ? 0 : mr_subgraph_output(c, p->body, o)->type.elem};
        if (n && made[o][0]) type.elem = made[o][0]->type.elem;
        if (!st) st = mr_call_set_value(c, o, mr_value_list(type, n, made[o]));
        for (int64_t k = 0; k < n; k++) mr_value_release(made[o][k]);
    }
    return st;
}

#define ROW(label, fn)                                                                                                 \
    static const mr_impl label##_impls[] = {{.name = #label, .dev = MR_CPU, .have = have_any, .run = fn}, {0}}
ROW(sequence_construct, construct_run);
ROW(sequence_empty, empty_run);
ROW(sequence_at, at_run);
ROW(sequence_insert, insert_run);
ROW(sequence_erase, erase_run);
ROW(sequence_length, length_run);
ROW(concat_from_sequence, join_run);
ROW(split_to_sequence, split_run);
ROW(sequence_map, map_run);

const mr_op mr_ops_sequence[] = {
    {"", "SequenceConstruct", 11, 0, 0, NULL, infer_same_sequence, sequence_construct_impls, 0, NULL, NULL},
    {"", "SequenceEmpty", 11, 0, sizeof(empty_params), empty_read, empty_infer, sequence_empty_impls, 0, NULL, NULL},
    {"", "SequenceAt", 11, 0, 0, NULL, infer_element, sequence_at_impls, MR_OP_OWN_OUTPUT, NULL, NULL},
    {"", "SequenceInsert", 11, 0, 0, NULL, infer_insertion, sequence_insert_impls, 0, NULL, NULL},
    {"", "SequenceErase", 11, 0, 0, NULL, infer_same_sequence, sequence_erase_impls, 0, NULL, NULL},
    {"", "SequenceLength", 11, 0, 0, NULL, infer_count, sequence_length_impls, 0, NULL, NULL},
    {"", "ConcatFromSequence", 11, 0, sizeof(join_params), join_read, infer_element, concat_from_sequence_impls,
     MR_OP_OWN_OUTPUT, NULL, NULL},
    {"", "SplitToSequence", 11, 0, sizeof(split_params), split_read, split_infer, split_to_sequence_impls, 0, NULL,
     NULL},
    {"", "SequenceMap", 17, 0, sizeof(map_params), map_read, map_infer, sequence_map_impls, MR_OP_CONTROL, NULL, NULL},
    {0}};

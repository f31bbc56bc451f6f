/* where.c: Where and Clip: which of several values an element is. */
#include "kernels/cpu/cpu.h"
#include "ops/element.h"
#include "ops/elementwise.h"
#include "ops/elems.h"
#include "ops/flops.h"
#include "ops/sizes.h"

#include <float.h>
#include <string.h>

/* ---- Where ---- */

/* The condition's element: 0, 1, or unknown; it may be known only in part. */
static mr_dim condition(const mr_call *c, int64_t k)
{
    const mr_arg *a = &c->in[0];
    int64_t n = a->shape.rank == 0 ? 1 : a->shape.d[0];
    if (n == 1) k = 0;
    return a->t ? ((const uint8_t *)a->t->data)[k] != 0 : a->elems ? a->elems[k] : MR_DIM_UNKNOWN;
}

static mr_status where_elems(mr_call *c)
{
    const mr_shape *out = &c->out[0].shape, *cond = &c->in[0].shape;
    int nx = mr_elems_count(c, 1), ny = mr_elems_count(c, 2);
    if (out->rank < 0 || out->rank > 1 || cond->rank < 0 || nx < 1 || ny < 1 || !mr_shape_known(out)) return MR_OK;
    int n = out->rank == 0 ? 1 : (int)out->d[0];
    if (n < 1 || n > MR_MAX_ELEMS || (c->in[0].t && c->in[1].t && c->in[2].t)) return MR_OK;
    mr_dim *d = mr_elems_new(c, 0, n);
    if (!d) return MR_EMEMORY;
    for (int k = 0; k < n; k++) {
        mr_dim which = condition(c, k), x = mr_elem(c, 1, nx == 1 ? 0 : k), y = mr_elem(c, 2, ny == 1 ? 0 : k);
        if (which >= 0)
            d[k] = which ? x : y;
        else if (x == y)
            d[k] = x;
    }
    return MR_OK;
}

static mr_status where_infer(mr_call *c)
{
    mr_shape s = c->in[0].shape;
    mr_status st = mr_broadcast_into(c, &s, &c->in[1].shape, 1);
    if (!st) st = mr_broadcast_into(c, &s, &c->in[2].shape, 2);
    if (!st) st = mr_out_tensor(c, 0, mr_in_dtype(c, 1), &s);
    return st ? st : where_elems(c);
}

static mr_fn where_have(const mr_call *c)
{
    return MR_SLOT_BY_SIZE(c->cpu->select.where, mr_in_dtype(c, 1));
}

static mr_status where_run(mr_call *c)
{
    mr_run_elementwise(c, 3, NULL);
    return MR_OK;
}

static const mr_impl where_impls[] = {{.name = "where_cpu", .have = where_have, .run = where_run, .inplace = 6}, {0}};

/* ---- Clip ---- */

typedef struct clip_params {
    bool attributes; /* before opset 11 */
    bool has_min, has_max;
    float min, max;
} clip_params;

static void clip_read(mr_reader *r, void *params)
{
    clip_params *p = params;
    p->attributes = mr_read_version(r) < 11;
    if (!p->attributes) return;
    p->has_min = mr_read_version(r) >= 6 || mr_read_has(r, "min");
    p->has_max = mr_read_version(r) >= 6 || mr_read_has(r, "max");
    p->min = mr_read_float(r, "min", -FLT_MAX);
    p->max = mr_read_float(r, "max", FLT_MAX);
    mr_read_ignore(r, "consumed_inputs"); /* an old hint for memory */
}

static mr_status clip_infer(mr_call *c)
{
    for (int i = 1; i < c->n_in; i++) {
        mr_status st = mr_in_has(c, i) ? mr_want_rank(c, i, 0, 0) : MR_OK;
        if (st) return st;
    }
    return mr_out_like(c, 0, 0);
}

static mr_fn clip_have(const mr_call *c)
{
    return MR_SLOT(c->cpu->select.clip, mr_in_dtype(c, 0));
}

/* "They default to numeric_limits::lowest() and numeric_limits::max()": of a float the largest finite number. */
static double largest(mr_dtype d)
{
    switch (d) {
    case MR_F16:
        return 65504;
    case MR_BF16:
        return 0x1.fep+127;
    case MR_F32:
        return FLT_MAX;
    default:
        return DBL_MAX;
    }
}

/* The bounds that are not inputs go into min and max. */
static mr_clip_params bounds_of(const mr_call *c, void *min, void *max)
{
    const clip_params *p = c->params;
    mr_dtype d = mr_in_dtype(c, 0);
    mr_clip_params k = {0};
    if (mr_dtype_in(d, MR_FLOATS)) {
        mr_element_set(d, p->has_min ? (double)p->min : -largest(d), min);
        mr_element_set(d, p->has_max ? (double)p->max : largest(d), max);
        k = (mr_clip_params){min, max};
    }
    if (mr_in_has(c, 1)) k.min = c->in[1].t->data;
    if (mr_in_has(c, 2)) k.max = c->in[2].t->data;
    return k;
}

static mr_status clip_run(mr_call *c)
{
    char min[MR_ELEMENT_BYTES], max[MR_ELEMENT_BYTES];
    mr_clip_params k = bounds_of(c, min, max);
    mr_run_elementwise(c, 1, &k);
    return MR_OK;
}

/* Where the bounds are known. */
static const void *clip_each(mr_call *c, int *n)
{
    *n = 1;
    for (int i = 1; i < c->n_in; i++)
        if (mr_in_has(c, i) && !c->in[i].t) return NULL;
    mr_clip_params *k = mr_call_alloc(c, sizeof *k + 2 * MR_ELEMENT_BYTES);
    if (k) *k = bounds_of(c, k + 1, (char *)(k + 1) + MR_ELEMENT_BYTES);
    return k;
}

static const mr_impl clip_impls[] = {
    {.name = "clip_cpu", .have = clip_have, .run = clip_run, .inplace = 1, .each = clip_each}, {0}};

const mr_op mr_ops_where[] = {
    {.domain = "", .name = "Where", .since = 9, .infer = where_infer, .impls = where_impls},
    {.domain = "",
     .name = "Clip",
     .since = 1,
     .params_size = sizeof(clip_params),
     .read = clip_read,
     .infer = clip_infer,
     .impls = clip_impls,
     .flops = mr_flops_two_each},
    {0},
};

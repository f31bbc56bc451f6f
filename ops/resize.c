/* resize.c: Resize, Upsample. */
#include "kernels/cpu/cpu.h"
#include "ops/resize_axis.h"
#include "ops/rules.h"
#include "ops/sizes.h"
#include "ops/widen.h"

#include <math.h>
#include <string.h>

typedef enum policy { STRETCH, NOT_LARGER, NOT_SMALLER } policy;

typedef struct resize_params {
    mr_resize_rule rule;
    policy policy;
    double extrapolation;
    int n_axes; /* -1: all */
    const int64_t *axes;
    int roi, scales, sizes; /* which input, or -1 */
    int n_scales;           /* scales by attribute, or -1 */
    const float *scale;
} resize_params;

/* ---- attributes ---- */

static const char *const modes[] = {"nearest", "linear", "cubic", NULL};

static void read_upsample_1(mr_reader *r, void *params)
{
    static const char *const names[] = {"nearest", "bilinear", NULL};
    resize_params *p = params;
    float *scale = mr_read_alloc(r, 4 * sizeof *scale);
    *p = (resize_params){.rule = {.coordinate = MR_ASYMMETRIC, .nearest = MR_NEAREST_UP_OR_DOWN},
                         .n_axes = -1,
                         .roi = -1,
                         .scales = -1,
                         .sizes = -1,
                         .n_scales = 4,
                         .scale = scale};
    p->rule.mode = (mr_resize_mode)mr_read_enum(r, "mode", names, MR_RESIZE_NEAREST);
    float height = mr_read_float(r, "height_scale", 1), width = mr_read_float(r, "width_scale", 1);
    if (scale) scale[0] = scale[1] = 1, scale[2] = height, scale[3] = width;
}

static void read_upsample_7(mr_reader *r, void *params)
{
    resize_params *p = params;
    static const char *const names[] = {"nearest", "linear", NULL};
    *p = (resize_params){.rule = {.coordinate = MR_ASYMMETRIC, .nearest = MR_NEAREST_UP_OR_DOWN},
                         .n_axes = -1,
                         .roi = -1,
                         .scales = -1,
                         .sizes = -1};
    p->rule.mode = (mr_resize_mode)mr_read_enum(r, "mode", names, MR_RESIZE_NEAREST);
    p->n_scales = mr_read_floats(r, "scales", &p->scale);
}

/* Upsample 9, Resize 10 */
static void read_scales_in(mr_reader *r, void *params)
{
    resize_params *p = params;
    static const char *const names[] = {"nearest", "linear", NULL};
    *p = (resize_params){.rule = {.coordinate = MR_ASYMMETRIC, .nearest = MR_NEAREST_UP_OR_DOWN},
                         .n_axes = -1,
                         .roi = -1,
                         .scales = 1,
                         .sizes = -1,
                         .n_scales = -1};
    p->rule.mode = (mr_resize_mode)mr_read_enum(r, "mode", names, MR_RESIZE_NEAREST);
}

static mr_resize_coordinate read_coordinate(mr_reader *r)
{
    static const char *const names[] = {
        "half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize", NULL, NULL};
    const char *of_version[7];
    int version = mr_read_version(r);
    memcpy(of_version, names, sizeof names);
    if (version < 13) of_version[5] = "tf_half_pixel_for_nn";
    if (version >= 19) of_version[5] = "half_pixel_symmetric";
    int k = mr_read_enum(r, "coordinate_transformation_mode", of_version, MR_HALF_PIXEL);
    return k == 5 && version >= 19 ? MR_HALF_PIXEL_SYMMETRIC : (mr_resize_coordinate)k;
}

static void read_11(mr_reader *r, void *params)
{
    static const char *const roundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", NULL};
    resize_params *p = params;
    *p = (resize_params){.n_axes = -1, .roi = 1, .scales = 2, .sizes = 3, .n_scales = -1};
    p->rule.mode = (mr_resize_mode)mr_read_enum(r, "mode", modes, MR_RESIZE_NEAREST);
    p->rule.coordinate = read_coordinate(r);
    p->rule.nearest = (mr_resize_nearest)mr_read_enum(r, "nearest_mode", roundings, MR_ROUND_PREFER_FLOOR);
    p->rule.exclude_outside = mr_read_int(r, "exclude_outside", 0);
    p->rule.cubic_coeff_a = mr_read_float(r, "cubic_coeff_a", -0.75f);
    p->extrapolation = mr_read_float(r, "extrapolation_value", 0);
}

static void read_18(mr_reader *r, void *params)
{
    static const char *const policies[] = {"stretch", "not_larger", "not_smaller", NULL};
    resize_params *p = params;
    read_11(r, params);
    p->rule.antialias = mr_read_int(r, "antialias", 0);
    p->policy = (policy)mr_read_enum(r, "keep_aspect_ratio_policy", policies, STRETCH);
    p->n_axes = mr_read_ints(r, "axes", &p->axes);
}

/* ---- what is asked for ---- */

/* Input i is there and not empty; *known: whether that can be said. */
static bool given(const mr_call *c, int i, bool *known)
{
    if (i < 0 || !mr_in_has(c, i)) return false;
    const mr_shape *s = &c->in[i].shape;
    if (s->rank < 0 || (s->rank == 1 && s->d[0] < 0)) *known = false;
    return s->rank != 1 || s->d[0] != 0;
}

/* The axes that scales, sizes and roi speak of. */
static mr_status axes_of(mr_call *c, int rank, int *axes, int *n)
{
    const resize_params *p = c->params;
    bool seen[MR_MAX_RANK] = {false};
    *n = p->n_axes < 0 ? rank : p->n_axes;
    if (*n > rank) return mr_call_fail(c, MR_E_SHAPES, "attribute axes has %d elements, X has %d dimensions", *n, rank);
    for (int k = 0; k < *n; k++) {
        mr_status st = mr_want_axis(c, p->n_axes < 0 ? k : p->axes[k], rank, "attribute axes", &axes[k]);
        if (st) return st;
        if (seen[axes[k]]) return mr_call_fail(c, MR_E_SHAPES, "attribute axes has axis %d twice", axes[k]);
        seen[axes[k]] = true;
    }
    return MR_OK;
}

static mr_status want_count(mr_call *c, int i, int64_t got, int want)
{
    if (got < 0 || got == want) return MR_OK;
    if (i < 0)
        return mr_call_fail(c, MR_E_SHAPES, "attribute scales has %lld elements, expected %d", (long long)got, want);
    return mr_call_fail_in(c, MR_E_SHAPES, i, "expected %d elements, one for each axis, got %lld", want,
                           (long long)got);
}

/* The part of the roi that belongs to each axis; false: not known yet. Without one, or where it does not matter, all.
 */
static mr_status take_roi(mr_call *c, const int *axes, int n, mr_resize_axis_spec *spec, bool *known)
{
    const resize_params *p = c->params;
    bool sure = true;
    if (p->rule.coordinate != MR_TF_CROP_AND_RESIZE) return MR_OK;
    if (!given(c, p->roi, &sure) && sure)
        return mr_call_fail(c, MR_E_ARITY, "coordinate_transformation_mode tf_crop_and_resize needs the input roi");
    const mr_tensor *t = c->in[p->roi].t;
    *known = t != NULL;
    mr_status st = want_count(c, p->roi, mr_in_count(c, p->roi), 2 * n);
    for (int k = 0; k < n && t && !st; k++) {
        spec[axes[k]].start = mr_tensor_real(t, k);
        spec[axes[k]].end = mr_tensor_real(t, n + k);
        if (!isfinite(spec[axes[k]].start) || !isfinite(spec[axes[k]].end))
            st = mr_call_fail_in(c, MR_E_NODE_VALUE, p->roi, "the part of axis %d is not finite", axes[k]);
    }
    return st;
}

/* floor(input_dimension * (roi_end - roi_start) * scale) */
static mr_status take_scales(mr_call *c, const int *axes, int n, mr_resize_axis_spec *spec, mr_dim *out)
{
    const resize_params *p = c->params;
    const mr_tensor *t = p->n_scales >= 0 ? NULL : c->in[p->scales].t;
    mr_status st =
        p->n_scales >= 0 ? want_count(c, -1, p->n_scales, n) : want_count(c, p->scales, mr_in_count(c, p->scales), n);
    for (int k = 0; k < n && !st && (t || p->n_scales >= 0); k++) {
        mr_resize_axis_spec *a = &spec[axes[k]];
        double scale = t ? mr_tensor_real(t, k) : (double)p->scale[k], length = (double)a->in * scale;
        if (p->rule.coordinate == MR_TF_CROP_AND_RESIZE) length *= a->end - a->start;
        if (!(scale > 0) || !isfinite(scale))
            return mr_call_fail(c, MR_E_SHAPES, "scale %g of axis %d is not above 0", scale, axes[k]);
        if (a->in >= 0 && !(length < 0x1p62))
            return mr_call_fail(c, MR_E_SHAPES, "scale %g makes axis %d too long", scale, axes[k]);
        a->up = scale, a->down = 1;
        if (a->in >= 0)
            out[axes[k]] = length > 0 ? (int64_t)floor(length) : 0;
        else if (scale != 1)
            out[axes[k]] = MR_DIM_UNKNOWN;
    }
    for (int k = 0; k < n && !t && p->n_scales < 0; k++) out[axes[k]] = MR_DIM_UNKNOWN;
    return st;
}

/* The one scale for all axes, up / down, that not_larger and not_smaller ask for: the extreme one, compared exactly. */
static void common_scale(policy rule, const int *axes, int n, mr_resize_axis_spec *spec, mr_dim *out)
{
    int64_t up = 0, down = 0;
    for (int k = 0; k < n; k++) {
        const mr_resize_axis_spec *a = &spec[axes[k]];
        __int128 here = (__int128)out[axes[k]] * down, best = (__int128)up * a->in;
        if (k == 0 || (rule == NOT_LARGER ? here < best : here > best)) up = out[axes[k]], down = a->in;
    }
    for (int k = 0; k < n; k++) {
        mr_resize_axis_spec *a = &spec[axes[k]];
        a->up = (double)up, a->down = (double)down;
        out[axes[k]] = (int64_t)((2 * (__int128)up * a->in + down) / (2 * (__int128)down)); /* halves up */
    }
}

static mr_status take_sizes(mr_call *c, const int *axes, int n, mr_resize_axis_spec *spec, mr_dim *out)
{
    const resize_params *p = c->params;
    mr_dim d[MR_MAX_RANK];
    int count;
    mr_status st = mr_in_dims(c, p->sizes, d, &count);
    if (!st) st = want_count(c, p->sizes, count, n);
    if (st) return st;
    bool known = count >= 0;
    for (int k = 0; k < n; k++) {
        mr_resize_axis_spec *a = &spec[axes[k]];
        out[axes[k]] = count < 0 ? MR_DIM_UNKNOWN : d[k];
        if (count >= 0 && c->in[p->sizes].t && d[k] < 0)
            return mr_call_fail_in(c, MR_E_NODE_VALUE, p->sizes, "size %lld of axis %d is negative", (long long)d[k],
                                   axes[k]);
        known &= out[axes[k]] >= 0 && a->in >= 0;
        if (out[axes[k]] > 0 && a->in == 0)
            return mr_call_fail_in(c, MR_E_SHAPES, 0, "axis %d has no elements to make %lld from", axes[k],
                                   (long long)out[axes[k]]);
        a->up = (double)out[axes[k]], a->down = (double)a->in;
    }
    bool empty = false;
    for (int k = 0; k < n; k++) empty |= spec[axes[k]].in == 0;
    if (p->policy == STRETCH || empty) return MR_OK;
    for (int k = 0; k < n && !known; k++) out[axes[k]] = MR_DIM_UNKNOWN;
    if (known) common_scale(p->policy, axes, n, spec, out);
    return MR_OK;
}

/* The scale of every axis of X and its extent in Y, as far as they're known. */
static mr_status solve(mr_call *c, mr_resize_axis_spec *spec, mr_shape *y)
{
    const resize_params *p = c->params;
    const mr_shape *x = &c->in[0].shape;
    int axes[MR_MAX_RANK], n;
    bool sure = true, roi_known = true;
    bool scales = p->n_scales >= 0 || given(c, p->scales, &sure), sizes = given(c, p->sizes, &sure);
    if (sure && scales && sizes)
        return mr_call_fail(c, MR_E_ARITY, "both scales and sizes are given: expected one of them");
    if (sure && !scales && !sizes) return mr_call_fail(c, MR_E_ARITY, "neither scales nor sizes is given");
    const int vectors[] = {p->roi, p->scales, p->sizes};
    mr_status st = MR_OK;
    for (int i = 0; i < 3 && !st; i++)
        if (vectors[i] >= 0 && mr_in_has(c, vectors[i])) st = mr_want_rank(c, vectors[i], 0, 1);
    *y = *x;
    if (st || x->rank < 0) return st;
    if ((st = axes_of(c, x->rank, axes, &n))) return st;
    for (int d = 0; d < x->rank; d++) spec[d] = (mr_resize_axis_spec){x->d[d], x->d[d], 1, 1, 0, 1};
    if ((st = take_roi(c, axes, n, spec, &roi_known))) return st;
    if (!sure)
        *y = mr_shape_of_rank(x->rank);
    else
        st = scales ? take_scales(c, axes, n, spec, y->d) : take_sizes(c, axes, n, spec, y->d);
    for (int k = 0; k < n && scales && !roi_known; k++) y->d[axes[k]] = MR_DIM_UNKNOWN;
    for (int d = 0; d < x->rank; d++) spec[d].out = y->d[d];
    return st;
}

static mr_status infer(mr_call *c)
{
    mr_resize_axis_spec spec[MR_MAX_RANK];
    mr_shape y;
    mr_status st = solve(c, spec, &y);
    return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, 0), &y);
}

/* ---- axes as kernels want them ---- */

/* X's axes, neighbours that stay as they are merged. */
typedef struct frame {
    int rank;
    mr_resize_axis_spec spec[MR_MAX_RANK];
    bool same[MR_MAX_RANK];
    int64_t stride[MR_MAX_RANK]; /* of x, in elements */
} frame;

static mr_status frame_of(mr_call *c, frame *f)
{
    const resize_params *p = c->params;
    mr_resize_axis_spec spec[MR_MAX_RANK];
    mr_shape y;
    mr_status st = solve(c, spec, &y);
    int64_t stride = 1;
    *f = (frame){.rank = 0};
    for (int d = 0; d < y.rank && !st; d++) {
        bool same = mr_resize_is_same(&p->rule, &spec[d]);
        if (same && f->rank && f->same[f->rank - 1]) {
            f->spec[f->rank - 1].in *= spec[d].in;
            f->spec[f->rank - 1].out *= spec[d].out;
        } else {
            f->spec[f->rank] = spec[d];
            f->same[f->rank++] = same;
        }
    }
    if (!f->rank) *f = (frame){.rank = 1, .spec = {{1, 1, 1, 1, 0, 1}}, .same = {true}};
    for (int k = f->rank - 1; k >= 0; stride *= f->spec[k].in, k--) f->stride[k] = stride;
    return st;
}

/* Scratch is cut into tables: first those of 8 bytes, the flags of outside last. */
typedef struct tables {
    int64_t *at[MR_MAX_RANK];
    double *weight[MR_MAX_RANK];
    uint8_t *outside[MR_MAX_RANK];
    double *room;
    size_t bytes;
} tables;

/* The axis that lines run along: the last one with a table, or the last. */
static int line_axis(const frame *f)
{
    return f->same[f->rank - 1] && f->rank > 1 ? f->rank - 2 : f->rank - 1;
}

static int64_t frame_inner(const frame *f)
{
    return line_axis(f) < f->rank - 1 ? f->spec[f->rank - 1].in : 1;
}

/* components: numbers in an element. room: whether lines are computed. */
static void lay_out(const mr_call *c, const frame *f, int components, bool room, void *scratch, tables *t)
{
    const resize_params *p = c->params;
    char *at = scratch;
    *t = (tables){.room = NULL};
    for (int k = 0; k < f->rank; k++) {
        if (f->same[k]) continue;
        size_t n = (size_t)(f->spec[k].out * mr_resize_taps(&p->rule, &f->spec[k])) * sizeof(int64_t);
        t->at[k] = (int64_t *)at, at += n;
        t->weight[k] = (double *)at, at += n;
    }
    const mr_resize_axis_spec *last = &f->spec[line_axis(f)];
    mr_resize_axis line = {.in = last->in, .out = last->out};
    t->room = (double *)at;
    if (room) at += (size_t)(MR_RESIZE_PARTS * mr_resize_line(&line, frame_inner(f) * components)) * sizeof(double);
    for (int k = 0; k < f->rank; k++)
        if (!f->same[k]) t->outside[k] = (uint8_t *)at, at += f->spec[k].out;
    t->bytes = (size_t)(at - (char *)scratch);
}

static int components(mr_dtype d)
{
    return d == MR_C64 || d == MR_C128 ? 2 : 1;
}
static mr_dtype part_type(mr_dtype d)
{
    return d == MR_C64 ? MR_F32 : d == MR_C128 ? MR_F64 : d;
}

static size_t scratch_of(const mr_call *c, bool room)
{
    frame f;
    tables t;
    if (frame_of((mr_call *)c, &f)) return 0; /* run says it again */
    lay_out(c, &f, components(mr_in_dtype(c, 0)), room, NULL, &t);
    return t.bytes;
}

static size_t scratch_nearest(const mr_call *c)
{
    return scratch_of(c, false);
}
static size_t scratch_lines(const mr_call *c)
{
    return scratch_of(c, true);
}

/* What stands where nothing of x does: extrapolation_value, or 0 of what nearest excludes. */
static mr_status fill(mr_call *c, const frame *f, const bool *any, const tables *t)
{
    const resize_params *p = c->params;
    const mr_dtype d = mr_in_dtype(c, 0);
    const bool crop = p->rule.coordinate == MR_TF_CROP_AND_RESIZE;
    _Alignas(16) char value[16] = {0};
    mr_fill_args a = {.y = c->out[0].t->data, .rank = f->rank, .inner = 1, .value = value};
    bool some = false;
    for (int k = 0; k < f->rank; k++) {
        a.dims[k] = f->spec[k].out;
        if (any[k]) a.outside[k] = t->outside[k], some = true;
    }
    if (!some) return MR_OK;
    if (crop && d == MR_STRING)
        return mr_call_fail(c, MR_E_NODE_VALUE, "extrapolation_value %g has no place among strings", p->extrapolation);
    if (crop) c->cpu->resize.round[part_type(d)](&p->extrapolation, 1, part_type(d), value);
    c->cpu->resize.fill[mr_size_index(mr_dtype_size(d))](&a);
    return MR_OK;
}

static mr_status copy(mr_call *c)
{
    memcpy(c->out[0].t->data, c->in[0].t->data, mr_tensor_bytes(c->in[0].t));
    return MR_OK;
}

static mr_status run_nearest(mr_call *c)
{
    const resize_params *p = c->params;
    frame f;
    tables t;
    bool any[MR_MAX_RANK] = {false};
    mr_status st = frame_of(c, &f);
    if (st || mr_tensor_count(c->out[0].t) == 0) return st;
    lay_out(c, &f, 1, false, c->scratch, &t);
    mr_nearest_args a = {.x = c->in[0].t->data,
                         .y = c->out[0].t->data,
                         .rank = line_axis(&f) + 1,
                         .inner = frame_inner(&f),
                         .pool = c->pool};
    if (f.same[a.rank - 1]) return copy(c);
    for (int k = 0; k < a.rank; k++) {
        a.dims[k] = f.spec[k].out, a.stride[k] = f.stride[k];
        if (f.same[k]) continue;
        any[k] = mr_resize_table(&p->rule, &f.spec[k], f.stride[k], t.at[k], NULL, t.outside[k]);
        a.at[k] = t.at[k];
    }
    ((void (*)(const mr_nearest_args *))c->fn)(&a);
    return fill(c, &f, any, &t);
}

static mr_status run_lines(mr_call *c)
{
    const resize_params *p = c->params;
    const mr_dtype d = mr_in_dtype(c, 0);
    frame f;
    tables t;
    bool any[MR_MAX_RANK] = {false};
    mr_status st = frame_of(c, &f);
    if (st || mr_tensor_count(c->out[0].t) == 0) return st;
    const int axes = line_axis(&f) + 1, n = components(d);
    if (f.same[axes - 1]) return copy(c);
    lay_out(c, &f, n, true, c->scratch, &t);
    mr_resize_args a = {.x = c->in[0].t->data,
                        .y = c->out[0].t->data,
                        .type = part_type(d),
                        .rank = axes,
                        .inner = frame_inner(&f) * n,
                        .parts = MR_RESIZE_PARTS,
                        .room = t.room,
                        .pool = c->pool};
    for (int k = 0; k < axes; k++) {
        a.axis[k] = (mr_resize_axis){f.spec[k].in, f.spec[k].out, 1, f.stride[k] * n, NULL, NULL};
        if (f.same[k]) continue;
        any[k] = mr_resize_table(&p->rule, &f.spec[k], a.axis[k].stride, t.at[k], t.weight[k], t.outside[k]);
        a.axis[k].taps = mr_resize_taps(&p->rule, &f.spec[k]);
        a.axis[k].at = t.at[k], a.axis[k].weight = t.weight[k];
    }
    ((void (*)(const mr_resize_args *))c->fn)(&a);
    return fill(c, &f, any, &t);
}

/* ---- rows ---- */

static mr_fn have_nearest(const mr_call *c)
{
    return MR_SLOT_BY_SIZE(c->cpu->resize.nearest, mr_in_dtype(c, 0));
}
static mr_fn have_lines(const mr_call *c)
{
    return MR_SLOT(c->cpu->resize.resize, part_type(mr_in_dtype(c, 0)));
}

static bool is_nearest(const mr_call *c, const void *params)
{
    (void)c;
    return ((const resize_params *)params)->rule.mode == MR_RESIZE_NEAREST;
}

static const mr_cond nearest = {"mode == nearest", is_nearest, 0, NULL};

static const mr_impl impls[] = {
    {.name = "resize_nearest_cpu",
     .have = have_nearest,
     .conds = MR_WHEN(&nearest),
     .run = run_nearest,
     .scratch = scratch_nearest},
    {.name = "resize_cpu", .have = have_lines, .run = run_lines, .scratch = scratch_lines},
    {0},
};

#define RESIZE(op, since, until, read)                                                                                 \
    {                                                                                                                  \
        "", op, since, until, sizeof(resize_params), read, infer, impls, 0, NULL, NULL                                 \
    }

const mr_op mr_ops_resize[] = {
    RESIZE("Upsample", 1, 6, read_upsample_1),
    RESIZE("Upsample", 7, 8, read_upsample_7),
    RESIZE("Upsample", 9, 0, read_scales_in),
    RESIZE("Resize", 10, 10, read_scales_in),
    RESIZE("Resize", 11, 17, read_11),
    RESIZE("Resize", 18, 0, read_18),
    {0},
};

/* grid.c: GridSample, AffineGrid. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/wide.h"
#include "ops/rules.h"
#include "ops/sizes.h"

#include <string.h>

typedef struct grid_params {
    mr_grid_mode mode;
    mr_grid_padding padding;
    bool align_corners;
} grid_params;

static void read(mr_reader *r, void *params)
{
    static const char *const modes[] = {"nearest", "linear", "cubic", NULL};
    static const char *const modes_16[] = {"nearest", "bilinear", "bicubic", NULL};
    static const char *const paddings[] = {"zeros", "border", "reflection", NULL};
    grid_params *p = params;
    p->mode = (mr_grid_mode)mr_read_enum(r, "mode", mr_read_version(r) < 20 ? modes_16 : modes, MR_GRID_LINEAR);
    p->padding = (mr_grid_padding)mr_read_enum(r, "padding_mode", paddings, MR_GRID_ZEROS);
    p->align_corners = mr_read_int(r, "align_corners", 0);
}

static mr_status infer(mr_call *c)
{
    const mr_shape *x = &c->in[0].shape, *grid = &c->in[1].shape;
    const grid_params *p = c->params;
    const bool planes_only = mr_call_version(c) < 20;
    int lo = planes_only ? 4 : 3, rank = x->rank >= 0 ? x->rank : grid->rank;
    mr_status st = mr_want_rank(c, 0, lo, planes_only ? 4 : MR_MAX_RANK);
    if (!st) st = rank >= 0 ? mr_want_rank(c, 1, rank, rank) : MR_OK;
    mr_shape y = mr_shape_of_rank(rank);
    if (st || rank < 0) return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, 0), &y);
    if (x->rank >= 0) y.d[1] = x->d[1];
    for (int d = 2; d < rank && grid->rank >= 0; d++) y.d[d] = grid->d[d - 1];
    st = mr_want_dim(c, x->rank >= 0 ? x->d[0] : MR_DIM_UNKNOWN, grid->rank >= 0 ? grid->d[0] : MR_DIM_UNKNOWN,
                     "the batches of X and grid", &y.d[0]);
    if (!st && grid->rank >= 0 && grid->d[rank - 1] >= 0 && grid->d[rank - 1] != rank - 2)
        st = mr_call_fail_in(c, MR_E_SHAPES, 1,
                             "expected %d coordinates in the last axis, one for each spatial axis of X", rank - 2);
    bool empty = false;
    for (int d = 2; d < x->rank; d++) empty |= x->d[d] == 0;
    if (!st && empty && mr_shape_some(&y) && p->padding != MR_GRID_ZEROS)
        st = mr_call_fail_in(c, MR_E_SHAPES, 0, "has no elements to take");
    return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, 0), &y);
}

static mr_dtype part_type(mr_dtype d)
{
    return d == MR_C64 ? MR_F32 : d == MR_C128 ? MR_F64 : d;
}

static bool has_grid(const mr_call *c)
{
    return mr_wide_kind_of(mr_in_dtype(c, 1)) == MR_WIDE_F64;
}

static mr_fn have_nearest(const mr_call *c)
{
    return has_grid(c) ? MR_SLOT_BY_SIZE(c->cpu->grid.nearest, mr_in_dtype(c, 0)) : NULL;
}

static mr_fn have_interpolate(const mr_call *c)
{
    return has_grid(c) ? MR_SLOT(c->cpu->grid.interpolate, part_type(mr_in_dtype(c, 0))) : NULL;
}

static mr_status run(mr_call *c)
{
    const grid_params *p = c->params;
    const mr_tensor *x = c->in[0].t, *grid = c->in[1].t;
    mr_grid_args a = {.x = x->data,
                      .grid = grid->data,
                      .y = c->out[0].t->data,
                      .type = part_type(x->dtype),
                      .grid_type = grid->dtype,
                      .batch = x->dims[0],
                      .channels = x->dims[1],
                      .places = mr_dims_product(grid->dims, 1, grid->rank - 1),
                      .rank = x->rank - 2,
                      .components = p->mode != MR_GRID_NEAREST && part_type(x->dtype) != x->dtype ? 2 : 1,
                      .mode = p->mode,
                      .padding = p->padding,
                      .align_corners = p->align_corners,
                      .pool = c->pool};
    memcpy(a.dims, x->dims + 2, sizeof *a.dims * (size_t)a.rank);
    ((void (*)(const mr_grid_args *))c->fn)(&a);
    return MR_OK;
}

/* ---- AffineGrid ---- */

static void read_affine(mr_reader *r, void *params)
{
    ((grid_params *)params)->align_corners = mr_read_int(r, "align_corners", 0);
}

static mr_status infer_affine(mr_call *c)
{
    mr_dim size[MR_MAX_RANK];
    int n = -1;
    const mr_shape *theta = &c->in[0].shape;
    mr_status st = mr_want_rank(c, 0, 3, 3);
    if (!st) st = mr_want_rank(c, 1, 1, 1);
    if (!st) st = mr_in_dims(c, 1, size, &n);
    mr_shape s = n > 0 ? mr_shape_of_rank(n) : mr_shape_unknown();
    if (st || n < 0) return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
    if (n != 4 && n != 5) return mr_call_fail_in(c, MR_E_SHAPES, 1, "expected 4 or 5 elements, got %d", n);
    for (int d = 2; d < n; d++) s.d[d - 1] = size[d];
    s.d[n - 1] = n - 2;
    for (int d = 0; d < n; d++)
        if (c->in[1].t && size[d] < 0)
            return mr_call_fail_in(c, MR_E_NODE_VALUE, 1, "size %lld is negative", (long long)size[d]);
    if (theta->rank == 3) {
        if ((theta->d[1] >= 0 && theta->d[1] != n - 2) || (theta->d[2] >= 0 && theta->d[2] != n - 1))
            return mr_call_fail_in(c, MR_E_SHAPES, 0, "expected matrices of %d x %d, as size has %d elements", n - 2,
                                   n - 1, n);
        st = mr_want_dim(c, theta->d[0], size[0], "the batches of theta and size", &s.d[0]);
    }
    return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
}

static mr_fn have_affine(const mr_call *c)
{
    return MR_SLOT(c->cpu->grid.affine, mr_in_dtype(c, 0));
}

static mr_status run_affine(mr_call *c)
{
    const grid_params *p = c->params;
    const mr_tensor *y = c->out[0].t;
    mr_affine_grid_args a = {.theta = c->in[0].t->data,
                             .grid = y->data,
                             .type = y->dtype,
                             .batch = y->dims[0],
                             .rank = y->rank - 2,
                             .align_corners = p->align_corners};
    memcpy(a.dims, y->dims + 1, sizeof *a.dims * (size_t)a.rank);
    ((void (*)(const mr_affine_grid_args *))c->fn)(&a);
    return MR_OK;
}

static bool is_nearest(const mr_call *c, const void *params)
{
    (void)c;
    return ((const grid_params *)params)->mode == MR_GRID_NEAREST;
}

static const mr_cond nearest = {"mode == nearest", is_nearest, 0, NULL};

static const mr_impl sample[] = {
    {.name = "grid_nearest_cpu", .have = have_nearest, .conds = MR_WHEN(&nearest), .run = run},
    {.name = "grid_interpolate_cpu", .have = have_interpolate, .run = run},
    {0},
};
static const mr_impl affine[] = {{.name = "affine_grid_cpu", .have = have_affine, .run = run_affine}, {0}};

const mr_op mr_ops_grid[] = {
    {"", "GridSample", 16, 0, sizeof(grid_params), read, infer, sample, 0, NULL, NULL},
    {"com.microsoft", "GridSample", 1, 0, sizeof(grid_params), read, infer, sample, 0, NULL, NULL},
    {"", "AffineGrid", 20, 0, sizeof(grid_params), read_affine, infer_affine, affine, 0, NULL, NULL},
    {0},
};

/* col2im.c: Col2Im. */
#include "kernels/cpu/cpu.h"
#include "ops/rules.h"

typedef struct col2im_params {
    int n_strides, n_dilations, n_pads; /* -1: not given */
    const int64_t *strides, *dilations, *pads;
} col2im_params;

static void want_at_least(mr_reader *r, const char *name, const int64_t *v, int n, int64_t least)
{
    for (int i = 0; i < n; i++)
        if (v[i] < least)
            mr_read_fail(r, MR_E_ATTRIBUTE, "attribute %s has %lld, expected %lld or more", name, (long long)v[i],
                         (long long)least);
}

static void read(mr_reader *r, void *params)
{
    col2im_params *p = params;
    p->n_strides = mr_read_ints(r, "strides", &p->strides);
    p->n_dilations = mr_read_ints(r, "dilations", &p->dilations);
    p->n_pads = mr_read_ints(r, "pads", &p->pads);
    want_at_least(r, "strides", p->strides, p->n_strides, 1);
    want_at_least(r, "dilations", p->dilations, p->n_dilations, 1);
    want_at_least(r, "pads", p->pads, p->n_pads, 0);
}

static mr_status want_values(mr_call *c, const char *name, int got, int want)
{
    if (got < 0 || got == want) return MR_OK;
    return mr_call_fail(c, MR_E_SHAPES, "attribute %s has %d values, needs %d", name, got, want);
}

/* Along axis d of n: where a block can begin. */
static int64_t blocks_of(const mr_call *c, int d, int n, int64_t image, int64_t block)
{
    const col2im_params *p = c->params;
    int64_t stride = p->n_strides < 0 ? 1 : p->strides[d], dilation = p->n_dilations < 0 ? 1 : p->dilations[d];
    __int128 pads = p->n_pads < 0 ? 0 : (__int128)p->pads[d] + p->pads[n + d];
    __int128 room = image + pads - (__int128)dilation * (block - 1) - 1;
    return room < 0 ? 0 : room >= INT64_MAX ? INT64_MAX : (int64_t)(room / stride + 1);
}

/* The axes, as far as the two shapes are known (extents of -1: unknown), and their number n, -1: unknown. */
static mr_status axes_of(mr_call *c, mr_col2im_axis *axis, int *n)
{
    const col2im_params *p = c->params;
    mr_dim image[MR_MAX_RANK], block[MR_MAX_RANK];
    int blocks = -1;
    mr_status st = mr_want_rank(c, 1, 0, 1);
    if (!st) st = mr_want_rank(c, 2, 0, 1);
    if (!st) st = mr_in_dims(c, 1, image, n);
    if (!st) st = mr_in_dims(c, 2, block, &blocks);
    if (st) return st;
    if (*n >= 0 && blocks >= 0 && *n != blocks)
        return mr_call_fail(c, MR_E_SHAPES, "image_shape has %d elements, block_shape has %d", *n, blocks);
    for (int d = *n < 0 ? 0 : *n; d < blocks; d++) image[d] = MR_DIM_UNKNOWN;
    for (int d = blocks < 0 ? 0 : blocks; d < *n; d++) block[d] = MR_DIM_UNKNOWN;
    if (*n < 0) *n = blocks;
    if (*n > MR_MAX_RANK - 2)
        return mr_call_fail_in(c, MR_E_RANK, 1, "the image would have %d dimensions; minirt's tensors have at most %d",
                               *n + 2, MR_MAX_RANK);
    if (*n >= 0) st = want_values(c, "strides", p->n_strides, *n);
    if (!st && *n >= 0) st = want_values(c, "dilations", p->n_dilations, *n);
    if (!st && *n >= 0) st = want_values(c, "pads", p->n_pads, 2 * *n);
    for (int d = 0; d < *n && !st; d++) {
        mr_col2im_axis *a = &axis[d];
        *a = (mr_col2im_axis){image[d],
                              block[d],
                              -1,
                              p->n_strides < 0 ? 1 : p->strides[d],
                              p->n_dilations < 0 ? 1 : p->dilations[d],
                              p->n_pads < 0 ? 0 : p->pads[d]};
        if ((c->in[1].t && image[d] < 0) || (c->in[2].t && block[d] < 1))
            return mr_call_fail(c, MR_E_NODE_VALUE, "axis %d: an image of %lld elements, a block of %lld", d,
                                (long long)image[d], (long long)block[d]);
        if (image[d] >= 0 && block[d] >= 0) a->blocks = blocks_of(c, d, *n, image[d], block[d]);
    }
    return st;
}

/* What is not known of the image or of the block has bounds: an image may be empty, a block has 1 to as many elements
 * as there are rows. */
static mr_status want_room(mr_call *c, const mr_col2im_axis *axis, int n)
{
    const mr_shape *x = &c->in[0].shape;
    mr_dim least = 1, most = 1;
    if (x->rank < 0 || x->d[1] < 1 || x->d[2] < 1) return MR_OK;
    for (int d = 0; d < n; d++) {
        int64_t image = axis[d].image, block = axis[d].block;
        int64_t low = blocks_of(c, d, n, image < 0 ? 0 : image, block < 0 ? x->d[1] : block);
        least = mr_dim_mul(least, low > 1 ? low : 1);
        most = mr_dim_mul(most, image < 0 ? MR_DIM_UNKNOWN : blocks_of(c, d, n, image, block < 0 ? 1 : block));
    }
    if (least <= x->d[2] && (most < 0 || most >= x->d[2])) return MR_OK;
    return mr_call_fail_in(c, MR_E_SHAPES, 0, "has %lld blocks, the image gives %lld at %s", (long long)x->d[2],
                           (long long)(least > x->d[2] ? least : most), least > x->d[2] ? "least" : "most");
}

/* A product that no shape has counts as INT64_MAX, so that it differs from all that are. */
static mr_dim times(mr_dim a, mr_dim b)
{
    mr_dim product = mr_dim_mul(a, b);
    return product < 0 && a >= 0 && b >= 0 ? INT64_MAX : product;
}

static mr_status want_blocks(mr_call *c, const mr_col2im_axis *axis, int n, mr_dim *channels)
{
    const mr_shape *x = &c->in[0].shape;
    mr_dim blocks = 1, taps = 1;
    for (int d = 0; d < n; d++) blocks = times(blocks, axis[d].blocks), taps = times(taps, axis[d].block);
    *channels = MR_DIM_UNKNOWN;
    if (x->rank < 0) return MR_OK;
    if (taps > 0 && x->d[1] >= 0) {
        if (x->d[1] % taps)
            return mr_call_fail_in(c, MR_E_SHAPES, 0, "%lld rows are not a multiple of the %lld elements of a block",
                                   (long long)x->d[1], (long long)taps);
        *channels = x->d[1] / taps;
    }
    if (blocks >= 0 && x->d[2] >= 0 && blocks != x->d[2])
        return mr_call_fail_in(c, MR_E_SHAPES, 0, "has %lld blocks, the image gives %lld", (long long)x->d[2],
                               (long long)blocks);
    return MR_OK;
}

static mr_status infer(mr_call *c)
{
    mr_col2im_axis axis[MR_MAX_RANK] = {{.image = -1, .block = -1, .blocks = -1}};
    int n = -1;
    for (int d = 1; d < MR_MAX_RANK; d++) axis[d] = axis[0];
    mr_status st = mr_want_rank(c, 0, 3, 3);
    if (!st) st = axes_of(c, axis, &n);
    mr_shape y = n < 0 ? mr_shape_unknown() : mr_shape_of_rank(n + 2);
    if (!st && n >= 0) {
        st = want_blocks(c, axis, n, &y.d[1]);
        if (!st) st = want_room(c, axis, n);
        y.d[0] = c->in[0].shape.rank < 0 ? MR_DIM_UNKNOWN : c->in[0].shape.d[0];
        for (int d = 0; d < n; d++) y.d[d + 2] = axis[d].image;
    }
    return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, 0), &y);
}

static mr_fn have(const mr_call *c)
{
    return MR_SLOT(c->cpu->col2im.col2im, mr_in_dtype(c, 0));
}

static mr_status run(mr_call *c)
{
    const mr_tensor *y = c->out[0].t;
    mr_col2im_args a = {.x = c->in[0].t->data,
                        .y = y->data,
                        .planes = y->dims[0] * y->dims[1],
                        .components = y->dtype == MR_C64 || y->dtype == MR_C128 ? 2 : 1,
                        .pool = c->pool};
    mr_status st = axes_of(c, a.axis, &a.rank);
    if (!st) ((void (*)(const mr_col2im_args *))c->fn)(&a);
    return st;
}

static const mr_impl impls[] = {{.name = "col2im_cpu", .have = have, .run = run}, {0}};

const mr_op mr_ops_col2im[] = {
    {"", "Col2Im", 18, 0, sizeof(col2im_params), read, infer, impls, 0, NULL, NULL},
    {0},
};

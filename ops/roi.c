/* roi.c: RoiAlign, MaxRoiPool. */
#include "kernels/cpu/cpu.h"
#include "ops/rules.h"

#include <math.h>

typedef struct roi_params {
    int64_t height, width, samples;
    double scale;
    bool half_pixel, max;
} roi_params;

/* Of a bin: a roi of absurd size would sample for hours. */
#define MOST_SAMPLES 0x1p31

static void want_positive(mr_reader *r, const roi_params *p)
{
    if (p->height < 1 || p->width < 1)
        mr_read_fail(r, MR_E_ATTRIBUTE, "an output of %lld x %lld has no elements", (long long)p->height,
                     (long long)p->width);
}

static void read_align(mr_reader *r, void *params)
{
    static const char *const modes[] = {"avg", "max", NULL};
    static const char *const coordinates[] = {"output_half_pixel", "half_pixel", NULL};
    roi_params *p = params;
    p->height = mr_read_int(r, "output_height", 1);
    p->width = mr_read_int(r, "output_width", 1);
    p->samples = mr_read_int(r, "sampling_ratio", 0);
    p->scale = mr_read_float(r, "spatial_scale", 1);
    p->max = mr_read_enum(r, "mode", modes, 0);
    p->half_pixel = mr_read_version(r) >= 16 && mr_read_enum(r, "coordinate_transformation_mode", coordinates, 1);
    want_positive(r, p);
    if ((double)p->samples * (double)p->samples > MOST_SAMPLES)
        mr_read_fail(r, MR_E_ATTRIBUTES, "attribute sampling_ratio = %lld: a bin takes at most 2^31 samples",
                     (long long)p->samples);
    if (p->samples < 0)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute sampling_ratio = %lld is negative", (long long)p->samples);
}

static void read_pool(mr_reader *r, void *params)
{
    roi_params *p = params;
    const int64_t *shape;
    int n = mr_read_ints(r, "pooled_shape", &shape);
    p->scale = mr_read_float(r, "spatial_scale", 1);
    if (n != 2)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute pooled_shape has %d values, needs 2", n);
    else
        p->height = shape[0], p->width = shape[1], want_positive(r, p);
}

static mr_status infer_rois(mr_call *c, int columns)
{
    const roi_params *p = c->params;
    const mr_shape *x = &c->in[0].shape, *rois = &c->in[1].shape;
    mr_status st = mr_want_rank(c, 0, 4, 4);
    if (!st) st = mr_want_rank(c, 1, 2, 2);
    if (st) return st;
    if (rois->rank == 2 && rois->d[1] >= 0 && rois->d[1] != columns)
        return mr_call_fail_in(c, MR_E_SHAPES, 1, "expected %d numbers for each roi, got %lld", columns,
                               (long long)rois->d[1]);
    if (x->rank == 4 && x->d[0] == 0 && mr_shape_some(rois))
        return mr_call_fail_in(c, MR_E_SHAPES, 0, "has no batch that a roi could be of");
    mr_shape y = {.rank = 4, .d = {MR_DIM_UNKNOWN, MR_DIM_UNKNOWN, p->height, p->width}};
    if (rois->rank == 2) y.d[0] = rois->d[0];
    if (x->rank == 4) y.d[1] = x->d[1];
    return mr_out_tensor(c, 0, mr_in_dtype(c, 0), &y);
}

static mr_status outside(mr_call *c, int i, int64_t roi, double batch)
{
    return mr_call_fail_in(c, MR_E_NODE_VALUE, i, "roi %lld is of batch %g, outside [0,%lld]", (long long)roi, batch,
                           (long long)c->in[0].shape.d[0] - 1);
}

static mr_status want_batch(mr_call *c)
{
    const int64_t *batch = c->in[2].t->data;
    for (int64_t i = 0, n = mr_tensor_count(c->in[2].t); i < n; i++)
        if (batch[i] < 0 || batch[i] >= c->in[0].shape.d[0]) return outside(c, 2, i, (double)batch[i]);
    return MR_OK;
}

static mr_status infer_align(mr_call *c)
{
    mr_status st = infer_rois(c, 4);
    if (!st) st = mr_want_rank(c, 2, 1, 1);
    if (!st && c->in[2].t && c->in[0].shape.rank == 4 && c->in[0].shape.d[0] >= 0) st = want_batch(c);
    if (st || c->in[2].shape.rank < 0) return st;
    return mr_want_dim(c, c->out[0].shape.d[0], c->in[2].shape.d[0], "the numbers of rois and batch_indices",
                       &c->out[0].shape.d[0]);
}

/* The first number of each roi. */
static mr_status want_batch_column(mr_call *c)
{
    const mr_tensor *rois = c->in[1].t;
    for (int64_t i = 0; i < rois->dims[0]; i++) {
        double batch = mr_tensor_real(rois, 5 * i);
        if (batch < 0 || batch >= (double)c->in[0].shape.d[0]) return outside(c, 1, i, batch);
    }
    return MR_OK;
}

static mr_status infer_pool(mr_call *c)
{
    mr_status st = infer_rois(c, 5);
    if (!st && c->in[1].t && c->in[0].shape.rank == 4 && c->in[0].shape.d[0] >= 0) st = want_batch_column(c);
    return st;
}

static mr_roi_args args_of(const mr_call *c)
{
    const roi_params *p = c->params;
    const mr_tensor *x = c->in[0].t, *rois = c->in[1].t;
    return (mr_roi_args){.x = x->data,
                         .rois = rois->data,
                         .y = c->out[0].t->data,
                         .n = rois->dims[0],
                         .channels = x->dims[1],
                         .height = x->dims[2],
                         .width = x->dims[3],
                         .out_height = p->height,
                         .out_width = p->width,
                         .scale = p->scale,
                         .samples = p->samples,
                         .half_pixel = p->half_pixel,
                         .max = p->max,
                         .pool = c->pool};
}

static mr_status want_finite(mr_call *c)
{
    const mr_tensor *rois = c->in[1].t;
    for (int64_t i = 0; i < mr_tensor_count(rois); i++)
        if (!isfinite(mr_tensor_real(rois, i)))
            return mr_call_fail_in(c, MR_E_NODE_VALUE, 1, "roi %lld: number %lld is not finite",
                                   (long long)(i / rois->dims[1]), (long long)(i % rois->dims[1]));
    return MR_OK;
}

static mr_status want_samples(mr_call *c, const mr_roi_args *a)
{
    for (int64_t i = 0; i < a->n; i++) {
        const mr_tensor *r = c->in[1].t;
        mr_roi_axis w = mr_roi_axis_of(a, mr_tensor_real(r, 4 * i), mr_tensor_real(r, 4 * i + 2), a->out_width);
        mr_roi_axis h = mr_roi_axis_of(a, mr_tensor_real(r, 4 * i + 1), mr_tensor_real(r, 4 * i + 3), a->out_height);
        if ((double)w.samples * (double)h.samples > MOST_SAMPLES)
            return mr_call_fail_in(c, MR_E_NODE_VALUE, 1, "roi %lld would take %.3g samples in each bin", (long long)i,
                                   (double)w.samples * (double)h.samples);
    }
    return MR_OK;
}

static mr_status run_align(mr_call *c)
{
    mr_roi_args a = args_of(c);
    a.batch = c->in[2].t->data;
    mr_status st = want_finite(c);
    if (!st) st = want_batch(c);
    if (!st) st = want_samples(c, &a);
    if (!st) ((mr_roi_fn *)c->fn)(&a);
    return st;
}

static mr_status run_pool(mr_call *c)
{
    mr_roi_args a = args_of(c);
    mr_status st = want_finite(c);
    if (!st) st = want_batch_column(c);
    if (!st) ((mr_roi_fn *)c->fn)(&a);
    return st;
}

static mr_fn have_align(const mr_call *c)
{
    return MR_SLOT(c->cpu->roi.align, mr_in_dtype(c, 0));
}
static mr_fn have_pool(const mr_call *c)
{
    return MR_SLOT(c->cpu->roi.max_pool, mr_in_dtype(c, 0));
}

static const mr_impl align[] = {{.name = "roi_align_cpu", .have = have_align, .run = run_align}, {0}};
static const mr_impl pool[] = {{.name = "roi_max_pool_cpu", .have = have_pool, .run = run_pool}, {0}};

const mr_op mr_ops_roi[] = {
    {"", "RoiAlign", 10, 0, sizeof(roi_params), read_align, infer_align, align, 0, NULL, NULL},
    {"", "MaxRoiPool", 1, 0, sizeof(roi_params), read_pool, infer_pool, pool, 0, NULL, NULL},
    {0},
};

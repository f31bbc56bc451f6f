/* nms.c: NonMaxSuppression. */
#include "kernels/cpu/cpu.h"
#include "ops/rules.h"

#include <string.h>

typedef struct nms_params {
    bool center;
} nms_params;

static void read(mr_reader *r, void *params)
{
    nms_params *p = params;
    int64_t center = mr_read_int(r, "center_point_box", 0);
    p->center = center == 1;
    if (center != 0 && center != 1)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute center_point_box = %lld: the operator defines 0 and 1",
                     (long long)center);
}

/* A number, or an empty tensor, as if it were not given. */
static mr_status want_scalar(mr_call *c, int i)
{
    return mr_in_has(c, i) && mr_in_count(c, i) != 0 ? mr_want_one(c, i) : MR_OK;
}

/* False: it is not given, or not known yet. */
static bool scalar(const mr_call *c, int i, double *v)
{
    if (!mr_in_has(c, i) || !c->in[i].t || mr_tensor_count(c->in[i].t) == 0) return false;
    *v = mr_tensor_real(c->in[i].t, 0);
    return true;
}

static mr_status want_iou(mr_call *c)
{
    double iou;
    if (!scalar(c, 3, &iou) || (iou >= 0 && iou <= 1)) return MR_OK;
    return mr_call_fail_in(c, MR_E_NODE_VALUE, 3, "%g is outside [0,1]", iou);
}

static mr_status infer(mr_call *c)
{
    const mr_shape *boxes = &c->in[0].shape, *scores = &c->in[1].shape;
    mr_status st = mr_want_rank(c, 0, 3, 3);
    if (!st) st = mr_want_rank(c, 1, 3, 3);
    if (st) return st;
    if (boxes->rank == 3 && boxes->d[2] >= 0 && boxes->d[2] != 4)
        return mr_call_fail_in(c, MR_E_SHAPES, 0, "expected 4 numbers for each box, got %lld", (long long)boxes->d[2]);
    if (boxes->rank == 3 && scores->rank == 3) {
        if (boxes->d[1] >= 0 && scores->d[2] >= 0 && boxes->d[1] != scores->d[2])
            return mr_call_fail(c, MR_E_SHAPES, "boxes has %lld boxes, scores has %lld", (long long)boxes->d[1],
                                (long long)scores->d[2]);
        st = mr_want_dim(c, boxes->d[0], scores->d[0], "the batches of boxes and scores", NULL);
    }
    mr_shape y = {.rank = 2, .d = {MR_DIM_UNKNOWN, 3}};
    for (int i = 2; i < c->n_in && !st; i++) st = want_scalar(c, i);
    if (!st) st = want_iou(c);
    return st ? st : mr_out_tensor(c, 0, MR_I64, &y);
}

static mr_fn have(const mr_call *c)
{
    return MR_SLOT(c->cpu->nms.nms, mr_in_dtype(c, 1));
}

/* Corners in order: a box may be given by any two that lie across. */
static void take_boxes(const mr_tensor *t, int64_t batch, bool center, mr_nms_box *boxes)
{
    for (int64_t i = 0; i < t->dims[1]; i++) {
        double v[4];
        for (int k = 0; k < 4; k++) v[k] = mr_tensor_real(t, (batch * t->dims[1] + i) * 4 + k);
        if (center) {
            boxes[i] = (mr_nms_box){v[0] - v[2] / 2, v[1] - v[3] / 2, v[0] + v[2] / 2, v[1] + v[3] / 2};
        } else {
            bool x = v[1] > v[3], y = v[0] > v[2];
            boxes[i] = (mr_nms_box){v[x ? 3 : 1], v[y ? 2 : 0], v[x ? 1 : 3], v[y ? 0 : 2]};
        }
    }
}

/* Boxes, the order of candidates, and what was selected of a class. */
static size_t scratch(const mr_call *c)
{
    return (size_t)c->in[0].shape.d[1] * (sizeof(mr_nms_box) + 2 * sizeof(int64_t));
}

/* Rows of [batch, class, box]; NULL: out of memory. */
static mr_value *rows_of(const int64_t *rows, int64_t n)
{
    const int64_t dims[] = {n, 3};
    mr_value *v = mr_value_tensor(MR_I64, 2, dims);
    if (v && n) memcpy(v->t.data, rows, (size_t)n * 3 * sizeof *rows);
    return v;
}

static mr_status select_all(mr_call *c, mr_nms_args *a)
{
    const nms_params *p = c->params;
    const mr_tensor *boxes = c->in[0].t, *scores = c->in[1].t;
    const int64_t classes = scores->dims[1], size = (int64_t)mr_dtype_size(scores->dtype);
    const int64_t most = a->n < a->most ? a->n : a->most;
    int64_t n = 0, *rows = mr_call_alloc(c, (size_t)(boxes->dims[0] * classes * most) * 3 * sizeof *rows);
    if (!rows) return c->error->status;
    for (int64_t b = 0; b < boxes->dims[0]; b++) {
        take_boxes(boxes, b, p->center, (mr_nms_box *)c->scratch);
        for (int64_t k = 0; k < classes; k++) {
            a->scores = (const char *)scores->data + (b * classes + k) * a->n * size;
            int64_t kept = ((int64_t(*)(const mr_nms_args *))c->fn)(a);
            for (int64_t i = 0; i < kept; i++, n++) rows[3 * n] = b, rows[3 * n + 1] = k, rows[3 * n + 2] = a->kept[i];
        }
    }
    return mr_call_set_value(c, 0, rows_of(rows, n));
}

static mr_status run(mr_call *c)
{
    mr_nms_args a = {.n = c->in[0].t->dims[1], .boxes = c->scratch};
    double most = 0;
    mr_status st = want_iou(c);
    if (st) return st;
    scalar(c, 2, &most);
    scalar(c, 3, &a.iou_threshold);
    a.by_score = scalar(c, 4, &a.score_threshold);
    a.most = most < 0 ? 0 : most < 0x1p62 ? (int64_t)most : INT64_MAX;
    a.order = (int64_t *)((mr_nms_box *)c->scratch + a.n);
    a.kept = a.order + a.n;
    return select_all(c, &a);
}

static const mr_impl impls[] = {{.name = "nms_cpu", .have = have, .run = run, .scratch = scratch}, {0}};

const mr_op mr_ops_nms[] = {
    {"", "NonMaxSuppression", 10, 0, sizeof(nms_params), read, infer, impls, MR_OP_OWN_OUTPUT, NULL, NULL},
    {0},
};

/* elementwise.c: kernels of elementwise.h, over lengths around the vectors and all the ways in which operands lie. */
#include <stdio.h>
#include <string.h>

#include "tests/kernels/checker.h"

typedef enum layout {
    DENSE,   /* all alike, without gaps */
    GAPS,    /* rows apart by more than their length */
    STILL,   /* one operand is one element */
    COLUMN,  /* one operand is one element a row */
    ROW,     /* one operand is one row for all */
    TURNED,  /* the first operand is transposed */
    APART,   /* its elements are not neighbours */
    IN_PLACE /* the output is the first operand */
} layout;

static const char *const names[] = {"dense", "gaps", "still", "column", "row", "turned", "apart", "in place"};

typedef struct shape {
    const ck_each *each;
    layout layout;
    int which; /* operand that is not like the others */
    int64_t rows, cols;
} shape;

typedef struct job {
    mr_elementwise j;
    mr_operand in[6];
    const shape *s;
    const void *first; /* in place: what the first operand holds */
} job;

static size_t size_of(const ck_each *e, int i)
{
    return e->size[i] ? e->size[i] : mr_dtype_size(e->in[i]);
}

static void run(ck *c, void *arg, const mr_cpu_fns *t, void *const *y)
{
    job *k = arg;
    const shape *s = k->s;
    mr_operand in[6];
    mr_elementwise j = k->j; /* it is simplified where it stands */
    memcpy(in, k->in, sizeof in);
    j.in = in;
    j.out.data = y[0];
    if (s->layout == IN_PLACE) {
        memcpy(y[0], k->first, (size_t)(s->rows * s->cols) * j.out.size);
        in[0].data = y[0];
    }
    mr_elementwise_run(&j, *(const mr_elementwise_fn *)((const char *)t + s->each->slot), c->pool);
}

/* Strides of operand i, and how many elements it spans. */
static int64_t lay(const shape *s, int i, int64_t *strides)
{
    int64_t rows = s->rows, cols = s->cols, row = cols, col = 1;
    const layout l = s->layout == STILL || s->layout == COLUMN || s->layout == ROW
                         ? (i == s->which || (s->each->freedom == CK_STEADY && i > 0) ? s->layout : DENSE)
                         : s->layout;
    if (l == GAPS) row = cols + 3 + i;
    if (l == STILL) row = col = 0;
    if (l == COLUMN) row = 1, col = 0;
    if (l == ROW) row = 0;
    if (l == TURNED && i == 0) row = 1, col = rows;
    if (l == APART && i == 0) row = 2 * cols, col = 2;
    strides[0] = row, strides[1] = col;
    return rows && cols ? (rows - 1) * row + (cols - 1) * col + 1 : 0;
}

static void one(ck *c, const void *arg)
{
    const shape *s = arg;
    const ck_each *e = s->each;
    job k = {.s = s};
    mr_elementwise *j = &k.j;
    *j = (mr_elementwise){.rank = 2, .dims = {s->rows, s->cols}, .n_in = e->n_in, .params = e->params};
    double bytes = 0;
    for (int i = 0; i < e->n_in; i++) {
        int64_t n = lay(s, i, k.in[i].strides);
        k.in[i].data = ck_values_in(c, e->in[i], n, e->values[i]);
        k.in[i].size = size_of(e, i);
        bytes += (double)n * (double)k.in[i].size;
    }
    k.first = k.in[0].data;
    j->out = (mr_operand){.size = mr_dtype_size(e->out), .strides = {s->cols, 1}};
    ck_case(c, "%s%s%.0d %lld x %lld", names[s->layout], s->which ? " operand " : "", s->which, (long long)s->rows,
            (long long)s->cols);
    ck_work(c, 0, bytes + (double)(s->rows * s->cols) * (double)j->out.size);
    ck_output o = {e->out, s->rows * s->cols, e->rule, e->ulps, e->floor, NULL, e->tail};
    ck_verify(c, &(ck_call){.run = run}, &k, &o, 1);
}

static void each_operand(ck *c, const ck_each *e, layout l, int64_t rows, int64_t cols)
{
    const bool steady = e->freedom == CK_STEADY;
    for (int i = e->freedom == CK_FREE ? 0 : 1; i < (steady ? 2 : e->n_in); i++)
        ck_sides(c, one, &(shape){e, l, i, rows, cols});
}

static void few_rows(ck *c, const ck_each *e, int64_t rows, int64_t cols)
{
    static const layout first[] = {DENSE, GAPS, TURNED, APART};
    for (layout l = STILL; l <= ROW; l++)
        if (e->freedom != CK_DENSE) each_operand(c, e, l, rows, cols);
    for (int i = 0; i < (e->freedom == CK_DENSE || e->freedom == CK_STEADY ? 1 : 4); i++)
        ck_sides(c, one, &(shape){e, first[i], 0, rows, cols});
    if (size_of(e, 0) == mr_dtype_size(e->out)) ck_sides(c, one, &(shape){e, IN_PLACE, 0, rows, cols});
}

void ck_elementwise(ck *c, const ck_each *e)
{
    static const int64_t lengths[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  11,  13,  15,    16,   17,
                                      23, 24, 25, 31, 32, 33, 40, 63, 64, 65, 100, 257, 16389, 40001};
    static const int64_t rows[][2] = {{3, 1}, {2, 7}, {5, 8}, {3, 13}, {4, 33}, {0, 4}, {70, 300}};
    const bool steady = e->freedom == CK_STEADY;
    if (c->options->bench) {
        ck_sides(c, one, &(shape){e, steady ? STILL : DENSE, steady, 1, 1 << 16});
        return;
    }
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        if (steady)
            each_operand(c, e, STILL, 1, lengths[i]);
        else
            ck_sides(c, one, &(shape){e, DENSE, 0, 1, lengths[i]});
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) few_rows(c, e, rows[i][0], rows[i][1]);
}

/* elementwise.c: how an elementwise job is cut into parts. */
#include "kernels/cpu/elementwise.h"

enum { PART = 8192 }; /* elements, about */

static bool merges(const mr_operand *o, int kept, int d, int64_t extent)
{
    return o->strides[kept] == o->strides[d] * extent;
}

/* Dimension d joins the last one that was kept, or follows it. */
static int keep(mr_elementwise *j, int n, int d)
{
    bool joins = n > 0 && merges(&j->out, n - 1, d, j->dims[d]);
    for (int i = 0; joins && i < j->n_in; i++) joins = merges(&j->in[i], n - 1, d, j->dims[d]);
    if (!joins)
        j->dims[n++] = j->dims[d];
    else
        j->dims[n - 1] *= j->dims[d];
    j->out.strides[n - 1] = j->out.strides[d];
    for (int i = 0; i < j->n_in; i++) j->in[i].strides[n - 1] = j->in[i].strides[d];
    return n;
}

static bool runs(const mr_operand *o, int d)
{
    return o->strides[d] == 0 || o->strides[d] == 1;
}

static void simplify(mr_elementwise *j)
{
    int n = 0;
    for (int d = 0; d < j->rank; d++)
        if (j->dims[d] != 1) n = keep(j, n, d);
    bool row = n > 0 && j->out.strides[n - 1] == 1;
    for (int i = 0; row && i < j->n_in; i++) row = runs(&j->in[i], n - 1);
    if (!row) { /* a row of one element */
        j->dims[n] = j->out.strides[n] = 1;
        for (int i = 0; i < j->n_in; i++) j->in[i].strides[n] = 1;
        n++;
    }
    j->rank = n;
}

/* Rows (of the last dimension) are cut into pieces when they're long, else several of the dimension before make a
 * part. Parts are counted through the dimensions outside these. */
typedef struct {
    const mr_elementwise *job;
    mr_elementwise_fn fn;
    int outer;             /* dimensions outside */
    int64_t rows, cols;    /* of a full part */
    int64_t along, across; /* parts along the row, and across rows, of one outer index */
} cut;

static cut cut_of(const mr_elementwise *j, mr_elementwise_fn fn)
{
    int last = j->rank - 1;
    int64_t cols = j->dims[last], rows = last > 0 ? j->dims[last - 1] : 1;
    cut c = {.job = j, .fn = fn, .outer = last > 0 ? last - 1 : 0};
    c.cols = cols < 2 * PART ? cols : PART;
    c.rows = c.cols < cols ? 1 : PART / cols;
    if (c.rows < 1) c.rows = 1;
    if (c.rows > rows) c.rows = rows;
    c.along = (cols + c.cols - 1) / c.cols;
    c.across = (rows + c.rows - 1) / c.rows;
    return c;
}

static int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void run(void *arg, int64_t begin, int64_t end)
{
    const cut *c = arg;
    const mr_elementwise *j = c->job;
    int last = j->rank - 1;
    int64_t along = begin % c->along, across = begin / c->along % c->across, index = begin / c->along / c->across;
    mr_part p = {.job = j};
    for (int d = c->outer - 1; d >= 0; d--) {
        p.at[d] = index % j->dims[d];
        index /= j->dims[d];
    }
    for (int64_t i = begin; i < end; i++) {
        p.at[last] = along * c->cols;
        p.cols = min(c->cols, j->dims[last] - p.at[last]);
        p.rows = 1;
        if (last > 0) {
            p.at[last - 1] = across * c->rows;
            p.rows = min(c->rows, j->dims[last - 1] - p.at[last - 1]);
        }
        c->fn(&p);
        if (++along < c->along) continue;
        along = 0;
        if (++across < c->across) continue;
        across = 0;
        for (int d = c->outer - 1; d >= 0 && ++p.at[d] == j->dims[d]; d--) p.at[d] = 0;
    }
}

void mr_elementwise_run(mr_elementwise *j, mr_elementwise_fn fn, mr_pool *pool)
{
    if (mr_dims_product(j->dims, 0, j->rank) == 0) return;
    simplify(j);
    cut c = cut_of(j, fn);
    int64_t parts = mr_dims_product(j->dims, 0, c.outer) * c.along * c.across;
    mr_parallel_for(pool, parts, PART / (c.rows * c.cols) + 1, run, &c);
}

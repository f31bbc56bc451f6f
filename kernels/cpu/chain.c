/* chain.c: elementwise functions one after the other. */
#include "kernels/cpu/chain.h"

static void take(mr_operand *to, const mr_operand *from, int rank)
{
    to->data = from->data, to->size = from->size;
    for (int d = 0; d < rank; d++) to->strides[d] = from->strides[d];
}

/* Link i of the chain over all of a job. */
static void make_step(const mr_chain *c, const mr_elementwise *all, int i, mr_elementwise *step, mr_operand in[2])
{
    const mr_chain_link *k = &c->link[i];
    step->rank = all->rank, step->in = in, step->params = k->params;
    step->n_in = k->operand < 0 ? 1 : 2;
    for (int d = 0; d < all->rank; d++) step->dims[d] = all->dims[d];
    take(&step->out, &all->out, all->rank);
    take(&in[k->first], i == 0 ? &all->in[0] : &all->out, all->rank);
    if (k->operand >= 0) take(&in[!k->first], &all->in[k->operand], all->rank);
}

void mr_chain_part(const mr_part *p)
{
    const mr_chain *c = p->job->params;
    mr_elementwise step;
    mr_operand in[2];
    mr_part part = *p;
    part.job = &step;
    for (int i = 0; i < c->n; i++) {
        make_step(c, p->job, i, &step, in);
        c->link[i].fn(&part);
    }
}

void mr_chain_prepare(mr_chain *c)
{
    for (int i = 0; i < c->n; i++) make_step(c, &c->job, i, &c->step[i], c->in[i]);
}

void mr_chain_block(const mr_chain *c, int64_t batch, int64_t row, int64_t col, int64_t rows, int64_t cols)
{
    mr_part part;
    part.at[0] = batch, part.at[1] = row, part.at[2] = col;
    for (int i = 0; i < c->n; i++) {
        /* What knows no operand sees rows that lie one behind the other as one. */
        const bool whole = c->link[i].operand < 0 && c->job.out.strides[1] == cols;
        part.job = &c->step[i];
        part.rows = whole ? 1 : rows, part.cols = whole ? rows * cols : cols;
        c->link[i].fn(&part);
    }
}

/* Dims [*d - …, *d) that make up `extent` elements as one; what they step by, 0 when there is but one element. */
static bool merge(const int64_t *dims, const int64_t *strides, int *d, int64_t extent, int64_t *step)
{
    int64_t n = 1, next = 0;
    *step = 0;
    for (bool any = false; *d > 0 && n < extent; (*d)--) {
        int64_t here = dims[*d - 1];
        if (here == 1) continue;
        if (any && strides[*d - 1] != next) return false;
        if (!any) *step = strides[*d - 1], any = true;
        next = strides[*d - 1] * here;
        n *= here;
    }
    return n == extent;
}

bool mr_chain_strides(const int64_t *dims, const int64_t *strides, int rank, const int64_t want[3], int64_t out[3])
{
    int d = rank;
    for (int i = 2; i >= 0; i--)
        if (want[i] < 1 || !merge(dims, strides, &d, want[i], &out[i])) return false;
    return out[2] == 0 || out[2] == 1;
}

/* chain.c: elementwise functions one after the other. */
#include "kernels/cpu/chain.h"

static void take(mr_operand *to, const mr_operand *from, int rank)
{
    to->data = from->data, to->size = from->size;
    for (int d = 0; d < rank; d++) to->strides[d] = from->strides[d];
}

static void run(const mr_chain *c, const mr_part *p)
{
    const mr_elementwise *all = p->job;
    mr_elementwise job;
    mr_operand in[2];
    mr_part part = *p;
    part.job = &job;
    job.rank = all->rank, job.in = in;
    for (int d = 0; d < all->rank; d++) job.dims[d] = all->dims[d];
    take(&job.out, &all->out, all->rank);
    for (const mr_chain_link *k = c->link; k < c->link + c->n; k++) {
        job.params = k->params;
        job.n_in = k->operand < 0 ? 1 : 2;
        take(&in[k->first], k == c->link ? &all->in[0] : &all->out, all->rank);
        if (k->operand >= 0) take(&in[!k->first], &all->in[k->operand], all->rank);
        k->fn(&part);
    }
}

void mr_chain_part(const mr_part *p)
{
    run(p->job->params, p);
}

void mr_chain_block(const mr_chain *c, int64_t batch, int64_t row, int64_t col, int64_t rows, int64_t cols)
{
    const mr_part p = {.job = &c->job, .at = {batch, row, col}, .rows = rows, .cols = cols};
    run(c, &p);
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

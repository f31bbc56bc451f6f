/* chain.h: elementwise functions one after the other, a part at a time, so that what is between them stays in cache.
 *
 * Each link is a slot of its own; what it gives is rounded to the type of the output, as if the links ran one by one.
 */
#ifndef MR_KERNELS_CPU_CHAIN_H
#define MR_KERNELS_CPU_CHAIN_H

#include "kernels/cpu/elementwise.h"

typedef struct mr_chain_link {
    mr_elementwise_fn fn;
    const void *params;
    int operand; /* of the job, beside what the links before it gave; -1: none */
    bool first;  /* the operand comes first: operand - value */
} mr_chain_link;

#define MR_CHAIN_LINKS 8

typedef struct mr_chain {
    const mr_chain_link *link;
    int n;
    mr_elementwise job; /* in[0]: what the first link reads; the output may be computed over it, over no other */
    /* For blocks: each link as a job of its own. */
    mr_elementwise step[MR_CHAIN_LINKS];
    mr_operand in[MR_CHAIN_LINKS][2];
} mr_chain;

/* As an elementwise function whose parameters are the mr_chain. */
void mr_chain_part(const mr_part *p);

/* Makes the links of a job of [batch, rows, cols] steps. */
void mr_chain_prepare(mr_chain *c);
/* Behind a kernel whose output is [batch, rows, cols], dense, as the job has it: over a block of it, in place. */
void mr_chain_block(const mr_chain *c, int64_t batch, int64_t row, int64_t col, int64_t rows, int64_t cols);

/* Bytes of the output that will be computed and then read: on their way into the cache meanwhile. */
static inline void mr_chain_expect(const void *y, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch((const char *)y + i, 1);
}

/* Strides of an operand of these dims, as [batch, row, col] of such an output; false: it does not step that way. */
bool mr_chain_strides(const int64_t *dims, const int64_t *strides, int rank, const int64_t want[3], int64_t out[3]);

#endif

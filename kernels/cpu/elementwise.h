/* elementwise.h: kernels whose output element hangs on the elements at its own place, with broadcasting.
 *
 * A job is cut into parts, rows × cols of the output; a kernel computes one part. In the last dimension every operand
 * either runs along or stands still, so that loops over a row vectorize. How a job is cut hangs on its shape alone.
 * The output may be computed over any operand of its shape and element size. */
#ifndef MR_KERNELS_CPU_ELEMENTWISE_H
#define MR_KERNELS_CPU_ELEMENTWISE_H

#include "runtime/tensor.h"
#include "runtime/threads.h"

typedef struct mr_operand {
    const void *data;
    size_t size;                  /* bytes of an element */
    int64_t strides[MR_MAX_RANK]; /* in elements; 0: repeated */
} mr_operand;

typedef struct mr_elementwise {
    int rank;
    int64_t dims[MR_MAX_RANK]; /* of the output */
    mr_operand out;            /* no stride is 0 but where the extent is 1 */
    int n_in;
    mr_operand *in;
    const void *params; /* the family's */
} mr_elementwise;

typedef struct mr_part {
    const mr_elementwise *job;
    int64_t at[MR_MAX_RANK]; /* of its first element */
    int64_t rows, cols;
} mr_part;

typedef void (*mr_elementwise_fn)(const mr_part *);

/* Merges dimensions of the job that all operands see as one, in place, and runs the kernel over all its parts. */
void mr_elementwise_run(mr_elementwise *job, mr_elementwise_fn fn, mr_pool *pool);

/* An operand within a part: its first element, how far its rows are apart, and what it steps within a row (0 or 1),
 * in elements. */
typedef struct mr_lane {
    char *data;
    int64_t row, step;
} mr_lane;

static inline mr_lane mr_lane_of(const mr_part *p, const mr_operand *o)
{
    int64_t offset = 0;
    int last = p->job->rank - 1;
    for (int d = 0; d <= last; d++) offset += p->at[d] * o->strides[d];
    return (mr_lane){(char *)o->data + offset * (int64_t)o->size, last > 0 ? o->strides[last - 1] : 0,
                     o->strides[last]};
}

static inline mr_lane mr_lane_in(const mr_part *p, int i)
{
    return mr_lane_of(p, &p->job->in[i]);
}
static inline mr_lane mr_lane_out(const mr_part *p)
{
    return mr_lane_of(p, &p->job->out);
}

/* Before a loop over elements that reads and writes the same place at most: it may be vectorized without asking
 * whether the operands overlap. (clang's own pragma warns of each loop that it can't vectorize.) */
#ifdef __clang__
#define MR_ELEMENTS
#else
#define MR_ELEMENTS _Pragma("GCC ivdep")
#endif

#endif

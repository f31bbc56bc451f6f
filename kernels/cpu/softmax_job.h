/* softmax_job.h: how the SIMD levels cut softmax. */
#ifndef MR_KERNELS_CPU_SOFTMAX_JOB_H
#define MR_KERNELS_CPU_SOFTMAX_JOB_H

#include "kernels/cpu/sizes.h"
#include "kernels/cpu/softmax.h"

enum { SOFTMAX_KEPT = 4096 }; /* elements of a line whose exponentials are kept */

typedef struct softmax_job {
    const mr_softmax_args *a;
    int64_t blocks; /* of inner, a vector each */
    bool log;
} softmax_job;

#endif

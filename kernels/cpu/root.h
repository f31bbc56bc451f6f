/* root.h: roots of unity, with the symmetries of the circle. */
#ifndef MR_KERNELS_CPU_ROOT_H
#define MR_KERNELS_CPU_ROOT_H

#include "kernels/cpu/math.h"

typedef struct mr_root {
    double re, im;
} mr_root;

/* The root at r's angle into an eighth of the circle, or from its end where the eighth is odd. */
static inline mr_root mr_root_turn(int64_t eighth, mr_root r)
{
    if ((eighth + 1) & 2) r = (mr_root){r.im, r.re};
    return (mr_root){eighth >= 2 && eighth < 6 ? -r.re : r.re, eighth >= 4 ? -r.im : r.im};
}

/* e^(2πi k/n) for 0 ≤ k < n < 2^60. From an angle of at most an eighth of the circle, so that 1, i, -1 and -i are exact
 * and mirrored roots have the same bits. */
static inline mr_root mr_root_of(int64_t k, int64_t n)
{
    const int64_t eighth = 8 * k / n, rest = 8 * k % n;
    const double angle = 0x1.921fb54442d18p-1 * ((double)(eighth & 1 ? n - rest : rest) / (double)n);
    return mr_root_turn(eighth, (mr_root){mr_cos(angle), mr_sin(angle)});
}

#endif

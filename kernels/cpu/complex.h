/* complex.h: how complex elements are stored. */
#ifndef MR_KERNELS_CPU_COMPLEX_H
#define MR_KERNELS_CPU_COMPLEX_H

typedef struct mr_c64 {
    float re, im;
} mr_c64;

typedef struct mr_c128 {
    double re, im;
} mr_c128;

#endif

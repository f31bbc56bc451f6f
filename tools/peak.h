/* peak.h: what this machine can do at most, measured: the yardstick of bench. */
#ifndef MR_TOOLS_PEAK_H
#define MR_TOOLS_PEAK_H

#include <stdint.h>

typedef struct mr_peak {
    double gflops; /* float32 multiply-adds from registers, one thread; 0: not known on this CPU */
    double gbytes; /* read from memory, one thread, GB/s */
} mr_peak;

mr_peak mr_peak_measure(void); /* takes about 0.1 s */

/* A round of multiply-adds; returns the operations done. */
double mr_peak_avx2(int64_t steps, float *out);
double mr_peak_avx512(int64_t steps, float *out);

#endif

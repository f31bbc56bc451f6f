/* peak_avx2.c: the peak of 256-bit vectors. */
#include "peak.h"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#include <string.h>

#define PEAK_FN mr_peak_avx2
#define V       __m256
#define LANES   8
#define FMA     _mm256_fmadd_ps
#define SET     _mm256_set1_ps
#define CHAINS  12
#include "peak.inc"
#endif

/* peak_avx512.c: the peak of 512-bit vectors. */
#include "peak.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#include <string.h>

#define PEAK_FN mr_peak_avx512
#define V       __m512
#define LANES   16
#define FMA     _mm512_fmadd_ps
#define SET     _mm512_set1_ps
#define CHAINS  12
#include "peak.inc"
#endif

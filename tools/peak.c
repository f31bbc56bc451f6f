/* peak.c: what this machine can do at most. The best of several short rounds counts, since others may use the machine.
 */
#include "peak.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/engine.h"

enum { STEPS = 100000, ROUNDS = 7, READ_BYTES = 48 << 20 };

static double multiply_adds(void)
{
    double (*round)(int64_t, float *) = NULL;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) round = mr_peak_avx2;
    if (__builtin_cpu_supports("avx512f")) round = mr_peak_avx512;
#endif
    double best = 0;
    for (int i = 0; round && i < ROUNDS; i++) {
        float out;
        int64_t begin = mr_now_ns();
        double rate = round(STEPS, &out) / (double)(mr_now_ns() - begin);
        if (rate > best) best = rate;
    }
    return best;
}

/* Eight sums, so that it is the memory that is waited for. */
static uint64_t read_all(const uint64_t *p, size_t n)
{
    uint64_t sum[8] = {0};
    for (size_t i = 0; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++) sum[k] += p[i + (size_t)k];
    return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

static double reads(void)
{
    uint64_t *p = malloc(READ_BYTES);
    double best = 0;
    if (!p) return 0;
    memset(p, 1, READ_BYTES);
    for (int i = 0; i < ROUNDS; i++) {
        int64_t begin = mr_now_ns();
        volatile uint64_t sum = read_all(p, READ_BYTES / sizeof *p);
        double rate = (double)READ_BYTES / (double)(mr_now_ns() - begin);
        (void)sum;
        if (rate > best) best = rate;
    }
    free(p);
    return best;
}

mr_peak mr_peak_measure(void)
{
    return (mr_peak){multiply_adds(), reads()};
}

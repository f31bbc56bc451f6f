/* The generator behind ONNX's random operators: the numbers of numpy.random.RandomState(seed), which the reference
 * implementation uses. ONNX asks for no particular generator.
 *
 * Source: Matsumoto and Nishimura, "Mersenne twister" (1998), MT19937.
 */
#ifndef MR_KERNELS_CPU_RANDOM_H
#define MR_KERNELS_CPU_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

enum { MR_RANDOM_WORDS = 624 };

typedef struct {
    uint32_t words[MR_RANDOM_WORDS];
    int next;      /* the word to hand out; MR_RANDOM_WORDS: make new ones first */
    bool has_kept; /* the polar method makes two normal numbers at a time */
    double kept;
} mr_random;

void mr_random_seed(mr_random *r, uint32_t seed);
uint32_t mr_random_u32(mr_random *r);
double mr_random_uniform(mr_random *r);           /* random_sample, rand: [0, 1), a multiple of 2^-53 */
double mr_random_normal(mr_random *r);            /* randn: mean 0, deviation 1 */
bool mr_random_bernoulli(mr_random *r, double p); /* binomial(1, p), 0 <= p <= 1 */

#endif

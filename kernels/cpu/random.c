/* MT19937 and the distributions of NumPy's RandomState. */
#include "kernels/cpu/random.h"

#include "kernels/cpu/math.h"

enum { SHIFT = 397 };

void mr_random_seed(mr_random *r, uint32_t seed)
{
    for (uint32_t i = 0; i < MR_RANDOM_WORDS; i++) {
        r->words[i] = seed;
        seed = UINT32_C(1812433253) * (seed ^ seed >> 30) + i + 1;
    }
    r->next = MR_RANDOM_WORDS;
    r->has_kept = false;
}

static void make_words(mr_random *r)
{
    uint32_t *w = r->words;
    for (int i = 0; i < MR_RANDOM_WORDS; i++) {
        uint32_t mixed = (w[i] & 0x80000000u) | (w[(i + 1) % MR_RANDOM_WORDS] & 0x7fffffffu);
        w[i] = w[(i + SHIFT) % MR_RANDOM_WORDS] ^ mixed >> 1 ^ (mixed & 1 ? 0x9908b0dfu : 0);
    }
    r->next = 0;
}

uint32_t mr_random_u32(mr_random *r)
{
    if (r->next == MR_RANDOM_WORDS) make_words(r);
    uint32_t x = r->words[r->next++];
    x ^= x >> 11;
    x ^= x << 7 & 0x9d2c5680u;
    x ^= x << 15 & 0xefc60000u;
    return x ^ x >> 18;
}

double mr_random_uniform(mr_random *r)
{
    uint64_t high = mr_random_u32(r) >> 5, low = mr_random_u32(r) >> 6;
    return (double)(high << 26 | low) * 0x1p-53;
}

/* Marsaglia's polar method; the second number of a pair is handed out first, as NumPy does. */
double mr_random_normal(mr_random *r)
{
    if (r->has_kept) {
        r->has_kept = false;
        return r->kept;
    }
    double x, y, square;
    do {
        x = 2 * mr_random_uniform(r) - 1;
        y = 2 * mr_random_uniform(r) - 1;
        square = x * x + y * y;
    } while (square >= 1 || square == 0);
    double f = __builtin_sqrt(-2 * mr_log(square) / square);
    r->kept = f * x;
    r->has_kept = true;
    return f * y;
}

/* Inversion on the less likely side. The second comparison, nearly always true, is where NumPy's
 * sum of probabilities falls short of 1. */
bool mr_random_bernoulli(mr_random *r, double p)
{
    bool turned = p > 0.5;
    double rare = turned ? 1 - p : p, common = 1 - rare, u;
    do {
        u = mr_random_uniform(r);
        if (u <= common) return turned;
    } while (u - common > rare * common / common);
    return !turned;
}

/* Walks the floats through every function of one argument: `sweep_math [STEP [NAME]]` takes every STEP-th of the 2^32
 * bit patterns and prints the largest error of the result rounded to float, which must be at most 0.51 ULP. All cores.
 *
 * The C library's double function decides, whose own error is less than 2^-25 of a float's ULP; where that leaves a
 * doubt, or where the result is subnormal, its long double function does. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/math_cases.h"

enum { BLOCK = 1 << 20 };
#define ALL (UINT64_C(1) << 32)

typedef struct sweep {
    const unary *u;
    uint64_t step;
    _Atomic uint64_t next;
    pthread_mutex_t lock;
    double worst;
    float where;
} sweep;

/* Unit in the last place of a float that is normal. */
static double unit_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits & UINT64_C(0x7ff0000000000000)) - ((uint64_t)23 << 52);
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double error_of(const unary *u, float x)
{
    float got = (float)u->f(x);
    double want = u->quick(x), size = fabs(want);
    if (size >= FLT_MIN && size < FLT_MAX) {
        double error = fabs(got - want) / unit_of(want);
        if (error <= 0.5001) return error;
    } else if ((want == 0 && got == 0) || (isinf(want) && got == want) || (isnan(want) && isnan(got))) {
        return 0;
    }
    return ulps(got, u->oracle(x), F32);
}

static void *walk(void *arg)
{
    sweep *s = arg;
    for (uint64_t block; (block = atomic_fetch_add(&s->next, BLOCK)) < ALL;) {
        double worst = 0;
        float where = 0;
        for (uint64_t i = (block + s->step - 1) / s->step * s->step; i < block + BLOCK; i += s->step) {
            uint32_t bits = (uint32_t)i;
            float x;
            memcpy(&x, &bits, sizeof x);
            double error = error_of(s->u, x);
            if (error > worst) worst = error, where = x;
        }
        pthread_mutex_lock(&s->lock);
        if (worst > s->worst) s->worst = worst, s->where = where;
        pthread_mutex_unlock(&s->lock);
    }
    return NULL;
}

static double sweep_of(const unary *u, uint64_t step)
{
    enum { MOST = 64 };
    sweep s = {.u = u, .step = step, .lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[MOST];
    long n = sysconf(_SC_NPROCESSORS_ONLN), started = 0;
    time_t begin = time(NULL);
    while (started < n - 1 && started < MOST && pthread_create(&threads[started], NULL, walk, &s) == 0) started++;
    walk(&s);
    while (started > 0) pthread_join(threads[--started], NULL);
    printf("%-9s %.5f ULP at %a, %ld s\n", u->name, s.worst, s.where, (long)(time(NULL) - begin));
    fflush(stdout);
    return s.worst;
}

int main(int argc, char **argv)
{
    uint64_t step = argc > 1 ? strtoull(argv[1], NULL, 10) : 65521;
    int passed = 0, failed = 0;
    for (size_t i = 0; i < sizeof unaries / sizeof *unaries; i++) {
        if (argc > 2 && strcmp(argv[2], unaries[i].name)) continue;
        if (sweep_of(&unaries[i], step ? step : 1) <= 0.51)
            passed++;
        else
            failed++;
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}

/* Walks the floats through every function of one argument: `sweep_math [STEP [NAME]]` takes every STEP-th of the 2^32
 * bit patterns and prints the largest error of the result rounded to float, which must be at most 0.51 ULP. */
#include "tests/unit/math_cases.h"

static double sweep(const unary *u, uint64_t step)
{
    double worst = 0;
    float where = 0;
    for (uint64_t i = 0; i <= UINT32_MAX; i += step) {
        uint32_t bits = (uint32_t)i;
        float x;
        memcpy(&x, &bits, sizeof x);
        double error = ulps((float)u->f(x), u->oracle(x), F32);
        if (error > worst) {
            worst = error;
            where = x;
        }
    }
    printf("%-9s %.4f ULP at %a\n", u->name, worst, where);
    return worst;
}

int main(int argc, char **argv)
{
    uint64_t step = argc > 1 ? strtoull(argv[1], NULL, 10) : 65521;
    int passed = 0, failed = 0;
    for (size_t i = 0; i < sizeof unaries / sizeof *unaries; i++) {
        if (argc > 2 && strcmp(argv[2], unaries[i].name)) continue;
        if (sweep(&unaries[i], step ? step : 1) <= 0.51)
            passed++;
        else
            failed++;
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}

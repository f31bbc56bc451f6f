/* bench.c: how long the same call takes through the scalar table, the tables below the level, and the level's. */
#include <stdio.h>
#include <time.h>

#include "tests/kernels/checker.h"

enum { ROUNDS = 7 };
#define ROUND_SECONDS 0.002
#define BATCH_SECONDS 0.00005 /* short, so that some are not interrupted */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of n calls. */
static double batch(ck *c, const ck_call *call, void *arg, const mr_cpu_fns *t, void *const *y, int n)
{
    const double start = now();
    for (int i = 0; i < n; i++) call->run(c, arg, t, y);
    return now() - start;
}

/* Seconds of one call: of the best batch of a round. */
static double one_round(ck *c, const ck_call *call, void *arg, const mr_cpu_fns *t, void *const *y)
{
    const int mark = ck_mark(c);
    int n = 1;
    double best = 1e9, spent = 0;
    if (call->prepare) call->prepare(c, arg, t);
    while (batch(c, call, arg, t, y, n) < BATCH_SECONDS) n *= 2; /* warms up, too */
    while (spent < ROUND_SECONDS) {
        double s = batch(c, call, arg, t, y, n);
        spent += s;
        best = s / n < best ? s / n : best;
    }
    ck_release(c, mark);
    return best;
}

void ck_time(ck *c, const ck_call *call, void *arg, void *const *y)
{
    const mr_cpu_fns *tables[3] = {&c->scalar, &c->below, &c->level};
    double best[3] = {1e9, 1e9, 1e9};
    char name[160];
    c->pool = NULL;
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < 3; i++) {
            double s = one_round(c, call, arg, tables[i], y);
            best[i] = s < best[i] ? s : best[i];
        }
    const bool flops = c->flops > 0, slow = best[2] > 1.1 * best[1];
    printf("%-44s %10.1f us %10.1f us  x %7.2f  x %6.2f  %7.1f %s%s  %s\n", ck_name(c, c->slot, name, sizeof name),
           1e6 * best[0], 1e6 * best[2], best[0] / best[2], best[1] / best[2],
           1e-9 * (flops ? c->flops : c->bytes) / best[2], flops ? "GFLOP/s" : "GB/s   ", slow ? "  SLOWER" : "",
           c->what);
    c->slow += slow;
}

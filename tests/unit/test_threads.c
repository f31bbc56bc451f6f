/* The pool: every range once, whatever the number of threads and callers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "runtime/threads.h"

typedef struct marks {
    unsigned char *at;
    int64_t n, grain;
    atomic_int bad;
} marks;

static void mark(void *arg, int64_t begin, int64_t end)
{
    marks *m = arg;
    if (begin % m->grain || end - begin > m->grain || (end < m->n && end - begin != m->grain)) atomic_store(&m->bad, 1);
    for (int64_t i = begin; i < end; i++) m->at[i]++;
}

static void loop_once(mr_pool *p, int64_t n, int64_t grain)
{
    marks m = {calloc((size_t)n + 1, 1), n, grain < 1 ? 1 : grain, 0};
    assert_non_null(m.at);
    mr_parallel_for(p, n, grain, mark, &m);
    for (int64_t i = 0; i < n; i++)
        if (m.at[i] != 1) atomic_store(&m.bad, 1);
    assert_int_equal(m.at[n], 0);
    assert_int_equal(atomic_load(&m.bad), 0);
    free(m.at);
}

static void every_range_once(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 5; threads++) {
        mr_pool *p = mr_pool_create(threads);
        assert_int_equal(mr_pool_threads(p), threads);
        for (int64_t n = 0; n < 70; n++)
            for (int64_t grain = 0; grain < 9; grain++) loop_once(p, n, grain);
        loop_once(p, 1 << 20, 1000);
        mr_pool_destroy(p);
    }
}

static void without_a_pool(void **state)
{
    (void)state;
    loop_once(NULL, 100, 7);
    assert_int_equal(mr_pool_threads(NULL), 1);
    mr_pool_destroy(NULL);
}

/* Loops far apart: the threads have gone to sleep in between. */
static void after_sleep(void **state)
{
    (void)state;
    mr_pool *p = mr_pool_create(3);
    for (int i = 0; i < 30; i++) {
        loop_once(p, 1000, 10);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    mr_pool_destroy(p);
}

static void nest(void *arg, int64_t begin, int64_t end)
{
    (void)begin, (void)end;
    loop_once(arg, 100, 3);
}

static void nested(void **state)
{
    (void)state;
    mr_pool *p = mr_pool_create(4);
    for (int i = 0; i < 200; i++) mr_parallel_for(p, 50, 1, nest, p);
    mr_pool_destroy(p);
}

static void *many_loops(void *pool)
{
    for (int i = 0; i < 2000; i++) loop_once(pool, 300, 7);
    return NULL;
}

static void many_callers(void **state)
{
    (void)state;
    pthread_t callers[4];
    mr_pool *p = mr_pool_create(3);
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&callers[i], NULL, many_loops, p), 0);
    for (int i = 0; i < 4; i++) pthread_join(callers[i], NULL);
    mr_pool_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_range_once), cmocka_unit_test(without_a_pool), cmocka_unit_test(after_sleep),
        cmocka_unit_test(nested),           cmocka_unit_test(many_callers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

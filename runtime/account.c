/* account.c: see account.h. live is shared with threads that free outputs of the run; all else is the run's own. */
#include "account.h"

#include <stdlib.h>

static _Thread_local mr_account *current;

mr_account *mr_account_new(size_t limit, size_t live)
{
    mr_account *a = malloc(sizeof *a);
    if (a) *a = (mr_account){.live = live, .peak = live, .limit = limit, .refs = 1};
    return a;
}

mr_account *mr_account_retain(mr_account *a)
{
    if (a) __atomic_add_fetch(&a->refs, 1, __ATOMIC_RELAXED);
    return a;
}

void mr_account_release(mr_account *a)
{
    if (a && __atomic_sub_fetch(&a->refs, 1, __ATOMIC_ACQ_REL) == 0) free(a);
}

mr_account *mr_account_use(mr_account *a)
{
    mr_account *before = current;
    current = a;
    return before;
}

mr_account *mr_account_current(void)
{
    return current;
}

bool mr_account_charge(mr_account *a, size_t bytes)
{
    if (!a) return true;
    size_t live = __atomic_add_fetch(&a->live, bytes, __ATOMIC_RELAXED);
    if (a->limit && live > a->limit) {
        __atomic_sub_fetch(&a->live, bytes, __ATOMIC_RELAXED);
        a->refused = bytes;
        return false;
    }
    if (live > a->peak) a->peak = live;
    return true;
}

void mr_account_credit(mr_account *a, size_t bytes)
{
    if (a) __atomic_sub_fetch(&a->live, bytes, __ATOMIC_RELAXED);
}

/* account.h: how many bytes the values of a run hold, and how many they may.
 *
 * While a run has an account, every value that its thread makes is charged to it, and credited when it is freed, by
 * whomever and whenever: a sequence that shares its elements or a loop's growing state is counted once and for as long
 * as it is there. The values keep the account; it may outlive the run. */
#ifndef MR_ACCOUNT_H
#define MR_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct mr_account {
    size_t live, peak;
    size_t limit;   /* 0: none */
    size_t refused; /* what would have gone over the limit; 0: nothing was refused */
    int refs;
} mr_account;

mr_account *mr_account_new(size_t limit, size_t live); /* NULL: out of memory */
mr_account *mr_account_retain(mr_account *a);
void mr_account_release(mr_account *a);
/* What values made by this thread are charged to from now on, NULL: nothing. Returns what they were charged to. */
mr_account *mr_account_use(mr_account *a);
mr_account *mr_account_current(void);
/* With a NULL nothing is counted. false: it would go over the limit, and nothing was charged. */
bool mr_account_charge(mr_account *a, size_t bytes);
void mr_account_credit(mr_account *a, size_t bytes);

#endif

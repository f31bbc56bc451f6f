/* team.h: threads that go through many short steps together, each step too short to be handed out by itself.
 *
 * A team is whoever comes in time: threads that the pool wakes too late, or not at all, are not waited for. So what a
 * member does may not hang on how many there are, but for its share of a step. */
#ifndef MR_KERNELS_CPU_TEAM_H
#define MR_KERNELS_CPU_TEAM_H

#include <stdint.h>

#include "runtime/threads.h"

typedef struct mr_team mr_team;

/* Calls fn(arg, member, team) on each member at once. most: members at most; 1: the caller alone. */
void mr_team_run(mr_pool *pool, int most, void (*fn)(void *arg, int member, mr_team *t), void *arg);
int mr_team_size(const mr_team *t);
/* Returns when all members are here. What they wrote before is seen after. */
void mr_team_wait(mr_team *t);

/* A member's share [*begin, *end) of n. */
static inline void mr_team_share(const mr_team *t, int member, int64_t n, int64_t *begin, int64_t *end)
{
    *begin = n * member / mr_team_size(t);
    *end = n * (member + 1) / mr_team_size(t);
}

#endif

/* watch.h: looking at a run while it runs: dump, statistics, profile, the first NaN, progress. */
#ifndef MR_TOOLS_WATCH_H
#define MR_TOOLS_WATCH_H

#include <jansson.h>

#include "setup.h"
#include "tools/io/inputs.h"

typedef struct mr_watch mr_watch;

/* Sets the options' observer when there is something to look at. all: the tensors of --dump and --stats are those that
 * nodes make, in order; otherwise the caller has them from elsewhere. */
mr_status mr_watch_start(const mr_args *a, mr_setup *s, const mr_feeds *f, bool all, mr_watch **out, mr_error *e);
void mr_watch_steps(mr_watch *w, int n_steps); /* how many there will be, for the progress */
/* What --stats saw, when it is for --json (otherwise it has been printed): the caller's from now on. NULL: nothing. */
json_t *mr_watch_stats(mr_watch *w);
/* Finishes the files, unless e is set; frees w in any case. NULL is allowed. */
mr_status mr_watch_end(mr_watch *w, mr_error *e);

#endif

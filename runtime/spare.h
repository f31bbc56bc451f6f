/* spare.h: the buffers of outputs that the caller has released, kept for the session's next run: new pages would have
 * to be mapped and zeroed again, which costs a node that moves bytes a tenth to a third of its time. */
#ifndef MR_SPARE_H
#define MR_SPARE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct mr_spares mr_spares;

mr_spares *mr_spares_new(int most); /* that many are kept; NULL: out of memory */
mr_spares *mr_spares_retain(mr_spares *s);
void mr_spares_release(mr_spares *s);
/* The session ends: what is kept is freed, and what comes back later too. */
void mr_spares_close(mr_spares *s);
/* A buffer of at least this size and not much more, aligned to 64 bytes; *size becomes its own. NULL: there is none. */
void *mr_spares_take(mr_spares *s, size_t *size);
void mr_spares_put(mr_spares *s, void *buffer, size_t size); /* takes the buffer over */
void mr_spares_trim(mr_spares *s);                           /* frees what is kept */

#endif

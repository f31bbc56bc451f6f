/* spare.c: see spare.h. Outputs are released by any thread. */
#include "spare.h"

#include <pthread.h>
#include <stdlib.h>

struct spare {
    void *buffer;
    size_t size;
};

struct mr_spares {
    pthread_mutex_t lock;
    struct spare *at;
    int n, most;
    bool closed;
    int refs;
};

mr_spares *mr_spares_new(int most)
{
    mr_spares *s = calloc(1, sizeof *s);
    if (s) s->at = calloc((size_t)most + 1, sizeof *s->at);
    if (!s || !s->at) {
        free(s);
        return NULL;
    }
    s->most = most;
    pthread_mutex_init(&s->lock, NULL);
    s->refs = 1;
    return s;
}

mr_spares *mr_spares_retain(mr_spares *s)
{
    __atomic_add_fetch(&s->refs, 1, __ATOMIC_RELAXED);
    return s;
}

void mr_spares_release(mr_spares *s)
{
    if (!s || __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) > 0) return;
    mr_spares_trim(s);
    pthread_mutex_destroy(&s->lock);
    free(s->at), free(s);
}

void mr_spares_trim(mr_spares *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->n > 0) free(s->at[--s->n].buffer);
    pthread_mutex_unlock(&s->lock);
}

void mr_spares_close(mr_spares *s)
{
    pthread_mutex_lock(&s->lock);
    s->closed = true;
    pthread_mutex_unlock(&s->lock);
    mr_spares_trim(s);
    mr_spares_release(s);
}

void *mr_spares_take(mr_spares *s, size_t *size)
{
    void *buffer = NULL;
    pthread_mutex_lock(&s->lock);
    for (int i = s->n - 1; i >= 0 && !buffer; i--) {
        if (s->at[i].size < *size || s->at[i].size - *size > *size / 8) continue;
        buffer = s->at[i].buffer, *size = s->at[i].size;
        s->at[i] = s->at[--s->n];
    }
    pthread_mutex_unlock(&s->lock);
    return buffer;
}

void mr_spares_put(mr_spares *s, void *buffer, size_t size)
{
    pthread_mutex_lock(&s->lock);
    bool kept = !s->closed && s->n < s->most;
    if (kept) s->at[s->n++] = (struct spare){buffer, size};
    pthread_mutex_unlock(&s->lock);
    if (!kept) free(buffer);
}

/* pack.c: weights as the kernels that read them want them. They belong to the model, are made once, and can be done
 * without: under a memory limit that they do not fit, kernels read the weights as they are. */
#include "account.h"
#include "builder.h"
#include "map.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_bytes(const void *p, size_t n)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < n; i++) h = (h ^ ((const unsigned char *)p)[i]) * UINT64_C(0x100000001b3);
    return h;
}

/* What was packed is not read again where it stands in the file. */
static void give_back(const mr_graph_model *g, const mr_tensor *t)
{
    const char *at = t->data;
    for (int i = 0; i < g->n_maps; i++) {
        const char *begin = g->maps[i]->data;
        if (at >= begin && at < begin + g->maps[i]->size)
            mr_map_forget(g->maps[i], (size_t)(at - begin), mr_tensor_bytes(t));
    }
}

/* Weights that are computed while planning are made anew for each plan, with the same bytes. Those of the file are not
 * looked at: what was packed need not be read again. */
static bool same_weight(const mr_value *a, const mr_value *b)
{
    if (a == b) return true;
    if (!a->buffer || !b->buffer || a->t.dtype != b->t.dtype || a->t.dtype == MR_STRING) return false;
    const mr_shape x = mr_tensor_shape(&a->t), y = mr_tensor_shape(&b->t);
    return mr_shape_equal(&x, &y) && !memcmp(a->t.data, b->t.data, mr_tensor_bytes(&a->t));
}

static mr_packed *find(mr_packed *list, const mr_packed *like)
{
    while (list && !(list->impl == like->impl && list->key == like->key && same_weight(list->weight, like->weight)))
        list = list->next;
    return list;
}

/* Is there room beside what the session, or the run that plans now, holds already? */
static bool fits(const mr_session *s, size_t bytes)
{
    size_t limit = s->options.memory_limit;
    const mr_account *a = mr_account_current();
    return !limit || (a ? a->live : mr_session_held_bytes(s)) + bytes <= limit;
}

static mr_packed *pack(mr_builder *b, mr_call *c, const mr_packed *like, int i)
{
    mr_model *m = b->s->model;
    mr_packed *k = calloc(1, sizeof *k);
    if (!k) return NULL;
    *k = *like;
    k->next = m->packed;
    k->data = aligned_alloc(64, (k->bytes + 63) / 64 * 64);
    if (!k->data) {
        free(k);
        return NULL;
    }
    k->impl->pack(c, i, k->data);
    give_back(m->g, c->in[i].t);
    mr_value_retain(c->in[i].v);
    m->packed = k;
    __atomic_add_fetch(&m->packed_bytes, k->bytes, __ATOMIC_RELAXED);
    mr_account_charge(mr_account_current(), k->bytes);
    return k;
}

/* What several steps of a plan share counts once. NULL: not packed. */
static void *pack_weight(mr_builder *b, mr_call *c, const mr_impl *impl, int i)
{
    mr_model *m = b->s->model;
    size_t bytes = impl->pack_size(c, i);
    uint64_t key = hash_bytes(c->params, c->node->op->params_size) ^ (uint64_t)i << 56 ^ bytes;
    const mr_packed like = {.weight = c->in[i].v, .impl = impl, .key = key, .bytes = bytes};
    mr_packed *here = find(b->p->packed, &like);
    if (here || !bytes || b->s->lean) return here ? here->data : NULL;
    if (!(here = MR_REGION_NEW(&b->p->region, mr_packed, 1))) return NULL;
    *here = like;
    if (!b->s->checking) {
        pthread_mutex_lock(&m->lock);
        mr_packed *k = find(m->packed, &like);
        if (!k && fits(b->s, bytes)) k = pack(b, c, &like, i);
        if (k) {
            __atomic_add_fetch(&k->readers, 1, __ATOMIC_RELAXED);
            here->data = k->data, here->shared = k;
        }
        pthread_mutex_unlock(&m->lock);
        if (!k) return NULL;
    }
    here->next = b->p->packed;
    b->p->packed = here;
    b->p->packed_bytes += bytes;
    return here->data;
}

bool mr_pack_weights(mr_builder *b, mr_call *c, const mr_impl *impl, mr_step *st)
{
    if (!impl || !impl->pack_in) return true;
    st->packed = MR_REGION_NEW(&b->p->region, void *, c->n_in + 1);
    if (!st->packed) return false;
    for (int i = 0; i < c->n_in && i < 32; i++) /* the bits of pack_in */
        if ((impl->pack_in >> i & 1) && c->in[i].t) st->packed[i] = pack_weight(b, c, impl, i);
    return true;
}

/* Readers change without the lock, which a caller that judges the model may hold. */
void mr_packed_leave(mr_plan *p)
{
    for (mr_packed *k = p->packed; k; k = k->next)
        if (k->shared) __atomic_sub_fetch(&k->shared->readers, 1, __ATOMIC_RELEASE);
}

void mr_packed_drop(mr_model *m)
{
    pthread_mutex_lock(&m->lock);
    for (mr_packed **at = &m->packed; *at;) {
        mr_packed *k = *at;
        if (__atomic_load_n(&k->readers, __ATOMIC_ACQUIRE) > 0) {
            at = &k->next;
            continue;
        }
        *at = k->next;
        __atomic_sub_fetch(&m->packed_bytes, k->bytes, __ATOMIC_RELAXED);
        mr_value_release((mr_value *)k->weight);
        free(k->data), free(k);
    }
    pthread_mutex_unlock(&m->lock);
}

/* channels_last.c: see channels_last.h. */
#include "ops/channels_last.h"

#include <string.h>

#include "ops/copies.h"

enum { INPUTS = 16 };

/* The call as the operator with the channels second gets it. */
typedef struct turned {
    mr_call call;
    mr_arg in[INPUTS], out;
    mr_tensor images[INPUTS], y;
} turned;

static bool is_image(const mr_call *c, uint32_t images, int i)
{
    return (images >> i & 1) && mr_in_has(c, i);
}

static mr_shape channels_second(const mr_shape *s)
{
    mr_shape t = *s;
    if (s->rank < 3) return t;
    t.d[1] = s->d[s->rank - 1];
    for (int d = 2; d < s->rank; d++) t.d[d] = s->d[d - 1];
    return t;
}

static mr_shape channels_last(const mr_shape *s)
{
    mr_shape t = *s;
    if (s->rank < 3) return t;
    t.d[s->rank - 1] = s->d[1];
    for (int d = 2; d < s->rank; d++) t.d[d - 1] = s->d[d];
    return t;
}

static mr_tensor *turn_tensor(const mr_tensor *t, const mr_shape *s, mr_tensor *to)
{
    if (!t) return NULL;
    *to = (mr_tensor){.dtype = t->dtype};
    mr_tensor_set_shape(to, s);
    return to;
}

/* The tensors have no data yet. */
static void turn(const mr_call *c, uint32_t images, turned *t)
{
    t->call = *c;
    t->call.in = t->in, t->call.out = &t->out, t->call.n_out = 1;
    memcpy(t->in, c->in, sizeof *t->in * (size_t)c->n_in);
    for (int i = 0; i < c->n_in; i++) {
        if (!is_image(c, images, i)) continue;
        t->in[i].shape = channels_second(&c->in[i].shape);
        t->in[i].t = turn_tensor(c->in[i].t, &t->in[i].shape, &t->images[i]);
    }
    t->out = c->out[0];
    t->out.shape = channels_second(&c->out[0].shape);
    t->out.t = turn_tensor(c->out[0].t, &t->out.shape, &t->y);
}

mr_status mr_channels_last_infer(mr_call *c, uint32_t images, mr_status (*infer)(mr_call *c))
{
    turned t;
    turn(c, images, &t);
    for (int i = 0; i < c->n_in; i++)
        if (is_image(c, images, i)) t.in[i].t = NULL; /* its shape is all that counts */
    mr_status st = infer(&t.call);
    if (st) return st;
    c->out[0].type = t.out.type;
    c->out[0].shape = channels_last(&t.out.shape);
    return MR_OK;
}

static size_t bytes_of(const mr_shape *s, mr_dtype d)
{
    size_t n = (size_t)mr_dims_product(s->d, 0, s->rank) * mr_dtype_size(d);
    return (n + 63) / 64 * 64;
}

static size_t copies_bytes(const mr_call *c, uint32_t images)
{
    size_t n = bytes_of(&c->out[0].shape, mr_out_dtype(c, 0));
    for (int i = 0; i < c->n_in; i++)
        if (is_image(c, images, i)) n += bytes_of(&c->in[i].shape, mr_in_dtype(c, i));
    return n;
}

size_t mr_channels_last_scratch(const mr_call *c, uint32_t images, size_t (*scratch)(const mr_call *c))
{
    turned t;
    turn(c, images, &t);
    return copies_bytes(c, images) + (scratch ? scratch(&t.call) : 0);
}

mr_status mr_channels_last_run(mr_call *c, uint32_t images, mr_status (*run)(mr_call *c))
{
    turned t;
    char *room = c->scratch;
    int perm[MR_MAX_RANK] = {0};
    turn(c, images, &t);
    t.call.scratch = room + copies_bytes(c, images);
    for (int i = 0; i < c->n_in; i++) {
        if (!is_image(c, images, i)) continue;
        const mr_tensor *x = c->in[i].t;
        for (int d = 1; d < x->rank; d++) perm[d] = d == 1 ? x->rank - 1 : d - 1;
        mr_copy_permuted(c, x->data, room, x->dims, perm, x->rank);
        t.images[i].data = room;
        room += bytes_of(&c->in[i].shape, mr_in_dtype(c, i));
    }
    t.y.data = room;
    mr_status st = run(&t.call);
    if (st) return st;
    for (int d = 1; d < t.y.rank; d++) perm[d] = d + 1 < t.y.rank ? d + 1 : 1;
    mr_copy_permuted(c, room, c->out[0].t->data, t.y.dims, perm, t.y.rank);
    return MR_OK;
}

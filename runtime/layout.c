/* layout.c: where each value of a plan lives, and for how long.
 *
 * Values that share bytes (views, results computed in place) share a root. Roots with known sizes get offsets in one
 * arena by best fit over lifetimes, largest first, so the peak is known before the run. */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

#define ALIGN 64

static size_t aligned(size_t n)
{
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

static int root_of(const mr_plan *p, int id)
{
    return p->values[id].root;
}

/* ---- lifetimes ---- */

static void use(mr_plan *p, int id, int step)
{
    if (id >= 0 && p->values[id].last < step) p->values[id].last = step;
}

/* Captures are read in host memory. */
static void use_captures(mr_plan *p, const mr_graph *sub, int s)
{
    for (int i = 0; i < sub->n_captures; i++) {
        int id = sub->values[sub->captures[i]].outer;
        use(p, p->values[id].dev == MR_CPU ? id : p->values[id].twin, s);
    }
}

static void find_lifetimes(mr_plan *p)
{
    for (int s = 0; s < p->n_steps; s++) {
        const mr_step *st = &p->steps[s];
        for (int o = 0; o < st->n_out; o++)
            if (st->out[o] >= 0) p->values[st->out[o]].first = p->values[st->out[o]].last = s;
        for (int i = 0; i < st->n_in; i++) use(p, st->in[i], s);
        for (int k = 0; st->kind < MR_STEP_COPY && k < st->node->n_subgraphs; k++)
            use_captures(p, st->node->subgraphs[k], s);
    }
    for (int o = 0; o < p->n_outputs; o++) use(p, p->outputs[o], p->n_steps);
}

/* ---- sharing ---- */

static void share(mr_plan *p, int id, int with)
{
    int root = root_of(p, with);
    p->values[id].root = root;
    use(p, root, p->values[id].last);
}

/* May output 0 of the step be computed over input i? */
static bool reusable(const mr_plan *p, const mr_step *st, int s, int i, size_t bytes)
{
    int id = st->in[i];
    if (id < 0) return false;
    const mr_pvalue *r = &p->values[root_of(p, id)];
    if (r->place != MR_AT_ARENA || r->last != s || r->bytes != bytes) return false;
    for (int j = 0; j < st->n_in; j++)
        if (st->in[j] >= 0 && st->in[j] != id && root_of(p, st->in[j]) == root_of(p, id)) return false;
    return true;
}

static void place_run_outputs(mr_plan *p, const mr_step *st, int s)
{
    for (int o = 0; o < st->n_out; o++) {
        if (st->out[o] < 0) continue;
        mr_pvalue *v = &p->values[st->out[o]];
        mr_shape_bytes(&v->shape, (mr_dtype)v->type.elem, &v->bytes);
        v->place = MR_AT_ARENA;
        for (int i = 0; o == 0 && st->impl && i < st->n_in && i < 32; i++) /* the bits of inplace */
            if ((st->impl->inplace >> i & 1) && reusable(p, st, s, i, v->bytes)) {
                share(p, st->out[0], st->in[i]);
                break;
            }
    }
}

static void place_outputs(mr_plan *p, const mr_step *st, int s)
{
    bool sized = st->out[0] < 0 || mr_shape_known(&p->values[st->out[0]].shape);
    if (st->kind == MR_STEP_RUN || st->kind == MR_STEP_COPY || (st->kind == MR_STEP_CARRY && sized)) {
        place_run_outputs(p, st, s);
        return;
    }
    for (int o = 0; o < st->n_out; o++) {
        if (st->out[o] < 0) continue;
        mr_pvalue *v = &p->values[st->out[o]];
        v->place = MR_AT_OWNED;
        if (!st->view) continue;
        mr_place from = p->values[root_of(p, st->in[0])].place;
        if (from == MR_AT_ARENA) share(p, st->out[0], st->in[0]);
        v->place =
            from == MR_AT_CONST ? MR_AT_INPUT : from; /* bytes of others either way: nothing to allocate or free */
    }
}

/* A root that is an output as a whole is computed where the caller will find it. */
static bool place_result(mr_plan *p, const mr_pvalue *v, size_t bytes)
{
    mr_pvalue *r = &p->values[v->root];
    if (r->place != MR_AT_ARENA || r->dev != MR_CPU || bytes != r->bytes) return false;
    r->place = MR_AT_OUTPUT;
    return true;
}

/* The others are copied at the end; constants on the heap and values with owners of their own are not. */
static void place_results(mr_plan *p)
{
    for (int o = 0; o < p->n_outputs; o++) {
        mr_pvalue *v = &p->values[p->outputs[o]];
        size_t bytes;
        if (v->type.kind != MR_TENSOR || v->type.elem == MR_STRING) continue;
        if (!mr_shape_bytes(&v->shape, (mr_dtype)v->type.elem, &bytes)) continue;
        bool shared = v->known ? v->known->buffer != NULL : v->place == MR_AT_OWNED;
        if (place_result(p, v, bytes) || !shared) p->output_bytes += aligned(bytes);
    }
}

/* ---- offsets ---- */

typedef struct {
    int id, first, last;
    size_t bytes, offset;
} block;

static int larger_first(const void *a, const void *b)
{
    const block *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    return x->first != y->first ? (x->first > y->first) - (x->first < y->first) : x->id - y->id;
}

/* The smallest gap between the blocks already placed (sorted by offset) whose lifetimes meet b's. */
static size_t best_offset(const block *placed, int n, const block *b)
{
    size_t end = 0, best = SIZE_MAX, best_gap = SIZE_MAX;
    for (int i = 0; i < n; i++) {
        const block *p = &placed[i];
        if (p->first > b->last || b->first > p->last) continue;
        if (p->offset > end && p->offset - end >= b->bytes && p->offset - end < best_gap)
            best = end, best_gap = p->offset - end;
        if (p->offset + p->bytes > end) end = p->offset + p->bytes;
    }
    return best != SIZE_MAX ? best : end;
}

static void insert_by_offset(block *placed, int n, block b)
{
    int i = n;
    for (; i > 0 && placed[i - 1].offset > b.offset; i--) placed[i] = placed[i - 1];
    placed[i] = b;
}

static bool place_arena(mr_plan *p, mr_device_kind dev)
{
    block *todo = malloc(sizeof *todo * ((size_t)p->n_values + 1) * 2);
    int n = 0;
    if (!todo) return false;
    block *placed = todo + p->n_values + 1;
    for (int i = 0; i < p->n_values; i++) {
        const mr_pvalue *v = &p->values[i];
        if (v->place != MR_AT_ARENA || v->dev != dev || v->root != i || !v->bytes) continue;
        todo[n++] = (block){i, v->first, v->last, aligned(v->bytes), 0};
    }
    qsort(todo, (size_t)n, sizeof *todo, larger_first);
    for (int i = 0; i < n; i++) {
        block b = todo[i];
        b.offset = best_offset(placed, i, &b);
        insert_by_offset(placed, i, b);
        p->values[b.id].offset = b.offset;
        if (b.offset + b.bytes > p->arena[dev]) p->arena[dev] = b.offset + b.bytes;
    }
    free(todo);
    return true;
}

/* ---- owned values are dropped after their last use ---- */

static bool list_drops(mr_plan *p)
{
    for (int i = 0; i < p->n_values; i++) {
        const mr_pvalue *v = &p->values[i];
        if (v->place == MR_AT_OWNED && v->last >= 0 && v->last < p->n_steps) p->steps[v->last].n_drop++;
    }
    for (int s = 0; s < p->n_steps; s++) {
        mr_step *st = &p->steps[s];
        if (!st->n_drop) continue;
        st->drop = MR_REGION_NEW(&p->region, int, st->n_drop);
        if (!st->drop) return false;
        st->n_drop = 0;
    }
    for (int i = 0; i < p->n_values; i++) {
        const mr_pvalue *v = &p->values[i];
        if (v->place == MR_AT_OWNED && v->last >= 0 && v->last < p->n_steps) {
            mr_step *st = &p->steps[v->last];
            st->drop[st->n_drop++] = i;
        }
    }
    return true;
}

mr_status mr_plan_layout(mr_plan *p, mr_error *e)
{
    find_lifetimes(p);
    for (int s = 0; s < p->n_steps; s++) place_outputs(p, &p->steps[s], s);
    place_results(p);
    for (int i = 0; i < p->n_values; i++) {
        mr_place root = p->values[root_of(p, i)].place;
        if (p->values[i].place == MR_AT_ARENA) p->values[i].place = root;
    }
    if (!place_arena(p, MR_CPU) || !place_arena(p, MR_CUDA) || !list_drops(p))
        return mr_fail(e, MR_E_MEMORY, "out of memory while planning");
    return MR_OK;
}

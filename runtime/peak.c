/* peak.c: who holds a plan's memory when it is fullest. */
#include "account.h"
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 5 }; /* holders that a refusal names */

const char *mr_bytes_string(size_t bytes, char *buf, size_t size)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    double n = (double)bytes / 1024;
    size_t u = 0;
    for (; n >= 1024 && u + 1 < sizeof units / sizeof *units; u++) n /= 1024;
    if (bytes < 1024)
        snprintf(buf, size, "%zu byte%s", bytes, bytes == 1 ? "" : "s");
    else
        snprintf(buf, size, "%.1f %s", n, units[u]);
    return buf;
}

static bool is_root(const mr_plan *p, int id)
{
    const mr_pvalue *v = &p->values[id];
    return v->place == MR_AT_ARENA && v->dev == MR_CPU && v->root == id && v->bytes;
}

static bool is_alive(const mr_pvalue *v, int step)
{
    return v->first <= step && step <= v->last;
}

static size_t alive_bytes(const mr_plan *p, int step)
{
    size_t sum = 0;
    for (int i = 0; i < p->n_values; i++)
        if (is_root(p, i) && is_alive(&p->values[i], step)) sum += p->values[i].bytes;
    return sum;
}

/* Of the values that share a root's bytes, the one that was made last. */
static int owner_at(const mr_plan *p, int root, int step)
{
    int owner = root;
    for (int i = 0; i < p->n_values; i++) {
        const mr_pvalue *v = &p->values[i];
        if (v->root == root && v->first >= 0 && v->first <= step && v->first > p->values[owner].first) owner = i;
    }
    return owner;
}

/* Copies in another memory go by the name of what they are copies of. */
static const char *name_of(const mr_plan *p, int id)
{
    if (id >= p->graph->n_values) id = p->values[id].twin;
    return id >= 0 && id < p->graph->n_values ? p->graph->values[id].name : "";
}

static int larger_first(const void *a, const void *b)
{
    const mr_holder *x = a, *y = b;
    return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

/* Live bytes change only where a root begins: the peak is at one of those steps. */
static int fullest_step(const mr_plan *p)
{
    int at = -1;
    size_t most = 0;
    for (int i = 0; i < p->n_values; i++) {
        if (!is_root(p, i)) continue;
        size_t sum = alive_bytes(p, p->values[i].first);
        if (sum > most || (sum == most && p->values[i].first < at)) most = sum, at = p->values[i].first;
    }
    return at;
}

int mr_plan_peak(const mr_plan *p, mr_holder **holders, int *n)
{
    int at = fullest_step(p);
    *n = 0;
    *holders = calloc((size_t)p->n_values + 1, sizeof **holders);
    if (!*holders) *n = -1;
    for (int i = 0; *holders && i < p->n_values; i++) {
        if (!is_root(p, i) || !is_alive(&p->values[i], at)) continue;
        int owner = owner_at(p, i, at);
        (*holders)[(*n)++] = (mr_holder){name_of(p, owner), &p->values[owner], p->values[i].bytes};
    }
    if (*holders) qsort(*holders, (size_t)*n, sizeof **holders, larger_first);
    return at;
}

static int append(char *text, int at, size_t size, const char *what, size_t bytes)
{
    char number[32];
    if (!bytes || at < 0 || (size_t)at >= size) return at;
    return at +
           snprintf(text + at, size - (size_t)at, "\n  %-10s %s", mr_bytes_string(bytes, number, sizeof number), what);
}

static int append_holders(const mr_plan *p, char *text, int at, size_t size)
{
    mr_holder *holders;
    char where[512], line[1024], shape[256];
    int n, step = mr_plan_peak(p, &holders, &n);
    if (step < 0 || n <= 0) return free(holders), at;
    snprintf(line, sizeof line, "tensors, most at %s:", mr_node_where(p->steps[step].node, where, sizeof where));
    at = append(text, at, size, line, p->arena[MR_CPU]);
    for (int i = 0; i < n && i < SHOWN; i++) {
        const mr_pvalue *v = holders[i].value;
        snprintf(line, sizeof line, "  '%s' %s%s", holders[i].name, mr_dtype_name((mr_dtype)v->type.elem),
                 mr_shape_string(&v->shape, NULL, shape, sizeof shape));
        at = append(text, at, size, line, holders[i].bytes);
    }
    if (n > SHOWN) {
        size_t rest = 0;
        for (int i = SHOWN; i < n; i++) rest += holders[i].bytes;
        snprintf(line, sizeof line, "  %d more", n - SHOWN);
        at = append(text, at, size, line, rest);
    }
    free(holders);
    return at;
}

mr_status mr_plan_over_limit(const mr_plan *p, size_t peak, size_t limit, mr_error *e)
{
    char text[4096] = "", need[32], most[32];
    const mr_session *s = p->session;
    int at = append_holders(p, text, 0, sizeof text);
    at = append(text, at, sizeof text, "outputs", p->output_bytes);
    at = append(text, at, sizeof text, "scratch of kernels", p->scratch);
    at = append(text, at, sizeof text, "inputs carried in double", p->carried_bytes);
    at = append(text, at, sizeof text, "folded constants", p->const_bytes);
    at = append(text, at, sizeof text, "packed weights", s->model->packed_bytes);
    append(text, at, sizeof text, "weights that could not be mapped", s->model->weight_bytes);
    mr_fail(e, MR_E_MEMORY_LIMIT, "needs %s, the limit is %s%s", mr_bytes_string(peak, need, sizeof need),
            mr_bytes_string(limit, most, sizeof most), text);
    mr_error_hint(e, "smaller batches or images need less; minirt info --plan shows every step");
    return e->status;
}

/* Values that the frame holds outside its arena, largest first; at most SHOWN. */
static int held_values(const mr_frame *f, const mr_account *a, mr_holder *at)
{
    int n = 0;
    for (int i = 0; i < f->plan->n_values; i++) {
        const mr_value *v = f->slots[i].v;
        size_t bytes = v ? mr_value_charged(v, a) : 0;
        int k = n;
        if (!bytes || f->plan->values[i].root != i) continue;
        for (; k > 0 && at[k - 1].bytes < bytes; k--)
            if (k < SHOWN) at[k] = at[k - 1];
        if (k < SHOWN) at[k] = (mr_holder){name_of(f->plan, i), &f->plan->values[i], bytes};
        if (n < SHOWN) n++;
    }
    return n;
}

void mr_frame_over_limit(const mr_frame *f, const mr_account *a, mr_error *e)
{
    char text[2048] = "", more[32], live[32], most[32], line[512];
    mr_holder held[SHOWN];
    int n = held_values(f, a, held), at = 0;
    for (int i = 0; i < n; i++) {
        snprintf(line, sizeof line, "'%s'", held[i].name);
        at = append(text, at, sizeof text, line, held[i].bytes);
    }
    char *where = e->where;
    int node = e->node;
    e->where = NULL;
    mr_error_clear(e);
    mr_fail(e, MR_E_MEMORY_LIMIT, "needs %s more while %s of %s are in use%s%s",
            mr_bytes_string(a->refused, more, sizeof more), mr_bytes_string(a->live, live, sizeof live),
            mr_bytes_string(a->limit, most, sizeof most), n ? ", by these among others:" : "", text);
    e->where = where, e->node = node;
}

/* bench.c: how fast is it, by percentile, extent, thread count and node?
 *
 * Each point of the sweep starts anew: environment, loading, first run. Then warm-up, then runs until the median is
 * known well enough, then some that are watched, for the table of nodes: watching costs time, so those do not count. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "json.h"
#include "setup.h"
#include "tools/io/inputs.h"
#include "watch.h"

enum { MAX_POINTS = 64, MAX_LISTS = 8, STABLE_RUNS = 30, LEAST_RUNS = 5, WATCHED_RUNS = 20 };
#define LEAST_MS    300.0
#define STABLE_PART 0.01 /* half of the interval of the median, as a part of it */

/* ---- the sweep ---- */

typedef struct list { /* an option whose value is a list: "batch=1,2,4" or "1,2" */
    mr_option_id id;
    const char *front; /* "batch=" */
    const char *values[16];
    int n;
} list;

typedef struct sweep {
    const mr_args *a;
    list lists[MAX_LISTS];
    int n_lists, n_points;
    char *texts[MAX_LISTS]; /* what the values point into */
} sweep;

static mr_status add_list(sweep *s, mr_option_id id, const char *value, mr_error *e)
{
    const char *equals = id == MR_OPT_SYMBOL ? strrchr(value, '=') : NULL;
    if (s->n_lists == MAX_LISTS) return mr_fail(e, MR_E_USAGE, "at most %d lists can be swept", MAX_LISTS);
    list *l = &s->lists[s->n_lists];
    char *text = s->texts[s->n_lists] = strdup(value);
    if (!text) return mr_fail(e, MR_E_MEMORY, "out of memory");
    *l = (list){.id = id, .front = ""};
    s->n_lists++;
    char *rest = text;
    if (equals) {
        l->front = text;
        rest = text + (equals - value) + 1;
        rest[-1] = 0;
    }
    for (char *part; (part = strsep(&rest, ","));) {
        if (l->n == 16) return mr_fail(e, MR_E_USAGE, "'%s': at most 16 values can be swept", value);
        l->values[l->n++] = part;
    }
    s->n_points *= l->n;
    if (s->n_points > MAX_POINTS)
        return mr_fail(e, MR_E_USAGE, "%d points to measure: at most %d", s->n_points, MAX_POINTS);
    return MR_OK;
}

static mr_status read_sweep(const mr_args *a, sweep *s, mr_error *e)
{
    const char *text = mr_args_text(a, MR_OPT_THREADS);
    *s = (sweep){.a = a, .n_points = 1};
    for (int i = 0; e->status == MR_OK && (text = mr_args_next(a, MR_OPT_SYMBOL, &i));)
        add_list(s, MR_OPT_SYMBOL, text, e);
    if (e->status == MR_OK && (text = mr_args_text(a, MR_OPT_THREADS))) add_list(s, MR_OPT_THREADS, text, e);
    return e->status;
}

/* The arguments of point k: the lists replaced by one value each, and what is not given made up. */
typedef struct point_args {
    mr_args a;
    char text[MAX_LISTS][128];
    char dims[128];
} point_args;

static void give(mr_args *a, mr_option_id id, const char *value)
{
    a->given[a->n_given++] = (struct mr_given){id, value};
}

static mr_status args_of_point(const sweep *s, int k, point_args *p, mr_error *e)
{
    *p = (point_args){.a = *s->a};
    p->a.given = calloc((size_t)s->a->n_given + 3, sizeof *p->a.given);
    p->a.n_given = 0;
    if (!p->a.given) return mr_fail(e, MR_E_MEMORY, "out of memory");
    for (int i = 0; i < s->a->n_given; i++) {
        mr_option_id id = s->a->given[i].id;
        if (id != MR_OPT_SYMBOL && id != MR_OPT_THREADS) give(&p->a, id, s->a->given[i].value);
    }
    for (int i = s->n_lists - 1; i >= 0; i--) {
        const list *l = &s->lists[i];
        const char *value = l->values[k % l->n];
        k /= l->n;
        bool symbol = l->id == MR_OPT_SYMBOL;
        snprintf(p->text[i], sizeof p->text[i], "%s%s%s", l->front, *l->front ? "=" : "", value);
        give(&p->a, l->id, p->text[i]);
        if (!symbol) continue;
        size_t used = strlen(p->dims);
        snprintf(p->dims + used, sizeof p->dims - used, "%s%s", used ? "," : "", p->text[i]);
    }
    give(&p->a, MR_OPT_RANDOM, NULL);
    return MR_OK;
}

/* Dimensions that nobody set become 1, and that is said once. */
static mr_status set_rest(point_args *p, const mr_graph *g, bool say, mr_error *e)
{
    mr_typed_shape *shapes = NULL;
    const char *comma = "note: ";
    if (p->a.n > 1 || mr_shapes_given(&p->a, g, &shapes, e)) {
        free(shapes);
        return e->status;
    }
    for (int i = 0; i < g->n_inputs; i++)
        for (int d = 0; d < shapes[i].shape.rank; d++) {
            mr_dim dim = shapes[i].shape.d[d];
            if (dim >= 0 || g->values[g->inputs[i]].init || !say) continue;
            fprintf(stderr, "%s%s axis %d (%s)", comma, g->values[g->inputs[i]].name, d,
                    dim < MR_DIM_UNKNOWN ? g->model->symbols[-2 - dim] : "?");
            comma = ", ";
        }
    if (*comma == ',') fprintf(stderr, " set to 1; -s NAME=N sets an extent\n");
    free(shapes);
    give(&p->a, MR_OPT_SYMBOL, "*=1");
    return MR_OK;
}

/* ---- nodes ---- */

typedef struct profile {
    mr_bench_node *at;
    int n, cap, next; /* next: of this run */
    bool failed;
} profile;

static double bytes_of(const mr_call *c)
{
    double sum = 0;
    for (int i = 0; i < c->n_in; i++)
        if (c->in[i].t) sum += (double)mr_tensor_bytes(c->in[i].t);
    for (int o = 0; o < c->n_out; o++)
        if (c->out[o].t) sum += (double)mr_tensor_bytes(c->out[o].t);
    return sum;
}

static bool grow(profile *p)
{
    if (p->next < p->cap) return true;
    int cap = p->cap ? 2 * p->cap : 64;
    mr_bench_node *more = realloc(p->at, sizeof *more * (size_t)cap);
    if (!more) return false;
    p->at = more, p->cap = cap;
    return true;
}

static void note(void *arg, const mr_event *ev)
{
    profile *p = arg;
    double ms = (double)(ev->end_ns - ev->begin_ns) / 1e6;
    if (ev->depth > 0 || ev->end_ns == 0 || p->failed) return; /* inside of a node that is counted, or folded */
    if (p->next == p->n) {
        const char *name = mr_node_file(ev->node)->name;
        if (!grow(p)) {
            p->failed = true;
            return;
        }
        mr_bench_node *k = &p->at[p->n];
        *k = (mr_bench_node){.name = strdup(*name ? name : ev->node->op_type),
                             .op = strdup(ev->node->op_type),
                             .kernel = strdup(ev->kernel ? ev->kernel : ""),
                             .ms = ms,
                             .flops = mr_call_flops(ev->call),
                             .bytes = ev->kernel ? bytes_of(ev->call) : 0};
        p->failed = !k->name || !k->op || !k->kernel;
        p->n++;
    }
    mr_bench_node *k = &p->at[p->next++];
    if (ms < k->ms) k->ms = ms;
}

static int slowest_first(const void *a, const void *b)
{
    double x = ((const mr_bench_node *)a)->ms, y = ((const mr_bench_node *)b)->ms;
    return (x < y) - (x > y);
}

/* ---- one point ---- */

typedef struct measuring {
    mr_setup setup;
    mr_feeds feeds;
    mr_session *session;
    mr_watch *watch;
    void (*trace)(void *, const mr_event *); /* of --profile */
    void *trace_arg;
    mr_value **out;
    double seconds;
    int64_t warmup;
    mr_bench_point *point;
    mr_error *e;
} measuring;

static mr_status run_once(measuring *m, double *ms)
{
    int n = m->session->n_outputs;
    int64_t begin = mr_now_ns();
    if (mr_session_run(m->session, m->feeds.in, m->out, m->e)) return m->e->status;
    *ms = (double)(mr_now_ns() - begin) / 1e6;
    for (int i = 0; i < n; i++) mr_value_release(m->out[i]), m->out[i] = NULL;
    return MR_OK;
}

static mr_status open_point(measuring *m, point_args *p, bool first)
{
    int64_t begin = mr_now_ns();
    if (mr_setup_open(&p->a, &m->setup, m->e)) return m->e->status;
    m->point->load_ms = (double)(mr_now_ns() - begin) / 1e6;
    m->point->threads = m->setup.env->threads;
    const mr_graph *g = m->setup.g;
    if (set_rest(p, g, first, m->e) || mr_feeds_read(&p->a, 1, g, &m->feeds, m->e)) return m->e->status;
    if (mr_watch_start(&p->a, &m->setup, &m->feeds, false, &m->watch, m->e)) return m->e->status;
    if (mr_args_has(&p->a, MR_OPT_PROFILE))
        m->trace = m->setup.options.observe, m->trace_arg = m->setup.options.observe_arg;
    m->setup.options.observe = NULL;
    m->out = calloc((size_t)g->n_outputs + 1, sizeof *m->out);
    if (!m->out) return mr_fail(m->e, MR_E_MEMORY, "out of memory");
    begin = mr_now_ns();
    if (mr_session_new(m->setup.model, &m->setup.options, NULL, 0, &m->session, m->e)) return m->e->status;
    double ms;
    if (run_once(m, &ms)) return m->e->status;
    m->point->first_ms = (double)(mr_now_ns() - begin) / 1e6;
    const mr_tensor *t = g->n_inputs && m->feeds.in[0] ? mr_value_dense(m->feeds.in[0]) : NULL;
    m->point->items = t && t->rank > 0 ? (double)t->dims[0] : 1;
    return MR_OK;
}

static bool stable(const double *ms, int n)
{
    double *copy = malloc(sizeof *copy * (size_t)n);
    if (!copy) return true;
    memcpy(copy, ms, sizeof *copy * (size_t)n);
    mr_timing t = mr_timing_of(copy, n);
    free(copy);
    return t.high - t.low < 2 * STABLE_PART * t.median;
}

static mr_status measure(measuring *m)
{
    double ms = 0, *all = NULL, spent = 0, limit = m->seconds * 1e3;
    int n = 0, cap = 0, look = STABLE_RUNS;
    for (int64_t i = 0; i < m->warmup || (m->warmup < 0 && i < 3 && spent < limit / 5); i++) {
        if (run_once(m, &ms)) return m->e->status;
        spent += ms;
    }
    for (spent = 0; n < LEAST_RUNS || spent < limit;) {
        if (n == cap) {
            double *more = realloc(all, sizeof *all * (size_t)(cap = cap ? 2 * cap : 256));
            if (!more) mr_fail(m->e, MR_E_MEMORY, "out of memory");
            if (!more) break;
            all = more;
        }
        if (run_once(m, &all[n])) break;
        spent += all[n++];
        if (n < look || spent < LEAST_MS) continue;
        look = n + n / 4; /* looking sorts: not after each run */
        if (stable(all, n)) break;
    }
    if (m->e->status == MR_OK) m->point->t = mr_timing_of(all, n);
    free(all);
    return m->e->status;
}

static mr_status watch_nodes(measuring *m)
{
    profile p = {0};
    mr_bench_point *point = m->point;
    double ms = 0, spent = 0;
    m->session->options.observe = note, m->session->options.observe_arg = &p;
    for (int i = 0; i < WATCHED_RUNS && (i < 3 || spent < m->seconds * 250); i++) {
        p.next = 0;
        if (run_once(m, &ms)) break;
        if (i == 0 || ms < point->profiled_ms) point->profiled_ms = ms;
        spent += ms;
    }
    if (p.failed) mr_fail(m->e, MR_E_MEMORY, "out of memory");
    for (int i = 0; i < p.n; i++) point->node_ms += p.at[i].ms;
    for (int i = 0; i < p.n && point->node_ms > 0; i++) p.at[i].share = p.at[i].ms / point->node_ms;
    if (p.n) qsort(p.at, (size_t)p.n, sizeof *p.at, slowest_first);
    point->nodes = p.at, point->n_nodes = p.n;
    if (m->trace && m->e->status == MR_OK) {
        m->session->options.observe = m->trace, m->session->options.observe_arg = m->trace_arg;
        run_once(m, &ms);
    }
    m->session->options.observe = NULL;
    return m->e->status;
}

static mr_status measure_point(measuring *m, point_args *p, bool first)
{
    if (open_point(m, p, first) || measure(m)) return m->e->status;
    m->point->peak_bytes = m->session->peak;
    return watch_nodes(m);
}

static void close_point(measuring *m)
{
    mr_watch_end(m->watch, m->e);
    free(m->out);
    mr_session_free(m->session);
    mr_feeds_free(&m->feeds);
    mr_setup_close(&m->setup);
}

/* ---- all of it ---- */

typedef struct benching {
    const mr_args *a;
    sweep sweep;
    mr_bench_point points[MAX_POINTS];
    int n; /* measured */
    mr_peak peak;
    double seconds;
    int64_t warmup, top;
    const char *path;
    mr_error e;
} benching;

static mr_status bench_point(benching *b, int k)
{
    point_args p;
    measuring m = {.seconds = b->seconds, .warmup = b->warmup, .point = &b->points[k], .e = &b->e};
    if (args_of_point(&b->sweep, k, &p, &b->e) == MR_OK) measure_point(&m, &p, k == 0);
    snprintf(b->points[k].dims, sizeof b->points[k].dims, "%s", p.dims);
    b->n = k + 1;
    close_point(&m);
    free(p.a.given);
    return b->e.status;
}

/* The last point may be the one that is wrong: that is said before the first is measured. */
static mr_status check_points(benching *b)
{
    mr_setup setup = {0};
    for (int k = 0; k < b->sweep.n_points && b->e.status == MR_OK; k++) {
        point_args p;
        int64_t threads;
        if (args_of_point(&b->sweep, k, &p, &b->e) == MR_OK &&
            mr_args_int(&p.a, MR_OPT_THREADS, 1, MR_MAX_THREADS, 0, &threads, &b->e) == MR_OK &&
            (setup.g || mr_setup_open(&p.a, &setup, &b->e) == MR_OK))
            set_rest(&p, setup.g, false, &b->e);
        free(p.a.given);
    }
    b->path = b->a->at[0];
    mr_setup_close(&setup);
    return b->e.status;
}

static mr_status bench(benching *b)
{
    if (mr_args_real(b->a, MR_OPT_SECONDS, 5, &b->seconds, &b->e)) return b->e.status;
    if (mr_args_int(b->a, MR_OPT_WARMUP, 0, INT32_MAX, -1, &b->warmup, &b->e)) return b->e.status;
    if (mr_args_int(b->a, MR_OPT_TOP, 1, INT32_MAX, 12, &b->top, &b->e)) return b->e.status;
    if (read_sweep(b->a, &b->sweep, &b->e) || check_points(b)) return b->e.status;
    bool text = !mr_json_on_stdout(b->a), noisy = false;
    b->peak = mr_peak_measure();
    if (text)
        printf("%s  on a machine of %.0f GFLOP/s a thread (float32 multiply-adds), %.1f GB/s\n", b->a->at[0],
               b->peak.gflops, b->peak.gbytes);
    for (int k = 0; k < b->sweep.n_points; k++) {
        if (bench_point(b, k)) return b->e.status;
        if (text) mr_bench_print_point(stdout, &b->points[k], &b->peak, (int)b->top);
        noisy |= mr_timing_noisy(&b->points[k].t);
    }
    if (text) mr_bench_print_sweep(stdout, b->points, b->n);
    if (noisy) fprintf(stderr, "warning: the machine is noisy: medians are more than 15 %% above the minimum\n");
    return MR_OK;
}

static void write_document(benching *b)
{
    json_t *runs = json_array();
    const char *mode = mr_args_text(b->a, MR_OPT_MODE), *device = mr_args_text(b->a, MR_OPT_DEVICE);
    for (int i = 0; i < b->n && b->e.status == MR_OK; i++) json_array_append_new(runs, mr_bench_json(&b->points[i]));
    json_t *j =
        json_pack("{s:s, s:o, s:s, s:s, s:{s:f, s:f}, s:o}", "schema", "minirt.bench/1", "model",
                  mr_json_text(b->a->at[0]), "device", device ? device : "cpu", "mode", mode ? mode : "fast", "machine",
                  "gflops_per_thread", b->peak.gflops, "gbytes_per_second", b->peak.gbytes, "runs", runs);
    mr_json_answer(j, b->a, &b->e);
}

int mr_command_bench(const mr_args *a)
{
    benching *b = calloc(1, sizeof *b);
    if (!b) return MR_EMEMORY;
    b->a = a;
    bench(b);
    if (mr_args_has(a, MR_OPT_JSON)) write_document(b);
    int status = mr_report(&b->e, b->path);
    for (int i = 0; i < b->n; i++) {
        mr_bench_point *p = &b->points[i];
        for (int k = 0; k < p->n_nodes; k++) free(p->nodes[k].name), free(p->nodes[k].op), free(p->nodes[k].kernel);
        free(p->nodes);
    }
    for (int i = 0; i < b->sweep.n_lists; i++) free(b->sweep.texts[i]);
    free(b);
    return status;
}

/* watch.c: looking at a run while it runs. */
#include "watch.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "summary.h"
#include "tools/io/element.h"
#include "tools/io/output.h"

enum { PROGRESS_FROM_MS = 1000, PROGRESS_EVERY_MS = 100, NAME_WIDTH = 24 };

typedef struct seen { /* of a value that was made */
    bool known, finite;
    double min, max;
} seen;

struct mr_watch {
    const mr_graph *g;
    mr_env *env;
    const mr_feeds *feeds;
    mr_dump *dump;
    bool stats;
    json_t *list; /* of the statistics; NULL: lines on stdout */
    FILE *trace;
    const char *trace_path;
    bool comma; /* an event was written */
    seen *seen; /* by value id; NULL: NaN is not looked for */
    bool told;  /* of a NaN */
    bool progress;
    int done, steps;
    int64_t begin_ns, shown_ns;
    mr_error error; /* the first, of files */
};

/* ---- the first NaN ---- */

static seen look(const mr_tensor *t)
{
    if (!mr_dtype_in(t->dtype, MR_ALL_FLOATS)) return (seen){true, true, 0, 0};
    mr_stats s = mr_stats_of(t);
    return (seen){true, s.nan + s.inf == 0, s.min, s.max};
}

/* Inputs and initializers are looked at when a node reads them. */
static seen *seen_of(mr_watch *w, int id)
{
    seen *s = &w->seen[id];
    const mr_value *v = w->g->values[id].init;
    for (int i = 0; i < w->g->n_inputs; i++)
        if (w->g->inputs[i] == id && w->feeds->in[i]) v = w->feeds->in[i];
    if (!s->known && w->g->values[id].producer < 0)
        *s = v && mr_value_dense(v) ? look(mr_value_dense(v)) : (seen){true, true, 0, 0};
    return s;
}

static void tell_operands(mr_watch *w, const mr_event *ev, FILE *f)
{
    const char *comma = "";
    for (int i = 0; i < ev->call->n_in; i++) {
        int id = i < ev->node->n_in ? ev->node->in[i] : -1;
        char shape[256];
        if (id < 0) continue;
        const seen *s = seen_of(w, id);
        fprintf(f, "%s%s %s%s %.6g to %.6g", comma, w->g->values[id].name,
                mr_dtype_name((mr_dtype)ev->call->in[i].type.elem),
                mr_shape_string(&ev->call->in[i].shape, NULL, shape, sizeof shape), s->min, s->max);
        comma = ", ";
    }
}

/* "y float32[4]: 2 of 4, first at [1]: inf" of the outputs that have some. */
static void tell_results(mr_watch *w, const mr_event *ev, FILE *f)
{
    const char *comma = "";
    for (int o = 0; o < ev->call->n_out && o < ev->node->n_out; o++) {
        const mr_tensor *t = ev->call->out[o].t;
        int id = ev->node->out[o];
        if (id < 0 || !t || w->seen[id].finite) continue;
        mr_shape s = mr_tensor_shape(t);
        char shape[256];
        int64_t first = 0;
        while (isfinite(mr_element_real(t, first))) first++;
        mr_stats stats = mr_stats_of(t);
        fprintf(f, "%s%s %s%s: %lld of %lld, first at ", comma, w->g->values[id].name, mr_dtype_name(t->dtype),
                mr_shape_string(&s, NULL, shape, sizeof shape), (long long)(stats.nan + stats.inf),
                (long long)mr_tensor_count(t));
        mr_index_print(f, t, first);
        fprintf(f, ": ");
        mr_element_print(f, t, first);
        comma = ", ";
    }
}

static void look_for_nan(mr_watch *w, const mr_event *ev)
{
    bool from_finite = true, made = false;
    for (int i = 0; i < ev->node->n_in; i++)
        if (ev->node->in[i] >= 0) from_finite &= seen_of(w, ev->node->in[i])->finite;
    for (int o = 0; o < ev->call->n_out && o < ev->node->n_out; o++) {
        const mr_arg *out = &ev->call->out[o];
        if (ev->node->out[o] < 0) continue;
        w->seen[ev->node->out[o]] = out->t ? look(out->t) : (seen){true, true, 0, 0};
        made |= !w->seen[ev->node->out[o]].finite;
    }
    if (w->told || !made || !from_finite) return;
    char *text = NULL, where[512];
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f) return;
    tell_results(w, ev, f);
    fprintf(f, "; from ");
    tell_operands(w, ev, f);
    fclose(f);
    mr_log(w->env, MR_LOG_INFO, "E%04d %s: made NaN or Inf from finite inputs: %s", MR_E_NOT_FINITE,
           mr_node_where(ev->node, where, sizeof where), text);
    free(text);
    w->told = true;
}

/* ---- tensors ---- */

static void take_tensors(mr_watch *w, const mr_event *ev)
{
    for (int o = 0; o < ev->call->n_out && o < ev->node->n_out; o++) {
        const mr_arg *out = &ev->call->out[o];
        if (ev->node->out[o] < 0 || (!out->v && !out->t)) continue;
        mr_value *v = out->v ? mr_value_retain(out->v) : mr_value_borrow(out->t);
        const char *name = w->g->values[ev->node->out[o]].name;
        if (!v) {
            mr_fail(&w->error, MR_E_MEMORY, "out of memory");
            return;
        }
        if (w->stats && w->list)
            json_array_append_new(w->list, mr_summary_json(name, v, false));
        else if (w->stats)
            mr_summary_print(stdout, name, NAME_WIDTH, v, false);
        if (w->dump && w->error.status == MR_OK) mr_dump_add(w->dump, name, v, mr_node_file(ev->node)->name, &w->error);
        mr_value_release(v);
    }
}

/* ---- profile ---- */

static json_t *types_of(const mr_arg *args, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++) {
        char shape[256], text[300];
        const mr_tensor *t = args[i].t;
        mr_shape s = t ? mr_tensor_shape(t) : args[i].shape;
        if (args[i].type.kind == MR_NONE) {
            json_array_append_new(list, json_null());
        } else if (args[i].type.kind != MR_TENSOR) {
            json_array_append_new(list, json_string(mr_type_string(args[i].type, text, sizeof text)));
        } else {
            snprintf(text, sizeof text, "%s%s", mr_dtype_name((mr_dtype)args[i].type.elem),
                     mr_shape_string(&s, NULL, shape, sizeof shape));
            json_array_append_new(list, json_string(text));
        }
    }
    return list;
}

/* A complete event ("ph": "X") of the Chrome trace format, times in microseconds. Subgraphs nest in time. */
static void trace(mr_watch *w, const mr_event *ev)
{
    const mr_node *file = mr_node_file(ev->node);
    const char *name = *file->name ? file->name : ev->node->op_type;
    if (ev->end_ns == 0) return; /* folded: nothing was run */
    json_t *args = json_pack("{s:s, s:s*, s:i, s:o, s:o}", "op", ev->node->op_type, "kernel", ev->kernel, "node",
                             file->index, "inputs", types_of(ev->call->in, ev->call->n_in), "outputs",
                             types_of(ev->call->out, ev->call->n_out));
    json_t *j =
        json_pack("{s:o, s:s, s:s, s:i, s:i, s:f, s:f, s:o}", "name", mr_json_text(name), "cat", ev->node->op_type,
                  "ph", "X", "pid", 1, "tid", 1, "ts", (double)(ev->begin_ns - w->begin_ns) / 1e3, "dur",
                  (double)(ev->end_ns - ev->begin_ns) / 1e3, "args", args);
    fputs(w->comma ? ",\n" : "\n", w->trace);
    json_dumpf(j, w->trace, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(j);
    w->comma = true;
}

/* ---- progress ---- */

static void show_progress(mr_watch *w, const mr_event *ev)
{
    int64_t now = mr_now_ns();
    const char *name = mr_node_file(ev->node)->name;
    w->done++;
    if (now - w->begin_ns < PROGRESS_FROM_MS * 1000000LL || now - w->shown_ns < PROGRESS_EVERY_MS * 1000000LL) return;
    fprintf(stderr, "\r\033[K%d of %d  %.60s", w->done, w->steps > w->done ? w->steps : w->done,
            *name ? name : ev->node->op_type);
    w->shown_ns = now;
}

/* ---- all of it ---- */

static void observe(void *arg, const mr_event *ev)
{
    mr_watch *w = arg;
    if (w->trace) trace(w, ev);
    if (ev->depth > 0) return;
    if (w->seen) look_for_nan(w, ev);
    if (w->stats || w->dump) take_tensors(w, ev);
    if (w->progress) show_progress(w, ev);
}

/* The tensors of a dump and of statistics, and those among which the first NaN is looked for, are all that nodes of the
 * file make. */
static bool keep(void *arg, const char *value)
{
    const mr_watch *w = arg;
    (void)value;
    return w->stats || w->dump || w->seen;
}

static mr_status open_trace(mr_watch *w, const char *path, mr_error *e)
{
    w->trace = fopen(path, "w");
    w->trace_path = path;
    if (!w->trace) return mr_fail(e, MR_E_IO, "cannot write %s: %s", path, strerror(errno));
    fputs("{\"traceEvents\": [", w->trace);
    return MR_OK;
}

mr_status mr_watch_start(const mr_args *a, mr_setup *s, const mr_feeds *f, bool all, mr_watch **out, mr_error *e)
{
    mr_watch *w = *out = calloc(1, sizeof *w);
    if (!w) return mr_fail(e, MR_E_MEMORY, "out of memory");
    const char *dump = mr_args_text(a, MR_OPT_DUMP), *profile = mr_args_text(a, MR_OPT_PROFILE);
    w->g = s->g;
    w->env = s->env;
    w->feeds = f;
    w->stats = all && mr_args_has(a, MR_OPT_STATS);
    if (w->stats && mr_args_has(a, MR_OPT_JSON)) w->list = json_array();
    w->progress = isatty(STDERR_FILENO) && s->log_level > MR_LOG_ERROR && !w->stats;
    w->begin_ns = mr_now_ns();
    if (s->log_level >= MR_LOG_INFO && !(w->seen = calloc((size_t)s->g->n_values + 1, sizeof *w->seen)))
        return mr_fail(e, MR_E_MEMORY, "out of memory");
    if (all && dump && mr_dump_create(dump, &w->dump, e)) return e->status;
    if (profile && open_trace(w, profile, e)) return e->status;
    if (w->stats || w->progress || w->dump || w->trace || w->seen) {
        s->options.observe = observe;
        s->options.keep = keep;
        s->options.observe_arg = w;
    }
    return MR_OK;
}

void mr_watch_steps(mr_watch *w, int n_steps)
{
    w->steps = n_steps;
}

json_t *mr_watch_stats(mr_watch *w)
{
    json_t *list = w->list;
    w->list = NULL;
    return list;
}

mr_status mr_watch_end(mr_watch *w, mr_error *e)
{
    if (!w) return e->status;
    if (w->shown_ns) fputs("\r\033[K", stderr);
    if (w->error.status)
        mr_fail_as(e, w->error.status, w->error.code, "%s", w->error.text ? w->error.text : "out of memory");
    mr_dump_close(w->dump, e);
    if (w->trace) {
        fputs("\n]}\n", w->trace);
        if (fclose(w->trace) != 0) mr_fail(e, MR_E_IO, "cannot write %s: %s", w->trace_path, strerror(errno));
    }
    mr_error_clear(&w->error);
    json_decref(w->list);
    free(w->seen);
    free(w);
    return e->status;
}

/* run.c: what does the model give for this input? */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "expect.h"
#include "runtime/carrier.h"
#include "json.h"
#include "nodes.h"
#include "summary.h"
#include "tools/io/output.h"
#include "watch.h"

typedef struct running {
    const mr_args *a;
    mr_setup setup;
    mr_feeds feeds;
    int *ids, n;        /* the tensors that are computed */
    const char **names; /* theirs */
    bool picked;        /* by --outputs */
    mr_value **out, **want;
    mr_set assumed;
    mr_watch *watch;
    mr_session *session;
    mr_plan *plan;
    double ms;
    json_t *json; /* NULL: lines on stdout */
    bool agree;
    mr_error e;
} running;

static mr_value *assume(void *arg, const char *name)
{
    return mr_value_retain(mr_set_find(arg, name));
}

static mr_status pick_outputs(running *r)
{
    const mr_graph *g = r->setup.g;
    if (mr_outputs_picked(r->a, g, &r->ids, &r->n, &r->e)) return r->e.status;
    r->picked = r->ids != NULL;
    if (!r->picked) {
        r->n = g->n_outputs;
        r->ids = calloc((size_t)r->n + 1, sizeof *r->ids);
        if (r->ids) memcpy(r->ids, g->outputs, sizeof *r->ids * (size_t)r->n);
    }
    r->names = calloc((size_t)r->n + 1, sizeof *r->names);
    r->out = calloc((size_t)r->n + 1, sizeof *r->out);
    r->want = calloc((size_t)r->n + 1, sizeof *r->want);
    if (!r->ids || !r->names || !r->out || !r->want) return mr_fail(&r->e, MR_E_MEMORY, "out of memory");
    for (int i = 0; i < r->n; i++) r->names[i] = g->values[r->ids[i]].name;
    return MR_OK;
}

/* Under --precision f64 results come in double: so must what they are compared with. */
static mr_status carry_expectations(running *r)
{
    for (int i = 0; r->setup.options.f64 && i < r->n; i++) {
        if (!r->want[i]) continue;
        mr_value *wide = mr_carrier_value(r->want[i]);
        if (!wide) return mr_fail(&r->e, MR_E_MEMORY, "out of memory");
        mr_value_release(r->want[i]);
        r->want[i] = wide;
    }
    return MR_OK;
}

/* Everything that can be wrong with the arguments is said before anything runs. */
static mr_status prepare(running *r)
{
    const char *output = mr_args_text(r->a, MR_OPT_OUTPUT), *dump = mr_args_text(r->a, MR_OPT_ASSUME);
    if (mr_setup_open(r->a, &r->setup, &r->e) || pick_outputs(r)) return r->e.status;
    if (output && mr_output_check(output, r->n, &r->e)) return r->e.status;
    if (mr_feeds_read(r->a, 1, r->setup.g, &r->feeds, &r->e)) return r->e.status;
    if (mr_expectations(r->a, r->setup.g, &r->feeds, r->ids, r->names, r->n, r->want, &r->e)) return r->e.status;
    if (carry_expectations(r)) return r->e.status;
    if (dump && mr_set_read(dump, (mr_expect){0}, &r->assumed, &r->e)) return r->e.status;
    if (dump) r->setup.options.assume = assume, r->setup.options.assume_arg = &r->assumed;
    return mr_watch_start(r->a, &r->setup, &r->feeds, !r->picked, &r->watch, &r->e);
}

static mr_status execute(running *r)
{
    mr_setup *s = &r->setup;
    if (mr_session_new(s->model, &s->options, r->ids, r->n, &r->session, &r->e)) return r->e.status;
    if (mr_session_prepare(r->session, r->feeds.in, &r->plan, &r->e)) return r->e.status;
    mr_watch_steps(r->watch, r->plan->n_steps);
    int64_t begin = mr_now_ns();
    mr_session_run(r->session, r->feeds.in, r->out, &r->e);
    r->ms = (double)(mr_now_ns() - begin) / 1e6;
    return r->e.status;
}

static const char *device_name(const running *r)
{
    return r->setup.options.device ? r->setup.options.device : "cpu";
}

/* ---- showing ---- */

static mr_status show_outputs(running *r)
{
    int64_t top;
    bool digest = mr_args_has(r->a, MR_OPT_DIGEST);
    int width = 0;
    if (mr_args_int(r->a, MR_OPT_TOP, 1, INT32_MAX, 0, &top, &r->e)) return r->e.status;
    json_t *list = r->json ? json_array() : NULL;
    for (int i = 0; i < r->n; i++)
        if ((int)strlen(r->names[i]) > width) width = (int)strlen(r->names[i]);
    for (int i = 0; i < r->n; i++) {
        const mr_tensor *t = mr_value_dense(r->out[i]);
        if (!r->json) {
            mr_summary_print(stdout, r->names[i], width, r->out[i], digest);
            if (top && t) mr_top_print(stdout, t, (int)top);
            continue;
        }
        json_t *j = mr_summary_json(r->names[i], r->out[i], digest);
        if (top && t) json_object_set_new(j, "top", mr_top_json(t, (int)top));
        json_array_append_new(list, j);
    }
    if (list) json_object_set_new(r->json, "outputs", list);
    return MR_OK;
}

static void show_end(running *r)
{
    int nodes = mr_nodes_count(r->setup.g);
    double peak = (double)r->session->peak;
    if (!r->json) {
        printf("%s  %d node%s on %s, %.1f ms, peak %.1f %s\n", r->agree ? "ok" : "differs", nodes,
               nodes == 1 ? "" : "s", device_name(r), r->ms, peak < 0x1p20 ? peak / 0x1p10 : peak / 0x1p20,
               peak < 0x1p20 ? "KiB" : "MiB");
        return;
    }
    json_object_set_new(r->json, "nodes", json_integer(nodes));
    json_object_set_new(r->json, "ms", json_real(r->ms));
    json_object_set_new(r->json, "peak_bytes", json_integer((json_int_t)peak));
}

static mr_status compare_outputs(running *r)
{
    bool any = false;
    for (int i = 0; i < r->n; i++) any |= r->want[i] != NULL;
    r->agree = true;
    if (!any) return MR_OK;
    json_t *list = r->json ? json_array() : NULL;
    mr_expect_compare(r->a, r->names, r->out, r->want, r->n, r->json ? NULL : stdout, list, &r->agree, &r->e);
    if (!list) return r->e.status;
    json_object_set_new(r->json, "agree", json_boolean(r->agree));
    json_object_set_new(r->json, "comparison", list);
    return r->e.status;
}

static mr_status write_outputs(running *r)
{
    const char *output = mr_args_text(r->a, MR_OPT_OUTPUT), *path = mr_args_text(r->a, MR_OPT_DUMP);
    mr_set set = {0};
    for (int i = 0; i < r->n; i++) mr_set_add(&set, r->names[i], mr_value_retain(r->out[i]), &r->e);
    if (output && r->e.status == MR_OK) mr_output_write(output, &set, &r->e);
    if (path && r->picked && r->e.status == MR_OK) { /* otherwise the watch has written it */
        mr_dump *dump;
        mr_dump_create(path, &dump, &r->e);
        for (int i = 0; i < r->n && r->e.status == MR_OK; i++) {
            const mr_vinfo *v = &r->setup.g->values[r->ids[i]];
            const char *maker = v->producer < 0 ? NULL : mr_node_file(r->setup.g->nodes[v->producer])->name;
            mr_dump_add(dump, r->names[i], r->out[i], maker, &r->e);
        }
        mr_dump_close(dump, &r->e);
    }
    mr_set_free(&set);
    return r->e.status;
}

static json_t *new_document(const running *r)
{
    return json_pack("{s:s, s:o, s:s, s:s}", "schema", "minirt.run/1", "model", mr_json_text(r->a->at[0]), "device",
                     device_name(r), "mode", r->setup.options.mode == MR_MODE_FAST ? "fast" : "reference");
}

static mr_status run(running *r)
{
    if (prepare(r) || execute(r)) return r->e.status;
    mr_watch *w = r->watch;
    json_t *stats = mr_watch_stats(w);
    if (mr_args_has(r->a, MR_OPT_JSON)) r->json = new_document(r);
    if (stats) json_object_set_new(r->json, "tensors", stats);
    r->watch = NULL;
    if (mr_watch_end(w, &r->e)) return r->e.status;
    if (show_outputs(r) || write_outputs(r) || compare_outputs(r)) return r->e.status;
    show_end(r);
    return MR_OK;
}

/* The document, with the error in it when there was one; the error stays what it is. */
static void write_document(running *r)
{
    if (!mr_args_has(r->a, MR_OPT_JSON)) return;
    if (!r->json) r->json = new_document(r);
    mr_json_answer(json_incref(r->json), r->a, &r->e);
}

/* The error is of one node: that there are more, and where they are told. */
static void tell_more(const running *r)
{
    int more = -1;
    for (int i = 0; r->plan && i < r->plan->refusals.n; i++) more += r->plan->refusals.at[i].kind != MR_REFUSE_DEPENDS;
    if (more > 0 && r->setup.log_level > MR_LOG_ERROR)
        fprintf(stderr, "note: there %s %d more; `minirt check %s` has them all\n", more == 1 ? "is" : "are", more,
                r->a->at[0]);
}

int mr_command_run(const mr_args *a)
{
    running r = {.a = a};
    run(&r);
    mr_error ignored = {.status = MR_ECANCELLED}; /* files of a run that failed are not finished */
    mr_watch_end(r.watch, &ignored);
    write_document(&r);
    int status = mr_report(&r.e, r.setup.path);
    if (status) tell_more(&r);
    for (int i = 0; i < r.n && r.out && r.want; i++) {
        mr_value_release(r.out[i]);
        mr_value_release(r.want[i]);
    }
    free(r.out), free(r.want), free(r.names), free(r.ids);
    mr_session_free(r.session);
    if (r.feeds.g) mr_feeds_free(&r.feeds);
    mr_set_free(&r.assumed);
    mr_setup_close(&r.setup);
    json_decref(r.json);
    return status ? status : !r.agree;
}

/* judge.c: runs one case on all of its data sets, and compares by the official rules. */
#include "judge.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "flips.h"
#include "tools/io/file.h"
#include "tools/io/pb.h"
#include "tools/io/testset.h"
#include "tools/summary.h"

const char *mr_verdict_name(mr_verdict_kind k)
{
    static const char *const names[] = {"pass", "fail", "unsupported", "random"};
    return names[k];
}

void mr_verdict_free(mr_verdict *v)
{
    free(v->text);
    json_decref(v->nodes);
    free(v->digests);
    *v = (mr_verdict){0};
}

typedef struct judging {
    const mr_judging *how;
    const mr_case *c;
    const mr_graph *g;
    mr_session *session;
    mr_verdict verdict;
    mr_error e;
    bool several; /* data sets */
} judging;

__attribute__((format(printf, 3, 4))) static void judge(judging *j, mr_verdict_kind kind, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    free(j->verdict.text);
    if (vasprintf(&j->verdict.text, fmt, ap) < 0) j->verdict.text = NULL;
    va_end(ap);
    j->verdict.kind = kind;
}

/* The refusal in its own words, without the hint; what isn't one is a failure. */
static void judge_error(judging *j)
{
    char *text = mr_error_format(&j->e, NULL);
    if (text && strchr(text, '\n')) *strchr(text, '\n') = 0;
    judge(j, j->e.status == MR_EUNSUPPORTED ? MR_UNSUPPORTED : MR_FAIL, "%s", text ? text : "out of memory");
    free(text);
    mr_error_clear(&j->e);
}

/* As the official runner feeds its flat models: element i of n is i / n, in double, rounded once. */
static mr_value *made_input(const mr_vinfo *info, mr_error *e)
{
    const mr_shape *s = &info->decl.shape;
    mr_value *v = NULL;
    if (info->decl.type.kind == MR_TENSOR && info->decl.type.elem == MR_F32 && mr_shape_known(s))
        v = mr_value_tensor(MR_F32, s->rank, s->d);
    if (!v) {
        mr_fail(e, MR_E_INPUT_MISSING, "input '%s' cannot be made: it is not float32 of known shape", info->name);
        return NULL;
    }
    int64_t n = mr_tensor_count(&v->t);
    for (int64_t i = 0; i < n; i++) ((float *)v->t.data)[i] = (float)((double)i / (double)n);
    return v;
}

static mr_status flat_inputs(judging *j, mr_value **in)
{
    for (int i = 0; i < j->g->n_inputs && j->e.status == MR_OK; i++) {
        const mr_vinfo *info = &j->g->values[j->g->inputs[i]];
        if (!info->init) in[i] = made_input(info, &j->e);
    }
    return j->e.status;
}

static mr_status flat_outputs(judging *j, mr_value **out, int *n)
{
    for (*n = 0;; ++*n) {
        char *name, *path = NULL;
        if (asprintf(&name, "%s_output_%d.pb", j->c->name, *n) < 0) return mr_fail(&j->e, MR_E_MEMORY, "out of memory");
        path = mr_path_join(j->c->dir, name);
        bool there = path && mr_is_file(path);
        if (there && *n < j->g->n_outputs)
            mr_pb_read(path, j->g->values[j->g->outputs[*n]].decl.type, &out[*n], NULL, &j->e);
        free(name);
        free(path);
        if (!there || j->e.status) return j->e.status;
    }
}

static void compare(judging *j, const char *set, mr_value *const *got, mr_value *const *want)
{
    mr_tolerance tol = {.rtol = 1e-3, .atol = 1e-7, .ulp = -1};
    if (mr_case_tolerance(j->c, set, &tol.rtol, &tol.atol, &j->e)) {
        judge_error(j);
        return;
    }
    if (j->how->rtol >= 0) tol.rtol = j->how->rtol;
    if (j->how->atol >= 0) tol.atol = j->how->atol;
    for (int o = 0; o < j->g->n_outputs; o++) {
        mr_diff d;
        mr_value *own = mr_flips_forgive(set, o, got[o], want[o], &j->e);
        if (!own) {
            judge_error(j);
            return;
        }
        mr_diff_values(own, want[o], tol, &d);
        mr_value_release(own);
        bool agree = d.agree;
        if (!agree) {
            char *text = NULL;
            size_t size;
            FILE *f = open_memstream(&text, &size);
            if (f) mr_diff_print(f, &d), fclose(f);
            judge(j, MR_FAIL, "%s%soutput %d '%s': %s", j->several ? mr_path_base(set) : "", j->several ? ", " : "", o,
                  j->g->values[j->g->outputs[o]].name, text ? text : "differs");
            free(text);
        }
        mr_diff_free(&d);
        if (!agree) return;
    }
}

static void add_digests(judging *j, mr_value *const *out)
{
    for (int o = 0; o < j->g->n_outputs; o++) {
        char hex[65], *text = NULL, *old = j->verdict.digests;
        mr_digest(out[o], hex);
        if (asprintf(&text, "%s%s%s", old ? old : "", old ? " " : "", hex) < 0) return;
        free(old);
        j->verdict.digests = text;
    }
}

static void judge_values(judging *j, const char *set, mr_value *const *in, mr_value *const *out, mr_value *const *want,
                         int n_want)
{
    if (n_want != j->g->n_outputs) {
        judge(j, MR_FAIL, "outputs: the model has %d, %s has %d", j->g->n_outputs, mr_path_base(set), n_want);
        return;
    }
    compare(j, set, out, want);
    if (j->verdict.kind != MR_FAIL) return;
    const char *property = mr_property_holds(j->g, in, out);
    if (property) judge(j, MR_RANDOM, "%s", property);
}

static void release_all(mr_value **values, int n)
{
    for (int i = 0; i < n; i++) mr_value_release(values[i]);
    free(values);
}

static mr_status run_set(judging *j, const char *set, mr_value **in, mr_value **out, mr_value **want, int *n_want)
{
    if (!in || !out || !want) return mr_fail(&j->e, MR_E_MEMORY, "out of memory");
    if (j->c->flat ? flat_inputs(j, in) : mr_testset_inputs(set, j->g, in, &j->e)) return j->e.status;
    if (mr_session_run(j->session, in, out, &j->e)) return j->e.status;
    return j->c->flat ? flat_outputs(j, want, n_want) : mr_testset_outputs(set, j->g, want, n_want, &j->e);
}

static void judge_set(judging *j, const char *set)
{
    const mr_graph *g = j->g;
    int n_want = 0;
    mr_value **in = calloc((size_t)g->n_inputs + 1, sizeof *in);
    mr_value **out = calloc((size_t)g->n_outputs + 1, sizeof *out);
    mr_value **want = calloc((size_t)g->n_outputs + 1, sizeof *want);
    if (run_set(j, set, in, out, want, &n_want))
        judge_error(j);
    else
        judge_values(j, set, in, out, want, n_want);
    if (j->how->digests && j->verdict.kind == MR_PASS) add_digests(j, out);
    release_all(in, in ? g->n_inputs : 0);
    release_all(out, out ? g->n_outputs : 0);
    release_all(want, want ? g->n_outputs : 0);
}

static void judge_sets(judging *j)
{
    char **sets;
    int n;
    if (mr_case_sets(j->c, &sets, &n, &j->e)) {
        judge_error(j);
    } else {
        j->several = n > 1;
        for (int i = 0; i < n && (j->verdict.kind == MR_PASS || j->verdict.kind == MR_RANDOM); i++)
            judge_set(j, sets[i]);
    }
    mr_sets_free(sets, n);
}

mr_verdict mr_judge(const mr_case *c, const mr_judging *how)
{
    judging j = {.how = how, .c = c};
    mr_model *model = NULL;
    int64_t begin = mr_now_ns();
    mr_env *env = mr_env_new(how->threads);
    if (!env) mr_fail(&j.e, MR_E_MEMORY, "out of memory");
    if (env && mr_model_open(env, c->model, &model, &j.e) == MR_OK) {
        j.g = model->g->main;
        if (how->matrix) j.verdict.nodes = mr_coverage(model, &how->run);
        mr_session_new(model, &how->run, NULL, 0, &j.session, &j.e);
    }
    if (j.e.status)
        judge_error(&j);
    else
        judge_sets(&j);
    mr_session_free(j.session);
    mr_model_close(model);
    mr_env_free(env);
    j.verdict.ms = (double)(mr_now_ns() - begin) / 1e6;
    return j.verdict;
}

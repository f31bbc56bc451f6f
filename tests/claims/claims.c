/* claims.c: what check says of a model holds when it is run. usage: claims [--device D] [--answers FILE] <MODELS
 *
 * stdin has cases: u32 number of parts, then each part as u32 length and bytes: the case's name, the model, a value in
 * ONNX's own messages for each graph input without initializer. For both modes:
 *   check says that it runs            it runs; or values were wrong, which only a run can know (status 6): then other
 *                                      values of the same types and shapes do run
 *   check says that it cannot          preparing the run refuses with the same code and text
 *   check says that it hangs on values either of the two
 * and outputs have the types, and the extents as far as they were known, that check inferred. A case that breaks that
 * is printed. Cases run in child processes, so that a crash or a hang is one case's. The last lines are the counts, and
 * the versions that never ran. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/engine.h"
#include "tools/io/pb.h"
#include "values.h"

enum { MAX_PARTS = 40, CASE_SECONDS = 30 };

typedef enum outcome { RAN, REFUSED, INVALID, BAD_VALUES, BAD_INPUTS, BROKEN, N_OUTCOMES } outcome;
static const char *const outcome_names[N_OUTCOMES] = {
    "ran", "refused with the same text", "invalid with the same text", "bad values", "inputs do not fit", "broken"};

typedef struct testcase {
    uint32_t n;
    uint32_t size[MAX_PARTS];
    char *part[MAX_PARTS];
} testcase;

static mr_env *env;
static const char *device;
static FILE *answers;

/* ---- reading ---- */

static bool read_case(testcase *c)
{
    if (fread(&c->n, sizeof c->n, 1, stdin) != 1 || c->n < 2 || c->n > MAX_PARTS) return false;
    for (uint32_t i = 0; i < c->n; i++) {
        if (fread(&c->size[i], sizeof c->size[i], 1, stdin) != 1 || !(c->part[i] = calloc((size_t)c->size[i] + 1, 1)) ||
            (c->size[i] && fread(c->part[i], c->size[i], 1, stdin) != 1))
            return false;
    }
    return true;
}

static void free_case(testcase *c)
{
    for (uint32_t i = 0; i < c->n; i++) free(c->part[i]);
}

/* ---- one case in one mode ---- */

typedef struct claim {
    const testcase *c;
    mr_mode mode;
    mr_model *model;
    mr_session *checked, *session;
    mr_plan *verdict;
    mr_value **in, **out;
    char *why; /* what is broken */
} claim;

__attribute__((format(printf, 2, 3))) static outcome broken(claim *k, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (!k->why && vasprintf(&k->why, fmt, ap) < 0) k->why = NULL;
    va_end(ap);
    return BROKEN;
}

/* The refusal that a run would give: invalid before unsupported. */
static const mr_refusal *worst(const mr_refusals *r, bool *depends)
{
    const mr_refusal *w = NULL;
    *depends = false;
    for (int i = 0; i < r->n; i++) {
        *depends |= r->at[i].kind == MR_REFUSE_DEPENDS;
        if (r->at[i].kind != MR_REFUSE_DEPENDS && (!w || r->at[i].kind < w->kind)) w = &r->at[i];
    }
    return w;
}

static bool read_inputs(claim *k, mr_error *e)
{
    const mr_graph *g = k->model->g->main;
    uint32_t next = 2;
    for (int i = 0; i < g->n_inputs; i++) {
        const mr_vinfo *v = &g->values[g->inputs[i]];
        if (v->init || next >= k->c->n) continue;
        if (mr_pb_parse(k->c->part[next], k->c->size[next], v->decl.type, &k->in[i], NULL, e)) return false;
        next++;
    }
    return true;
}

/* Are the outputs what check said of them? */
static outcome look_at_outputs(claim *k)
{
    const mr_graph *g = k->model->g->main;
    char a[96], b[96];
    for (int o = 0; o < g->n_outputs; o++) {
        const mr_pvalue *said = &k->verdict->values[g->outputs[o]];
        const mr_value *is = k->out[o];
        if (said->type.kind == MR_NONE) continue;
        if (said->type.kind != is->type.kind || (said->type.elem && said->type.elem != is->type.elem))
            return broken(k, "output %d: check infers %s, the run gives %s", o, mr_type_string(said->type, a, sizeof a),
                          mr_type_string(is->type, b, sizeof b));
        if (is->type.kind != MR_TENSOR || said->shape.rank < 0) continue;
        mr_shape s = mr_tensor_shape(&is->t);
        bool fits = s.rank == said->shape.rank;
        for (int d = 0; fits && d < s.rank; d++) fits = said->shape.d[d] < 0 || said->shape.d[d] == s.d[d];
        if (!fits)
            return broken(k, "output %d: check infers shape %s, the run gives %s", o,
                          mr_shape_string(&said->shape, NULL, a, sizeof a), mr_shape_string(&s, NULL, b, sizeof b));
    }
    return RAN;
}

/* The texts without the extents in them, which are symbols where only the inputs have numbers. */
static bool same_words(const char *a, const char *b)
{
    while (*a && *b) {
        if (*a == '[' && *b == '[') {
            a = strchr(a, ']') ? strchr(a, ']') : a, b = strchr(b, ']') ? strchr(b, ']') : b;
        }
        if (*a != *b) return false;
        a++, b++;
    }
    return !*a; /* the run may say more: the values that a condition saw */
}

/* A node failed: is it the values, or would all others of these types and shapes fail, so that check had to say it? */
static outcome try_other_values(claim *k, const mr_error *failed)
{
    const mr_graph *g = k->model->g->main;
    mr_value **in = calloc((size_t)g->n_inputs + 1, sizeof *in), **out = calloc((size_t)g->n_outputs + 1, sizeof *out);
    bool cured = !in || !out;
    for (int t = 0; t < MR_ATTEMPTS && !cured; t++) {
        mr_error e = {.node = -1};
        mr_other_values(k->in, g->n_inputs, t, in);
        mr_session_run(k->session, in, out, &e);
        cured = e.status != MR_ENODE;
        mr_error_clear(&e);
        for (int i = 0; i < g->n_inputs; i++) mr_value_release(in[i]);
        for (int i = 0; i < g->n_outputs; i++) mr_value_release(out[i]), out[i] = NULL;
    }
    free(in), free(out);
    return cured ? BAD_VALUES
                 : broken(k, "check says that it runs, no values do: E%04d %s", failed->code, failed->text);
}

static outcome compare(claim *k, const mr_error *said, bool depends, const mr_error *e)
{
    const char *text = e->text ? e->text : "";
    if (e->status == MR_EINTERNAL) return broken(k, "a bug: %s", text);
    if (e->status == MR_OK)
        return said ? broken(k, "check refuses it (%s), yet it runs", said->text) : look_at_outputs(k);
    if (said) {
        bool same = e->code == said->code && said->text && same_words(said->text, text);
        if (!same) return broken(k, "check says E%04d %s; the run E%04d %s", said->code, said->text, e->code, text);
        return e->status == MR_EINVALID || e->status == MR_EINPUT ? INVALID : REFUSED;
    }
    bool for_ever =
        e->status == MR_ETIMEOUT || e->status == MR_EMEMORY; /* a Loop without end, an output without bound */
    if (for_ever || depends) return BAD_VALUES;
    if (e->status == MR_ENODE) return try_other_values(k, e);
    if (e->status == MR_EINPUT) return BAD_INPUTS;
    return broken(k, "check says that it runs, the run: status %d, E%04d %s", e->status, e->code, text);
}

/* ---- answers ---- */

static void put_part(FILE *f, const void *bytes, size_t size)
{
    uint32_t n = (uint32_t)size;
    fwrite(&n, sizeof n, 1, f);
    fwrite(bytes, 1, size, f);
}

static void put_output(FILE *f, const mr_value *v, mr_error *e)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *m = open_memstream(&bytes, &size);
    if (m) {
        fputc(v ? (int)v->type.kind : MR_NONE, m);
        if (v) mr_pb_write(m, "", v, e);
        fclose(m);
    }
    put_part(f, bytes, size);
    free(bytes);
}

/* Whole or not at all: a case that crashes has no answer. */
static void put_answer(const claim *k, outcome r, const mr_error *said, const mr_error *e)
{
    const char *text = k->why ? k->why : said && said->text ? said->text : e->text ? e->text : "";
    const char *mode = k->mode == MR_MODE_FAST ? "fast" : "reference";
    bool ran = e->status == MR_OK && r == RAN;
    uint32_t n = 4 + (ran ? (uint32_t)k->model->g->main->n_outputs : 0);
    mr_error why = {.node = -1};
    fwrite(&n, sizeof n, 1, answers);
    put_part(answers, k->c->part[0], k->c->size[0]);
    put_part(answers, mode, strlen(mode));
    put_part(answers, outcome_names[r], strlen(outcome_names[r]));
    put_part(answers, text, strlen(text));
    for (uint32_t o = 0; o + 4 < n; o++) put_output(answers, k->out[o], &why);
    fflush(answers);
    mr_error_clear(&why);
}

static outcome run_mode(claim *k)
{
    mr_error e = {.node = -1}, ec = {.node = -1};
    mr_options o = {.mode = k->mode,
                    .optimize = k->mode == MR_MODE_FAST ? 2 : 0,
                    .device = device,
                    .timeout_s = CASE_SECONDS / 10,
                    .memory_limit = (size_t)1 << 30};
    outcome r;
    if (mr_model_open_memory(env, k->c->part[1], k->c->size[1], &k->model, &e)) {
        if (answers) put_answer(k, INVALID, NULL, &e);
        mr_error_clear(&e);
        return INVALID;
    }
    const mr_graph *g = k->model->g->main;
    k->in = calloc((size_t)g->n_inputs + 1, sizeof *k->in);
    k->out = calloc((size_t)g->n_outputs + 1, sizeof *k->out);
    bool depends = false;
    const mr_error *said = NULL;
    if (mr_session_new(k->model, &o, NULL, 0, &k->checked, &ec) == MR_OK)
        k->verdict = mr_session_check(k->checked, NULL, &ec);
    if (!k->verdict) {
        r = broken(k, "check fails: %s", ec.text ? ec.text : "?");
    } else {
        const mr_refusal *w = worst(&k->verdict->refusals, &depends);
        said = k->model->g->n_invalid ? &k->model->g->invalid[0] : w ? &w->error : NULL;
        mr_session_new(k->model, &o, NULL, 0, &k->session, &e);
        if (!read_inputs(k, &e))
            r = said ? INVALID : BAD_INPUTS;
        else {
            mr_session_run(k->session, k->in, k->out, &e);
            r = compare(k, said, depends, &e);
        }
    }
    if (answers) put_answer(k, r, said, &e);
    for (int i = 0; i < g->n_inputs; i++) mr_value_release(k->in[i]);
    for (int i = 0; i < g->n_outputs; i++) mr_value_release(k->out[i]);
    mr_plan_free(k->verdict);
    mr_session_free(k->checked), mr_session_free(k->session);
    free(k->in), free(k->out);
    mr_model_close(k->model);
    mr_error_clear(&e), mr_error_clear(&ec);
    return r;
}

static outcome judge(const testcase *c)
{
    static const char *const modes[] = {"fast", "reference"};
    outcome worst = RAN;
    for (int m = 0; m < 2; m++) {
        claim k = {.c = c, .mode = m ? MR_MODE_REFERENCE : MR_MODE_FAST};
        outcome r = run_mode(&k);
        if (r == BROKEN) printf("broken %s (%s): %s\n", c->part[0], modes[m], k.why ? k.why : "?");
        free(k.why);
        if (r > worst) worst = r;
    }
    fflush(stdout);
    return worst;
}

/* ---- a child for many cases: it says a byte for each ---- */

typedef struct worker {
    pid_t pid;
    int to, from; /* the case's number goes in, its outcome comes out: cases are there before the fork */
} worker;

static const testcase *all;

static void work(int from, int to)
{
    uint32_t i;
    while (read(from, &i, sizeof i) == sizeof i) {
        unsigned char r = (unsigned char)judge(&all[i]);
        if (write(to, &r, 1) != 1) break;
    }
    _exit(0);
}

static bool start(worker *w)
{
    int in[2], out[2];
    if (pipe(in) || pipe(out)) return false;
    fflush(stdout);
    w->pid = fork();
    if (w->pid == 0) {
        close(in[1]), close(out[0]);
        env = mr_env_new(1);
        work(in[0], out[1]);
    }
    close(in[0]), close(out[1]);
    w->to = in[1], w->from = out[0];
    return w->pid > 0;
}

static void stop(worker *w, int how)
{
    int status;
    if (how) kill(w->pid, how);
    close(w->to), close(w->from);
    waitpid(w->pid, &status, 0);
    *w = (worker){0};
}

static outcome ask(worker *w, uint32_t i)
{
    unsigned char r;
    if (!w->pid && !start(w)) return BROKEN;
    struct pollfd p = {.fd = w->from, .events = POLLIN};
    if (write(w->to, &i, sizeof i) != sizeof i || poll(&p, 1, CASE_SECONDS * 1000) <= 0) {
        printf("broken %s: hung\n", all[i].part[0]);
        stop(w, SIGKILL);
        return BROKEN;
    }
    if (read(w->from, &r, 1) == 1) return (outcome)r;
    printf("broken %s: crashed\n", all[i].part[0]);
    stop(w, 0);
    return BROKEN;
}

/* Cases of one operator version follow one another; their names begin with it. */
static bool same_version(const char *a, const char *b)
{
    size_t n = strcspn(a, " ");
    return n == strcspn(b, " ") && !strncmp(a, b, n);
}

/* Versions of which no case ran say nothing of what happens when one does. */
static void print_versions(uint32_t n, const outcome *of)
{
    int versions = 0, ran = 0;
    for (uint32_t i = 0, next; i < n; i = next) {
        bool one = false;
        for (next = i; next < n && same_version(all[i].part[0], all[next].part[0]); next++) one |= of[next] == RAN;
        if (!one) printf("never ran: %.*s\n", (int)strcspn(all[i].part[0], " "), all[i].part[0]);
        versions++, ran += one;
    }
    printf("%d of %d versions ran\n", ran, versions);
}

int main(int argc, char **argv)
{
    testcase *cases = NULL;
    uint32_t n = 0, cap = 0;
    int counts[N_OUTCOMES] = {0};
    worker w = {0};
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--device")) device = argv[i + 1];
        if (!strcmp(argv[i], "--answers") && !(answers = fopen(argv[i + 1], "wb"))) return 9;
    }
    signal(SIGPIPE, SIG_IGN);
    for (;; n++) {
        if (n == cap) cases = realloc(cases, sizeof *cases * (cap = cap ? 2 * cap : 1024));
        if (!cases || !read_case(&cases[n])) break;
    }
    all = cases;
    outcome *of = calloc((size_t)n + 1, sizeof *of);
    for (uint32_t i = 0; of && i < n; i++) counts[of[i] = ask(&w, i)]++;
    if (w.pid) stop(&w, 0);
    if (of) print_versions(n, of);
    free(of);
    for (int i = 0; i < N_OUTCOMES; i++) printf("%s%d %s", i ? ", " : "", counts[i], outcome_names[i]);
    printf("\n%u passed, %d failed\n", n - (uint32_t)counts[BROKEN], counts[BROKEN]);
    for (uint32_t i = 0; i < n; i++) free_case(&cases[i]);
    free(cases);
    if (answers) fclose(answers);
    return counts[BROKEN] > 0;
}

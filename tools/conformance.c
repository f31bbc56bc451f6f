/* conformance.c: minirt-conformance, the official test data and any other test folders, case by case. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/children.h"
#include "conformance/expected.h"
#include "conformance/report.h"
#include "json.h"
#include "options.h"

typedef struct running {
    mr_results results;
    mr_verdict *verdicts;
    mr_expected expected;
    bool compare; /* with expected */
    int differences;
    bool quiet;
} running;

static void done(void *arg, int i, mr_verdict v)
{
    running *r = arg;
    const char *name = r->results.cases->at[i].name;
    char *line = mr_verdict_line(&v);
    bool plain = v.kind == MR_PASS || !v.text;
    r->verdicts[i] = v;
    r->results.counts[v.kind]++;
    if (!r->quiet) printf("%s %s%s%s\n", mr_verdict_name(v.kind), name, plain ? "" : ": ", plain ? "" : v.text);
    if (r->compare) {
        const char *want = mr_expected_of(&r->expected, name);
        if (!want || !line || strcmp(want, line) != 0) {
            printf("differs %s: expected %s, got %s\n", name, want ? want : "nothing", line ? line : "?");
            r->differences++;
        }
    }
    free(line);
    fflush(stdout);
}

/* Lines of the file that no case stands for; with a pattern, cases were left out on purpose. */
static void tell_unseen(running *r)
{
    for (int i = 0; i < r->expected.n; i++)
        if (!r->expected.at[i].seen) {
            printf("differs %s: expected %s, there is no such case\n", r->expected.at[i].name,
                   r->expected.at[i].verdict);
            r->differences++;
        }
}

static mr_status find_cases(const mr_args *a, mr_cases *cases, mr_error *e)
{
    for (int i = 0; i < a->n && e->status == MR_OK; i++) mr_cases_find(a->at[i], cases, e);
    const char *pattern = mr_args_text(a, MR_OPT_PATTERN);
    if (pattern) mr_cases_filter(cases, pattern);
    if (e->status == MR_OK && cases->n == 0)
        mr_fail(e, MR_E_IO, pattern ? "no case matches '%s'" : "no test folders (NAME/model.onnx) found", pattern);
    return e->status;
}

static mr_status read_options(const mr_args *a, mr_judging *how, int64_t *jobs, double *timeout, mr_error *e)
{
    static const char *const modes[] = {"fast", "reference", NULL};
    int mode;
    int64_t threads, cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (mr_args_choice(a, MR_OPT_MODE, modes, MR_MODE_FAST, &mode, e)) return e->status;
    if (mr_args_int(a, MR_OPT_JOBS, 1, MR_MAX_THREADS, cores, jobs, e)) return e->status;
    if (mr_args_int(a, MR_OPT_THREADS, 1, MR_MAX_THREADS, cores > *jobs ? cores / *jobs : 1, &threads, e))
        return e->status;
    if (mr_args_real(a, MR_OPT_RTOL, -1, &how->rtol, e) || mr_args_real(a, MR_OPT_ATOL, -1, &how->atol, e))
        return e->status;
    if (mr_args_real(a, MR_OPT_TIMEOUT, 60, timeout, e)) return e->status;
    how->threads = (int)threads;
    how->run = (mr_options){.mode = (mr_mode)mode, .optimize = mode == MR_MODE_FAST ? 2 : 0};
    how->run.device = mr_args_text(a, MR_OPT_DEVICE);
    how->matrix = mr_args_has(a, MR_OPT_MATRIX);
    how->digests = mr_args_has(a, MR_OPT_DIGESTS);
    return MR_OK;
}

static mr_status write_reports(const mr_args *a, running *r, mr_error *e)
{
    const char *junit = mr_args_text(a, MR_OPT_JUNIT), *matrix = mr_args_text(a, MR_OPT_MATRIX);
    const char *expected = mr_args_text(a, MR_OPT_WRITE_EXPECTED), *digests = mr_args_text(a, MR_OPT_DIGESTS);
    if (mr_args_has(a, MR_OPT_JSON)) mr_report_json(mr_args_text(a, MR_OPT_JSON), &r->results, e);
    if (junit && !e->status) mr_report_junit(junit, &r->results, e);
    if (matrix && !e->status) mr_report_matrix(matrix, &r->results, e);
    if (digests && !e->status) mr_report_digests(digests, &r->results, e);
    if (expected && !e->status) mr_expected_write(expected, r->results.cases, r->verdicts, e);
    return e->status;
}

static mr_status judge(const mr_args *a, mr_cases *cases, running *r, mr_error *e)
{
    mr_judging how = {0};
    int64_t jobs;
    double timeout;
    const char *expected = mr_args_text(a, MR_OPT_EXPECTED);
    if (read_options(a, &how, &jobs, &timeout, e)) return e->status;
    if (expected && mr_expected_read(expected, &r->expected, e)) return e->status;
    r->compare = expected != NULL;
    r->quiet = mr_args_has(a, MR_OPT_QUIET) || mr_json_on_stdout(a);
    r->verdicts = calloc((size_t)cases->n, sizeof *r->verdicts);
    if (!r->verdicts) return mr_fail(e, MR_E_MEMORY, "out of memory");
    r->results = (mr_results){.cases = cases, .verdicts = r->verdicts};
    r->results.device = how.run.device ? how.run.device : "cpu";
    r->results.mode = how.run.mode == MR_MODE_FAST ? "fast" : "reference";
    if (mr_judge_all(cases, &how, (int)jobs, timeout, done, r, e)) return e->status;
    if (expected && !mr_args_has(a, MR_OPT_PATTERN)) tell_unseen(r);
    return write_reports(a, r, e);
}

static int conformance(const mr_args *a)
{
    mr_cases cases = {0};
    mr_error e = {0};
    running r = {0};
    if (find_cases(a, &cases, &e) == MR_OK && mr_args_has(a, MR_OPT_LIST))
        for (int i = 0; i < cases.n; i++) puts(cases.at[i].name);
    else if (e.status == MR_OK)
        judge(a, &cases, &r, &e);
    const int *n = r.results.counts;
    if (r.verdicts) {
        FILE *f = mr_json_on_stdout(a) ? stderr : stdout;
        fprintf(f, "%d passed, %d failed, %d unsupported", n[MR_PASS], n[MR_FAIL], n[MR_UNSUPPORTED]);
        if (n[MR_RANDOM]) fprintf(f, ", %d random", n[MR_RANDOM]);
        fputc('\n', f);
    }
    bool refused = n[MR_UNSUPPORTED] && !mr_args_has(a, MR_OPT_WRITE_EXPECTED);
    bool all = r.compare ? r.differences == 0 : n[MR_FAIL] == 0 && !refused;
    int status = mr_report(&e, NULL);
    for (int i = 0; r.verdicts && i < cases.n; i++) mr_verdict_free(&r.verdicts[i]);
    free(r.verdicts);
    mr_expected_free(&r.expected);
    mr_cases_free(&cases);
    return status ? status : !all;
}

int main(int argc, char **argv)
{
    static const mr_command command = {
        .name = "minirt-conformance",
        .arguments = "DIR…",
        .summary =
            "Runs test folders (model.onnx, test_data_set_N/{input,output}_M.pb) and compares by the official rules.",
        .text = "  minirt-conformance build/onnx-test-data/*\n"
                "  minirt-conformance -k resize --mode reference build/onnx-test-data/node\n"
                "  minirt-conformance --expected tests/conformance/expected/cpu.txt build/onnx-test-data/*\n\n"
                "A line a case: pass, fail with what differs first, unsupported with the exact refusal, or random:\n"
                "values that come from chance and have the property that they must have. Each case runs in a process\n"
                "of its own; a crash or a hang is that case's failure. Tolerances are the case's own (its file\n"
                "`tolerance`: rtol atol), else 1e-3 and 1e-7. Exit status 0 only if nothing failed and nothing is\n"
                "unsupported; with --expected, only if every verdict is the expected one.",
        .min_args = 1,
        .max_args = -1,
        .groups = FOR_CONFORMANCE | FOR_JSON,
        .run = conformance,
    };
    static const mr_program program = {"minirt-conformance", NULL, &command, 1};
    return mr_program_main(&program, argc, argv);
}

/* setup.c: the environment, the model, the options of a run. */
#include "setup.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "runtime/minirt_op.h"

static atomic_bool cancelled;

static void cancel(int signal)
{
    (void)signal;
    atomic_store(&cancelled, true);
}

/* The first Ctrl-C lets the run end cleanly, a second one kills. */
static void catch_interrupt(void)
{
    struct sigaction action = {.sa_handler = cancel, .sa_flags = SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
}

static void log_line(void *arg, mr_log_level level, const char *text)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    (void)arg;
    fprintf(stderr, "%s: %s\n", names[level], text);
}

static mr_status read_log_level(const mr_args *a, mr_log_level *out, mr_error *e)
{
    static const char *const names[] = {"error", "warning", "info", "debug", NULL};
    int verbose = mr_args_count(a, MR_OPT_VERBOSE), level;
    int usual = mr_args_has(a, MR_OPT_QUIET) ? MR_LOG_ERROR : MR_LOG_WARNING + verbose;
    if (usual > MR_LOG_DEBUG) usual = MR_LOG_DEBUG;
    mr_args_choice(a, MR_OPT_LOG_LEVEL, names, usual, &level, e);
    *out = (mr_log_level)level;
    return e->status;
}

static mr_status read_run_options(const mr_args *a, mr_options *o, mr_error *e)
{
    static const char *const modes[] = {"fast", "reference", NULL}, *const precisions[] = {"native", "f64", NULL};
    int mode, precision;
    int64_t optimize;
    if (mr_args_choice(a, MR_OPT_PRECISION, precisions, 0, &precision, e)) return e->status;
    if (mr_args_choice(a, MR_OPT_MODE, modes, precision ? MR_MODE_REFERENCE : MR_MODE_FAST, &mode, e)) return e->status;
    if (precision && mode == MR_MODE_FAST) return mr_fail(e, MR_E_USAGE, "--precision f64 needs --mode reference");
    if (mr_args_int(a, MR_OPT_OPTIMIZE, 0, 2, mode == MR_MODE_FAST ? 2 : 0, &optimize, e)) return e->status;
    if (mr_args_size(a, MR_OPT_MEMORY_LIMIT, &o->memory_limit, e)) return e->status;
    if (mr_args_real(a, MR_OPT_TIMEOUT, 0, &o->timeout_s, e)) return e->status;
    o->mode = (mr_mode)mode;
    o->f64 = precision;
    o->optimize = (int)optimize;
    o->device = mr_args_text(a, MR_OPT_DEVICE);
    o->cancel = &cancelled;
    return MR_OK;
}

mr_status mr_load_plugins(const mr_args *a, mr_env *env, mr_error *e)
{
    const char *path;
    for (int i = 0; (path = mr_args_next(a, MR_OPT_PLUGIN, &i));)
        if (mr_env_load_plugin(env, path, e)) break;
    return e->status;
}

mr_status mr_setup_open(const mr_args *a, mr_setup *s, mr_error *e)
{
    int64_t threads;
    *s = (mr_setup){.path = a->at[0]};
    if (read_log_level(a, &s->log_level, e) || read_run_options(a, &s->options, e)) return e->status;
    if (mr_args_int(a, MR_OPT_THREADS, 1, MR_MAX_THREADS, 0, &threads, e)) return e->status;
    s->env = mr_env_new((int)threads);
    if (!s->env) return mr_fail(e, MR_E_MEMORY, "out of memory");
    s->env->log = log_line;
    s->env->log_level = s->log_level;
    if (mr_load_plugins(a, s->env, e) || mr_model_open(s->env, s->path, &s->model, e)) return e->status;
    s->g = s->model->g->main;
    catch_interrupt();
    return MR_OK;
}

void mr_setup_close(mr_setup *s)
{
    mr_model_close(s->model);
    mr_env_free(s->env);
    *s = (mr_setup){0};
}

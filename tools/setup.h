/* setup.h: what commands that take a model begin with: the environment, the model, the options of a run. */
#ifndef MR_TOOLS_SETUP_H
#define MR_TOOLS_SETUP_H

#include "options.h"
#include "runtime/engine.h"

typedef struct mr_setup {
    const char *path; /* of the model */
    mr_env *env;
    mr_model *model;
    const mr_graph *g; /* its main graph */
    mr_options options;
    mr_log_level log_level;
} mr_setup;

/* Reads the common options and loads the model of the first argument. Ctrl-C cancels the run from here on. */
mr_status mr_setup_open(const mr_args *a, mr_setup *s, mr_error *e);
void mr_setup_close(mr_setup *s);

mr_status mr_load_plugins(const mr_args *a, mr_env *env, mr_error *e); /* of --plugin */

/* pick.c: value ids of the main graph for --outputs, allocated; *ids NULL: it is not given. */
mr_status mr_outputs_picked(const mr_args *a, const mr_graph *g, int **ids, int *n, mr_error *e);

#endif

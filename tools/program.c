/* program.c: from argv to a command, and from an error to an exit status. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "runtime/names.h"

const mr_command *mr_command_find(const mr_program *p, const char *name)
{
    for (int i = 0; i < p->n_commands; i++)
        if (strcmp(p->commands[i].name, name) == 0) return &p->commands[i];
    return NULL;
}

int mr_report(mr_error *e, const char *file)
{
    int status = e->status;
    char *text = status == MR_OK ? NULL : mr_error_format(e, file);
    if (status != MR_OK) fprintf(stderr, "%s\n", text ? text : "out of memory");
    free(text);
    mr_error_clear(e);
    return status;
}

static int unknown_command(const mr_program *p, const char *name)
{
    mr_error e = {0};
    char near[256];
    mr_nearest nearest = {.name = name};
    for (int i = 0; i < p->n_commands; i++) mr_nearest_offer(&nearest, p->commands[i].name);
    mr_fail(&e, MR_E_USAGE, "unknown command '%s'", name);
    if (mr_nearest_string(&nearest, near, sizeof near))
        mr_error_hint(&e, "the nearest names are %s", near);
    else
        mr_error_hint(&e, "`%s --help` lists the commands", p->name);
    return mr_report(&e, NULL);
}

static int run(const mr_program *p, const mr_command *c, int argc, char **argv)
{
    mr_args a;
    mr_error e = {0};
    int status;
    if (mr_args_parse(p, c, argc, argv, &a, &e) != MR_OK) {
        status = mr_report(&e, NULL);
    } else if (mr_args_has(&a, MR_OPT_HELP)) {
        mr_command_help(stdout, p, c);
        status = 0;
    } else if (mr_args_has(&a, MR_OPT_VERSION)) {
        printf("%s %s\n", p->name, MR_VERSION);
        status = 0;
    } else {
        status = c->run(&a);
    }
    mr_args_free(&a);
    if (fflush(stdout) != 0 && status == 0) {
        perror("stdout");
        status = MR_EIO;
    }
    return status;
}

int mr_program_main(const mr_program *p, int argc, char **argv)
{
    if (p->n_commands == 1) return run(p, p->commands, argc - 1, argv + 1);
    const char *name = argc > 1 ? argv[1] : "";
    if (argc < 2 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        const mr_command *c = argc > 2 ? mr_command_find(p, argv[2]) : NULL;
        if (argc > 2 && !c) return unknown_command(p, argv[2]);
        if (c)
            mr_command_help(stdout, p, c);
        else
            mr_program_help(argc < 2 ? stderr : stdout, p);
        return argc < 2 ? MR_EUSAGE : 0;
    }
    if (strcmp(name, "--version") == 0) {
        printf("%s %s\n", p->name, MR_VERSION);
        return 0;
    }
    const mr_command *c = mr_command_find(p, name);
    return c ? run(p, c, argc - 2, argv + 2) : unknown_command(p, name);
}

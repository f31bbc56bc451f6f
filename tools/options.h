/* options.h: commands and their options, as data that the parser, --help, the completion and the man page read. */
#ifndef MR_TOOLS_OPTIONS_H
#define MR_TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/error.h"

/* Which commands have an option: one bit a group. */
enum {
    FOR_ALWAYS = 1,
    FOR_LOG = 2,
    FOR_JSON = 4,
    FOR_RUNNING = 8,
    FOR_INPUTS = 16,
    FOR_SHAPES = 32,
    FOR_OUTPUTS = 64,
    FOR_TOLERANCE = 128,
    FOR_RUN = 256,
    FOR_CONFORMANCE = 512,
    FOR_INFO = 1024,
    FOR_OPS = 2048,
    FOR_MARKDOWN = 4096,
    FOR_BENCH = 8192
};

typedef struct mr_option {
    const char *name;
    char letter;       /* 0: none */
    const char *value; /* NULL: a flag; "=X": may be given after '='; else what it takes */
    unsigned groups;
    const char *help;
} mr_option;

typedef enum mr_option_id {
#define X(id, name, letter, value, groups, help) MR_OPT_##id,
#include "options.inc"
#undef X
    MR_N_OPTIONS
} mr_option_id;

extern const mr_option mr_options_table[MR_N_OPTIONS];

typedef struct mr_args mr_args;

typedef struct mr_command {
    const char *name;
    const char *arguments;        /* "MODEL [INPUT…]" */
    const char *summary;          /* what it answers, one line */
    const char *text;             /* more of it: paragraphs and examples, for --help and the man page */
    int min_args, max_args;       /* max_args < 0: any number */
    unsigned groups;              /* of options, beside those that all commands have */
    int (*run)(const mr_args *a); /* returns the exit status */
} mr_command;

/* A program: its commands, or a single one whose name is the program's. */
typedef struct mr_program {
    const char *name, *summary;
    const mr_command *commands;
    int n_commands;
} mr_program;

struct mr_args {
    const mr_program *program;
    const mr_command *command;
    char **at; /* the positional arguments */
    int n;
    struct mr_given {
        mr_option_id id;
        const char *value; /* NULL: none given */
    } * given;
    int n_given;
};

/* Parses argv behind the command's name. */
mr_status mr_args_parse(const mr_program *p, const mr_command *c, int argc, char **argv, mr_args *a, mr_error *e);
void mr_args_free(mr_args *a);

bool mr_args_has(const mr_args *a, mr_option_id id);
int mr_args_count(const mr_args *a, mr_option_id id);
const char *mr_args_text(const mr_args *a, mr_option_id id); /* of the last time it is given; NULL: not given */
/* The values of all times, one after the other: start with *i = 0; NULL at the end. */
const char *mr_args_next(const mr_args *a, mr_option_id id, int *i);
/* From low to high; fallback when it is not given. */
mr_status mr_args_int(const mr_args *a, mr_option_id id, int64_t low, int64_t high, int64_t fallback, int64_t *out,
                      mr_error *e);
mr_status mr_args_real(const mr_args *a, mr_option_id id, double fallback, double *out, mr_error *e);
mr_status mr_args_size(const mr_args *a, mr_option_id id, size_t *out, mr_error *e); /* "2GiB"; 0 when not given */
/* The index of its value in names (ends with NULL). */
mr_status mr_args_choice(const mr_args *a, mr_option_id id, const char *const *names, int fallback, int *out,
                         mr_error *e);
/* Parse the whole text; the caller says what it belongs to. */
bool mr_arg_int(const char *text, int64_t *out);
bool mr_arg_real(const char *text, double *out);

bool mr_option_of(mr_option_id id, const mr_command *c); /* does the command have it? */

void mr_program_help(FILE *f, const mr_program *p);
void mr_command_help(FILE *f, const mr_program *p, const mr_command *c);
void mr_program_completion(FILE *f, const mr_program *p); /* for bash */
void mr_program_man(FILE *f, const mr_program *p);        /* troff */

const mr_command *mr_command_find(const mr_program *p, const char *name);
/* Finds the command, parses, answers --help and --version, runs; prints the errors of the command line. */
int mr_program_main(const mr_program *p, int argc, char **argv);
/* Prints the error on stderr in the one format, and returns its exit status; clears it. file may be NULL. */
int mr_report(mr_error *e, const char *file);

#endif

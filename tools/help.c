/* help.c: what the tables of commands and options say, as help, completion and man page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

static const struct {
    unsigned group;
    const char *title;
} sections[] = {
    {FOR_CONFORMANCE, "Cases"},  {FOR_INPUTS, "Inputs"},       {FOR_SHAPES, "Shapes"},   {FOR_OUTPUTS, "Outputs"},
    {FOR_RUN, "Looking inside"}, {FOR_TOLERANCE, "Comparing"}, {FOR_BENCH, "Measuring"}, {FOR_INFO, "Showing"},
    {FOR_RUNNING, "Running"},    {FOR_OPS, "Choosing"},        {FOR_MARKDOWN, "Form"},   {FOR_JSON, "Results"},
    {FOR_LOG, "Messages"},       {FOR_ALWAYS, "Always"},
};
enum { N_SECTIONS = sizeof sections / sizeof *sections };

/* An option stands in the first section that has it, of those that the command has. */
static bool in_section(const mr_option *o, const mr_command *c, int section)
{
    unsigned groups = o->groups & (c->groups | FOR_ALWAYS | FOR_LOG);
    for (int s = 0; s < section; s++)
        if (groups & sections[s].group) return false;
    return groups & sections[section].group;
}

/* "-o, --output DIR/" */
static void option_form(const mr_option *o, char *buf, size_t size)
{
    char letter[8] = "";
    if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
    if (!o->value)
        snprintf(buf, size, "%s--%s", letter, o->name);
    else if (*o->value == '=')
        snprintf(buf, size, "%s--%s[%s]", letter, o->name, o->value);
    else
        snprintf(buf, size, "%s--%s %s", letter, o->name, o->value);
}

static void print_options(FILE *f, const mr_command *c)
{
    enum { COLUMN = 28 };
    for (int s = 0; s < N_SECTIONS; s++) {
        bool first = true;
        for (int i = 0; i < MR_N_OPTIONS; i++) {
            const mr_option *o = &mr_options_table[i];
            char form[128];
            if (!in_section(o, c, s)) continue;
            if (first) fprintf(f, "\n%s:\n", sections[s].title);
            first = false;
            option_form(o, form, sizeof form);
            if (strlen(form) > COLUMN - 2)
                fprintf(f, "  %s\n%*s%s\n", form, COLUMN + 2, "", o->help);
            else
                fprintf(f, "  %-*s%s\n", COLUMN, form, o->help);
        }
    }
}

void mr_command_help(FILE *f, const mr_program *p, const mr_command *c)
{
    bool single = strcmp(p->name, c->name) == 0;
    fprintf(f, "usage: %s%s%s [OPTIONS]%s%s\n\n%s\n", p->name, single ? "" : " ", single ? "" : c->name,
            *c->arguments ? " " : "", c->arguments, c->summary);
    if (c->text) fprintf(f, "\n%s\n", c->text);
    print_options(f, c);
}

void mr_program_help(FILE *f, const mr_program *p)
{
    fprintf(f, "usage: %s COMMAND MODEL [ARGUMENTS]\n\n%s\n\nCommands:\n", p->name, p->summary);
    for (int i = 0; i < p->n_commands; i++) fprintf(f, "  %-12s%s\n", p->commands[i].name, p->commands[i].summary);
    fprintf(f, "\n`%s COMMAND --help` says more about each.\n", p->name);
}

/* A value that is one of some words, "fast|reference": those can be completed. */
static bool is_choice(const char *value)
{
    return value && strchr(value, '|') && !strstr(value, "FILE");
}

/* "cuda:N" is none of them: N stands for something. */
static void print_choices(FILE *f, const char *value)
{
    for (size_t n; *value; value += n + (value[n] == '|')) {
        n = strcspn(value, "|");
        if (!memchr(value, ':', n)) fprintf(f, "%.*s ", (int)n, value);
    }
}

void mr_program_completion(FILE *f, const mr_program *p)
{
    fprintf(f,
            "# bash completion of %s\n_%s() {\n    local word=${COMP_WORDS[COMP_CWORD]} "
            "before=${COMP_WORDS[COMP_CWORD-1]}\n",
            p->name, p->name);
    fputs("    COMPREPLY=()\n    [[ $word == '=' ]] && word=\n" /* "--mode=fast" comes as three words */
          "    [[ $before == '=' ]] && before=${COMP_WORDS[COMP_CWORD-2]}\n"
          "    if ((COMP_CWORD == 1)) || [[ ${COMP_WORDS[1]} == help ]]; then\n        COMPREPLY=($(compgen -W \"",
          f);
    for (int i = 0; i < p->n_commands; i++) fprintf(f, "%s ", p->commands[i].name);
    fprintf(f, "--help --version\" -- \"$word\"))\n        return\n    fi\n    case $before in\n");
    for (int i = 0; i < MR_N_OPTIONS; i++) {
        const mr_option *o = &mr_options_table[i];
        if (!is_choice(o->value)) continue;
        fprintf(f, "    --%s) COMPREPLY=($(compgen -W \"", o->name);
        print_choices(f, o->value);
        fprintf(f, "\" -- \"$word\")); return ;;\n");
    }
    fprintf(f, "    esac\n    [[ $word == -* ]] || { COMPREPLY=($(compgen -f -- \"$word\")); return; }\n");
    fprintf(f, "    case ${COMP_WORDS[1]} in\n");
    for (int i = 0; i < p->n_commands; i++) {
        fprintf(f, "    %s) COMPREPLY=($(compgen -W \"", p->commands[i].name);
        for (int o = 0; o < MR_N_OPTIONS; o++)
            if (mr_option_of(o, &p->commands[i])) fprintf(f, "--%s ", mr_options_table[o].name);
        fprintf(f, "\" -- \"$word\")) ;;\n");
    }
    fprintf(f, "    esac\n}\ncomplete -o filenames -F _%s %s\n", p->name, p->name);
}

/* Text for troff: hyphens and backslashes escaped, no line that begins with a command. */
static void print_troff(FILE *f, const char *text)
{
    for (const char *c = text; *c; c++) {
        if ((c == text || c[-1] == '\n') && (*c == '.' || *c == '\'')) fputs("\\&", f);
        if (*c == '-')
            fputs("\\-", f);
        else if (*c == '\\')
            fputs("\\e", f);
        else
            fputc(*c, f);
    }
}

static void man_option(FILE *f, const mr_option *o)
{
    char form[128];
    option_form(o, form, sizeof form);
    fputs(".TP\n.B ", f);
    print_troff(f, form);
    fputc('\n', f);
    print_troff(f, o->help);
    fputc('\n', f);
}

void mr_program_man(FILE *f, const mr_program *p)
{
    fprintf(f, ".TH %s 1 \"\" \"%s %s\"\n.SH NAME\n%s \\- ", p->name, p->name, MR_VERSION, p->name);
    print_troff(f, p->summary);
    fprintf(f, "\n.SH SYNOPSIS\n.B %s\nCOMMAND MODEL [ARGUMENTS]\n.SH COMMANDS\n", p->name);
    for (int i = 0; i < p->n_commands; i++) {
        const mr_command *c = &p->commands[i];
        fprintf(f, ".SS \"%s %s\"\n", c->name, c->arguments);
        print_troff(f, c->summary);
        if (c->text) {
            fputs("\n.PP\n.nf\n", f);
            print_troff(f, c->text);
            fputs("\n.fi", f);
        }
        fputc('\n', f);
    }
    fputs(".SH OPTIONS\n", f);
    for (int s = 0; s < N_SECTIONS; s++) {
        bool first = true;
        for (int i = 0; i < MR_N_OPTIONS; i++) {
            const mr_command every = {.groups = ~(unsigned)FOR_CONFORMANCE};
            if (!in_section(&mr_options_table[i], &every, s)) continue;
            if (first) fprintf(f, ".SS %s\n", sections[s].title);
            first = false;
            man_option(f, &mr_options_table[i]);
        }
    }
}

/* options.c: parsing the command line by the table of options. */
#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "runtime/names.h"

const mr_option mr_options_table[MR_N_OPTIONS] = {
#define X(id, name, letter, value, groups, help) {name, letter, value, groups, help},
#include "options.inc"
#undef X
};

bool mr_option_of(mr_option_id id, const mr_command *c)
{
    return mr_options_table[id].groups & (c->groups | FOR_ALWAYS | FOR_LOG);
}

/* "run, bench": the commands that have the option; "" when none has. */
static void commands_of(const mr_program *p, const char *option, char *buf, size_t size)
{
    size_t n = 0;
    *buf = 0;
    for (int i = 0; i < p->n_commands && n < size; i++)
        for (int o = 0; o < MR_N_OPTIONS && n < size; o++)
            if (strcmp(mr_options_table[o].name, option) == 0 && mr_option_of(o, &p->commands[i]))
                n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? ", " : "", p->commands[i].name);
}

static mr_status unknown_option(const mr_program *p, const mr_command *c, const char *name, mr_error *e)
{
    char near[256], others[256];
    mr_nearest nearest = {.name = name};
    commands_of(p, name, others, sizeof others);
    for (int i = 0; i < MR_N_OPTIONS; i++)
        if (mr_option_of(i, c)) mr_nearest_offer(&nearest, mr_options_table[i].name);
    mr_fail(e, MR_E_USAGE, *others ? "'%s' has no option '--%s'" : "'%s': unknown option '--%s'", c->name, name);
    if (*others)
        mr_error_hint(e, "these commands have it: %s", others);
    else if (mr_nearest_string(&nearest, near, sizeof near))
        mr_error_hint(e, "the nearest names are %s", near);
    return e->status;
}

static int find_name(const mr_command *c, const char *name, size_t len)
{
    for (int i = 0; i < MR_N_OPTIONS; i++) {
        const char *n = mr_options_table[i].name;
        if (mr_option_of(i, c) && strlen(n) == len && memcmp(n, name, len) == 0) return i;
    }
    return -1;
}

static int find_letter(const mr_command *c, char letter)
{
    for (int i = 0; i < MR_N_OPTIONS; i++)
        if (mr_option_of(i, c) && mr_options_table[i].letter == letter) return i;
    return -1;
}

static void give(mr_args *a, int id, const char *value)
{
    a->given[a->n_given++] = (struct mr_given){(mr_option_id)id, value};
}

/* "--name", "--name=value", "--name value". Returns how many more arguments it took, -1: an error. */
static int parse_long(mr_args *a, char **argv, int left, mr_error *e)
{
    const char *name = argv[0] + 2, *equals = strchr(name, '=');
    int id = find_name(a->command, name, equals ? (size_t)(equals - name) : strlen(name));
    if (id < 0) {
        char *bare = strndup(name, equals ? (size_t)(equals - name) : strlen(name));
        unknown_option(a->program, a->command, bare ? bare : name, e);
        free(bare);
        return -1;
    }
    const mr_option *o = &mr_options_table[id];
    if (!o->value && equals) {
        mr_fail(e, MR_E_USAGE, "--%s takes no value", o->name);
        return -1;
    }
    if (!o->value || *o->value == '=' || equals) {
        give(a, id, equals ? equals + 1 : NULL);
        return 0;
    }
    if (left < 1) {
        mr_fail(e, MR_E_USAGE, "--%s needs a value: %s", o->name, o->value);
        return -1;
    }
    give(a, id, argv[1]);
    return 1;
}

/* "-v", "-t 4", "-t4". Returns as parse_long. */
static int parse_short(mr_args *a, char **argv, int left, mr_error *e)
{
    const char *text = argv[0];
    int id = find_letter(a->command, text[1]);
    if (id < 0) {
        mr_fail(e, MR_E_USAGE, "'%s': unknown option '%s'", a->command->name, text);
        return -1;
    }
    const mr_option *o = &mr_options_table[id];
    bool attached = text[2] != 0;
    if (!o->value && attached) {
        mr_fail(e, MR_E_USAGE, "-%c takes no value, in '%s'", o->letter, text);
        return -1;
    }
    if (o->value && !attached && left < 1) {
        mr_fail(e, MR_E_USAGE, "-%c needs a value: %s", o->letter, o->value);
        return -1;
    }
    give(a, id, !o->value ? NULL : attached ? text + 2 + (text[2] == '=') : argv[1]);
    return o->value && !attached;
}

mr_status mr_args_parse(const mr_program *p, const mr_command *c, int argc, char **argv, mr_args *a, mr_error *e)
{
    *a = (mr_args){.program = p, .command = c};
    a->at = calloc((size_t)argc + 1, sizeof *a->at);
    a->given = calloc((size_t)argc + 1, sizeof *a->given);
    if (!a->at || !a->given) return mr_fail(e, MR_E_MEMORY, "out of memory");
    bool options = true;
    for (int i = 0; i < argc; i++) {
        int took = 0;
        if (!options || argv[i][0] != '-' || !argv[i][1])
            a->at[a->n++] = argv[i];
        else if (strcmp(argv[i], "--") == 0)
            options = false;
        else if (argv[i][1] == '-')
            took = parse_long(a, argv + i, argc - i - 1, e);
        else
            took = parse_short(a, argv + i, argc - i - 1, e);
        if (took < 0) return e->status;
        i += took;
    }
    if (mr_args_has(a, MR_OPT_HELP) || mr_args_has(a, MR_OPT_VERSION)) return MR_OK;
    if (a->n < c->min_args) mr_fail(e, MR_E_USAGE, "'%s' needs %s", c->name, c->arguments);
    if (c->max_args >= 0 && a->n > c->max_args)
        mr_fail(e, MR_E_USAGE, "'%s' takes %s: '%s' is too much", c->name,
                *c->arguments ? c->arguments : "no arguments", a->at[c->max_args]);
    return e->status;
}

void mr_args_free(mr_args *a)
{
    free(a->at);
    free(a->given);
    *a = (mr_args){0};
}

int mr_args_count(const mr_args *a, mr_option_id id)
{
    int n = 0;
    for (int i = 0; i < a->n_given; i++) n += a->given[i].id == id;
    return n;
}

bool mr_args_has(const mr_args *a, mr_option_id id)
{
    return mr_args_count(a, id) > 0;
}

const char *mr_args_next(const mr_args *a, mr_option_id id, int *i)
{
    while (*i < a->n_given)
        if (a->given[(*i)++].id == id) return a->given[*i - 1].value;
    return NULL;
}

const char *mr_args_text(const mr_args *a, mr_option_id id)
{
    const char *text = NULL;
    for (int i = 0; i < a->n_given; i++)
        if (a->given[i].id == id) text = a->given[i].value;
    return text;
}

bool mr_arg_int(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return end != text && !*end && errno == 0;
}

bool mr_arg_real(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && !*end;
}

mr_status mr_args_int(const mr_args *a, mr_option_id id, int64_t low, int64_t high, int64_t fallback, int64_t *out,
                      mr_error *e)
{
    const char *text = mr_args_text(a, id);
    *out = fallback;
    if (text && (!mr_arg_int(text, out) || *out < low || *out > high))
        return mr_fail(e, MR_E_USAGE, "--%s: '%s' is not a whole number from %lld to %lld", mr_options_table[id].name,
                       text, (long long)low, (long long)high);
    return MR_OK;
}

mr_status mr_args_real(const mr_args *a, mr_option_id id, double fallback, double *out, mr_error *e)
{
    const char *text = mr_args_text(a, id);
    *out = fallback;
    if (text && (!mr_arg_real(text, out) || !(*out >= 0)))
        return mr_fail(e, MR_E_USAGE, "--%s: '%s' is not a number of at least 0", mr_options_table[id].name, text);
    return MR_OK;
}

mr_status mr_args_size(const mr_args *a, mr_option_id id, size_t *out, mr_error *e)
{
    static const struct {
        const char *unit;
        double bytes;
    } units[] = {{"", 1},         {"B", 1},      {"K", 1024},     {"KiB", 1024}, {"M", 0x1p20},
                 {"MiB", 0x1p20}, {"G", 0x1p30}, {"GiB", 0x1p30}, {"T", 0x1p40}, {"TiB", 0x1p40},
                 {"kB", 1e3},     {"KB", 1e3},   {"MB", 1e6},     {"GB", 1e9},   {"TB", 1e12}};
    const char *text = mr_args_text(a, id);
    *out = 0;
    if (!text) return MR_OK;
    char *end;
    double n = strtod(text, &end);
    for (size_t i = 0; end != text && n > 0 && i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].unit) == 0 && n * units[i].bytes < 0x1p62) {
            *out = (size_t)(n * units[i].bytes);
            return MR_OK;
        }
    return mr_fail(e, MR_E_USAGE, "--%s: '%s' is not a size such as 512MiB or 2GiB", mr_options_table[id].name, text);
}

mr_status mr_args_choice(const mr_args *a, mr_option_id id, const char *const *names, int fallback, int *out,
                         mr_error *e)
{
    const char *text = mr_args_text(a, id);
    *out = fallback;
    if (!text) return MR_OK;
    for (*out = 0; names[*out]; ++*out)
        if (strcmp(text, names[*out]) == 0) return MR_OK;
    return mr_fail(e, MR_E_USAGE, "--%s: '%s' is not one of %s", mr_options_table[id].name, text,
                   mr_options_table[id].value);
}

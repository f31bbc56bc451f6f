/* explain.c: the long text behind an error code. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "json.h"
#include "runtime/names.h"

/* Text in lines of at most width, each behind the indent. */
static void print_wrapped(const char *text, int indent, int width)
{
    int column = 0;
    for (const char *p = text; *p;) {
        int n = (int)strcspn(p, " ");
        if (column && column + 1 + n > width) column = printf("\n") - 1;
        column += printf("%*s%.*s", column ? 1 : indent, column ? " " : "", n, p);
        p += n;
        p += strspn(p, " ");
    }
    printf("\n");
}

static void print_code(mr_code c)
{
    printf("E%04d %s\n", c, mr_code_title(c));
    print_wrapped(mr_code_text(c), 2, 98);
    printf("  Exit status %d: %s.\n", mr_code_status(c), mr_status_name(mr_code_status(c)));
}

static void print_list(void)
{
    printf("code   status  what\n");
    for (int i = 0; mr_code_at(i); i++)
        printf("E%04d  %6d  %s\n", mr_code_at(i), mr_code_status(mr_code_at(i)), mr_code_title(mr_code_at(i)));
}

static void print_markdown(void)
{
    printf(
        "# Errors\n\nEvery message of minirt has a code that never changes its meaning. `minirt explain E0412` prints "
        "what stands here;\nthis page is the output of `minirt explain --markdown`.\n");
    for (int i = 0; mr_code_at(i); i++) {
        mr_code c = mr_code_at(i);
        printf("\n## E%04d %s\n\nExit status %d (%s).\n\n", c, mr_code_title(c), mr_code_status(c),
               mr_status_name(mr_code_status(c)));
        print_wrapped(mr_code_text(c), 0, 120);
    }
}

static json_t *code_json(mr_code c)
{
    char code[16];
    snprintf(code, sizeof code, "E%04d", c);
    return json_pack("{s:s, s:i, s:s, s:s, s:s}", "code", code, "status", mr_code_status(c), "kind",
                     mr_status_name(mr_code_status(c)), "title", mr_code_title(c), "text", mr_code_text(c));
}

/* "E0412", "e412", "412". */
static mr_code parse_code(const char *text)
{
    int64_t n;
    if (!mr_arg_int(text + (*text == 'E' || *text == 'e'), &n)) return MR_E_NONE;
    for (int i = 0; mr_code_at(i); i++)
        if ((int64_t)mr_code_at(i) == n) return mr_code_at(i);
    return MR_E_NONE;
}

static mr_status unknown_code(const char *text, mr_error *e)
{
    char names[128][16], near[256];
    mr_nearest nearest = {.name = text};
    for (int i = 0; mr_code_at(i) && i < 128; i++) {
        snprintf(names[i], sizeof names[i], "E%04d", mr_code_at(i));
        mr_nearest_offer(&nearest, names[i]);
    }
    mr_fail(e, MR_E_USAGE, "there is no error code '%s'", text);
    if (mr_nearest_string(&nearest, near, sizeof near))
        mr_error_hint(e, "the nearest are %s", near);
    else
        mr_error_hint(e, "`minirt explain` lists them");
    return e->status;
}

int mr_command_explain(const mr_args *a)
{
    mr_error e = {.node = -1};
    mr_code c = a->n ? parse_code(a->at[0]) : MR_E_NONE;
    if (a->n && !c) {
        unknown_code(a->at[0], &e);
        return mr_report(&e, NULL);
    }
    if (mr_args_has(a, MR_OPT_JSON)) {
        json_t *list = json_array(), *j;
        for (int i = 0; mr_code_at(i); i++)
            if (!c || c == mr_code_at(i)) json_array_append_new(list, code_json(mr_code_at(i)));
        j = json_pack("{s:s, s:o}", "schema", "minirt.explain/1", "codes", list);
        mr_json_answer(j, a, &e);
    }
    if (mr_json_on_stdout(a)) return mr_report(&e, NULL);
    if (mr_args_has(a, MR_OPT_MARKDOWN))
        print_markdown();
    else if (c)
        print_code(c);
    else
        print_list();
    return mr_report(&e, NULL);
}

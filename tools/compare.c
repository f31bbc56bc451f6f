/* compare.c: how do two sets of tensors differ? */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "expect.h"
#include "json.h"

typedef struct comparing {
    const mr_args *a;
    mr_set left, right;
    const char **names; /* in both */
    mr_value **got, **want;
    int n;
    bool agree;
    json_t *list; /* NULL: lines on stdout */
    mr_error e;
} comparing;

/* The names of a set, as many as fit. */
static const char *names_of(const mr_set *s, char *buf, size_t size)
{
    size_t n = 0;
    for (int i = 0; i < s->n && n < size; i++)
        n += (size_t)snprintf(buf + n, size - n, "%s'%s'", n ? ", " : "", s->at[i].name);
    return s->n ? buf : "nothing";
}

static mr_status pair(comparing *c)
{
    size_t cap = (size_t)c->left.n + 1;
    c->names = calloc(cap, sizeof *c->names);
    c->got = calloc(cap, sizeof *c->got);
    c->want = calloc(cap, sizeof *c->want);
    if (!c->names || !c->got || !c->want) return mr_fail(&c->e, MR_E_MEMORY, "out of memory");
    bool single = c->left.n == 1 && c->right.n == 1; /* whatever they are called */
    for (int i = 0; i < c->left.n; i++) {
        mr_value *other = single ? c->right.at[0].value : mr_set_find(&c->right, c->left.at[i].name);
        if (!other) continue;
        c->names[c->n] = c->left.at[i].name;
        c->got[c->n] = c->left.at[i].value;
        c->want[c->n++] = other;
    }
    if (c->n) return MR_OK;
    char left[160], right[160];
    mr_fail(&c->e, MR_E_INPUT_MISSING, "%s and %s have no tensor of the same name", c->a->at[0], c->a->at[1]);
    mr_error_hint(&c->e, "the first has %s, the second %s; files of a folder are named as the file",
                  names_of(&c->left, left, sizeof left), names_of(&c->right, right, sizeof right));
    return c->e.status;
}

/* Tensors that only one side has are a difference. */
static void tell_unpaired(comparing *c, const mr_set *of, const mr_set *other, const char *where)
{
    if (c->left.n == 1 && c->right.n == 1) return;
    for (int i = 0; i < of->n; i++) {
        if (mr_set_find(other, of->at[i].name)) continue;
        c->agree = false;
        if (c->list)
            json_array_append_new(c->list, json_pack("{s:o, s:b, s:s+}", "name", mr_json_text(of->at[i].name), "agree",
                                                     0, "reason", "only in ", where));
        else
            printf("%s  only in %s\n", of->at[i].name, where);
    }
}

static void write_document(comparing *c)
{
    json_t *j = json_pack("{s:s, s:o, s:o}", "schema", "minirt.compare/1", "a", mr_json_text(c->a->at[0]), "b",
                          mr_json_text(c->a->at[1]));
    if (c->e.status == MR_OK) {
        json_object_set_new(j, "agree", json_boolean(c->agree));
        json_object_set(j, "tensors", c->list);
    }
    mr_json_answer(j, c->a, &c->e);
}

static mr_status compare(comparing *c)
{
    if (mr_set_read(c->a->at[0], (mr_expect){0}, &c->left, &c->e)) return c->e.status;
    if (mr_set_read(c->a->at[1], (mr_expect){0}, &c->right, &c->e)) return c->e.status;
    if (pair(c)) return c->e.status;
    if (mr_args_has(c->a, MR_OPT_JSON)) c->list = json_array();
    if (mr_expect_compare(c->a, c->names, c->got, c->want, c->n, c->list ? NULL : stdout, c->list, &c->agree, &c->e))
        return c->e.status;
    tell_unpaired(c, &c->left, &c->right, c->a->at[0]);
    tell_unpaired(c, &c->right, &c->left, c->a->at[1]);
    return MR_OK;
}

int mr_command_compare(const mr_args *a)
{
    comparing c = {.a = a};
    compare(&c);
    if (mr_args_has(a, MR_OPT_JSON)) write_document(&c);
    int status = mr_report(&c.e, NULL);
    free(c.names), free(c.got), free(c.want);
    mr_set_free(&c.left);
    mr_set_free(&c.right);
    json_decref(c.list);
    return status ? status : !c.agree;
}

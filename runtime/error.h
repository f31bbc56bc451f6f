/* error.h: what went wrong, in the one format of minirt.
 *
 *     m.onnx: E0521 node 17 'conv1' (Conv-11): input 1 'W' float32[64,3,7]: expected rank 4, got rank 3
 *     hint: …
 *
 * A function that can fail takes an mr_error and returns a status; it writes the text once, at the place that knows
 * most. Callers add where: the node (mr_error_at_node), the file. */
#ifndef MR_ERROR_H
#define MR_ERROR_H

#include <stdarg.h>
#include <stddef.h>

#include "minirt.h" /* mr_status */

/* Every code has a line in errors.inc: name, number, status, title, long text. */
typedef enum mr_code {
    MR_E_NONE = 0,
#define X(name, number, status, title, text) MR_E_##name = number,
#include "errors.inc"
#undef X
} mr_code;

struct mr_error {
    mr_status status;
    mr_code code;
    int node;          /* index of the file's node, or -1 */
    char *where;       /* "node 17 'conv1' (Conv-11)", or NULL */
    char *text, *hint; /* hint may be NULL */
};

/* Sets the error (the first one stays: a later call on a set error is ignored) and returns the code's status. */
mr_status mr_fail(mr_error *e, mr_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
mr_status mr_vfail(mr_error *e, mr_code code, const char *fmt, va_list ap);
/* Like mr_fail with a status of its own instead of the code's. */
mr_status mr_fail_as(mr_error *e, mr_status status, mr_code code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Puts more behind the text. */
void mr_error_more(mr_error *e, const char *more);
void mr_error_hint(mr_error *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
struct mr_node;
void mr_error_at_node(mr_error *e, const struct mr_node *n); /* says where, unless that is said already (graph.c) */
void mr_error_clear(mr_error *e);
/* "E0521 node 17 'conv1' (Conv-11): text\nhint: …", allocated; file may be NULL. */
char *mr_error_format(const mr_error *e, const char *file);

mr_code mr_code_at(int i); /* all of them, in the order of their numbers; MR_E_NONE behind the last */
const char *mr_code_title(mr_code c);
const char *mr_code_text(mr_code c); /* the long text for `explain` */
mr_status mr_code_status(mr_code c);
const char *mr_status_name(mr_status s);

#endif

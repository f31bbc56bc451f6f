/* error.c: the table of errors, and their one format. */
#include "error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct code_info {
    mr_code code;
    mr_status status;
    const char *title, *text;
} code_info;

static const code_info codes[] = {
#define X(name, number, status, title, text) {MR_E_##name, status, title, text},
#include "errors.inc"
#undef X
};

static const code_info *find(mr_code c)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].code == c) return &codes[i];
    return NULL;
}

mr_code mr_code_at(int i)
{
    return (size_t)i < sizeof codes / sizeof *codes ? codes[i].code : MR_E_NONE;
}

const char *mr_code_title(mr_code c)
{
    const code_info *i = find(c);
    return i ? i->title : NULL;
}

const char *mr_code_text(mr_code c)
{
    const code_info *i = find(c);
    return i ? i->text : NULL;
}

mr_status mr_code_status(mr_code c)
{
    const code_info *i = find(c);
    return i ? i->status : MR_EINTERNAL;
}

const char *mr_status_name(mr_status s)
{
    switch (s) {
    case MR_OK:
        return "ok";
    case MR_EUSAGE:
        return "usage";
    case MR_EINVALID:
        return "invalid model";
    case MR_EUNSUPPORTED:
        return "unsupported";
    case MR_EINPUT:
        return "bad input";
    case MR_ENODE:
        return "node failed";
    case MR_EDEVICE:
        return "device";
    case MR_EMEMORY:
        return "memory";
    case MR_EIO:
        return "file";
    case MR_EINTERNAL:
        return "internal";
    case MR_ETIMEOUT:
        return "timeout";
    case MR_ECANCELLED:
        return "cancelled";
    }
    return "unknown";
}

static char *vprint(const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    char *s = n < 0 ? NULL : malloc((size_t)n + 1);
    if (s) vsnprintf(s, (size_t)n + 1, fmt, again);
    va_end(again);
    return s;
}

static mr_status set(mr_error *e, mr_status status, mr_code code, const char *fmt, va_list ap)
{
    if (!e || e->status != MR_OK) return e ? e->status : status;
    e->status = status;
    e->code = code;
    e->node = -1;
    e->text = vprint(fmt, ap);
    return status;
}

mr_status mr_vfail(mr_error *e, mr_code code, const char *fmt, va_list ap)
{
    return set(e, mr_code_status(code), code, fmt, ap);
}

mr_status mr_fail(mr_error *e, mr_code code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    mr_status s = mr_vfail(e, code, fmt, ap);
    va_end(ap);
    return s;
}

mr_status mr_fail_as(mr_error *e, mr_status status, mr_code code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    mr_status s = set(e, status, code, fmt, ap);
    va_end(ap);
    return s;
}

void mr_error_more(mr_error *e, const char *more)
{
    size_t n = e->text ? strlen(e->text) : 0, m = strlen(more);
    char *text = m ? realloc(e->text, n + m + 1) : NULL;
    if (!text) return; /* what is there stands */
    memcpy(text + n, more, m + 1);
    e->text = text;
}

void mr_error_hint(mr_error *e, const char *fmt, ...)
{
    if (!e || e->status == MR_OK || e->hint) return;
    va_list ap;
    va_start(ap, fmt);
    e->hint = vprint(fmt, ap);
    va_end(ap);
}

void mr_error_clear(mr_error *e)
{
    free(e->where);
    free(e->text);
    free(e->hint);
    *e = (mr_error){.node = -1};
}

char *mr_error_format(const mr_error *e, const char *file)
{
    const char *fmt = "%s%sE%04d %s%s%s%s%s";
    const char *text = e->text ? e->text : mr_status_name(e->status), *where = e->where ? e->where : "";
    const char *colon = e->where ? ": " : "", *hint = e->hint ? e->hint : "";
    int n = snprintf(NULL, 0, fmt, file ? file : "", file ? ": " : "", e->code, where, colon, text,
                     e->hint ? "\nhint: " : "", hint);
    char *s = n < 0 ? NULL : malloc((size_t)n + 1);
    if (s)
        snprintf(s, (size_t)n + 1, fmt, file ? file : "", file ? ": " : "", e->code, where, colon, text,
                 e->hint ? "\nhint: " : "", hint);
    return s;
}

/* text.c: StringConcat, StringSplit and RegexFullMatch. Strings are UTF-8; no slot of the kernel table has a part in
 * them, since they are of one type. */
#include "ops/plain.h"
#include "ops/regex.h"
#include "ops/rules.h"

#include <string.h>

#include <unictype.h>
#include <unistr.h>

/* ---- StringConcat ---- */

/* Where an element of the broadcast shape lies in both operands, as it goes through them in order. */
typedef struct pair_walk {
    int rank;
    const int64_t *dims;
    int64_t at[MR_MAX_RANK], sx[MR_MAX_RANK], sy[MR_MAX_RANK];
    int64_t x, y;
} pair_walk;

static void walk_start(pair_walk *w, const mr_call *c)
{
    const mr_tensor *z = c->out[0].t;
    *w = (pair_walk){.rank = z->rank, .dims = z->dims};
    mr_broadcast_strides(c->in[0].t, z->dims, z->rank, w->sx);
    mr_broadcast_strides(c->in[1].t, z->dims, z->rank, w->sy);
}

static void walk_on(pair_walk *w)
{
    for (int k = w->rank - 1; k >= 0; k--) {
        w->x += w->sx[k], w->y += w->sy[k];
        if (++w->at[k] < w->dims[k]) return;
        w->at[k] = 0;
        w->x -= w->sx[k] * w->dims[k], w->y -= w->sy[k] * w->dims[k];
    }
}

static char *append(char *to, mr_string s)
{
    if (s.len) memcpy(to, s.data, s.len);
    return to + s.len;
}

static mr_status concat_run(mr_call *c)
{
    const mr_string *x = c->in[0].t->data, *y = c->in[1].t->data;
    mr_string *z = c->out[0].t->data;
    int64_t n = mr_tensor_count(c->out[0].t);
    pair_walk w;
    walk_start(&w, c);
    size_t bytes = 0;
    for (int64_t i = 0; i < n; i++, walk_on(&w)) bytes += x[w.x].len + y[w.y].len;
    char *to = mr_call_alloc(c, bytes);
    if (!to) return MR_EMEMORY;
    walk_start(&w, c);
    for (int64_t i = 0; i < n; i++, walk_on(&w)) {
        z[i] = (mr_string){to, x[w.x].len + y[w.y].len};
        to = append(append(to, x[w.x]), y[w.y]);
    }
    return MR_OK;
}

/* ---- StringSplit ---- */

typedef struct split_params {
    mr_string delimiter; /* empty: white space */
    int64_t most;        /* splits; -1: all */
} split_params;

static void split_read(mr_reader *r, void *params)
{
    split_params *p = params;
    p->delimiter = mr_read_string(r, "delimiter", "");
    p->most = mr_read_int(r, "maxsplit", -1);
}

static mr_status split_infer(mr_call *c)
{
    mr_shape parts = c->in[0].shape;
    if (parts.rank == MR_MAX_RANK)
        return mr_call_fail_in(c, MR_E_RANK_LIMIT, 0, "has rank %d; the output would have one more", MR_MAX_RANK);
    if (parts.rank >= 0) parts.d[parts.rank++] = MR_DIM_UNKNOWN;
    mr_out_tensor(c, 0, MR_STRING, &parts);
    return mr_out_tensor(c, 1, MR_I64, &c->in[0].shape);
}

/* Unicode's White_Space, and the separators of ASCII (0x1c to 0x1f), which are white space by their bidirectional
 * class. Bytes that aren't UTF-8 are none. *bytes: how many the character has. */
static bool is_space(const char *s, size_t left, int *bytes)
{
    ucs4_t u;
    *bytes = u8_mbtoucr(&u, (const uint8_t *)s, left);
    if (*bytes <= 0) return *bytes = 1, false;
    return uc_is_property_white_space(u) || (u >= 0x1c && u <= 0x1f);
}

/* Takes the run of characters off the front of s that are (or are not) white space. */
static mr_string take_run(mr_string *s, bool space)
{
    size_t n = 0;
    int bytes;
    while (n < s->len && is_space(s->data + n, s->len - n, &bytes) == space) n += (size_t)bytes;
    mr_string taken = {s->data, n};
    s->data += n, s->len -= n;
    return taken;
}

/* Both write the parts of s to parts, which may be NULL, and return how many there are. */
static int64_t split_at_space(mr_string s, int64_t most, mr_string *parts)
{
    int64_t n = 0;
    for (;;) {
        take_run(&s, true);
        if (s.len == 0) return n;
        mr_string part = n == most ? s : take_run(&s, false);
        if (n == most) s = (mr_string){0};
        if (parts) parts[n] = part;
        n++;
    }
}

static int64_t split_at(mr_string s, mr_string delimiter, int64_t most, mr_string *parts)
{
    int64_t n = 0;
    for (;;) {
        const char *hit = n == most || !s.len ? NULL : memmem(s.data, s.len, delimiter.data, delimiter.len);
        mr_string part = {s.data, hit ? (size_t)(hit - s.data) : s.len};
        if (parts) parts[n] = part;
        n++;
        if (!hit) return n;
        s.data += part.len + delimiter.len, s.len -= part.len + delimiter.len;
    }
}

static int64_t split(const split_params *p, mr_string s, mr_string *parts)
{
    int64_t most = p->most < 0 ? -1 : p->most;
    return p->delimiter.len ? split_at(s, p->delimiter, most, parts) : split_at_space(s, most, parts);
}

static mr_status split_count(mr_call *c)
{
    const mr_tensor *x = c->in[0].t;
    const mr_string *s = x->data;
    int64_t most = 0;
    for (int64_t i = 0, n = mr_tensor_count(x); i < n; i++) {
        int64_t parts = split(c->params, s[i], NULL);
        if (parts > most) most = parts;
    }
    c->out[0].shape.d[x->rank] = most;
    return MR_OK;
}

static mr_status split_run(mr_call *c)
{
    const mr_tensor *x = c->in[0].t, *parts = c->out[0].t;
    const mr_string *s = x->data;
    mr_string *to = parts->data;
    int64_t *counts = mr_out_wanted(c, 1) ? c->out[1].t->data : NULL, width = parts->dims[x->rank];
    for (int64_t i = 0, n = mr_tensor_count(x); i < n; i++, to += width) {
        int64_t found = split(c->params, s[i], to);
        for (int64_t k = found; k < width; k++) to[k] = (mr_string){0};
        if (counts) counts[i] = found;
    }
    return MR_OK;
}

/* ---- RegexFullMatch ---- */

typedef struct regex_params {
    mr_regex *regex;
} regex_params;

static void *regex_alloc(void *reader, size_t bytes)
{
    return mr_read_alloc(reader, bytes);
}

static void regex_read(mr_reader *r, void *params)
{
    char why[256];
    mr_string pattern = mr_read_string(r, "pattern", NULL);
    if (!pattern.data) {
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute pattern is missing");
        return;
    }
    mr_regex *x = mr_regex_new(pattern, regex_alloc, r, why, sizeof why);
    ((regex_params *)params)->regex = x;
    if (!x)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute pattern \"%.*s\": %s", (int)(pattern.len < 200 ? pattern.len : 200),
                     pattern.data, why);
}

static mr_status regex_infer(mr_call *c)
{
    return mr_out_tensor(c, 0, MR_BOOL, &c->in[0].shape);
}

static mr_status regex_run(mr_call *c)
{
    const mr_regex *x = ((const regex_params *)c->params)->regex;
    const mr_string *s = c->in[0].t->data;
    uint8_t *y = c->out[0].t->data;
    mr_regex_room room = {0};
    mr_status st = MR_OK;
    for (int64_t i = 0, n = mr_tensor_count(c->in[0].t); i < n && !st; i++) {
        mr_regex_answer a = mr_regex_full_match(x, s[i], &room);
        if (a == MR_REGEX_NO_MEMORY)
            st = mr_call_fail(c, MR_E_MEMORY, "out of memory while matching element %lld", (long long)i);
        if (a == MR_REGEX_LIMIT)
            st = mr_call_fail_in(c, MR_E_NODE_FAILED, 0, "element %lld takes too many steps to match", (long long)i);
        y[i] = a == MR_REGEX_MATCH;
    }
    mr_regex_room_free(&room);
    return st;
}

/* ---- rows ---- */

static const mr_impl concat_impls[] = {{.name = "string_concat_cpu", .have = mr_have_plain, .run = concat_run}, {0}};
static const mr_impl split_impls[] = {
    {.name = "string_split_cpu", .have = mr_have_plain, .run = split_run, .count = split_count}, {0}};
static const mr_impl regex_impls[] = {{.name = "regex_full_match_cpu", .have = mr_have_plain, .run = regex_run}, {0}};

const mr_op mr_ops_text[] = {
    {"", "StringConcat", 20, 0, 0, NULL, mr_infer_broadcast, concat_impls, 0, NULL, NULL},
    {"", "StringSplit", 20, 0, sizeof(split_params), split_read, split_infer, split_impls, 0, NULL, NULL},
    {"", "RegexFullMatch", 20, 0, sizeof(regex_params), regex_read, regex_infer, regex_impls, 0, NULL, NULL},
    {0},
};

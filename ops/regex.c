/* regex.c: RE2's syntax is taken apart, and what it has is written as PCRE2 means the same; what only PCRE2 has (back
 * references, look-around, atomic groups, possessive repetition, recursion …) is an error.
 *
 * Source of the syntax: https://github.com/google/re2/wiki/Syntax
 */
#include "ops/regex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum { MAX_REPEAT = 1000, MAX_DEPTH = 250, GROWTH = 8 }; /* limits of RE2, of PCRE2 · bytes that one may become */

struct mr_regex {
    pcre2_code *code;
};

typedef struct translation {
    const char *at, *end;
    char *to; /* what is written so far ends here */
    int depth;
    bool lines[MAX_DEPTH + 1]; /* by depth: the flag m, with which $ is the end of a line */
    char *why;
    size_t why_size;
} translation;

static bool fail(translation *t, const char *text, const char *from)
{
    int shown = (int)(t->at - from > 40 ? 40 : t->at - from);
    snprintf(t->why, t->why_size, "%s: %.*s", text, shown, from);
    return false;
}

static void put(translation *t, const char *text)
{
    size_t n = strlen(text);
    memcpy(t->to, text, n);
    t->to += n;
}

static void put_from(translation *t, const char *from)
{
    memcpy(t->to, from, (size_t)(t->at - from));
    t->to += t->at - from;
}

static bool starts(const translation *t, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(t->end - t->at) >= n && memcmp(t->at, text, n) == 0;
}

/* ---- escapes ---- */

/* \pN, \PN, \p{Greek}, \p{^Greek}: the same in both. */
static bool property(translation *t, const char *from)
{
    if (t->at < t->end && *t->at == '{') {
        while (t->at < t->end && *t->at != '}') {
            char ch = *++t->at;
            bool word = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_' || ch == '^' || ch == '}';
            if (t->at < t->end && !word) return t->at++, fail(t, "invalid character class range", from);
        }
    }
    if (t->at == t->end) return fail(t, "invalid character class range", from);
    t->at++;
    put_from(t, from);
    return true;
}

/* \x7F, \x{10FFFF} */
static bool hexadecimal(translation *t, const char *from)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    if (t->at < t->end && *t->at == '{') {
        size_t n = strspn(t->at + 1, digits);
        t->at += n + 1;
        if (n == 0 || t->at >= t->end || *t->at != '}') return fail(t, "invalid escape sequence", from);
        t->at++;
    } else {
        for (int i = 0; i < 2; i++, t->at++)
            if (t->at == t->end || !*t->at || !strchr(digits, *t->at)) return fail(t, "invalid escape sequence", from);
    }
    put_from(t, from);
    return true;
}

/* \0, \12, \123: \1 alone would be a back reference. */
static bool octal(translation *t, const char *from)
{
    char text[16];
    int n = 0, value = 0;
    while (n < 3 && t->at + n < t->end && t->at[n] >= '0' && t->at[n] <= '7') value = value * 8 + t->at[n++] - '0';
    t->at += n ? n : 1;
    if (n == 0 || (n == 1 && from[1] != '0')) return fail(t, "invalid escape sequence", from);
    snprintf(text, sizeof text, "\\x{%x}", value);
    put(t, text);
    return true;
}

/* RE2's white space is without \v, and its \v is one character. Classes are those of ASCII in both. */
static bool escape(translation *t, bool in_class)
{
    const char *from = t->at++;
    if (t->at == t->end) return fail(t, "trailing \\", from);
    unsigned char ch = (unsigned char)*t->at++;
    if (ch == 'C') return fail(t, "one byte of a character cannot be matched", from);
    if (ch == 'p' || ch == 'P') return property(t, from);
    if (ch == 'x') return hexadecimal(t, from);
    if (ch >= '0' && ch <= '9') return t->at--, octal(t, from);
    if (ch == 's') return put(t, in_class ? "\\t\\n\\f\\r\\x20" : "[\\t\\n\\f\\r\\x20]"), true;
    if (ch == 'S' && in_class) return put(t, "\\S\\x0b"), true;
    if (ch == 'S') return put(t, "[^\\t\\n\\f\\r\\x20]"), true;
    if (ch == 'v') return put(t, "\\x0b"), true;
    bool simple = strchr("dDwWaftnr", ch) != NULL, place = !in_class && strchr("bBAz", ch) != NULL;
    bool letter = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');
    if (ch >= 0x80 || (letter && !simple && !place)) return fail(t, "invalid escape sequence", from);
    put_from(t, from);
    return true;
}

/* \Q…\E: every character as it is. */
static void quoted(translation *t)
{
    for (t->at += 2; t->at < t->end && !starts(t, "\\E"); t->at++) {
        if ((unsigned char)*t->at < 0x80 && strchr("\\^$.|?*+()[]{}-", *t->at)) *t->to++ = '\\';
        *t->to++ = *t->at;
    }
    t->at += t->at < t->end ? 2 : 0;
}

/* ---- classes ---- */

/* [:alpha:], [:^alpha:] */
static bool named_class(translation *t)
{
    const char *from = t->at, *close = memmem(t->at, (size_t)(t->end - t->at), ":]", 2);
    if (!close) return *t->to++ = '\\', *t->to++ = *t->at++, true;
    t->at = close + 2;
    put_from(t, from);
    return true;
}

static bool character_class(translation *t)
{
    const char *from = t->at++;
    *t->to++ = '[';
    if (t->at < t->end && *t->at == '^') *t->to++ = *t->at++;
    for (bool first = true;; first = false) {
        if (t->at >= t->end) return fail(t, "missing ]", from);
        if (*t->at == ']' && !first) break;
        if (*t->at == '\\') {
            if (!escape(t, true)) return false;
        } else if (starts(t, "[:")) {
            if (!named_class(t)) return false;
        } else {
            if (*t->at == '[' || *t->at == ']') *t->to++ = '\\';
            *t->to++ = *t->at++;
        }
    }
    *t->to++ = *t->at++;
    return true;
}

/* ---- groups and repetition ---- */

/* (?flags), (?flags:…), (?P<name>…), (?<name>…): all that may stand behind "(?". */
static bool flags(translation *t, const char *from)
{
    bool on = true, lines = t->lines[t->depth];
    for (; t->at < t->end && *t->at && strchr("imsU-", *t->at); t->at++) {
        if (*t->at == '-') on = false;
        if (*t->at == 'm') lines = on;
    }
    if (t->at >= t->end || (*t->at != ':' && *t->at != ')'))
        return t->at += t->at < t->end, fail(t, "invalid perl operator", from);
    if (*t->at++ == ')') t->depth--; /* they hold for what follows in the group around */
    t->lines[t->depth] = lines;
    put_from(t, from);
    return true;
}

static bool group(translation *t)
{
    const char *from = t->at++;
    if (t->depth == MAX_DEPTH) return fail(t, "groups too deep in one another", from);
    t->depth++;
    t->lines[t->depth] = t->lines[t->depth - 1];
    if (t->at < t->end && *t->at == '*') return t->at++, fail(t, "no argument for repetition operator", from);
    if (t->at >= t->end || *t->at != '?') return put_from(t, from), true;
    t->at++;
    if (!starts(t, "P<") && !starts(t, "<")) return flags(t, from);
    t->at += *t->at == 'P' ? 2 : 1;
    while (t->at < t->end && *t->at != '=' && *t->at != '!' && *t->at != '>') t->at++;
    if (t->at >= t->end || *t->at != '>') return t->at += t->at < t->end, fail(t, "invalid perl operator", from);
    t->at++;
    return put(t, "("), true; /* names make no difference to a match, and PCRE2's are shorter */
}

/* {n}, {n,}, {n,m}; anything else is those characters. */
static bool is_count(const translation *t, const char **end, long *least, long *most)
{
    char *p;
    if (t->at + 1 >= t->end || t->at[1] < '0' || t->at[1] > '9') return false;
    *least = *most = strtol(t->at + 1, &p, 10);
    if (p < t->end && *p == ',') {
        *most = -1;
        if (++p < t->end && *p >= '0' && *p <= '9') *most = strtol(p, &p, 10);
    }
    *end = p + 1;
    return p < t->end && *p == '}';
}

/* One operator with an optional ?, behind something that can be repeated, not behind another one. */
static bool repetition(translation *t, const char *stop, bool can_repeat)
{
    const char *from = t->at;
    t->at = stop;
    if (!can_repeat) return fail(t, "no argument for repetition operator", from);
    if (t->at < t->end && *t->at == '?') t->at++;
    const char *next = t->at;
    long least, most;
    if (t->at < t->end && ((*t->at && strchr("*+?", *t->at)) || (*t->at == '{' && is_count(t, &next, &least, &most))))
        return t->at = next > t->at ? next : t->at + 1, fail(t, "bad repetition operator", from);
    put_from(t, from);
    return true;
}

static bool other(translation *t)
{
    const char *from = t->at;
    if (starts(t, "\\Q")) return quoted(t), true;
    if (*from == '\\') return escape(t, false);
    if (*from == '[') return character_class(t);
    if (*from == '(') return group(t);
    t->at++;
    if (*from == ')' && --t->depth < 0) return fail(t, "unexpected )", from);
    if (*from == '$') return put(t, t->lines[t->depth] ? "$" : "\\z"), true;
    if (*from == '{' || *from == '}' || *from == ']') put(t, "\\");
    put_from(t, from);
    return true;
}

static bool translate(translation *t)
{
    bool can_repeat = false;
    while (t->at < t->end) {
        const char *from = t->at, *stop = t->at + 1;
        long least = 0, most = 0;
        bool counted = *from == '{' && is_count(t, &stop, &least, &most);
        if (counted && (least > MAX_REPEAT || most > MAX_REPEAT || (most >= 0 && most < least)))
            return t->at = stop, fail(t, "invalid repetition size", from);
        bool repeats = counted || *from == '*' || *from == '+' || *from == '?';
        if (!(repeats ? repetition(t, counted ? stop : from + 1, can_repeat) : other(t))) return false;
        can_repeat = !repeats && *from != '(' && *from != '|'; /* repetition() has looked at what follows one */
    }
    return t->depth == 0 || fail(t, "missing )", t->end);
}

/* ---- compiling and matching ---- */

typedef struct memory {
    void *(*alloc)(void *arg, size_t bytes);
    void *arg;
} memory;

static void *take(size_t bytes, void *m)
{
    return ((memory *)m)->alloc(((memory *)m)->arg, bytes);
}

static void leave(void *p, void *m)
{
    (void)p, (void)m;
}

mr_regex *mr_regex_new(mr_string pattern, void *(*alloc)(void *arg, size_t bytes), void *arg, char *why, size_t size)
{
    /* The end is marked, so that digits are read no further. */
    char *text = alloc(arg, pattern.len + 1), *made = alloc(arg, pattern.len * GROWTH + 1);
    mr_regex *x = alloc(arg, sizeof *x);
    memory m = {alloc, arg};
    pcre2_general_context *general = pcre2_general_context_create(take, leave, &m);
    pcre2_compile_context *how = general ? pcre2_compile_context_create(general) : NULL;
    snprintf(why, size, "out of memory");
    if (!text || !made || !x || !how) return NULL;
    memcpy(text, pattern.data, pattern.len);
    text[pattern.len] = 0;
    translation t = {.at = text, .end = text + pattern.len, .to = made, .why = why, .why_size = size};
    if (!translate(&t)) return NULL;
    int code;
    PCRE2_SIZE at;
    /* RE2: (?m)^ also stands behind a last newline, and . is all but \n. */
    uint32_t options = PCRE2_UTF | PCRE2_ALT_CIRCUMFLEX | PCRE2_NO_AUTO_CAPTURE | PCRE2_NEVER_BACKSLASH_C;
    pcre2_set_newline(how, PCRE2_NEWLINE_LF);
    x->code = pcre2_compile((PCRE2_SPTR)made, (PCRE2_SIZE)(t.to - made), options, &code, &at, how);
    if (!x->code) pcre2_get_error_message(code, (PCRE2_UCHAR *)why, size);
    return x->code ? x : NULL;
}

static bool widen(mr_regex_room *room)
{
    size_t n = room->n_work ? 4 * room->n_work : 1024;
    int *work = n <= (size_t)1 << 26 ? realloc(room->work, n * sizeof *work) : NULL;
    if (!work) return false;
    room->work = work, room->n_work = n;
    return true;
}

/* The longest of the first matches is in the room's data. */
static mr_regex_answer match(const mr_regex *x, mr_string text, size_t from, uint32_t options, mr_regex_room *room)
{
    if (!room->data && !(room->data = pcre2_match_data_create(1, NULL))) return MR_REGEX_NO_MEMORY;
    if (!room->work && !widen(room)) return MR_REGEX_NO_MEMORY;
    const char *data = text.len ? text.data : "";
    int found;
    while ((found = pcre2_dfa_match(x->code, (PCRE2_SPTR)data, text.len, from, options, room->data, NULL, room->work,
                                    room->n_work)) == PCRE2_ERROR_DFA_WSSIZE)
        if (!widen(room)) return MR_REGEX_NO_MEMORY;
    if (found >= 0) return MR_REGEX_MATCH;
    if (found == PCRE2_ERROR_NOMATCH || (found <= PCRE2_ERROR_UTF8_ERR1 && found >= PCRE2_ERROR_UTF8_ERR21))
        return MR_REGEX_NO;
    return found == PCRE2_ERROR_NOMEMORY || found == PCRE2_ERROR_HEAPLIMIT ? MR_REGEX_NO_MEMORY : MR_REGEX_LIMIT;
}

mr_regex_answer mr_regex_full_match(const mr_regex *x, mr_string text, mr_regex_room *room)
{
    mr_regex_answer a = match(x, text, 0, PCRE2_ANCHORED, room);
    if (a != MR_REGEX_MATCH) return a;
    return pcre2_get_ovector_pointer(room->data)[1] == text.len ? MR_REGEX_MATCH : MR_REGEX_NO;
}

mr_regex_answer mr_regex_find(const mr_regex *x, mr_string text, size_t from, mr_regex_room *room, size_t *begin,
                              size_t *end)
{
    mr_regex_answer a = match(x, text, from, 0, room);
    if (a == MR_REGEX_MATCH) {
        *begin = pcre2_get_ovector_pointer(room->data)[0];
        *end = pcre2_get_ovector_pointer(room->data)[1];
    }
    return a;
}

void mr_regex_room_free(mr_regex_room *room)
{
    pcre2_match_data_free(room->data);
    free(room->work);
}

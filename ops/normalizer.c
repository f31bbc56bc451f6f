/* normalizer.c: StringNormalizer: elements that are stop words go, the others change case. */
#include "ops/plain.h"
#include "ops/rules.h"

#include <stdlib.h>
#include <string.h>

#include <unicase.h>
#include <unistr.h>

typedef enum case_change { CASE_NONE, CASE_LOWER, CASE_UPPER } case_change;

typedef struct normalizer_params {
    const mr_string *stop; /* in lower case where case makes no difference */
    int n_stop;
    bool case_sensitive;
    case_change change;
    char language[4]; /* ISO 639, of the locale; "" has no rules of its own */
} normalizer_params;

/* ---- case ---- */

/* One character becomes one, whatever stands around it, as towlower has it: of longer results ("SS" for ß) none is
 * taken. Only a few languages have rules of their own (ı in Turkish). */
static ucs4_t changed(ucs4_t u, case_change change, const char *language)
{
    ucs4_t buf[8];
    size_t n = sizeof buf / sizeof *buf;
    if (!*language) return change == CASE_LOWER ? uc_tolower(u) : uc_toupper(u);
    uint32_t *to = (change == CASE_LOWER ? u32_tolower : u32_toupper)(&u, 1, language, NULL, buf, &n);
    ucs4_t one = n == 1 && to == buf ? buf[0] : changed(u, change, "");
    if (to != buf) free(to);
    return one;
}

/* At most so many bytes as 3/2 of s: ɐ (2) becomes Ɐ (3). Bytes that aren't UTF-8 stay. */
static mr_string change_case(mr_string s, case_change change, const char *language, char *to)
{
    mr_string made = {to, 0};
    for (size_t i = 0; i < s.len;) {
        ucs4_t u;
        int n = u8_mbtoucr(&u, (const uint8_t *)s.data + i, s.len - i);
        if (n > 0) {
            made.len += (size_t)u8_uctomb((uint8_t *)to + made.len, changed(u, change, language), 6);
            i += (size_t)n;
        } else {
            to[made.len++] = s.data[i++];
        }
    }
    return made;
}

static size_t room_for(mr_string s)
{
    return s.len * 2 + 6;
}

/* ---- attributes ---- */

/* "tr_TR.UTF-8", "tr-TR", "tr": the language. */
static void read_language(mr_reader *r, normalizer_params *p)
{
    mr_string locale = mr_read_string(r, "locale", "en_US");
    size_t n = 0;
    while (n < locale.len && ((locale.data[n] | 32) >= 'a' && (locale.data[n] | 32) <= 'z')) n++;
    bool ends = n == locale.len || strchr("_-.@", locale.data[n]);
    bool plain = locale.len == 0 || (n == 1 && locale.data[0] == 'C') || (n == 5 && !memcmp(locale.data, "POSIX", 5));
    if (!ends || (!plain && (n < 2 || n > 3))) {
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute locale \"%.*s\" is no locale: expected one like en_US",
                     (int)(locale.len < 100 ? locale.len : 100), locale.data);
        return;
    }
    bool own_rules = !plain && n == 2 &&
                     (!memcmp(locale.data, "tr", 2) || !memcmp(locale.data, "az", 2) || !memcmp(locale.data, "lt", 2));
    if (own_rules) memcpy(p->language, locale.data, n);
}

static void read_stop_words(mr_reader *r, normalizer_params *p)
{
    const mr_string *words;
    p->n_stop = mr_read_strings(r, "stopwords", &words);
    p->stop = words;
    if (p->n_stop <= 0 || p->case_sensitive) return;
    mr_string *lower = mr_read_alloc(r, sizeof *lower * (size_t)p->n_stop);
    p->stop = lower;
    for (int i = 0; lower && i < p->n_stop; i++) {
        char *to = mr_read_alloc(r, room_for(words[i]));
        lower[i] = to ? change_case(words[i], CASE_LOWER, p->language, to) : (mr_string){0};
    }
}

static void read(mr_reader *r, void *params)
{
    static const char *const changes[] = {"NONE", "LOWER", "UPPER", NULL};
    normalizer_params *p = params;
    p->case_sensitive = mr_read_int(r, "is_case_sensitive", 0) != 0;
    p->change = (case_change)mr_read_enum(r, "case_change_action", changes, CASE_NONE);
    read_language(r, p);
    read_stop_words(r, p);
}

/* ---- [C] and [1,C] ---- */

static mr_status infer(mr_call *c)
{
    const mr_shape *x = &c->in[0].shape;
    mr_status st = mr_want_rank(c, 0, 1, 2);
    if (st) return st;
    if (x->rank == 2 && x->d[0] >= 0 && x->d[0] != 1)
        return mr_call_fail_in(c, MR_E_SHAPES, 0, "expected [C] or [1,C]");
    mr_shape y = x->rank < 0 ? mr_shape_unknown() : mr_shape_of_rank(x->rank);
    if (y.rank == 2) y.d[0] = 1;
    return mr_out_tensor(c, 0, MR_STRING, &y);
}

static bool is_stop_word(const normalizer_params *p, mr_string s, char *room)
{
    if (p->n_stop > 0 && !p->case_sensitive) s = change_case(s, CASE_LOWER, p->language, room);
    for (int i = 0; i < p->n_stop; i++)
        if (p->stop[i].len == s.len && (s.len == 0 || !memcmp(p->stop[i].data, s.data, s.len))) return true;
    return false;
}

/* The elements that stay; where none does, one empty string. */
static mr_status count(mr_call *c)
{
    const mr_tensor *x = c->in[0].t;
    const mr_string *s = x->data;
    const int64_t n = mr_tensor_count(x);
    mr_string *kept = mr_call_alloc(c, sizeof *kept * ((size_t)n + 1));
    size_t longest = 0;
    for (int64_t i = 0; i < n; i++)
        if (room_for(s[i]) > longest) longest = room_for(s[i]);
    char *room = kept ? mr_call_alloc(c, longest) : NULL;
    if (!room) return MR_EMEMORY;
    int64_t m = 0;
    for (int64_t i = 0; i < n; i++)
        if (!is_stop_word(c->params, s[i], room)) kept[m++] = s[i];
    if (m == 0) kept[m++] = (mr_string){0};
    c->state = kept;
    c->out[0].shape.d[x->rank - 1] = m;
    return MR_OK;
}

static mr_status run(mr_call *c)
{
    const normalizer_params *p = c->params;
    const mr_string *kept = c->state;
    mr_string *y = c->out[0].t->data;
    for (int64_t i = 0, n = mr_tensor_count(c->out[0].t); i < n; i++) {
        y[i] = kept[i];
        if (p->change == CASE_NONE) continue;
        char *to = mr_call_alloc(c, room_for(kept[i]));
        if (!to) return MR_EMEMORY;
        y[i] = change_case(kept[i], p->change, p->language, to);
    }
    return MR_OK;
}

static const mr_impl impls[] = {{.name = "string_normalizer_cpu", .have = mr_have_plain, .run = run, .count = count},
                                {0}};

const mr_op mr_ops_normalizer[] = {
    {"", "StringNormalizer", 10, 0, sizeof(normalizer_params), read, infer, impls, 0, NULL, NULL},
    {0},
};

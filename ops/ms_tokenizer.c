/* ms_tokenizer.c: Tokenizer: strings cut into tokens, by what separates them or by what they look like. ONNX Runtime
 * has this operator; exports of scikit-learn's text features use it. */
#include "ops/plain.h"
#include "ops/regex.h"
#include "ops/rules.h"

#include <string.h>

#include <unistr.h>

typedef struct tokenizer_params {
    mr_regex *token;       /* one of these three: what a token is … */
    mr_regex **separators; /* … what stands between tokens, one after the other … */
    int n_separators;
    bool characters; /* … or every character is a token */
    bool mark;       /* a first and a last token, \2 and \3 */
    size_t shortest; /* characters of a token */
    mr_string pad;
} tokenizer_params;

/* ---- attributes ---- */

static void *keep(void *reader, size_t bytes)
{
    return mr_read_alloc(reader, bytes);
}

static mr_regex *read_regex(mr_reader *r, const char *name, mr_string pattern)
{
    char why[256];
    mr_regex *x = mr_regex_new(pattern, keep, r, why, sizeof why);
    if (!x)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute %s \"%.*s\": %s", name, (int)(pattern.len < 200 ? pattern.len : 200),
                     pattern.data, why);
    return x;
}

static void read_separators(mr_reader *r, tokenizer_params *p, int n, const mr_string *separators)
{
    mr_read_ignore(r, "tokenexp");
    p->characters = n == 1 && separators[0].len == 0;
    if (p->characters) return;
    p->separators = mr_read_alloc(r, sizeof *p->separators * (size_t)n);
    if (!p->separators) {
        mr_read_fail(r, MR_E_MEMORY, "no memory for the separators");
        return;
    }
    for (int i = 0; i < n; i++)
        if (!(p->separators[p->n_separators++] = read_regex(r, "separators", separators[i]))) return;
}

/* ONNX Runtime takes "." for every character, so newlines are tokens too. */
static void read_token(mr_reader *r, tokenizer_params *p)
{
    mr_string token = mr_read_string(r, "tokenexp", "");
    p->characters = token.len == 1 && token.data[0] == '.';
    if (token.len == 0)
        mr_read_fail(r, MR_E_ATTRIBUTE, "expected one of the attributes separators and tokenexp");
    else if (!p->characters)
        p->token = read_regex(r, "tokenexp", token);
}

static void read(mr_reader *r, void *params)
{
    tokenizer_params *p = params;
    const mr_string *separators;
    int n = mr_read_strings(r, "separators", &separators);
    int64_t shortest = mr_read_int(r, "mincharnum", 1);
    p->mark = mr_read_int(r, "mark", 0) != 0;
    p->pad = mr_read_string(r, "pad_value", "");
    p->shortest = (size_t)shortest;
    if (shortest < 1)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute mincharnum = %lld, must be positive", (long long)shortest);
    if (n > 0)
        read_separators(r, p, n, separators);
    else
        read_token(r, p);
    if (p->characters && shortest > 1)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute mincharnum = %lld, but every character is a token",
                     (long long)shortest);
}

/* ---- cutting ---- */

/* Two lists with room for a token each byte, and for the one that follows. */
typedef struct cutting {
    const tokenizer_params *p;
    mr_regex_room room;
    mr_string *tokens, *more;
    int64_t n;
} cutting;

static size_t characters(mr_string s)
{
    return s.len ? u8_mbsnlen((const uint8_t *)s.data, s.len) : 0;
}

static size_t next_character(mr_string s, size_t at)
{
    int n = at < s.len ? u8_mblen((const uint8_t *)s.data + at, s.len - at) : 1;
    return at + (size_t)(n > 0 ? n : 1);
}

static void add(const cutting *k, mr_string *list, int64_t *n, const char *begin, size_t len)
{
    mr_string s = {begin, len};
    if (characters(s) >= k->p->shortest) list[(*n)++] = s;
}

static void cut_characters(cutting *k, mr_string s)
{
    for (size_t at = 0, next; at < s.len; at = next) {
        next = next_character(s, at);
        k->tokens[k->n++] = (mr_string){s.data + at, next - at};
    }
}

/* A match of no characters is passed over, with the character behind it. */
static mr_regex_answer cut_tokens(cutting *k, mr_string s)
{
    size_t at = 0, begin, end;
    while (at <= s.len) {
        mr_regex_answer a = mr_regex_find(k->p->token, s, at, &k->room, &begin, &end);
        if (a != MR_REGEX_MATCH) return a;
        int64_t before = k->n;
        add(k, k->tokens, &k->n, s.data + begin, end - begin);
        at = k->n > before ? end : next_character(s, begin);
    }
    return MR_REGEX_NO;
}

static mr_regex_answer cut_at(cutting *k, const mr_regex *separator, mr_string s, int64_t *n)
{
    size_t at = 0, begin, end;
    while (at <= s.len) {
        mr_regex_answer a = mr_regex_find(separator, s, at, &k->room, &begin, &end);
        if (a == MR_REGEX_NO) break;
        if (a != MR_REGEX_MATCH) return a;
        add(k, k->more, n, s.data + at, begin - at);
        at = end > begin ? end : next_character(s, begin);
    }
    if (at < s.len) add(k, k->more, n, s.data + at, s.len - at);
    return MR_REGEX_NO;
}

static mr_regex_answer cut_separators(cutting *k, mr_string s)
{
    k->tokens[k->n++] = s;
    for (int i = 0; i < k->p->n_separators; i++) {
        int64_t n = 0;
        for (int64_t t = 0; t < k->n; t++) {
            mr_regex_answer a = cut_at(k, k->p->separators[i], k->tokens[t], &n);
            if (a != MR_REGEX_NO) return a;
        }
        mr_string *old = k->tokens;
        k->tokens = k->more, k->more = old, k->n = n;
    }
    return MR_REGEX_NO;
}

static mr_status cut(mr_call *c, cutting *k, int64_t i)
{
    const mr_string s = ((const mr_string *)c->in[0].t->data)[i];
    mr_regex_answer a = MR_REGEX_NO;
    if (s.len && u8_check((const uint8_t *)s.data, s.len))
        return mr_call_fail_in(c, MR_E_NODE_VALUE, 0, "element %lld is no UTF-8", (long long)i);
    k->n = 0;
    if (k->p->characters)
        cut_characters(k, s);
    else
        a = k->p->token ? cut_tokens(k, s) : cut_separators(k, s);
    if (a == MR_REGEX_NO) return MR_OK;
    return a == MR_REGEX_NO_MEMORY
               ? mr_call_fail(c, MR_E_MEMORY, "out of memory while cutting element %lld", (long long)i)
               : mr_call_fail_in(c, MR_E_NODE_FAILED, 0, "element %lld takes too many steps to match", (long long)i);
}

static mr_status cutting_new(mr_call *c, cutting *k)
{
    const mr_tensor *x = c->in[0].t;
    size_t longest = 0;
    for (int64_t i = 0, n = mr_tensor_count(x); i < n; i++) {
        size_t len = ((const mr_string *)x->data)[i].len;
        longest = len > longest ? len : longest;
    }
    *k = (cutting){.p = c->params};
    k->tokens = mr_call_alloc(c, sizeof *k->tokens * (longest + 2));
    k->more = mr_call_alloc(c, sizeof *k->more * (longest + 2));
    return k->tokens && k->more ? MR_OK : c->error->status;
}

/* ---- running ---- */

/* Of no strings the output is what the input is; else it has one dimension more. */
static bool is_empty(const mr_shape *s)
{
    bool empty = false;
    for (int i = 0; i < s->rank; i++) empty |= s->d[i] == 0;
    return empty;
}

static mr_status infer(mr_call *c)
{
    mr_shape s = c->in[0].shape;
    mr_status st = mr_want_rank(c, 0, 1, 2);
    if (s.rank >= 0 && !is_empty(&s)) s.d[s.rank++] = MR_DIM_UNKNOWN;
    return st ? st : mr_out_tensor(c, 0, MR_STRING, &s);
}

static mr_status count(mr_call *c)
{
    const tokenizer_params *p = c->params;
    const int64_t n = mr_tensor_count(c->in[0].t);
    cutting k;
    if (is_empty(&c->in[0].shape)) return MR_OK;
    mr_status st = cutting_new(c, &k);
    int64_t most = 0;
    for (int64_t i = 0; !st && i < n; i++) {
        st = cut(c, &k, i);
        if (k.n > most) most = k.n;
    }
    mr_regex_room_free(&k.room);
    c->out[0].shape.d[c->in[0].t->rank] = most ? most + 2 * p->mark : 0;
    return st;
}

static mr_status run(mr_call *c)
{
    const tokenizer_params *p = c->params;
    const mr_tensor *y = c->out[0].t;
    const int64_t n = mr_tensor_count(c->in[0].t), width = n ? y->dims[y->rank - 1] : 0;
    mr_string *to = y->data;
    cutting k;
    mr_status st = cutting_new(c, &k);
    for (int64_t i = 0; !st && width && i < n; i++) {
        int64_t at = 0;
        if ((st = cut(c, &k, i))) break;
        if (p->mark) to[at++] = (mr_string){"\2", 1};
        for (int64_t t = 0; t < k.n; t++) to[at++] = k.tokens[t];
        if (p->mark) to[at++] = (mr_string){"\3", 1};
        while (at < width) to[at++] = p->pad;
        to += width;
    }
    mr_regex_room_free(&k.room);
    return st;
}

static const mr_impl impls[] = {{.name = "tokenizer_cpu", .have = mr_have_plain, .run = run, .count = count}, {0}};

const mr_op mr_ops_ms_tokenizer[] = {
    {.domain = "com.microsoft",
     .name = "Tokenizer",
     .since = 1,
     .params_size = sizeof(tokenizer_params),
     .read = read,
     .infer = infer,
     .impls = impls},
    {0},
};

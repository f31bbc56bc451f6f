/* equation.c: see equation.h. */
#include "ops/equation.h"

#include <stdio.h>
#include <string.h>

/* 'A' < 'Z' < 'a' < 'z', as ONNX sorts them */
static int letter(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    return c >= 'a' && c <= 'z' ? c - 'a' + 26 : MR_NO_LABEL;
}

static char name_of(int label)
{
    return (char)(label < 26 ? 'A' + label : 'a' + label - 26);
}

/* One term, up to ',' or "->" or the end. false: malformed, and refused. */
static bool read_term(mr_reader *r, const char **at, const char *end, mr_term *t)
{
    bool ellipsis = false;
    for (t->n = 0; *at < end && **at != ',' && **at != '-'; (*at)++) {
        if (**at == ' ') continue;
        int label = letter(**at);
        if (**at == '.') {
            if (ellipsis || end - *at < 3 || memcmp(*at, "...", 3)) {
                mr_read_fail(r, MR_E_ATTRIBUTE, "attribute equation: %s",
                             ellipsis ? "a second ellipsis in a term" : "a lone '.'");
                return false;
            }
            ellipsis = true;
            label = MR_ELLIPSIS;
            *at += 2;
        } else if (label == MR_NO_LABEL) {
            mr_read_fail(r, MR_E_ATTRIBUTE, "attribute equation: '%c' is no label", **at);
            return false;
        }
        if (t->n == MR_MAX_RANK + 1) {
            mr_read_fail(r, MR_E_ATTRIBUTE, "attribute equation: a term has more than %d labels", MR_MAX_RANK);
            return false;
        }
        t->label[t->n++] = (int8_t)label;
    }
    return true;
}

static bool has(const mr_term *t, int label)
{
    return memchr(t->label, label, (size_t)t->n) != NULL;
}

/* The result's labels must come from the operands, each once. */
static void check_result(mr_reader *r, const mr_equation *e)
{
    for (int k = 0; k < e->out.n; k++) {
        int label = e->out.label[k];
        bool known = label == MR_ELLIPSIS;
        for (int i = 0; i < e->n_in; i++) known |= has(&e->in[i], label);
        if (!known)
            mr_read_fail(r, MR_E_ATTRIBUTE, "attribute equation: no operand has the result's label '%c'",
                         name_of(label));
        if (memchr(e->out.label, label, (size_t)k))
            mr_read_fail(r, MR_E_ATTRIBUTE, "attribute equation: the result has the label '%c' twice",
                         label == MR_ELLIPSIS ? '.' : name_of(label));
    }
}

void mr_equation_read(mr_reader *r, mr_equation *e)
{
    mr_string s = mr_read_string(r, "equation", "");
    const char *at = s.data, *end = s.data + s.len;
    e->n_in = 1;
    for (const char *p = at; p < end; p++) e->n_in += *p == ',';
    e->in = mr_read_alloc(r, sizeof *e->in * (size_t)e->n_in);
    if (!e->in) return;
    for (int i = 0; i < e->n_in; i++) {
        if (!read_term(r, &at, end, &e->in[i])) return;
        if (i + 1 < e->n_in && (at == end || *at++ != ',')) {
            mr_read_fail(r, MR_E_ATTRIBUTE, "attribute equation: an operand after the result");
            return;
        }
    }
    e->has_out = at < end;
    if (!e->has_out) return;
    if (end - at < 2 || memcmp(at, "->", 2)) {
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute equation: '-' without '>'");
        return;
    }
    at += 2;
    if (!read_term(r, &at, end, &e->out)) return;
    if (at < end)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute equation: '%c' after the result", *at);
    else
        check_result(r, e);
}

static bool expand(const mr_term *t, int ellipsis, mr_labels *out)
{
    out->n = 0;
    for (int k = 0; k < t->n; k++) {
        int copies = t->label[k] == MR_ELLIPSIS ? ellipsis : 1;
        for (int d = copies - 1; d >= 0; d--) {
            if (out->n == MR_MAX_RANK) return false;
            out->at[out->n++] = (int8_t)(t->label[k] + (t->label[k] == MR_ELLIPSIS ? d : 0));
        }
    }
    return true;
}

mr_status mr_equation_operand(mr_call *c, const mr_equation *e, int i, int rank, mr_labels *out)
{
    const mr_term *t = &e->in[i];
    bool ellipsis = has(t, MR_ELLIPSIS);
    int least = t->n - ellipsis;
    if (ellipsis ? rank < least : rank != least)
        return mr_call_fail_in(c, MR_E_RANK, i, "its term in the equation has %d labels%s, but its rank is %d", least,
                               ellipsis ? " and an ellipsis" : "", rank);
    expand(t, rank - least, out);
    return MR_OK;
}

/* Without "->": the ellipsis, then the labels that occur once, in order. */
static mr_term implicit_result(const mr_equation *e)
{
    mr_term t = {0};
    int count[MR_LABELS] = {0};
    for (int i = 0; i < e->n_in; i++)
        for (int k = 0; k < e->in[i].n; k++) count[e->in[i].label[k]]++;
    if (count[MR_ELLIPSIS]) t.label[t.n++] = MR_ELLIPSIS;
    for (int label = 0; label < MR_ELLIPSIS && t.n <= MR_MAX_RANK; label++)
        if (count[label] == 1) t.label[t.n++] = (int8_t)label;
    return t;
}

mr_status mr_equation_result(mr_call *c, const mr_equation *e, int ellipsis, mr_labels *out)
{
    mr_term t = e->has_out ? e->out : implicit_result(e);
    if (expand(&t, ellipsis, out)) return MR_OK;
    return mr_call_fail(c, MR_E_RANK, "the result has more than %d dimensions", MR_MAX_RANK);
}

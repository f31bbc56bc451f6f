/* cast.c: elements as elements of another type, through a wide one. */
#include "kernels/cpu/cast.h"

#include "kernels/cpu/decimal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static void cast_wide(const mr_part *p)
{
    const mr_cast_params *k = p->job->params;
    const mr_lane in = mr_lane_in(p, 0), out = mr_lane_out(p);
    const int64_t from = (int64_t)p->job->in[0].size, to = (int64_t)p->job->out.size;
    mr_wide_kind kind = mr_wide_kind_of(k->from);
    mr_wide tile;
    for (int64_t i = 0; i < p->cols; i += MR_TILE) {
        int64_t n = p->cols - i < MR_TILE ? p->cols - i : MR_TILE;
        mr_wide_load(k->from, in.data + i * from, n, &tile);
        mr_wide_store(kind, &tile, n, k->to, out.data + i * to, k->rule);
    }
}

static bool parse_bool(mr_string s, double *x)
{
    *x = s.len == 4 && !strncasecmp(s.data, "true", 4);
    return *x || (s.len == 5 && !strncasecmp(s.data, "false", 5)) || mr_parse_f64(s.data, s.len, x);
}

static bool parse_float(mr_string s, mr_dtype to, double *x)
{
    float single;
    if (to != MR_F32) return mr_parse_f64(s.data, s.len, x);
    if (!mr_parse_f32(s.data, s.len, &single)) return false;
    *x = (double)single;
    return true;
}

/* Also says which member of w has it. */
static bool parse_one(mr_string s, mr_dtype to, mr_wide *w, mr_wide_kind *kind)
{
    *kind = to == MR_BOOL ? MR_WIDE_F64 : mr_wide_kind_of(to);
    if (to == MR_BOOL) return parse_bool(s, &w->f[0]);
    return *kind == MR_WIDE_F64 ? parse_float(s, to, &w->f[0]) : mr_parse_int(s.data, s.len, &w->u[0]);
}

bool mr_cast_parses(mr_string s, mr_dtype to)
{
    mr_wide w;
    mr_wide_kind kind;
    return parse_one(s, to, &w, &kind);
}

static void parse(const mr_part *p)
{
    const mr_cast_params *k = p->job->params;
    const mr_string *from = (const mr_string *)mr_lane_in(p, 0).data;
    const mr_lane out = mr_lane_out(p);
    mr_wide_kind kind;
    mr_wide w;
    for (int64_t i = 0; i < p->cols; i++)
        if (parse_one(from[i], k->to, &w, &kind))
            mr_wide_store(kind, &w, 1, k->to, out.data + i * (int64_t)p->job->out.size, k->rule);
}

static size_t format_one(mr_dtype d, const void *x, char *text)
{
    mr_wide w;
    switch (d) {
    case MR_F64:
        return mr_format_f64(*(const double *)x, text);
    case MR_F16:
        return mr_format_f16(*(const mr_f16 *)x, text);
    case MR_BF16:
        return mr_format_bf16(*(const mr_bf16 *)x, text);
    default:
        break;
    }
    mr_wide_load(d, x, 1, &w);
    switch (d == MR_BOOL ? MR_WIDE_NONE : mr_wide_kind_of(d)) {
    case MR_WIDE_F64:
        return mr_format_f32((float)w.f[0], text);
    case MR_WIDE_I64:
        return (size_t)snprintf(text, MR_DECIMAL_SIZE, "%" PRId64, w.i[0]);
    case MR_WIDE_U64:
        return (size_t)snprintf(text, MR_DECIMAL_SIZE, "%" PRIu64, w.u[0]);
    default:
        return (size_t)snprintf(text, MR_DECIMAL_SIZE, "%s", w.i[0] ? "True" : "False");
    }
}

static void format(const mr_part *p)
{
    const mr_cast_params *k = p->job->params;
    const mr_lane in = mr_lane_in(p, 0);
    const int64_t from = (int64_t)p->job->in[0].size;
    mr_string *to = (mr_string *)mr_lane_out(p).data;
    char *text = k->text + p->at[0] * MR_DECIMAL_SIZE;
    for (int64_t i = 0; i < p->cols; i++, text += MR_DECIMAL_SIZE)
        to[i] = (mr_string){text, format_one(k->from, in.data + i * from, text)};
}

static void copy(const mr_part *p)
{
    memmove(mr_lane_out(p).data, mr_lane_in(p, 0).data, (size_t)p->cols * p->job->out.size);
}

/* Codes of less than a byte: the integer types with a sign keep it in the byte that holds them. */
static void recode(const mr_part *p)
{
    const mr_cast_params *k = p->job->params;
    const uint8_t *from = (const uint8_t *)mr_lane_in(p, 0).data;
    uint8_t *to = (uint8_t *)mr_lane_out(p).data;
    const int bits = mr_dtype_wire_bits(k->to);
    const uint8_t sign = k->to == MR_I4 || k->to == MR_I2 ? (uint8_t)(1 << (bits - 1)) : 0;
    const uint8_t mask = (uint8_t)((1 << bits) - 1);
    MR_ELEMENTS
    for (int64_t i = 0; i < p->cols; i++) to[i] = (uint8_t)(((from[i] & mask) ^ sign) - sign);
}

void mr_cast_fill_scalar(mr_cast_fns *f)
{
    for (mr_dtype from = 1; from < MR_N_DTYPES; from++)
        for (mr_dtype to = 1; to < MR_N_DTYPES; to++) {
            int bits = mr_dtype_wire_bits(from);
            if (mr_wide_kind_of(from) && mr_wide_kind_of(to)) f->cast[from][to] = cast_wide;
            if (from == MR_STRING && mr_wide_kind_of(to)) f->cast[from][to] = parse;
            if (to == MR_STRING && mr_wide_kind_of(from)) f->cast[from][to] = format;
            if (bits && bits == mr_dtype_wire_bits(to)) f->bits[from][to] = bits < 8 ? recode : copy;
            /* infinity may have to saturate even here */
            if (from == to && f->cast[from][to] && from != MR_F8E5M2) f->cast[from][to] = copy;
        }
    f->cast[MR_STRING][MR_STRING] = copy;
}

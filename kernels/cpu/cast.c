/* cast.c: elements as elements of another type, through a wide one. */
#include "kernels/cpu/cast.h"

#include "kernels/cpu/text.h"

#include <string.h>

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

static void parse(const mr_part *p)
{
    const mr_cast_params *k = p->job->params;
    const mr_string *from = (const mr_string *)mr_lane_in(p, 0).data;
    const mr_lane out = mr_lane_out(p);
    const int64_t to = (int64_t)p->job->out.size;
    const bool floats = mr_wide_kind_of(k->to) == MR_WIDE_F64;
    for (int64_t i = 0; i < p->cols; i++) {
        mr_wide real = {.f = {0}}, whole = {.i = {0}};
        bool exact = false;
        mr_text_parse(from[i], k->to == MR_F32, &real.f[0], &whole.i[0], &exact);
        if (k->to == MR_BOOL && mr_text_is_true(from[i])) whole.i[0] = exact = true;
        mr_wide_store(exact && !floats ? MR_WIDE_I64 : MR_WIDE_F64, exact && !floats ? &whole : &real, 1, k->to,
                      out.data + i * to, k->rule);
    }
}

static void format(const mr_part *p)
{
    const mr_cast_params *k = p->job->params;
    const mr_lane in = mr_lane_in(p, 0);
    const int64_t from = (int64_t)p->job->in[0].size;
    mr_string *to = (mr_string *)mr_lane_out(p).data;
    char *text = k->text + p->at[0] * MR_TEXT;
    for (int64_t i = 0; i < p->cols; i++, text += MR_TEXT)
        to[i] = (mr_string){text, (size_t)mr_text_format(k->from, in.data + i * from, text)};
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
    f->cast[MR_STRING][MR_STRING] = copy;
    for (mr_dtype from = 1; from < MR_N_DTYPES; from++)
        for (mr_dtype to = 1; to < MR_N_DTYPES; to++) {
            int bits = mr_dtype_wire_bits(from);
            if (mr_wide_kind_of(from) && mr_wide_kind_of(to)) f->cast[from][to] = from == to ? copy : cast_wide;
            if (from == MR_STRING && mr_wide_kind_of(to)) f->cast[from][to] = parse;
            if (to == MR_STRING && mr_wide_kind_of(from)) f->cast[from][to] = format;
            if (bits && bits == mr_dtype_wire_bits(to)) f->bits[from][to] = bits < 8 ? recode : copy;
        }
}

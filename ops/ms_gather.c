/* ms_gather.c: com.microsoft's GatherBlockQuantized: Gather from a table of codes, whose blocks along an axis share a
 * scale and a zero point, as the numbers that they stand for. */
#include <string.h>

#include "kernels/cpu/wide.h"
#include "ops/ms_quant.h"
#include "ops/plain.h"

typedef struct gather_params {
    int64_t axis, quantize_axis, block, bits;
} gather_params;

enum { DATA, INDICES, SCALES, ZERO_POINTS };

static void gather_read(mr_reader *r, void *params)
{
    gather_params *p = params;
    p->axis = mr_read_int(r, "gather_axis", 0);
    p->quantize_axis = mr_read_int(r, "quantize_axis", 1);
    p->block = mr_read_int(r, "block_size", 128);
    p->bits = mr_read_int(r, "bits", 4);
    if (p->bits != 2 && p->bits != 4 && p->bits != 8)
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute bits = %lld: one of 2, 4, 8", (long long)p->bits);
    if (p->block && (p->block < 16 || p->block & (p->block - 1)))
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute block_size = %lld is neither 0 nor a power of two from 16 on",
                     (long long)p->block);
}

/* Codes in an element of data: uint8 has several, the lowest bits first. */
static int64_t codes_in(const mr_call *c)
{
    const gather_params *p = c->params;
    return mr_in_dtype(c, DATA) == MR_U8 ? 8 / p->bits : 1;
}

static bool is_integer(const mr_call *c)
{
    return mr_wide_kind_of(mr_in_dtype(c, DATA)) != MR_WIDE_F64;
}

/* Data's shape, counted in codes; axis and quantize_axis when its rank is known. */
static mr_status table_of(mr_call *c, mr_shape *s, int *axis, int *quantized)
{
    const gather_params *p = c->params;
    mr_status st = mr_want_rank(c, DATA, 1, MR_MAX_RANK);
    *s = c->in[DATA].shape;
    if (st || s->rank < 0) return st;
    if (s->d[s->rank - 1] >= 0) s->d[s->rank - 1] *= codes_in(c);
    if ((st = mr_want_axis(c, p->axis, s->rank, "attribute gather_axis", axis)) ||
        (st = mr_want_axis(c, p->quantize_axis, s->rank, "attribute quantize_axis", quantized)))
        return st;
    if (mr_in_dtype(c, DATA) == MR_U8 && (*axis != 0 || (codes_in(c) > 1 && *axis == *quantized)))
        return mr_call_fail(c, MR_E_ATTRIBUTE, "uint8 codes need gather_axis = 0 and another quantize_axis");
    if (p->block == 0 && is_integer(c))
        return mr_call_fail(c, MR_E_ATTRIBUTE, "attribute block_size = 0 is for data of floats");
    return MR_OK;
}

static mr_dim blocks_of(const gather_params *p, mr_dim n)
{
    return n < 0 ? MR_DIM_UNKNOWN : p->block == 0 ? n > 0 : (n + p->block - 1) / p->block;
}

/* Scales and zero points have data's shape, a block for `block` codes; of floats an extent of 1 holds for all. */
static mr_status want_blocks(mr_call *c, int i, const mr_shape *table, int quantized)
{
    const gather_params *p = c->params;
    const mr_shape *s = &c->in[i].shape;
    mr_status st = mr_want_rank(c, i, table->rank, table->rank);
    for (int d = 0; !st && s->rank >= 0 && d < table->rank; d++) {
        mr_dim want = d == quantized ? blocks_of(p, table->d[d]) : table->d[d];
        if (i == ZERO_POINTS && d == table->rank - 1 && want >= 0) want = (want + codes_in(c) - 1) / codes_in(c);
        if (s->d[d] < 0 || want < 0 || s->d[d] == want || (s->d[d] == 1 && d != quantized && !is_integer(c))) continue;
        st = mr_call_fail_in(c, MR_E_SHAPES, i, "dim %d is %lld, must be %lld", d, (long long)s->d[d], (long long)want);
    }
    return st;
}

static mr_status gather_infer(mr_call *c)
{
    mr_shape table, y = mr_shape_unknown();
    const mr_shape *at = &c->in[INDICES].shape;
    int axis, quantized;
    mr_status st = table_of(c, &table, &axis, &quantized);
    if (st || table.rank < 0) return st ? st : mr_out_tensor(c, 0, mr_in_dtype(c, SCALES), &y);
    if ((st = want_blocks(c, SCALES, &table, quantized))) return st;
    if (mr_in_has(c, ZERO_POINTS) && (st = want_blocks(c, ZERO_POINTS, &table, quantized))) return st;
    if (mr_in_has(c, ZERO_POINTS) && !is_integer(c))
        return mr_call_fail_in(c, MR_E_TYPE, ZERO_POINTS, "data of floats has none");
    if (at->rank >= 0 && at->rank + table.rank - 1 > MR_MAX_RANK)
        return mr_call_fail_in(c, MR_E_RANK, INDICES,
                               "rank %d with %d more; minirt's tensors have at most %d dimensions", at->rank,
                               table.rank - 1, MR_MAX_RANK);
    if (at->rank >= 0) {
        y.rank = 0;
        for (int d = 0; d < axis; d++) y.d[y.rank++] = table.d[d];
        for (int d = 0; d < at->rank; d++) y.d[y.rank++] = at->d[d];
        for (int d = axis + 1; d < table.rank; d++) y.d[y.rank++] = table.d[d];
    }
    return mr_out_tensor(c, 0, mr_in_dtype(c, SCALES), &y);
}

/* ---- running: a row is what one index takes behind the axis ---- */

typedef struct rows {
    const mr_call *c;
    mr_shape table;
    int axis, quantized;
    int64_t inner, indices;
    int64_t scale_strides[MR_MAX_RANK], zero_strides[MR_MAX_RANK]; /* of axes of the table */
} rows;

static unsigned bits_at(const mr_tensor *t, int64_t i, int64_t bits)
{
    const uint8_t *codes = t->data;
    return codes[i * bits / 8] >> (i * bits % 8) & ((1u << bits) - 1);
}

/* Strides in codes along the axes of the table: 0 where one holds for all. */
static void strides_of(const mr_tensor *t, int64_t codes, int64_t *strides)
{
    int64_t step = 1;
    for (int d = t->rank - 1; d >= 0; d--) {
        const int64_t n = t->dims[d] * (d == t->rank - 1 ? codes : 1);
        strides[d] = t->dims[d] == 1 && codes == 1 ? 0 : step;
        step *= n;
    }
}

/* Where the block of code i of the table is. */
static int64_t block_at(const rows *r, const int64_t *strides, int64_t i)
{
    const gather_params *p = r->c->params;
    int64_t at = 0;
    for (int d = r->table.rank - 1; d >= 0; i /= r->table.d[d], d--) {
        const int64_t k = i % r->table.d[d];
        at += (d != r->quantized ? k : p->block ? k / p->block : 0) * strides[d];
    }
    return at;
}

static double zero_at(const rows *r, int64_t i)
{
    const mr_call *c = r->c;
    const gather_params *p = c->params;
    const bool packed = mr_in_dtype(c, DATA) == MR_U8;
    if (!mr_in_has(c, ZERO_POINTS)) return packed ? (double)(1 << (p->bits - 1)) : 0;
    const int64_t at = block_at(r, r->zero_strides, i);
    const mr_tensor *t = c->in[ZERO_POINTS].t;
    return packed ? bits_at(t, at, p->bits) : (double)mr_tensor_int(t, at);
}

/* How many codes from i on, of n, are of one block. */
static int64_t run_at(const rows *r, int64_t i, int64_t n)
{
    const gather_params *p = r->c->params;
    const int64_t width = r->table.d[r->table.rank - 1], size = p->block ? p->block : width;
    if (r->quantized != r->table.rank - 1) return 1;
    const int64_t at = i % width, left = size - at % size, end = width - at;
    const int64_t run = left < end ? left : end;
    return run < n ? run : n;
}

static void scale_run(double *x, int64_t n, double zero, double scale)
{
    for (int64_t j = 0; j < n; j++) x[j] = (x[j] - zero) * scale;
}

static void spell_row(const rows *r, int64_t first, char *y)
{
    const mr_call *c = r->c;
    const gather_params *p = c->params;
    const mr_tensor *data = c->in[DATA].t;
    const mr_dtype type = mr_out_dtype(c, 0);
    mr_wide w;
    for (int64_t from = 0; from < r->inner; from += MR_TILE) {
        const int64_t n = r->inner - from < MR_TILE ? r->inner - from : MR_TILE, at = first + from;
        if (data->dtype == MR_U8)
            for (int64_t j = 0; j < n; j++) w.f[j] = bits_at(data, at + j, p->bits);
        else
            mr_wide_load_f64(data->dtype, (const char *)data->data + (size_t)at * mr_dtype_size(data->dtype), n, w.f);
        for (int64_t j = 0, run; j < n; j += run) {
            run = run_at(r, at + j, n - j);
            scale_run(w.f + j, run, zero_at(r, at + j),
                      mr_tensor_real(c->in[SCALES].t, block_at(r, r->scale_strides, at + j)));
        }
        mr_wide_store(MR_WIDE_F64, &w, n, type, y + (size_t)from * mr_dtype_size(type), (mr_wide_rule){0});
    }
}

/* "an out-of-range index produces zeros for the corresponding output slice" */
static void spell_rows(void *arg, int64_t begin, int64_t end)
{
    const rows *r = arg;
    const int64_t items = r->table.d[r->axis];
    const size_t bytes = (size_t)r->inner * mr_dtype_size(mr_out_dtype(r->c, 0));
    for (int64_t i = begin; i < end; i++) {
        char *y = (char *)r->c->out[0].t->data + (size_t)i * bytes;
        int64_t at = mr_tensor_int(r->c->in[INDICES].t, i % r->indices);
        if (at < 0) at += items;
        if (at < 0 || at >= items)
            memset(y, 0, bytes);
        else
            spell_row(r, (i / r->indices * items + at) * r->inner, y);
    }
}

static mr_status gather_run(mr_call *c)
{
    rows r = {.c = c};
    mr_status st = table_of(c, &r.table, &r.axis, &r.quantized);
    if (st || mr_tensor_count(c->out[0].t) == 0) return st;
    r.inner = mr_dims_product(r.table.d, r.axis + 1, r.table.rank);
    r.indices = mr_tensor_count(c->in[INDICES].t);
    strides_of(c->in[SCALES].t, 1, r.scale_strides);
    if (mr_in_has(c, ZERO_POINTS)) strides_of(c->in[ZERO_POINTS].t, codes_in(c), r.zero_strides);
    mr_parallel_for(c->pool, mr_dims_product(r.table.d, 0, r.axis) * r.indices, 1, spell_rows, &r);
    return MR_OK;
}

static const mr_impl gather_rows[] = {{.name = "gather_block_quantized", .have = mr_have_plain, .run = gather_run},
                                      {0}};

const mr_op mr_ops_ms_gather[] = {
    {MR_MS, "GatherBlockQuantized", 1, 0, sizeof(gather_params), gather_read, gather_infer, gather_rows, 0, NULL, NULL},
    {0},
};

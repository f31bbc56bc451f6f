/* einsum.c: Einsum, as a chain of matrix products.
 *
 * Two operands whose summed labels both have are one batched product of their own type. Anything else goes from left to
 * right in wide values (double for floats): each operand is loaded, summed over what only it has, and multiplied with
 * what came before, summing the labels that nothing after needs. */
#include "ops/equation.h"

#include <math.h>
#include <string.h>

#include "kernels/cpu/cpu.h"
#include "ops/flops.h"
#include "ops/sizes.h"

static void einsum_read(mr_reader *r, void *params)
{
    mr_equation_read(r, params);
}

/* ---- shapes ---- */

/* Labels of all operands and of the result; extents by label. false: a rank is not known. */
typedef struct layout {
    mr_labels *in, out;
    mr_dim extent[MR_LABELS];
} layout;

static mr_status merge_extent(mr_call *c, int i, mr_dim *have, mr_dim d)
{
    if (*have == MR_DIM_UNKNOWN || *have == 1)
        *have = d;
    else if (d >= 0 && d != 1) {
        if (*have >= 0 && *have != d)
            return mr_call_fail_in(c, MR_E_SHAPES, i, "has %lld where the same label has %lld before", (long long)d,
                                   (long long)*have);
        *have = d;
    }
    return MR_OK;
}

/* A label that an operand has twice runs along its diagonal: an extent of 1 is broadcast to other operands alone. */
static mr_status want_diagonals(mr_call *c, int i, const mr_labels *in)
{
    const mr_shape *s = &c->in[i].shape;
    for (int k = 0; k < s->rank; k++)
        for (int j = 0; j < k; j++)
            if (in->at[j] == in->at[k] && s->d[j] >= 0 && s->d[k] >= 0 && s->d[j] != s->d[k])
                return mr_call_fail_in(c, MR_E_SHAPES, i, "has %lld and %lld elements along one label",
                                       (long long)s->d[j], (long long)s->d[k]);
    return MR_OK;
}

static mr_status lay_out(mr_call *c, mr_labels *in, layout *l, bool *known)
{
    const mr_equation *e = c->params;
    int ellipsis = 0;
    mr_status st = MR_OK;
    if (c->n_in != e->n_in)
        return mr_call_fail(c, MR_E_SHAPES, "attribute equation has %d operands, the node has %d", e->n_in, c->n_in);
    l->in = in;
    *known = true;
    for (int k = 0; k < MR_LABELS; k++) l->extent[k] = MR_DIM_UNKNOWN;
    for (int i = 0; i < c->n_in && !st; i++) {
        const mr_shape *s = &c->in[i].shape;
        if (s->rank < 0) {
            *known = false;
            continue;
        }
        st = mr_equation_operand(c, e, i, s->rank, &in[i]);
        if (!st) st = want_diagonals(c, i, &in[i]);
        for (int k = 0; k < s->rank && !st; k++) {
            if (in[i].at[k] - MR_ELLIPSIS >= ellipsis) ellipsis = in[i].at[k] - MR_ELLIPSIS + 1;
            st = merge_extent(c, i, &l->extent[in[i].at[k]], s->d[k]);
        }
    }
    return st || !*known ? st : mr_equation_result(c, e, ellipsis, &l->out);
}

/* A box must hold the labels of a product on the way. Labels of extent 1 do not count. */
static mr_status want_small(mr_call *c, const layout *l)
{
    bool seen[MR_LABELS] = {false};
    int n = 0;
    for (int i = 0; i < c->n_in; i++)
        for (int k = 0; k < l->in[i].n; k++) {
            int label = l->in[i].at[k];
            if (!seen[label] && l->extent[label] != 1) n++;
            seen[label] = true;
        }
    if (n <= MR_BOX_RANK) return MR_OK;
    return mr_call_fail(c, MR_E_RANK, "more than %d labels", MR_BOX_RANK);
}

static mr_status einsum_infer(mr_call *c)
{
    layout l;
    bool known;
    mr_labels *in = mr_call_alloc(c, sizeof *in * (size_t)c->n_in);
    if (!in) return MR_EMEMORY;
    mr_status st = lay_out(c, in, &l, &known);
    if (!st && known) st = want_small(c, &l);
    if (st) return st;
    mr_shape s = known ? mr_shape_of_rank(l.out.n) : mr_shape_unknown();
    for (int k = 0; known && k < l.out.n; k++) s.d[k] = l.extent[l.out.at[k]];
    return mr_out_tensor(c, 0, mr_in_dtype(c, 0), &s);
}

/* ---- operands while they are computed: labels with extents and strides; labels of extent 1 are dropped ---- */

typedef struct operand {
    const void *data;
    int n;
    int8_t label[MR_LABELS];
    int64_t dim[MR_LABELS], stride[MR_LABELS];
} operand;

/* Memory from the node's scratch; base NULL: only counted. */
typedef struct arena {
    char *base;
    size_t used;
} arena;

static void *take(arena *a, int64_t n, size_t size)
{
    void *p = a->base ? a->base + a->used : NULL;
    a->used += ((size_t)n * size + 63) / 64 * 64;
    return p;
}

static int find(const operand *o, int label)
{
    for (int k = 0; k < o->n; k++)
        if (o->label[k] == label) return k;
    return -1;
}

static void add(operand *o, int label, int64_t dim, int64_t stride)
{
    int k = find(o, label);
    if (dim == 1) return;
    if (k >= 0) { /* a diagonal */
        o->stride[k] += stride;
        return;
    }
    o->label[o->n] = (int8_t)label, o->dim[o->n] = dim, o->stride[o->n++] = stride;
}

static operand operand_of(const mr_arg *in, const mr_labels *labels)
{
    operand o = {.data = in->t ? in->t->data : NULL};
    int64_t step = 1;
    for (int k = labels->n - 1; k >= 0; step *= in->shape.d[k], k--) add(&o, labels->at[k], in->shape.d[k], step);
    for (int i = 0, j = o.n - 1; i < j; i++, j--) { /* back into the order of the term */
        operand t = o;
        o.label[i] = t.label[j], o.dim[i] = t.dim[j], o.stride[i] = t.stride[j];
        o.label[j] = t.label[i], o.dim[j] = t.dim[i], o.stride[j] = t.stride[i];
    }
    return o;
}

static int64_t count(const operand *o)
{
    int64_t n = 1;
    for (int k = 0; k < o->n; k++) n *= o->dim[k];
    return n;
}

static void make_dense(operand *o)
{
    int64_t step = 1;
    for (int k = o->n - 1; k >= 0; step *= o->dim[k], k--) o->stride[k] = step;
}

/* ---- one product ---- */

/* Labels by their part in a product, each in the order of the result. */
typedef struct roles {
    operand batch, m, n, k; /* strides: of the operand that is looked at */
} roles;

static void give(operand *to, const operand *from, int label)
{
    int k = find(from, label);
    to->label[to->n] = (int8_t)label, to->dim[to->n] = from->dim[k], to->stride[to->n++] = from->stride[k];
}

/* keep: labels that the result or a later operand has, in the order that the result should have. */
static roles roles_of(const operand *a, const operand *b, const mr_labels *keep)
{
    roles r = {0};
    for (int i = 0; i < keep->n; i++) {
        int label = keep->at[i];
        bool in_a = find(a, label) >= 0, in_b = find(b, label) >= 0;
        if (in_a && in_b)
            give(&r.batch, a, label);
        else if (in_a)
            give(&r.m, a, label);
        else if (in_b)
            give(&r.n, b, label);
    }
    for (int k = 0; k < a->n; k++)
        if (!memchr(keep->at, a->label[k], (size_t)keep->n)) give(&r.k, a, a->label[k]);
    return r;
}

/* The labels of a group as one dimension of o: its stride, or -1 when they are not one. */
static int64_t one_stride(const operand *group, const operand *o)
{
    int64_t stride = 0, next = -1;
    for (int i = group->n - 1; i >= 0; i--) {
        int64_t s = o->stride[find(o, group->label[i])];
        if (next < 0)
            stride = s;
        else if (s != next)
            return -1;
        next = s * group->dim[i];
    }
    return stride;
}

static void append(mr_box *box, const operand *group, const operand *o)
{
    for (int i = 0; i < group->n; i++) {
        box->dims[box->rank] = group->dim[i];
        box->xs[box->rank++] = o->stride[find(o, group->label[i])];
    }
}

static void dense_steps(mr_box *box)
{
    int64_t step = 1;
    for (int i = box->rank - 1; i >= 0; step *= box->dims[i], i--) box->ys[i] = step;
}

/* How the product sees an operand: as it is, or copied into [batch, rows, cols]. */
typedef struct matrix {
    const void *data;
    int64_t row, col;
    bool copied;
} matrix;

static matrix matrix_of(const mr_call *c, mr_dtype d, const operand *o, const operand *batch, const operand *rows,
                        const operand *cols, arena *s)
{
    int64_t row = one_stride(rows, o), col = one_stride(cols, o);
    if (row >= 0 && col >= 0) return (matrix){o->data, row, col, false};
    mr_box box = {0};
    append(&box, batch, o);
    append(&box, rows, o);
    append(&box, cols, o);
    dense_steps(&box);
    void *to = take(s, mr_box_count(&box, box.rank), mr_dtype_size(d));
    if (s->base) {
        mr_copy_args copy = {.x = o->data, .y = to, .box = &box, .pool = c->pool};
        c->cpu->move.copy[mr_size_index(mr_dtype_size(d))](&copy);
    }
    return (matrix){to, count(cols), 1, true};
}

/* The batch strides of an operand that was copied or not. */
static void batch_of(const operand *batch, const operand *o, bool copied, int64_t matrix, int64_t *strides)
{
    for (int i = batch->n - 1; i >= 0; matrix *= batch->dim[i], i--)
        strides[i] = copied ? matrix : o->stride[find(o, batch->label[i])];
}

/* a · b, dense [batch, m, n]: into y, or (y is NULL then) into new scratch. */
static operand multiply(const mr_call *c, mr_dtype d, const operand *a, const operand *b, const mr_labels *keep,
                        bool fresh, void *y, arena *s)
{
    roles r = roles_of(a, b, keep);
    operand out = {0};
    for (int i = 0; i < r.batch.n; i++) add(&out, r.batch.label[i], r.batch.dim[i], 0);
    for (int i = 0; i < r.m.n; i++) add(&out, r.m.label[i], r.m.dim[i], 0);
    for (int i = 0; i < r.n.n; i++) add(&out, r.n.label[i], r.n.dim[i], 0);
    make_dense(&out);
    if (fresh) y = take(s, count(&out), mr_dtype_size(d));
    out.data = y;
    matrix ma = matrix_of(c, d, a, &r.batch, &r.m, &r.k, s), mb = matrix_of(c, d, b, &r.batch, &r.k, &r.n, s);
    mr_gemm_args g = {.a = ma.data, .b = mb.data, .y = y, .alpha = 1, .pool = c->pool};
    g.p = (mr_product){.m = count(&r.m),
                       .n = count(&r.n),
                       .k = count(&r.k),
                       .a_row = ma.row,
                       .a_col = ma.col,
                       .b_row = mb.row,
                       .b_col = mb.col,
                       .batch_rank = r.batch.n};
    memcpy(g.p.batch, r.batch.dim, sizeof g.p.batch);
    batch_of(&r.batch, a, ma.copied, g.p.m * g.p.k, g.p.a_batch);
    batch_of(&r.batch, b, mb.copied, g.p.k * g.p.n, g.p.b_batch);
    mr_gemm_size_fn *size = c->cpu->gemm.scratch[d];
    g.scratch = take(s, size ? (int64_t)size(&g) : 0, 1);
    if (s->base) c->cpu->gemm.gemm[d](&g);
    return out;
}

/* ---- the whole ---- */

static bool ordered(const operand *o, const mr_labels *out)
{
    int at = 0;
    for (int k = 0; k < out->n; k++)
        if (find(o, out->at[k]) >= 0 && o->label[at++] != out->at[k]) return false;
    return true;
}

/* A box over the labels of `out` that o has. */
static mr_box box_of(const operand *o, const mr_labels *out)
{
    mr_box box = {0};
    for (int k = 0; k < out->n; k++) {
        int i = find(o, out->at[k]);
        if (i >= 0) box.dims[box.rank] = o->dim[i], box.xs[box.rank++] = o->stride[i];
    }
    dense_steps(&box);
    return box;
}

/* Every summed label is in both, and the result has what is left. */
static bool is_product(const operand *a, const operand *b, const mr_labels *out)
{
    for (int k = 0; k < a->n; k++)
        if (!memchr(out->at, a->label[k], (size_t)out->n) && find(b, a->label[k]) < 0) return false;
    for (int k = 0; k < b->n; k++)
        if (!memchr(out->at, b->label[k], (size_t)out->n) && find(a, b->label[k]) < 0) return false;
    return true;
}

/* The order that the product's result would have. */
static bool lands_in_order(const operand *a, const operand *b, const mr_labels *out)
{
    roles r = roles_of(a, b, out);
    operand all = {0};
    for (int i = 0; i < r.batch.n; i++) all.label[all.n++] = r.batch.label[i];
    for (int i = 0; i < r.m.n; i++) all.label[all.n++] = r.m.label[i];
    for (int i = 0; i < r.n.n; i++) all.label[all.n++] = r.n.label[i];
    return ordered(&all, out);
}

static void product(const mr_call *c, mr_dtype d, const operand *a, const operand *b, const mr_labels *out, void *y,
                    arena *s)
{
    if (lands_in_order(b, a, out) && !lands_in_order(a, b, out)) {
        product(c, d, b, a, out, y, s);
        return;
    }
    if (lands_in_order(a, b, out)) {
        multiply(c, d, a, b, out, false, y, s);
        return;
    }
    operand r = multiply(c, d, a, b, out, true, NULL, s);
    mr_box box = box_of(&r, out);
    mr_copy_args copy = {.x = r.data, .y = y, .box = &box, .pool = c->pool};
    if (s->base) c->cpu->move.copy[mr_size_index(mr_dtype_size(d))](&copy);
}

static mr_dtype wide_type(mr_dtype d)
{
    return mr_dtype_in(d, MR_FLOATS) ? MR_F64 : d;
}

/* An operand in wide values, summed over the labels that keep has not. */
static operand load(const mr_call *c, mr_dtype d, const operand *o, const mr_labels *keep, arena *s)
{
    operand out = {0};
    mr_einsum_args e = {.x = o->data, .pool = c->pool};
    for (int pass = 0; pass < 2; pass++) /* what stays, then what is summed */
        for (int k = 0; k < o->n; k++) {
            if ((memchr(keep->at, o->label[k], (size_t)keep->n) != NULL) != (pass == 0)) continue;
            if (pass == 0) add(&out, o->label[k], o->dim[k], 0), e.kept++;
            e.box.dims[e.box.rank] = o->dim[k], e.box.xs[e.box.rank++] = o->stride[k];
        }
    make_dense(&out);
    out.data = e.y = take(s, count(&out), mr_dtype_size(wide_type(d)));
    if (s->base) c->cpu->einsum.load[d](&e);
    return out;
}

/* The labels that operand i and what came before it must keep: those of the result and of operands from `next` on. */
static mr_labels labels_kept(const layout *l, const operand *in, int next, int n)
{
    mr_labels keep = l->out;
    for (int i = next; i < n; i++)
        for (int k = 0; k < in[i].n; k++)
            if (!memchr(keep.at, in[i].label[k], (size_t)keep.n)) keep.at[keep.n++] = in[i].label[k];
    return keep;
}

static void chain(const mr_call *c, mr_dtype d, const layout *l, const operand *in, void *y, arena *s)
{
    mr_labels keep = labels_kept(l, in, 1, c->n_in);
    operand so_far = load(c, d, &in[0], &keep, s);
    for (int i = 1; i < c->n_in; i++) {
        mr_labels before = labels_kept(l, in, i + 1, c->n_in), own = before;
        for (int k = 0; k < so_far.n; k++)
            if (!memchr(own.at, so_far.label[k], (size_t)own.n)) own.at[own.n++] = so_far.label[k];
        operand next = load(c, d, &in[i], &own, s);
        so_far = multiply(c, wide_type(d), &so_far, &next, &before, true, NULL, s);
    }
    mr_einsum_args e = {.x = so_far.data, .y = y, .box = box_of(&so_far, &l->out), .pool = c->pool};
    e.kept = e.box.rank;
    if (s->base) c->cpu->einsum.store[d](&e);
}

/* Runs, or with no scratch counts what it would want. */
static mr_status contract(mr_call *c, arena *s)
{
    layout l;
    bool known;
    mr_dtype d = mr_in_dtype(c, 0);
    mr_labels *labels = mr_call_alloc(c, sizeof *labels * (size_t)c->n_in);
    operand *in = mr_call_alloc(c, sizeof *in * (size_t)c->n_in);
    if (!labels || !in) return MR_EMEMORY;
    mr_status st = lay_out(c, labels, &l, &known);
    if (st) return st;
    for (int i = 0; i < c->n_in; i++) in[i] = operand_of(&c->in[i], &labels[i]);
    void *y = c->out[0].t ? c->out[0].t->data : NULL;
    if (c->n_in == 2 && is_product(&in[0], &in[1], &l.out))
        product(c, d, &in[0], &in[1], &l.out, y, s);
    else
        chain(c, d, &l, in, y, s);
    return MR_OK;
}

static mr_fn einsum_have(const mr_call *c)
{
    mr_dtype d = mr_in_dtype(c, 0);
    mr_fn gemm = MR_SLOT(c->cpu->gemm.gemm, d);
    return gemm && c->cpu->einsum.load[d] && c->cpu->einsum.store[d] && c->cpu->gemm.gemm[wide_type(d)] ? gemm : NULL;
}

static size_t einsum_scratch(const mr_call *c)
{
    arena counted = {0};
    contract((mr_call *)(uintptr_t)c, &counted);
    return counted.used;
}

static mr_status einsum_run(mr_call *c)
{
    arena s = {.base = c->scratch};
    return contract(c, &s);
}

static const mr_impl einsum_rows[] = {
    {.name = "einsum", .dev = MR_CPU, .have = einsum_have, .run = einsum_run, .scratch = einsum_scratch}, {0}};

/* As one nest of loops over all labels: a product of the operands, and an add where labels are summed over. */
static double einsum_flops(const mr_call *c)
{
    const mr_equation *e = c->params;
    bool seen[MR_LABELS] = {false};
    double all = 1;
    for (int i = 0; i < c->n_in; i++) {
        mr_labels l;
        if (mr_equation_operand((mr_call *)(uintptr_t)c, e, i, c->in[i].shape.rank, &l)) return NAN;
        for (int k = 0; k < l.n; k++) {
            if (!seen[l.at[k]]) all *= (double)c->in[i].shape.d[k];
            seen[l.at[k]] = true;
        }
    }
    bool sums = all != mr_flops_each(c);
    return all * (c->n_in - 1 + sums);
}

const mr_op mr_ops_einsum[] = {
    {.name = "Einsum",
     .domain = "",
     .since = 12,
     .params_size = sizeof(mr_equation),
     .read = einsum_read,
     .infer = einsum_infer,
     .impls = einsum_rows,
     .flops = einsum_flops},
    {0},
};

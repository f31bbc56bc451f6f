/* ml.c: see ml.h. */
#include "ops/ml.h"

/* ---- attributes ---- */

static double *doubles(mr_reader *r, int64_t n)
{
    double *d = mr_read_alloc(r, sizeof *d * ((size_t)n + 1));
    if (!d) mr_read_fail(r, MR_E_MEMORY, "no memory for %lld numbers", (long long)n);
    return d;
}

const double *mr_read_doubles(mr_reader *r, const char *floats, const char *tensor, int64_t *n)
{
    const float *f;
    const mr_tensor *t = tensor ? mr_read_tensor(r, tensor) : NULL;
    *n = floats ? mr_read_floats(r, floats, &f) : -1;
    if (t && *n > 0) {
        mr_read_fail(r, MR_E_ATTRIBUTE, "both attributes %s and %s are given", floats, tensor);
        return *n = -1, NULL;
    }
    if (t && !mr_dtype_in(t->dtype, MR_FLOATS)) {
        mr_read_fail(r, MR_E_ATTRIBUTE, "attribute %s has elements of type %s, expected floats", tensor,
                     mr_dtype_name(t->dtype));
        return *n = -1, NULL;
    }
    if (t) *n = mr_tensor_count(t);
    double *d = *n >= 0 ? doubles(r, *n) : NULL;
    if (!d) *n = -1;
    for (int64_t i = 0; i < *n; i++) d[i] = t ? mr_tensor_real(t, i) : (double)f[i];
    return d;
}

bool mr_want_length(mr_reader *r, const char *name, int64_t n, int64_t want, const char *like)
{
    if (n == want) return true;
    mr_read_fail(r, MR_E_ATTRIBUTE, "attribute %s has %lld elements, %s has %lld: expected as many", name,
                 (long long)(n < 0 ? 0 : n), like, (long long)want);
    return false;
}

mr_transform mr_read_transform(mr_reader *r)
{
    static const char *const names[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT", NULL};
    return (mr_transform)mr_read_enum(r, "post_transform", names, MR_NO_TRANSFORM);
}

bool mr_read_labels(mr_reader *r, const char *ints, const char *strings, mr_labels *l)
{
    int n_ints = mr_read_ints(r, ints, &l->ints), n_strings = mr_read_strings(r, strings, &l->strings);
    if ((n_ints > 0) == (n_strings > 0)) {
        mr_read_fail(r, MR_E_ATTRIBUTE, "expected one of the attributes %s and %s, %s", ints, strings,
                     n_ints > 0 ? "both are given" : "neither is given");
        return false;
    }
    if (n_ints > 0)
        l->strings = NULL;
    else
        l->ints = NULL;
    l->n = n_ints > 0 ? n_ints : n_strings;
    return true;
}

/* ---- rows ---- */

mr_status mr_infer_rows(mr_call *c, mr_dim *rows, mr_dim *features)
{
    const mr_shape *x = &c->in[0].shape;
    mr_status st = mr_want_rank(c, 0, 1, 2);
    *rows = x->rank == 2 ? x->d[0] : x->rank == 1 ? 1 : MR_DIM_UNKNOWN;
    *features = x->rank > 0 ? x->d[x->rank - 1] : MR_DIM_UNKNOWN;
    return st;
}

int64_t mr_row_count(const mr_call *c)
{
    return c->in[0].shape.rank == 2 ? c->in[0].shape.d[0] : 1;
}

int64_t mr_row_length(const mr_call *c)
{
    return c->in[0].shape.d[c->in[0].shape.rank - 1];
}

/* ---- outputs ---- */

mr_dtype mr_score_dtype(const mr_call *c)
{
    return mr_call_carried(c) ? MR_F64 : MR_F32;
}

mr_status mr_out_rows(mr_call *c, int o, mr_dtype d, mr_dim rows, mr_dim n)
{
    mr_shape s = {.rank = 2, .d = {rows, n}};
    return mr_out_tensor(c, o, d, &s);
}

mr_status mr_out_classes(mr_call *c, const mr_labels *l, mr_dim rows, mr_dim n)
{
    mr_shape labels = mr_shape_1d(rows);
    mr_status st = mr_out_tensor(c, 0, l->strings ? MR_STRING : MR_I64, &labels);
    return st ? st : mr_out_rows(c, 1, mr_score_dtype(c), rows, n);
}

void mr_put_label(const mr_labels *l, int64_t label, mr_tensor *y, int64_t i)
{
    if (l->strings)
        ((mr_string *)y->data)[i] = l->strings[label];
    else
        ((int64_t *)y->data)[i] = l->ints[label];
}

void mr_put_top_labels(const mr_labels *l, const double *scores, int64_t rows, mr_tensor *y)
{
    for (int64_t i = 0; y && i < rows; i++) mr_put_label(l, mr_top_score(scores + i * l->n, l->n), y, i);
}

void mr_put_scores(mr_call *c, int o, mr_transform t, double *scores, int64_t rows, int64_t n)
{
    if (!mr_out_wanted(c, o)) return;
    mr_transform_scores(t, scores, rows, n);
    mr_store_scores(scores, rows * n, c->out[o].t->dtype, c->out[o].t->data);
}

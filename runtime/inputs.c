/* inputs.c: do the caller's values fit what the model declares? */
#include "engine.h"

#include <stdio.h>
#include <string.h>

static mr_status missing(const mr_graph *g, mr_value *const *in, int i, mr_error *e)
{
    const mr_vinfo *v = &g->values[g->inputs[i]];
    char type[64], shape[256] = "", given[512] = "";
    if (v->decl.type.kind == MR_TENSOR && v->decl.shape.rank >= 0)
        mr_shape_string(&v->decl.shape, g->model->symbols, shape, sizeof shape);
    const char *kind = v->decl.type.kind == MR_TENSOR ? mr_dtype_name((mr_dtype)v->decl.type.elem)
                                                      : mr_type_string(v->decl.type, type, sizeof type);
    size_t n = 0;
    for (int k = 0; k < g->n_inputs && n < sizeof given; k++)
        if (in[k])
            n += (size_t)snprintf(given + n, sizeof given - n, "%s%s", n ? ", " : "", g->values[g->inputs[k]].name);
    mr_fail(e, MR_E_INPUT_MISSING, "missing input '%s' (%s %s); given: %s", v->name, kind, shape, n ? given : "none");
    mr_error_hint(e, "%s=FILE gives it; --random fills what is not given", v->name);
    return e->status;
}

static mr_status wrong_type(const mr_vinfo *v, const mr_value *x, mr_error *e)
{
    char a[64], b[64];
    bool tensors = v->decl.type.kind == MR_TENSOR && x->type.kind == MR_TENSOR;
    mr_dtype want = (mr_dtype)v->decl.type.elem, got = (mr_dtype)x->type.elem;
    mr_fail(e, MR_E_INPUT_TYPE, "input '%s': expected %s, got %s", v->name,
            tensors ? mr_dtype_name(want) : mr_type_string(v->decl.type, a, sizeof a),
            tensors ? mr_dtype_name(got) : mr_type_string(x->type, b, sizeof b));
    if (tensors && want != MR_STRING && got != MR_STRING)
        mr_error_hint(e, "--cast converts it, or save the array as %s", mr_dtype_name(want));
    return e->status;
}

/* The extent that a symbol has, and the input that gave it. */
typedef struct {
    int64_t extent;
    int input, axis;
} binding;

/* Would an array fit with an axis of 1 before its own, as a batch of one? */
static bool fits_as_batch(const mr_shape *want, const mr_shape *got)
{
    bool fits = want->rank == got->rank + 1 && (want->d[0] < 0 || want->d[0] == 1);
    for (int d = 0; fits && d < got->rank; d++) fits = want->d[d + 1] < 0 || want->d[d + 1] == got->d[d];
    return fits;
}

static mr_status wrong_rank(const mr_vinfo *v, const char *want, const mr_shape *got, mr_error *e)
{
    char shape[256], batch[256];
    mr_shape one = mr_shape_of_rank(got->rank < MR_MAX_RANK ? got->rank + 1 : 0);
    mr_fail(e, MR_E_INPUT_SHAPE, "input '%s': expected rank %d %s, got rank %d %s", v->name, v->decl.shape.rank, want,
            got->rank, mr_shape_string(got, NULL, shape, sizeof shape));
    if (!fits_as_batch(&v->decl.shape, got)) return e->status;
    for (int d = 0; d < one.rank; d++) one.d[d] = d ? got->d[d - 1] : 1;
    mr_error_hint(e, "as a batch of one, %s, it would fit", mr_shape_string(&one, NULL, batch, sizeof batch));
    return e->status;
}

static mr_status check_dims(const mr_graph *g, int i, const mr_value *x, binding *symbols, mr_error *e)
{
    const mr_vinfo *v = &g->values[g->inputs[i]];
    const mr_shape *want = &v->decl.shape;
    mr_shape got = mr_tensor_shape(&x->t);
    char a[256], b[256];
    mr_shape_string(want, g->model->symbols, a, sizeof a);
    mr_shape_string(&got, NULL, b, sizeof b);
    if (want->rank != got.rank) return wrong_rank(v, a, &got, e);
    for (int d = 0; d < want->rank; d++) {
        const char *name = mr_model_dim_name(g->model, want->d[d]);
        if (want->d[d] >= 0 && want->d[d] != got.d[d]) {
            mr_fail(e, MR_E_INPUT_SHAPE, "input '%s': axis %d: expected %lld, got %lld; expected shape %s, got %s",
                    v->name, d, (long long)want->d[d], (long long)got.d[d], a, b);
            mr_error_hint(e, "axis %d is fixed in the model; re-export it with a dynamic axis to feed other sizes", d);
            return e->status;
        }
        if (!name) continue;
        binding *s = &symbols[-2 - want->d[d]];
        if (s->input >= 0 && s->extent != got.d[d])
            return mr_fail(e, MR_E_INPUT_SYMBOL,
                           "symbol '%s' has two values: %lld from input '%s' axis %d, %lld from input '%s' axis %d",
                           name, (long long)s->extent, g->values[g->inputs[s->input]].name, s->axis,
                           (long long)got.d[d], v->name, d);
        *s = (binding){got.d[d], i, d};
    }
    return MR_OK;
}

mr_status mr_inputs_check(const mr_graph *g, mr_value *const *in, mr_error *e)
{
    mr_region r = {0};
    binding *symbols = MR_REGION_NEW(&r, binding, g->model->n_symbols + 1);
    mr_status st = symbols ? MR_OK : mr_fail(e, MR_E_MEMORY, "out of memory");
    for (int k = 0; symbols && k < g->model->n_symbols; k++) symbols[k].input = -1;
    for (int i = 0; !st && i < g->n_inputs; i++) {
        const mr_vinfo *v = &g->values[g->inputs[i]];
        if (!in[i]) {
            if (!v->init) st = missing(g, in, i, e);
            continue;
        }
        bool declared = v->decl.type.kind != MR_NONE && v->decl.type.elem != MR_UNDEFINED;
        if (declared && !mr_type_equal(v->decl.type, in[i]->type))
            st = wrong_type(v, in[i], e);
        else if (in[i]->type.kind == MR_TENSOR && v->decl.shape.rank >= 0)
            st = check_dims(g, i, in[i], symbols, e);
    }
    mr_region_free(&r);
    return st;
}

/* inputs.c: from the arguments of a command to the inputs of a model. */
#include "inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "npy.h"
#include "npz.h"
#include "pb.h"
#include "safetensors.h"
#include "spec.h"
#include "testset.h"

typedef struct reading {
    const mr_args *args;
    mr_feeds *f;
    const char **names; /* of the inputs */
    bool cast;
    mr_image_options image;
    mr_error *e;
} reading;

static mr_type type_of(const reading *r, int i)
{
    return r->f->shapes[i].type;
}

/* Takes v over. */
static mr_status feed(reading *r, int i, mr_value *v)
{
    if (!v) return r->e->status;
    if (r->f->in[i]) {
        mr_value_release(v);
        return mr_fail(r->e, MR_E_USAGE, "input '%s' is given twice", r->names[i]);
    }
    r->f->in[i] = mr_value_fit(v, type_of(r, i), r->cast, r->names[i], r->e);
    return r->e->status;
}

/* ---- options ---- */

static mr_status read_numbers(const char *option, const char *text, double *out, int *n, mr_error *e)
{
    *n = 0;
    for (const char *p = text; p;) {
        char *end;
        if (*n == 4) return mr_fail(e, MR_E_USAGE, "%s: at most four values, in '%s'", option, text);
        out[(*n)++] = strtod(p, &end);
        if (end == p || (*end && *end != ',')) return mr_fail(e, MR_E_USAGE, "%s: '%s' is not a number", option, p);
        p = *end ? end + 1 : NULL;
    }
    return MR_OK;
}

static mr_status read_image_options(reading *r)
{
    static const char *const layouts[] = {"NCHW", "NHWC", "CHW", "HWC", "HW", NULL};
    static const char *const colors[] = {"rgb", "bgr", "gray", NULL};
    const mr_args *a = r->args;
    mr_image_options *o = &r->image;
    int layout, color;
    if (mr_args_choice(a, MR_OPT_IMAGE_LAYOUT, layouts, MR_LAYOUT_UNKNOWN, &layout, r->e)) return r->e->status;
    if (mr_args_choice(a, MR_OPT_IMAGE_COLOR, colors, MR_COLOR_UNKNOWN, &color, r->e)) return r->e->status;
    o->layout = (mr_image_layout)layout;
    o->color = (mr_image_color)color;
    const char *size = mr_args_text(a, MR_OPT_IMAGE_SIZE);
    char x, more;
    long long height, width;
    if (size) {
        if (sscanf(size, "%6lld%c%6lld%c", &height, &x, &width, &more) != 3 || !strchr("x,", x) || height < 1 ||
            width < 1 || height > MR_IMAGE_SIDE || width > MR_IMAGE_SIDE)
            return mr_fail(r->e, MR_E_USAGE, "--image-size: '%s' is not HxW such as 224x224, each from 1 to %d", size,
                           MR_IMAGE_SIDE);
        o->height = height;
        o->width = width;
    }
    const char *mean = mr_args_text(a, MR_OPT_IMAGE_MEAN), *scale = mr_args_text(a, MR_OPT_IMAGE_SCALE);
    if (mean && read_numbers("--image-mean", mean, o->mean, &o->n_mean, r->e)) return r->e->status;
    if (scale) read_numbers("--image-scale", scale, o->scale, &o->n_scale, r->e);
    return r->e->status;
}

/* ---- single arguments ---- */

static mr_dtype input_dtype(const void *arg, const char *name)
{
    const reading *r = arg;
    for (int i = 0; i < r->f->g->n_inputs; i++)
        if (strcmp(r->names[i], name) == 0) return (mr_dtype)type_of(r, i).elem;
    return MR_UNDEFINED;
}

static mr_status read_file(reading *r, int i, const char *path)
{
    mr_file_kind kind;
    mr_value *v = NULL;
    const mr_typed_shape *want = &r->f->shapes[i];
    if (mr_file_kind_of(path, &kind, r->e)) return r->e->status;
    if (kind == MR_FILE_IMAGE)
        mr_image_read(path, &r->image, (mr_dtype)want->type.elem, &want->shape, &v, r->e);
    else
        mr_value_read(path, want->type, &v, r->e);
    return feed(r, i, v);
}

/* "raw:FILE:f32[1,3]" behind the '='. */
static mr_status read_raw(reading *r, int i, const char *text)
{
    const char *colon = strrchr(text, ':');
    mr_dtype dtype;
    mr_shape shape;
    mr_value *v = NULL;
    if (!colon) return mr_fail(r->e, MR_E_USAGE, "input '%s': 'raw:%s' is not raw:FILE:f32[1,3]", r->names[i], text);
    if (mr_spec_parse(colon + 1, strlen(colon + 1), &dtype, &shape, r->e)) return r->e->status;
    char *path = strndup(text, (size_t)(colon - text));
    if (path)
        mr_raw_read(path, dtype, &shape, &v, r->e);
    else
        mr_fail(r->e, MR_E_MEMORY, "out of memory");
    free(path);
    return feed(r, i, v);
}

/* "f32[1,3]=1,2,3" behind the ':'. */
static mr_status read_literal(reading *r, int i, const char *text)
{
    const char *equals = strchr(text, '=');
    mr_dtype dtype;
    mr_shape shape;
    mr_value *v;
    mr_error why = {0};
    if (!equals) return mr_fail(r->e, MR_E_USAGE, "input '%s': ':%s' is not :f32[1,3]=VALUES", r->names[i], text);
    if (mr_spec_parse(text, (size_t)(equals - text), &dtype, &shape, r->e)) return r->e->status;
    if (mr_literal_parse(equals + 1, dtype, &shape, &v, &why))
        mr_fail_as(r->e, why.status, why.code, "input '%s': %s", r->names[i], why.text ? why.text : "?");
    mr_error_clear(&why);
    return feed(r, i, v);
}

/* ---- positional arguments ---- */

static mr_status read_testset(reading *r, const char *dir)
{
    mr_feeds *f = r->f;
    const mr_graph *g = f->g;
    if (!mr_is_testset(dir))
        return mr_fail(r->e, MR_E_INPUT_FORMAT, "%s: a folder without input_0.pb is no test data set", dir);
    mr_value **in = calloc((size_t)g->n_inputs + 1, sizeof *in);
    if (!in) return mr_fail(r->e, MR_E_MEMORY, "out of memory");
    mr_testset_inputs(dir, g, in, r->e);
    for (int i = 0; i < g->n_inputs; i++) {
        if (r->e->status)
            mr_value_release(in[i]);
        else
            feed(r, i, in[i]);
    }
    free(in);
    if (r->e->status) return r->e->status;
    if (!f->expected) f->expected = calloc((size_t)g->n_outputs + 1, sizeof *f->expected);
    if (!f->expected) return mr_fail(r->e, MR_E_MEMORY, "out of memory");
    mr_testset_outputs(dir, g, f->expected, &f->n_expected, r->e);
    if (f->n_expected == 0) free(f->expected), f->expected = NULL;
    return r->e->status;
}

static int next_free(const reading *r)
{
    const mr_graph *g = r->f->g;
    for (int i = 0; i < g->n_inputs; i++)
        if (!r->f->in[i] && !g->values[g->inputs[i]].init) return i;
    return -1;
}

/* Keys are names of inputs; NumPy's own names of arrays without one, arr_0 and so on, go by position. */
static mr_status feed_set(reading *r, const mr_set *set)
{
    const mr_graph *g = r->f->g;
    for (int k = 0; k < set->n && r->e->status == MR_OK; k++) {
        const char *name = set->at[k].name;
        int i = -1, number;
        for (int j = 0; j < g->n_inputs; j++)
            if (strcmp(r->names[j], name) == 0) i = j;
        if (i < 0 && sscanf(name, "arr_%d", &number) == 1) i = next_free(r);
        if (i < 0)
            mr_name_unknown(r->e, MR_E_INPUT_UNKNOWN, "input", name, strlen(name), r->names, g->n_inputs);
        else
            feed(r, i, mr_value_retain(set->at[k].value));
    }
    return r->e->status;
}

static mr_status read_set(reading *r, const char *path, mr_file_kind kind)
{
    mr_set set = {0};
    mr_error why = {0};
    mr_expect expect = {input_dtype, r};
    if ((kind == MR_FILE_NPZ ? mr_npz_read(path, expect, &set, r->e) : mr_safetensors_read(path, &set, r->e)) ==
        MR_OK) {
        mr_error *e = r->e;
        r->e = &why;
        if (feed_set(r, &set)) mr_error_in_file(e, &why, path);
        r->e = e;
    }
    mr_set_free(&set);
    return r->e->status;
}

static mr_status too_many(reading *r, const char *path)
{
    const mr_graph *g = r->f->g;
    char names[512] = "";
    size_t at = 0;
    int n = 0;
    for (int k = 0; k < g->n_inputs; k++) {
        if (g->values[g->inputs[k]].init) continue;
        if (at < sizeof names)
            at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", n ? ", " : ": ", r->names[k]);
        n++;
    }
    return mr_fail(r->e, MR_E_INPUT_EXTRA, "'%s' is one too many: the model has %d input%s to fill%s", path, n,
                   n == 1 ? "" : "s", names);
}

static mr_status read_positional(reading *r, const char *path)
{
    mr_file_kind kind;
    if (mr_is_folder(path)) return read_testset(r, path);
    if (mr_file_kind_of(path, &kind, r->e)) return r->e->status;
    if (kind == MR_FILE_NPZ || kind == MR_FILE_SAFETENSORS) return read_set(r, path, kind);
    int i = next_free(r);
    return i < 0 ? too_many(r, path) : read_file(r, i, path);
}

/* A name is a name of the model first; what has none may still be a file, and what is no file was a name misspelt. */
static mr_status read_argument(reading *r, const char *arg)
{
    const char *rest, *end = strpbrk(arg, "=");
    int i = mr_name_match(arg, r->names, r->f->g->n_inputs, "=:", &rest);
    if (i >= 0 && *rest == ':') return read_literal(r, i, rest + 1);
    if (i >= 0 && *rest == '=')
        return strncmp(rest, "=raw:", 5) == 0 ? read_raw(r, i, rest + 5) : read_file(r, i, rest + 1);
    if (!end || mr_is_file(arg) || mr_is_folder(arg)) return read_positional(r, arg);
    const char *colon = memchr(arg, ':', (size_t)(end - arg));
    mr_dtype dtype;
    mr_shape shape;
    mr_error ignored = {0};
    if (colon && mr_spec_parse(colon + 1, (size_t)(end - colon - 1), &dtype, &shape, &ignored) == MR_OK) end = colon;
    mr_error_clear(&ignored);
    return mr_name_unknown(r->e, MR_E_INPUT_UNKNOWN, "input", arg, (size_t)(end - arg), r->names, r->f->g->n_inputs);
}

/* ---- -s and --shape bind given inputs too ---- */

static mr_status check_shapes(reading *r)
{
    const mr_graph *g = r->f->g;
    char a[256], b[256];
    for (int i = 0; i < g->n_inputs; i++) {
        const mr_tensor *t = r->f->in[i] && r->f->in[i]->type.kind == MR_TENSOR ? &r->f->in[i]->t : NULL;
        const mr_shape *want = &r->f->shapes[i].shape, *declared = &g->values[g->inputs[i]].decl.shape;
        if (!t || mr_shape_equal(want, declared) || t->rank != want->rank) continue;
        mr_shape got = mr_tensor_shape(t);
        for (int d = 0; d < t->rank; d++)
            if (want->d[d] != declared->d[d] && want->d[d] != t->dims[d])
                return mr_fail(r->e, MR_E_INPUT_SHAPE,
                               "input '%s': axis %d: -s or --shape says %lld, got %lld; "
                               "expected shape %s, got %s",
                               r->names[i], d, (long long)want->d[d], (long long)t->dims[d],
                               mr_shape_string(want, g->model->symbols, a, sizeof a),
                               mr_shape_string(&got, NULL, b, sizeof b));
    }
    return MR_OK;
}

mr_status mr_feeds_read(const mr_args *a, int first, const mr_graph *g, mr_feeds *f, mr_error *e)
{
    *f = (mr_feeds){.g = g, .in = calloc((size_t)g->n_inputs + 1, sizeof *f->in)};
    reading r = {.args = a, .f = f, .names = mr_input_names(g), .cast = mr_args_has(a, MR_OPT_CAST), .e = e};
    if (!f->in || !r.names) mr_fail(e, MR_E_MEMORY, "out of memory");
    if (e->status == MR_OK) mr_shapes_given(a, g, &f->shapes, e);
    if (e->status == MR_OK) read_image_options(&r);
    /* Named ones first: positional files go to what they leave. */
    for (int named = 1; named >= 0 && e->status == MR_OK; named--)
        for (int i = first; i < a->n && e->status == MR_OK; i++) {
            const char *rest;
            bool has_name = mr_name_match(a->at[i], r.names, g->n_inputs, "=:", &rest) >= 0;
            if (has_name == (named == 1)) read_argument(&r, a->at[i]);
        }
    if (e->status == MR_OK && mr_args_has(a, MR_OPT_RANDOM)) mr_feeds_random(a, f, r.names, e);
    if (e->status == MR_OK) check_shapes(&r);
    free(r.names);
    return e->status;
}

void mr_feeds_free(mr_feeds *f)
{
    for (int i = 0; f->in && i < f->g->n_inputs; i++) mr_value_release(f->in[i]);
    for (int i = 0; f->expected && i < f->g->n_outputs; i++) mr_value_release(f->expected[i]);
    free(f->in);
    free(f->expected);
    free(f->shapes);
    *f = (mr_feeds){0};
}

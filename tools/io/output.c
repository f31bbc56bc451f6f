/* output.c: writing values to files. */
#include "output.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "inputs.h"
#include "npy.h"
#include "npz.h"
#include "pb.h"
#include "safetensors.h"
#include "tools/json.h"

typedef enum sink { SINK_FOLDER, SINK_NPZ, SINK_NPY, SINK_SAFETENSORS, SINK_UNKNOWN } sink;

static sink sink_of(const char *path)
{
    size_t n = strlen(path);
    const char *base = mr_path_base(path), *dot = strrchr(base, '.');
    if (mr_is_folder(path) || (n && path[n - 1] == '/') || !dot) return SINK_FOLDER;
    if (strcmp(dot, ".npz") == 0) return SINK_NPZ;
    if (strcmp(dot, ".npy") == 0) return SINK_NPY;
    return strcmp(dot, ".safetensors") == 0 ? SINK_SAFETENSORS : SINK_UNKNOWN;
}

mr_status mr_output_check(const char *path, int n, mr_error *e)
{
    sink s = sink_of(path);
    if (s == SINK_UNKNOWN) return mr_fail(e, MR_E_USAGE, "'%s': outputs go to DIR/, .npz, .npy or .safetensors", path);
    if (s != SINK_NPY || n == 1) return MR_OK;
    mr_fail(e, MR_E_USAGE, "'%s': an .npy file holds one tensor, there are %d outputs", path, n);
    mr_error_hint(e, "use .npz or DIR/, or pick one with --outputs");
    return e->status;
}

static mr_status only_tensors(const char *path, const mr_set *set, mr_error *e)
{
    char type[64];
    for (int i = 0; i < set->n; i++) {
        const mr_value *v = set->at[i].value;
        if (v->type.kind == MR_TENSOR) continue;
        mr_fail(e, MR_E_USAGE, "'%s' holds tensors only, '%s' is %s", path, set->at[i].name,
                mr_type_string(v->type, type, sizeof type));
        mr_error_hint(e, "a folder holds any kind of value: -o DIR/");
        return e->status;
    }
    return MR_OK;
}

static mr_status cannot_write(const char *path, mr_error *e)
{
    return mr_fail(e, MR_E_IO, "cannot write %s: %s", path, strerror(errno));
}

static mr_status write_pb(const char *path, const char *name, const mr_value *v, mr_error *e)
{
    FILE *f = fopen(path, "w");
    if (!f) return cannot_write(path, e);
    mr_pb_write(f, name, v, e);
    return fclose(f) == 0 || e->status ? e->status : cannot_write(path, e);
}

static mr_status write_npy(const char *path, const mr_tensor *t, mr_error *e)
{
    FILE *f = fopen(path, "w");
    if (!f) return cannot_write(path, e);
    mr_npy_write(f, t, e);
    return fclose(f) == 0 || e->status ? e->status : cannot_write(path, e);
}

static mr_status write_folder(const char *dir, const mr_set *set, mr_error *e)
{
    if (mr_folder_make(dir, e)) return e->status;
    for (int i = 0; i < set->n && e->status == MR_OK; i++) {
        char name[32];
        snprintf(name, sizeof name, "output_%d.pb", i);
        char *path = mr_path_join(dir, name);
        if (path)
            write_pb(path, set->at[i].name, set->at[i].value, e);
        else
            mr_fail(e, MR_E_MEMORY, "out of memory");
        free(path);
    }
    return e->status;
}

static mr_status write_npz(const char *path, const mr_set *set, mr_error *e)
{
    mr_npz *z;
    mr_npz_create(path, &z, e);
    for (int i = 0; i < set->n && e->status == MR_OK; i++) mr_npz_add(z, set->at[i].name, &set->at[i].value->t, e);
    return mr_npz_close(z, e);
}

mr_status mr_output_write(const char *path, const mr_set *set, mr_error *e)
{
    sink s = sink_of(path);
    if (mr_output_check(path, set->n, e) || (s != SINK_FOLDER && only_tensors(path, set, e))) return e->status;
    if (s == SINK_FOLDER) return write_folder(path, set, e);
    if (s == SINK_NPZ) return write_npz(path, set, e);
    if (s == SINK_NPY) return write_npy(path, &set->at[0].value->t, e);
    return mr_safetensors_write(path, set, e);
}

/* ---- dumps ---- */

struct mr_dump {
    char *dir;
    mr_npz *npz; /* NULL: a folder */
    json_t *tensors;
    int n;
};

mr_status mr_dump_create(const char *path, mr_dump **out, mr_error *e)
{
    mr_dump *d = *out = calloc(1, sizeof *d);
    sink s = sink_of(path);
    if (s != SINK_FOLDER && s != SINK_NPZ)
        return mr_fail(e, MR_E_USAGE, "'%s': a dump goes to DIR or to FILE.npz", path);
    if (!d || !(d->dir = strdup(path)) || !(d->tensors = json_array())) return mr_fail(e, MR_E_MEMORY, "out of memory");
    return s == SINK_NPZ ? mr_npz_create(path, &d->npz, e) : mr_folder_make(path, e);
}

/* A name of any length with any characters, as a part of a file's name: the number before it makes it unique. */
static void file_name(char *buf, size_t size, int number, const char *name, const char *end)
{
    int n = snprintf(buf, size, "%05d_", number);
    for (int i = 0; i < 60 && name[i]; i++) buf[n++] = isalnum((unsigned char)name[i]) ? name[i] : '_';
    snprintf(buf + n, size - (size_t)n, "%s", end);
}

static mr_status add_to_folder(mr_dump *d, const char *name, const mr_value *v, const char *maker, mr_error *e)
{
    char file[128], type[64];
    bool tensor = v->type.kind == MR_TENSOR;
    file_name(file, sizeof file, d->n++, name, tensor ? ".npy" : ".pb");
    char *path = mr_path_join(d->dir, file);
    if (!path) return mr_fail(e, MR_E_MEMORY, "out of memory");
    if (tensor)
        write_npy(path, &v->t, e);
    else
        write_pb(path, name, v, e);
    free(path);
    json_t *shape = json_array();
    for (int i = 0; i < v->t.rank; i++) json_array_append_new(shape, json_integer(v->t.dims[i]));
    const char *dtype = tensor ? mr_dtype_name(v->t.dtype) : mr_type_string(v->type, type, sizeof type);
    json_t *entry =
        json_pack("{s:o, s:s, s:s, s:o}", "name", mr_json_text(name), "file", file, "dtype", dtype, "shape", shape);
    if (maker && *maker) json_object_set_new(entry, "node", mr_json_text(maker));
    json_array_append_new(d->tensors, entry);
    return e->status;
}

mr_status mr_dump_add(mr_dump *d, const char *name, const mr_value *v, const char *maker, mr_error *e)
{
    char type[64];
    if (!d->npz) return add_to_folder(d, name, v, maker, e);
    if (v->type.kind == MR_TENSOR) return mr_npz_add(d->npz, name, &v->t, e);
    return mr_fail(e, MR_E_USAGE, "'%s' is %s, which an npz does not hold: dump to a folder", name,
                   mr_type_string(v->type, type, sizeof type));
}

mr_status mr_dump_close(mr_dump *d, mr_error *e)
{
    if (!d) return e->status;
    if (d->npz) mr_npz_close(d->npz, e);
    char *path = d->npz || !d->dir ? NULL : mr_path_join(d->dir, MR_DUMP_INDEX);
    if (path && e->status == MR_OK) {
        json_t *j = json_pack("{s:s, s:O}", "schema", "minirt.dump/1", "tensors", d->tensors);
        if (json_dump_file(j, path, JSON_INDENT(1)) != 0) cannot_write(path, e);
        json_decref(j);
    }
    json_decref(d->tensors);
    free(path);
    free(d->dir);
    free(d);
    return e->status;
}

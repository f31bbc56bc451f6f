/* read.c: values and sets of values from files of any kind. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "file.h"
#include "inputs.h"
#include "npy.h"
#include "npz.h"
#include "pb.h"
#include "safetensors.h"

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

/* By the file's name where that says it, so that errors speak of what was meant; else by its first bytes. */
mr_status mr_file_kind_of(const char *path, mr_file_kind *kind, mr_error *e)
{
    static const struct {
        const char *end;
        mr_file_kind kind;
    } ends[] = {{".npy", MR_FILE_NPY},   {".npz", MR_FILE_NPZ},
                {".pb", MR_FILE_PB},     {".safetensors", MR_FILE_SAFETENSORS},
                {".png", MR_FILE_IMAGE}, {".jpg", MR_FILE_IMAGE},
                {".jpeg", MR_FILE_IMAGE}};
    mr_map *file;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(path, ends[i].end)) {
            *kind = ends[i].kind;
            return MR_OK;
        }
    if (strcmp(path, "-") == 0) {
        *kind = MR_FILE_NPY;
        return MR_OK;
    }
    if (mr_file_open(path, &file, e)) return e->status;
    const unsigned char *bytes = file->data;
    *kind = MR_FILE_PB;
    if (mr_bytes_are_npy(bytes, file->size)) *kind = MR_FILE_NPY;
    if (mr_bytes_are_image(bytes, file->size)) *kind = MR_FILE_IMAGE;
    if (file->size >= 2 && memcmp(bytes, "PK", 2) == 0) *kind = MR_FILE_NPZ;
    if (file->size > 9 && bytes[8] == '{' && bytes[7] == 0) *kind = MR_FILE_SAFETENSORS;
    mr_map_close(file);
    return MR_OK;
}

static mr_dtype always(const void *arg, const char *name)
{
    (void)name;
    return *(const mr_dtype *)arg;
}

static mr_status read_archive(const char *path, mr_file_kind kind, mr_expect expect, mr_set *set, mr_error *e)
{
    return kind == MR_FILE_NPZ ? mr_npz_read(path, expect, set, e) : mr_safetensors_read(path, set, e);
}

static mr_status read_only_one(const char *path, mr_file_kind kind, mr_type type, mr_value **out, mr_error *e)
{
    mr_set set = {0};
    mr_dtype dtype = (mr_dtype)type.elem;
    read_archive(path, kind, (mr_expect){always, &dtype}, &set, e);
    if (e->status == MR_OK && set.n != 1)
        mr_fail(e, MR_E_INPUT_FORMAT, "%s: has %d tensors where one is meant", path, set.n);
    else if (e->status == MR_OK)
        *out = mr_value_retain(set.at[0].value);
    mr_set_free(&set);
    return e->status;
}

mr_status mr_value_read(const char *path, mr_type type, mr_value **out, mr_error *e)
{
    mr_file_kind kind;
    *out = NULL;
    if (mr_file_kind_of(path, &kind, e)) return e->status;
    switch (kind) {
    case MR_FILE_NPY:
        return mr_npy_read(path, (mr_dtype)type.elem, out, e);
    case MR_FILE_PB:
        return mr_pb_read(path, type, out, NULL, e);
    case MR_FILE_IMAGE:
        return mr_fail(e, MR_E_INPUT_FORMAT, "%s: an image stands for no tensor here", path);
    default:
        return read_only_one(path, kind, type, out, e);
    }
}

static mr_status add_file(const char *path, const char *name, mr_dtype dtype, mr_set *set, mr_error *e)
{
    mr_file_kind kind;
    mr_value *v;
    if (mr_file_kind_of(path, &kind, e)) return e->status;
    if (kind == MR_FILE_NPY ? mr_npy_read(path, dtype, &v, e) : mr_pb_read(path, (mr_type){0}, &v, NULL, e))
        return e->status;
    return mr_set_add(set, name, v, e);
}

static mr_status add_entry(const char *dir, const json_t *entry, mr_set *set, mr_error *e)
{
    const char *name = json_string_value(json_object_get(entry, "name"));
    const char *file = json_string_value(json_object_get(entry, "file"));
    const char *type = json_string_value(json_object_get(entry, "dtype"));
    if (!name || !file || strchr(file, '/'))
        return mr_fail(e, MR_E_INPUT_FORMAT, "%s/%s: an entry without a name, or with no file of this folder", dir,
                       MR_DUMP_INDEX);
    char *path = mr_path_join(dir, file);
    if (path)
        add_file(path, name, type ? mr_dtype_parse(type, strlen(type)) : MR_UNDEFINED, set, e);
    else
        mr_fail(e, MR_E_MEMORY, "out of memory");
    free(path);
    return e->status;
}

/* A dump: the index says which file holds which tensor. */
static mr_status read_dump(const char *dir, const char *index, mr_set *set, mr_error *e)
{
    json_error_t at;
    mr_map *file;
    if (mr_file_open(index, &file, e)) return e->status;
    json_t *j = json_loadb(file->data ? file->data : "", file->size, 0, &at), *entry;
    mr_map_close(file);
    size_t i;
    if (!json_is_array(json_object_get(j, "tensors")))
        mr_fail(e, MR_E_INPUT_FORMAT, "%s: %s", index, j ? "no list 'tensors' in it" : at.text);
    json_array_foreach(json_object_get(j, "tensors"), i, entry) if (e->status == MR_OK) add_entry(dir, entry, set, e);
    json_decref(j);
    return e->status;
}

static int is_tensor_file(const struct dirent *d)
{
    return d->d_name[0] != '.' && (ends_with(d->d_name, ".npy") || ends_with(d->d_name, ".pb"));
}

/* The file's name without folder and ending; allocated. */
static char *stem(const char *path)
{
    const char *base = mr_path_base(path), *dot = strrchr(base, '.');
    return dot && dot > base ? strndup(base, (size_t)(dot - base)) : strdup(base);
}

/* A test folder stands for its outputs. */
static mr_status read_folder(const char *dir, mr_expect expect, mr_set *set, mr_error *e)
{
    struct dirent **entries;
    int n = scandir(dir, &entries, is_tensor_file, versionsort);
    if (n < 0) return mr_fail(e, MR_E_IO, "cannot open %s: %s", dir, strerror(errno));
    if (n == 0) mr_fail(e, MR_E_INPUT_FORMAT, "%s: no .npy or .pb files in this folder", dir);
    bool outputs = false;
    for (int i = 0; i < n; i++) outputs |= strncmp(entries[i]->d_name, "output_", strlen("output_")) == 0;
    for (int i = 0; i < n; i++) {
        bool skip = outputs && strncmp(entries[i]->d_name, "input_", strlen("input_")) == 0;
        char *path = mr_path_join(dir, entries[i]->d_name), *name = stem(entries[i]->d_name);
        if (path && name && !skip && e->status == MR_OK) add_file(path, name, mr_expected_dtype(expect, name), set, e);
        free(path);
        free(name);
        free(entries[i]);
    }
    free(entries);
    return e->status;
}

mr_status mr_set_read(const char *path, mr_expect expect, mr_set *set, mr_error *e)
{
    mr_file_kind kind;
    if (mr_is_folder(path)) {
        char *index = mr_path_join(path, MR_DUMP_INDEX);
        if (index && mr_is_file(index))
            read_dump(path, index, set, e);
        else
            read_folder(path, expect, set, e);
        free(index);
        return e->status;
    }
    if (mr_file_kind_of(path, &kind, e)) return e->status;
    if (kind == MR_FILE_IMAGE) return mr_fail(e, MR_E_INPUT_FORMAT, "%s: an image stands for no tensor here", path);
    if (kind == MR_FILE_NPZ || kind == MR_FILE_SAFETENSORS) return read_archive(path, kind, expect, set, e);
    char *name = stem(path);
    if (name)
        add_file(path, name, mr_expected_dtype(expect, name), set, e);
    else
        mr_fail(e, MR_E_MEMORY, "out of memory");
    free(name);
    return e->status;
}

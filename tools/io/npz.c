/* npz.c: NumPy's archives, through libzip. */
#include "npz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

#include "file.h"
#include "npy.h"

static mr_status not_an_archive(const mr_map *file, const char *path, zip_error_t *why, mr_error *e)
{
    if (file->size >= 2 && memcmp(file->data, "PK", 2) == 0)
        return mr_fail(e, MR_E_INPUT_FORMAT, "%s: the zip archive is truncated or damaged: %s", path,
                       zip_error_strerror(why));
    return mr_fail(e, MR_E_INPUT_FORMAT, "%s: not an npz file: it looks like %s", path,
                   mr_bytes_look(file->data, file->size));
}

static void *read_entry(zip_t *archive, zip_uint64_t i, size_t *size)
{
    zip_stat_t st;
    if (zip_stat_index(archive, i, 0, &st) != 0 || !(st.valid & ZIP_STAT_SIZE)) return NULL;
    zip_file_t *f = zip_fopen_index(archive, i, 0);
    char *bytes = f ? malloc(st.size + 1) : NULL;
    for (*size = 0; bytes && *size < st.size;) {
        zip_int64_t n = zip_fread(f, bytes + *size, st.size - *size);
        if (n <= 0) {
            free(bytes);
            bytes = NULL;
        } else {
            *size += (size_t)n;
        }
    }
    if (f) zip_fclose(f);
    return bytes;
}

static mr_status add_entry(zip_t *archive, zip_uint64_t i, const char *path, mr_expect expect, mr_set *set, mr_error *e)
{
    const char *entry = zip_get_name(archive, i, 0);
    size_t size, n = entry ? strlen(entry) : 0;
    char *name = entry ? strdup(entry) : NULL;
    void *bytes = name ? read_entry(archive, i, &size) : NULL;
    mr_value *v = NULL;
    mr_error why = {0};
    if (name && n > 4 && strcmp(entry + n - 4, ".npy") == 0) name[n - 4] = 0;
    if (!bytes)
        mr_fail(e, MR_E_INPUT_FORMAT, "%s: entry '%s' cannot be read: %s", path, entry ? entry : "?",
                zip_strerror(archive));
    else if (mr_npy_parse(bytes, size, mr_expected_dtype(expect, name), &v, &why))
        mr_fail_as(e, why.status, why.code, "%s: entry '%s': %s", path, entry, why.text ? why.text : "?");
    else
        mr_set_add(set, name, v, e);
    mr_error_clear(&why);
    free(bytes);
    free(name);
    return e->status;
}

static mr_status read_archive(const mr_map *file, const char *path, mr_expect expect, mr_set *set, mr_error *e)
{
    zip_error_t why;
    zip_error_init(&why);
    zip_source_t *bytes = zip_source_buffer_create(file->data, file->size, 0, &why);
    /* To libzip no bytes are an archive of nothing. */
    zip_t *archive = bytes && file->size ? zip_open_from_source(bytes, ZIP_RDONLY, &why) : NULL;
    if (archive) {
        zip_int64_t n = zip_get_num_entries(archive, 0);
        for (zip_int64_t i = 0; i < n && e->status == MR_OK; i++)
            add_entry(archive, (zip_uint64_t)i, path, expect, set, e);
        zip_discard(archive);
    } else {
        not_an_archive(file, path, &why, e);
        zip_source_free(bytes);
    }
    zip_error_fini(&why);
    return e->status;
}

mr_status mr_npz_read(const char *path, mr_expect expect, mr_set *set, mr_error *e)
{
    mr_map *file;
    if (mr_file_open(path, &file, e)) return e->status;
    read_archive(file, path, expect, set, e);
    mr_map_close(file);
    return e->status;
}

struct mr_npz {
    char *path, *spool_path;
    FILE *spool; /* all arrays as npy, one after the other */
    struct entry {
        char *name;
        long begin, end;
    } * at;
    int n, cap;
};

mr_status mr_npz_create(const char *path, mr_npz **out, mr_error *e)
{
    mr_npz *z = *out = calloc(1, sizeof *z);
    if (z) z->path = strdup(path);
    if (!z || !z->path || asprintf(&z->spool_path, "%s.%ld.part", path, (long)getpid()) < 0)
        return mr_fail(e, MR_E_MEMORY, "out of memory");
    if (!(z->spool = fopen(z->spool_path, "w"))) mr_fail(e, MR_E_IO, "cannot write %s: %s", path, strerror(errno));
    return e->status;
}

mr_status mr_npz_add(mr_npz *z, const char *name, const mr_tensor *t, mr_error *e)
{
    if (z->n == z->cap) {
        int cap = z->cap ? 2 * z->cap : 16;
        struct entry *more = realloc(z->at, sizeof *more * (size_t)cap);
        if (!more) return mr_fail(e, MR_E_MEMORY, "out of memory");
        z->at = more;
        z->cap = cap;
    }
    struct entry *entry = &z->at[z->n];
    if (asprintf(&entry->name, "%s.npy", name) < 0) return mr_fail(e, MR_E_MEMORY, "out of memory");
    z->n++;
    entry->begin = ftell(z->spool);
    mr_npy_write(z->spool, t, e);
    entry->end = ftell(z->spool);
    return e->status;
}

static mr_status write_archive(mr_npz *z, mr_error *e)
{
    int code = 0;
    zip_t *archive = zip_open(z->path, ZIP_CREATE | ZIP_TRUNCATE, &code);
    if (!archive) return mr_fail(e, MR_E_IO, "cannot write %s: %s", z->path, strerror(errno));
    bool ok = true;
    for (int i = 0; i < z->n && ok; i++) {
        zip_uint64_t begin = (zip_uint64_t)z->at[i].begin;
        zip_source_t *source = zip_source_file(archive, z->spool_path, begin, z->at[i].end - z->at[i].begin);
        zip_int64_t at = source ? zip_file_add(archive, z->at[i].name, source, ZIP_FL_ENC_UTF_8) : -1;
        ok = at >= 0 && zip_set_file_compression(archive, (zip_uint64_t)at, ZIP_CM_STORE, 0) == 0;
        if (at < 0) zip_source_free(source);
    }
    if (ok && zip_close(archive) == 0) return MR_OK;
    mr_fail(e, MR_E_IO, "cannot write %s: %s", z->path, zip_strerror(archive));
    zip_discard(archive);
    return e->status;
}

mr_status mr_npz_close(mr_npz *z, mr_error *e)
{
    if (!z) return e->status;
    if (z->spool && fclose(z->spool) != 0) mr_fail(e, MR_E_IO, "cannot write %s: %s", z->path, strerror(errno));
    if (e->status == MR_OK) write_archive(z, e);
    if (z->spool_path) unlink(z->spool_path);
    for (int i = 0; i < z->n; i++) free(z->at[i].name);
    free(z->at);
    free(z->spool_path);
    free(z->path);
    free(z);
    return e->status;
}

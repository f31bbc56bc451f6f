/* file.c: paths, and what the bytes of a file look like. */
#include "file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/model.h"

mr_status mr_file_open(const char *path, mr_map **out, mr_error *e)
{
    return strcmp(path, "-") == 0 ? mr_map_stdin(out, e) : mr_map_open(path, out, e);
}

bool mr_is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool mr_is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

mr_status mr_folder_make(const char *path, mr_error *e)
{
    char *copy = strdup(path);
    if (!copy) return mr_fail(e, MR_E_MEMORY, "out of memory");
    mr_status s = MR_OK;
    for (char *p = copy + 1;; p++) {
        char c = *p;
        if (c && c != '/') continue;
        *p = 0;
        if (mkdir(copy, 0777) != 0 && !mr_is_folder(copy))
            s = mr_fail(e, MR_E_IO, "cannot make the folder %s: %s", copy, strerror(errno));
        *p = c;
        if (!c || s) break;
    }
    free(copy);
    return s;
}

char *mr_path_join(const char *dir, const char *name)
{
    size_t n = strlen(dir);
    char *path;
    return asprintf(&path, "%s%s%s", dir, n && dir[n - 1] == '/' ? "" : "/", name) < 0 ? NULL : path;
}

const char *mr_path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

mr_status mr_error_in_file(mr_error *e, mr_error *why, const char *path)
{
    mr_fail_as(e, why->status, why->code, "%s: %s", strcmp(path, "-") == 0 ? "stdin" : path,
               why->text ? why->text : "?");
    if (why->hint) mr_error_hint(e, "%s", why->hint);
    mr_error_clear(why);
    return e->status;
}

const char *mr_bytes_look(const unsigned char *bytes, size_t size)
{
    if (size == 0) return "an empty file";
    const char *known = mr_sniff(bytes, size);
    return known ? known : "data of no known format";
}

/* file.c: paths, and what the bytes of a file look like. */
#include "file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

mr_status mr_file_open(const char *path, mr_map **out, mr_error *e)
{
    return mr_map_open(strcmp(path, "-") == 0 ? "/dev/stdin" : path, out, e);
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

static bool begins(const unsigned char *bytes, size_t size, const char *magic, size_t n)
{
    return size >= n && memcmp(bytes, magic, n) == 0;
}

static bool all_text(const unsigned char *bytes, size_t size)
{
    size_t n = size < 512 ? size : 512;
    for (size_t i = 0; i < n; i++)
        if (bytes[i] == 0x7f || (bytes[i] < ' ' && !strchr("\t\r\n", bytes[i]))) return false;
    return true;
}

const char *mr_bytes_look(const unsigned char *bytes, size_t size)
{
    static const struct {
        const char *magic;
        size_t n;
        const char *what;
    } known[] = {
        {"\x93NUMPY", 6, "an npy file"},
        {"PK\x03\x04", 4, "a zip archive (as .npz and PyTorch's .pt are)"},
        {"PK\x05\x06", 4, "an empty zip archive"},
        {"\x89PNG", 4, "a PNG image"},
        {"\xff\xd8\xff", 3, "a JPEG image"},
        {"GIF8", 4, "a GIF image"},
        {"RIFF", 4, "a RIFF file (WAV audio or a WebP image)"},
        {"\x89HDF", 4, "an HDF5 file"},
        {"\x1f\x8b", 2, "a gzip file"},
        {"\x80\x02", 2, "a Python pickle"},
        {"\x80\x03", 2, "a Python pickle"},
        {"\x80\x04", 2, "a Python pickle"},
        {"\x80\x05", 2, "a Python pickle"},
        {"version https://git-lfs", 23, "a Git LFS pointer (run `git lfs pull`)"},
        {"%PDF", 4, "a PDF document"},
        {"<", 1, "markup (an HTML page saved in its place?)"},
        {"{", 1, "JSON text"},
        {"[", 1, "JSON text"},
    };
    if (size == 0) return "an empty file";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (begins(bytes, size, known[i].magic, known[i].n) && (known[i].n > 1 || all_text(bytes, size)))
            return known[i].what;
    return all_text(bytes, size) ? "text" : "data of no known format";
}

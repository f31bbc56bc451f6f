/* map.c: mapping and reading of whole files. */
#include "map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads all that a pipe gives. */
static bool slurp(mr_map *m, int fd)
{
    for (size_t cap = 0;;) {
        if (m->size == cap) {
            cap = cap ? cap * 2 : 1 << 16;
            void *data = realloc(m->data, cap);
            if (!data) return false;
            m->data = data;
        }
        ssize_t n = read(fd, (char *)m->data + m->size, cap - m->size);
        if (n == 0) return true;
        if (n < 0 && errno != EINTR) return false;
        if (n > 0) m->size += (size_t)n;
    }
}

/* What has a path and is no file: reading it might wait, or never end. */
static const char *what_else(mode_t mode)
{
    if (S_ISDIR(mode)) return "it is a folder, not a file";
    if (S_ISFIFO(mode)) return "it is a pipe, not a file";
    if (S_ISSOCK(mode)) return "it is a socket, not a file";
    return "it is a device, not a file";
}

/* NULL, or why not. */
static const char *fill(mr_map *m, int fd, bool pipes)
{
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) return strerror(errno);
    if (pipes && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))) return slurp(m, fd) ? NULL : strerror(errno);
    if (!S_ISREG(st.st_mode)) return what_else(st.st_mode);
    if (st.st_size == 0) return NULL;
    void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) return strerror(errno);
    m->data = data, m->size = (size_t)st.st_size, m->mapped = true;
    return NULL;
}

static mr_status map(const char *path, int fd, bool pipes, mr_map **out, mr_error *e)
{
    *out = NULL;
    mr_map *m = calloc(1, sizeof *m);
    if (!m) return mr_fail(e, MR_E_MEMORY, "no memory to open %s", path);
    const char *why = fill(m, fd, pipes);
    if (!why && !(m->path = realpath(path, NULL)) && !(m->path = strdup(path))) why = strerror(ENOMEM);
    if (why) {
        mr_map_close(m);
        return mr_fail(e, MR_E_IO, "cannot open %s: %s", path, why);
    }
    *out = m;
    return MR_OK;
}

/* O_NONBLOCK: opening a pipe would wait for its other end. */
mr_status mr_map_open(const char *path, mr_map **out, mr_error *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    mr_status st = map(path, fd, false, out, e);
    if (fd >= 0) close(fd);
    return st;
}

mr_status mr_map_stdin(mr_map **out, mr_error *e)
{
    return map("stdin", STDIN_FILENO, true, out, e);
}

void mr_map_close(mr_map *m)
{
    if (!m) return;
    if (m->mapped)
        munmap(m->data, m->size);
    else
        free(m->data);
    free(m->path);
    free(m);
}

void mr_map_forget(const mr_map *m, size_t offset, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t from = (offset + page - 1) / page * page, to = (offset + size) / page * page;
    if (m->mapped && from < to) madvise((char *)m->data + from, to - from, MADV_DONTNEED);
}
